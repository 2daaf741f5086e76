// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ModelId} from "../types/Types.sol";
import {IEzklVerifiers} from "./IEzklVerifiers.sol";
import {IModelRegistry} from "./IModelRegistry.sol";
import {ITruth} from "./ITruth.sol";

/// @notice Adapter of the PROOF lane: verifies proofs of any model with the key that its vkHash names
/// (docs/PROTOCOL.md, Proofs). Holds keys and nothing else; nobody owns it.
interface IProofLane is ITruth {
    event KeyStored(ModelId indexed modelId, bytes32 indexed vkHash, address pointer);

    /// @notice Thrown when a key is not the one whose hash its model names.
    error WrongKey(ModelId modelId, bytes32 vkHash, bytes32 required);
    /// @notice Thrown when a key is not of the kind that its model needs: 1 (Groth16) with a program, 2 (ezkl) without.
    /// @param kind its first byte, 0 if it is empty
    error WrongKeyKind(uint8 kind, uint8 required);
    /// @notice Thrown when a key has another length than its model's number of signals requires, or is too short or too
    /// long to be one. @param limit the required, least or largest length
    error WrongKeyLength(uint256 length, uint256 limit);
    /// @notice Thrown when a data contract could not be created: send more gas, about 220 a byte.
    error KeyNotCreated(uint256 length);
    /// @notice Thrown when the key of a model was never stored: call `storeKey` with it first.
    error KeyMissing(ModelId modelId);
    /// @notice Thrown when a batch is empty.
    error EmptyBatch();

    /// @notice Stores the verification key of a registered model; anybody may, and again does no harm.
    /// @param key its first byte is the kind: 1 Groth16, 2 ezkl @return pointer its data contract
    function storeKey(ModelId modelId, bytes calldata key) external returns (address pointer);

    /// @notice True if the evidence of each settlement proves its output. One wrong proof makes all of it false.
    /// Requesters and claims are not read; an order must hold an input. Groth16 proofs share the pairings that the key
    /// needs.
    /// @dev The arguments of IAssay.settleBatch, which asks with its own calldata.
    function areTrue(ModelId modelId, address submitter, bytes[] calldata batch) external view returns (bool);

    /// @notice The data contract of a model's key, zero if it is not stored: a STOP byte, the model word, the number of
    /// bytes of its CODEC steps and last step (u16), the first 64 bytes of each of their records, the key.
    function keyOf(ModelId modelId) external view returns (address pointer);

    /// @notice The public signals of a model with a program, in order.
    /// @return canonical false if input or output is not the one encoding of what it holds; then there are no signals
    function signalsOf(ModelId modelId, bytes calldata input, bytes calldata output, address submitter)
        external
        view
        returns (bool canonical, uint256[] memory signals);

    function registry() external view returns (IModelRegistry);

    /// @notice Where verifier contracts of key kind 2 are created, at addresses that follow from their code.
    function ezklVerifiers() external view returns (IEzklVerifiers);
}
