// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelId, Settlement} from "../types/Types.sol";
import {IEzklVerifiers} from "./IEzklVerifiers.sol";
import {IModelRegistry} from "./IModelRegistry.sol";
import {ITruth} from "./ITruth.sol";

/// @notice Adapter of the PROOF lane: verifies proofs of any model with the key that its vkHash names
/// (docs/PROTOCOL.md, Proofs). Holds keys and nothing else; nobody owns it.
interface IProofLane is ITruth {
    event KeyStored(bytes32 indexed vkHash, uint8 kind, address pointer);

    /// @notice Thrown when a key is of no kind that is verified here. @param kind its first byte, 0 if it is empty
    error UnknownKeyKind(uint8 kind);
    /// @notice Thrown when a key has a length that no key of its kind has, or more than fits a data contract.
    error WrongKeyLength(uint256 length, uint256 max);
    /// @notice Thrown when a data contract could not be created: send more gas, about 220 a byte.
    error KeyNotCreated(uint256 length);
    /// @notice Thrown when the key of a model was never stored: call `storeKey` with it first.
    error KeyMissing(bytes32 vkHash);
    /// @notice Thrown when the settlements of a batch are not all of one model.
    error MixedModels(ModelId modelId, ModelId required);
    /// @notice Thrown when a batch is empty.
    error EmptyBatch();

    /// @notice Stores a verification key under its hash; anybody may, and again does no harm.
    /// @param key its first byte is the kind: 1 Groth16, 2 ezkl
    function storeKey(bytes calldata key) external returns (bytes32 vkHash);

    /// @notice True if the evidence of each settlement proves its output. One wrong proof makes all of it false.
    /// Requests and claims are not read, but for the model. Groth16 proofs share the pairings that the key needs.
    function areTrue(address submitter, Settlement[] calldata batch) external view returns (bool);

    /// @notice The data contract of a key, a STOP byte before it; zero if it is not stored.
    function keyOf(bytes32 vkHash) external view returns (address pointer);

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
