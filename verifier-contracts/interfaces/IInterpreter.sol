// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";

/// @notice Runs registered models on chain: the EXECUTION lane's function, callable by any contract in its own
/// transaction.
interface IInterpreter {
    /// @notice Thrown when a model's weights are not published: publish them, or give them as `inferWith` takes them.
    error WeightsNotPublished(ModelId modelId);
    /// @notice Thrown when a model has no EXECUTION lane. @param lanes those that it has
    error NotExecutable(ModelId modelId, uint8 lanes);
    /// @notice Thrown when the calldata is not the canonical encoding of an input of the model.
    error InputNotCanonical();
    /// @notice Thrown when weights that came along are longer or shorter than the model's.
    error WrongWeightsLength(uint256 length, uint256 required);
    /// @notice Thrown when weights that came along are not the model's.
    error WrongWeights(bytes32 folded, bytes32 weightsRoot);

    /// @notice The model's return data for its calldata, with the published weights. Total: for canonical calldata of
    /// a model whose weights are published it reverts for lack of gas alone.
    /// @param input the model's calldata, selector included
    function infer(ModelId modelId, bytes calldata input) external view returns (bytes memory output);

    /// @notice The same with weights that came along, for a model whose weights nobody published.
    /// @param weights the stream of all weight rows (IWeightStore)
    function inferWith(ModelId modelId, bytes calldata input, bytes calldata weights)
        external
        view
        returns (bytes memory output);
}
