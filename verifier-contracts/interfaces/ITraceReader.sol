// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Positions of a trace and their canonical reveals (docs/PROTOCOL.md, section 3).
interface ITraceReader {
    /// @notice Thrown when a position names no revealable node, or its first leaf is padding.
    error PositionOutside(uint64 position);
    /// @notice Thrown when a reveal, or the tops of a trace, has another number of hashes or words than its position.
    error WrongContentLength(uint256 length, uint256 required);
    /// @notice Thrown when a path has another number of siblings than its position.
    error WrongPathLength(uint256 length, uint256 required);
    /// @notice Thrown when padding is not canonical. @param index in the content @param value what stands there
    error NotCanonical(uint256 index, bytes32 value);

    /// @notice Shape of the tree of a position that can be demanded: a revealable level, and its first leaf is a real
    /// word. Reverts with the registry's errors if the model is not registered or has no program.
    /// @return shape below 2^73; whoever keeps it needs no registry for the reveal. 0 if the position is no such
    function shapeAt(ModelId modelId, uint64 position) external view returns (uint256 shape);

    /// @notice Folds a reveal to the trace root that it belongs to. Reverts unless content and path are canonical.
    /// @param shape what shapeAt returned for the position of the trace's model
    /// @param content the node's 2^(l - m) hashes, or its 2^l words (in the trace tree: tensor roots)
    /// @param path siblings from the node's level to the trace root, bottom up
    function checkReveal(uint256 shape, uint64 position, bytes32[] calldata content, bytes32[] calldata path)
        external
        view
        returns (bytes32 traceRoot);

    /// @notice Folds what commitTrace publishes. Reverts unless there are as many hashes as the model's trace has at
    /// that level and padding is canonical.
    /// @param modelWord word of a model with a program
    /// @param tops one tensor root a step, or, above 64 steps, all nodes of the trace tree at level 6
    function foldTops(uint256 modelWord, bytes32[] calldata tops) external view returns (bytes32 traceRoot);
}
