// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Runs registered models as IInterpreter does, for less gas: by the plan of a prepared model (IPlanner) and by
/// compiled layers (ILayerBuilder). It is for those who call it in their own transaction and choose it by name; no
/// request is settled by it.
interface IFastInterpreter {
    /// @notice Emitted when an output was shown to differ from the plain interpreter's: from now on the model runs here
    /// no more. @param fast keccak256 of what ran here @param plain keccak256 of what `IInterpreter.infer` returns, or
    /// `inferCompiled` (`haltPlan`)
    event FastHalted(ModelId indexed modelId, bytes32 fast, bytes32 plain);

    /// @notice Thrown for a model whose fast forms were halted (`haltFast`, `IInterpreter.haltCompiled`): call
    /// `IInterpreter.infer`.
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

    /// @notice The same where a plan returns other bytes than the run of its records with compiled layers, whose elements
    /// `IInterpreter.haltCompiled` looks at: a model whose plain run fits no transaction can be halted by both.
    function haltPlan(ModelId modelId, bytes calldata input) external;

    /// @notice Whether the model's fast forms were halted, here, or with its compiled layers or its execution.
    function isFastHalted(ModelId modelId) external view returns (bool);
}
