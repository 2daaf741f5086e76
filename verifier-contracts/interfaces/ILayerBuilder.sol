// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Turns the DOT steps of registered models into EVM code whose weights are constants (docs/EXACT.md,
/// section 7). Anybody may build any part of any model; all that a sender brings is checked against the model's
/// weights root, and the part's rows and code follow from the program and its weights alone. So a part is the same
/// whoever builds it, building it twice is harmless, and no code from outside is ever registered.
///
/// A part is a contract that computes `rows` consecutive output channels of one step:
/// calldata: stored bytes of operand a, whole and without padding: M·G rows of K bytes, M >= 1;
/// returns: for each m in order the part's stored outputs, 1 byte a channel (variant 1) or 4 bytes, big-endian
/// (variant 0), without padding;
/// reverts without data if the calldata is empty or no multiple of G·K bytes. It is pure and never reverts else.
///
/// Once all parts of all DOT steps of variants 0 and 1 are built, anybody can bind them: the model's directory is a
/// data contract whose address follows from the builder's and the model's id, so that a caller finds all parts with
/// one cold access. `CompiledLayer` reads it and calls the parts.
interface ILayerBuilder {
    /// @notice Thrown when the model has no such step.
    error StepOutOfRange(uint256 step, uint256 steps);
    /// @notice Thrown when the step is no DOT step.
    error NotDot(uint256 step, uint256 opcode);
    /// @notice Thrown when the step is DOT in the binary32 form (variant 2), which is not compiled: it is interpreted.
    error FloatForm(uint256 step);
    /// @notice Thrown when no part of the step starts at this row: parts start at multiples of partRows, below rows.
    error WrongFirstRow(uint256 firstRow, uint256 partRows, uint256 rows);
    /// @notice Thrown when a part comes with another number of words than its rows have.
    error WrongWordCount(uint256 words, uint256 required);
    /// @notice Thrown when a part comes with another number of siblings than its place in the tree has.
    error WrongSiblingCount(uint256 siblings, uint256 required);
    /// @notice Thrown when the rows and siblings do not fold to the model's weights root.
    error WrongRoot(bytes32 folded, bytes32 required);
    /// @notice Thrown when a contract could not be created: send more gas, about 200 a byte.
    error NotCreated(uint256 length);
    /// @notice Thrown when a model cannot be bound yet, because this part is not built.
    error PartMissing(uint256 step, uint256 firstRow);
    /// @notice Thrown when a model has no DOT step of variant 0 or 1.
    error NothingToCompile(ModelId modelId);
    /// @notice Thrown when a model has more parts than its directory holds.
    error TooManyParts(uint256 parts, uint256 limit);

    /// @notice A part was built.
    event PartBuilt(ModelId indexed modelId, uint256 indexed step, uint256 firstRow, address part);
    /// @notice All parts of a model are bound.
    event ModelBound(ModelId indexed modelId, address directory);

    /// @notice Builds the part of a step that starts at a row of its weights, unless it is there.
    /// @param firstRow multiple of stepParts' partRows
    /// @param words all real words of the part's weight rows, row by row, parameter words included
    /// @param siblings that fold the rows to the weights root, bottom up: at each level of the tensor's tree above its
    /// rows first the one left of the range, if the range starts at an odd node, then the one right of it, if it ends
    /// at an even one; then those from the tensor's root to the weights root
    /// @return part address of the part's code
    function build(
        ModelId modelId,
        uint256 step,
        uint256 firstRow,
        bytes32[] calldata words,
        bytes32[] calldata siblings
    ) external returns (address part);

    /// @notice Writes the model's directory, once all its parts are built. Harmless to repeat.
    function bind(ModelId modelId) external returns (address directory);

    /// @notice How a step is cut into parts. Reverts unless it can be compiled.
    /// @return rows N, weight rows of the step @return partRows rows of each part but the last
    function stepParts(ModelId modelId, uint256 step) external view returns (uint256 rows, uint256 partRows);

    /// @notice A part's address, zero if it is not built.
    function partOf(ModelId modelId, uint256 step, uint256 firstRow) external view returns (address);

    /// @notice Where the model's directory is or will be; it has code exactly if the model is bound.
    function directoryOf(ModelId modelId) external view returns (address);
}
