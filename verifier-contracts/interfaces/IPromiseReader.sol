// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {Batch, BatchId, PromiseStatus, SignedClaim} from "../types/PromiseTypes.sol";
import {ModelId, Policy} from "../types/Types.sol";
import {IPromises} from "./IPromises.sol";

/// @notice What promises say, and whether a leaf is final. It holds no money and no state, and nobody but Promises needs
/// to trust it: it belongs to one Promises, which made it.
interface IPromiseReader {
    /// @notice Passes if a signed claim, with its input and output, is one that Assay takes.
    /// @return digest that its key signs
    /// @return end last second in which it can be shown
    /// @return word of its model
    function readSigned(SignedClaim calldata signed, bytes calldata input, bytes calldata output)
        external
        view
        returns (bytes32 digest, uint256 end, ModelWord word);

    /// @notice Word of a model that claims can be made for. Reverts for any other.
    function wordOf(ModelId modelId) external view returns (ModelWord word);

    /// @notice What a leaf stands for.
    /// @return word of its model
    /// @return input the model's calldata
    /// @return output its return data
    function readLeaf(ModelId modelId, bytes calldata payload)
        external
        view
        returns (ModelWord word, bytes memory input, bytes memory output);

    /// @notice The gate that agents use: reverts with the reason unless the leaf is final under the policy.
    /// @param payload the leaf's bytes in the batch's data @param path siblings up to the root, bottom up
    /// @param p its minBond stands against the batch's bond divided by the number of leaves
    /// @return output the model's return data
    function requireFinalLeaf(
        Batch calldata batch,
        uint256 index,
        bytes calldata payload,
        bytes32[] calldata path,
        Policy calldata p
    ) external view returns (bytes memory output);

    /// @notice What the prover's key signs.
    function digestOf(SignedClaim calldata signed) external view returns (bytes32);
    function batchIdOf(Batch calldata batch) external view returns (BatchId);
    function isBatchFinal(BatchId batchId) external view returns (bool);
    function leafStatus(BatchId batchId, uint256 index) external view returns (PromiseStatus);
    function promises() external view returns (IPromises);
}
