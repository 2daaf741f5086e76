// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Prepares published models: their plans say in instructions of one word what an interpreter would otherwise
/// find out from the program at every inference. Whoever pays may prepare a model; what comes out depends on the
/// registered program alone.
interface IPlanner {
    /// @notice Emitted when a model's plan is there.
    event ModelPrepared(ModelId indexed modelId, address plan);

    /// @notice Thrown when a model is not published: publish it first (IWeightStore).
    error NotPublished(ModelId modelId);
    /// @notice Thrown for a program with a step that no plan has: it runs by its records. @param step its index, or the
    /// number of steps where the whole is too large
    error NotPlannable(uint256 step);

    /// @notice Writes the plan of a published model into a data contract. Harmless to repeat.
    /// @dev Reverts with `IInterpreter.NotExecutable` for a model without the EXECUTION lane.
    /// @return plan the data contract
    function prepare(ModelId modelId) external returns (address plan);

    /// @notice Where a model's plan is, or will be.
    function planOf(ModelId modelId) external view returns (address plan);
}
