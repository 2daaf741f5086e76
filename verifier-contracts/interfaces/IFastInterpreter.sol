// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Runs registered models as IInterpreter does, for less gas: by the plan of a prepared model (IPlanner) and by
/// compiled layers (ILayerBuilder). It is for those who call it in their own transaction and choose it by name; no
/// request is settled by it.
interface IFastInterpreter {
    /// @notice Emitted when an output was shown to differ from the plain interpreter's: from now on the model runs here
    /// no more. @param fast keccak256 of what ran here @param plain keccak256 of what `IInterpreter.infer` returns
    event FastHalted(ModelId indexed modelId, bytes32 fast, bytes32 plain);

    /// @notice Emitted likewise when a step was shown to differ from what the judge computes, in a run with compiled
    /// layers. @param stored the element that this run made @param expected the judge's
    event LayerHalted(
        ModelId indexed modelId, uint256 step, uint256 element, uint256 stored, uint256 expected
    );

    /// @notice Thrown for a model whose fast forms were halted (`haltFast`, `haltLayer`): call `IInterpreter.infer`.
    error FastModelHalted(ModelId modelId);
    /// @notice Thrown by `haltFast` when both outputs are the same. @param outputHash keccak256 of them
    error NoFastDifference(bytes32 outputHash);

    /// @notice The model's return data for its calldata, as `IInterpreter.infer` returns it; reverts likewise.
    /// @param input the model's calldata, selector included
    function inferFast(ModelId modelId, bytes calldata input) external view returns (bytes memory output);

    /// @notice Runs the fast form and keeps the hash of its output, for a `haltFast` in another transaction: both runs
    /// together may take more gas than a transaction has.
    /// @return fast the hash
    function recordFast(ModelId modelId, bytes calldata input) external returns (bytes32 fast);

    /// @notice Halts the model's fast forms for good if they return other bytes for an input than the plain interpreter.
    /// Anybody may call it. If `recordFast` kept another output than the plain one, the fast form does not run again.
    /// @dev Reverts with NoFastDifference if they are the same, and as either run does if it reverts.
    function haltFast(ModelId modelId, bytes calldata input) external;

    /// @notice Halts the model's fast forms for good if a step's element in a run with compiled layers is not the judge's.
    /// Anybody may call it. It does not run the model plainly, which may take more gas than a transaction has.
    /// @param input canonical calldata of the model @param step index of the step
    /// @param element row-major index in the step's tensor
    /// @dev Reverts with IInterpreter.NoDifference if the element is right, and as `IInterpreter.compareCompiled` does.
    function haltLayer(ModelId modelId, bytes calldata input, uint256 step, uint256 element) external;

    /// @notice Whether the model's fast forms were halted, here or with its execution.
    function isFastHalted(ModelId modelId) external view returns (bool);
}
