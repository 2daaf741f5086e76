// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IEzklVerifiers} from "../interfaces/IEzklVerifiers.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {IProofLane} from "../interfaces/IProofLane.sol";
import {ITruth} from "../interfaces/ITruth.sol";
import {DataContract} from "../libraries/DataContract.sol";
import {ModelId, Settlement} from "../types/Types.sol";
import {EzklProof} from "./EzklProof.sol";
import {EzklVerifiers} from "./EzklVerifiers.sol";
import {Groth16} from "./Groth16.sol";
import {PublicSignals} from "./PublicSignals.sol";

/// @notice The PROOF lane: keys by their hash, and the verifier of each kind. Every public signal is built here, from
/// the registered program, calldata, return data and who presents the proof to whom.
contract ProofLane is IProofLane {
    /// @dev Largest code without its STOP byte (EIP-170).
    uint256 private constant MAX_KEY_BYTES = 24_575;

    /// @dev What a proof is checked against.
    /// @param chunks data contracts of the program, none without one @param binding of chain, model and submitter
    struct Model {
        uint256 word;
        bytes key;
        address[] chunks;
        uint256 binding;
    }

    /// @inheritdoc IProofLane
    IModelRegistry public immutable registry;

    /// @inheritdoc IProofLane
    IEzklVerifiers public immutable ezklVerifiers;

    /// @inheritdoc IProofLane
    mapping(bytes32 vkHash => address) public keyOf;

    constructor(IModelRegistry registry_) {
        registry = registry_;
        ezklVerifiers = new EzklVerifiers();
    }

    /// @inheritdoc IProofLane
    function storeKey(bytes calldata key) external returns (bytes32 vkHash) {
        vkHash = keccak256(key);
        if (keyOf[vkHash] != address(0)) return vkHash;
        uint8 kind = key.length == 0 ? 0 : uint8(key[0]);
        if (kind != Groth16.KIND && kind != EzklProof.KIND) revert UnknownKeyKind(kind);
        bool known =
            kind == Groth16.KIND ? Groth16.isKeyLength(key.length) : EzklProof.isKeyLength(key.length);
        if (key.length > MAX_KEY_BYTES || !known) revert WrongKeyLength(key.length, MAX_KEY_BYTES);
        bytes memory init = DataContract.initCode(key);
        address pointer = DataContract.addressOf(init);
        if (!DataContract.create(init, pointer)) revert KeyNotCreated(key.length);
        keyOf[vkHash] = pointer;
        emit KeyStored(vkHash, kind, pointer);
    }

    /// @inheritdoc ITruth
    function isTrue(
        ModelId modelId,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence,
        address submitter
    ) external view returns (bool) {
        Model memory m = _load(modelId, submitter);
        if (m.chunks.length == 0) {
            return EzklProof.isTrue(m.word, m.key, m.binding, input, output, evidence);
        }
        (PublicSignals.Plan memory plan, Groth16.Product memory product) = _begin(m, 1);
        (bool canonical, uint256[] memory signals) = PublicSignals.build(plan, input, output);
        return canonical && Groth16.add(product, 1, signals, evidence) && Groth16.holds(product);
    }

    /// @inheritdoc IProofLane
    function areTrue(address submitter, Settlement[] calldata batch) external view returns (bool) {
        if (batch.length == 0) revert EmptyBatch();
        ModelId modelId = batch[0].request.modelId;
        Model memory m = _load(modelId, submitter);
        if (m.chunks.length == 0) return _areEzkl(m, modelId, batch);
        (PublicSignals.Plan memory plan, Groth16.Product memory product) = _begin(m, batch.length);
        // Nobody can choose a proof for its coefficient: every byte of every proof and of its signals is in the seed.
        bytes32 seed = keccak256(msg.data);
        for (uint256 i = 0; i < batch.length; ++i) {
            Settlement calldata s = batch[i];
            _requireModel(s.request.modelId, modelId);
            (bool canonical, uint256[] memory signals) = PublicSignals.build(plan, s.input, s.output);
            if (!canonical || !Groth16.add(product, _coefficient(seed, i), signals, s.evidence)) {
                return false;
            }
        }
        return Groth16.holds(product);
    }

    /// @inheritdoc IProofLane
    function signalsOf(ModelId modelId, bytes calldata input, bytes calldata output, address submitter)
        external
        view
        returns (bool canonical, uint256[] memory signals)
    {
        (uint256 word, address[] memory chunks) = registry.programOf(modelId);
        PublicSignals.Plan memory plan = PublicSignals.plan(word, chunks, _binding(modelId, submitter));
        return PublicSignals.build(plan, input, output);
    }

    /// @dev Proofs of a model without a program, each by itself: nothing of theirs can be shared.
    function _areEzkl(Model memory m, ModelId modelId, Settlement[] calldata batch)
        private
        view
        returns (bool)
    {
        for (uint256 i = 0; i < batch.length; ++i) {
            Settlement calldata s = batch[i];
            _requireModel(s.request.modelId, modelId);
            if (!EzklProof.isTrue(m.word, m.key, m.binding, s.input, s.output, s.evidence)) return false;
        }
        return true;
    }

    /// @param proofs number of proofs to come
    function _begin(Model memory m, uint256 proofs)
        private
        view
        returns (PublicSignals.Plan memory plan, Groth16.Product memory product)
    {
        // Only Groth16 proves programs.
        if (uint8(m.key[0]) != Groth16.KIND) revert UnknownKeyKind(uint8(m.key[0]));
        plan = PublicSignals.plan(m.word, m.chunks, m.binding);
        product = Groth16.begin(m.key, proofs);
    }

    function _load(ModelId modelId, address submitter) private view returns (Model memory m) {
        bytes32 vkHash;
        (m.word, vkHash, m.chunks) = registry.proofModelOf(modelId);
        m.key = _loadKey(vkHash);
        m.binding = _binding(modelId, submitter);
    }

    function _loadKey(bytes32 vkHash) private view returns (bytes memory key) {
        address pointer = keyOf[vkHash];
        if (pointer == address(0)) revert KeyMissing(vkHash);
        key = new bytes(pointer.code.length - 1);
        assembly ("memory-safe") {
            extcodecopy(pointer, add(key, 0x20), 1, mload(key))
        }
    }

    function _requireModel(ModelId modelId, ModelId required) private pure {
        if (ModelId.unwrap(modelId) != ModelId.unwrap(required)) revert MixedModels(modelId, required);
    }

    /// @dev Ties a proof to this chain, this contract, the model and whoever presents it; 248 bits, so below the order.
    function _binding(ModelId modelId, address submitter) private view returns (uint256) {
        return uint256(keccak256(abi.encode(block.chainid, address(this), modelId, submitter))) >> 8;
    }

    /// @dev 128 random bits; 1 for the first proof, since only the ratios count.
    function _coefficient(bytes32 seed, uint256 index) private pure returns (uint256) {
        return index == 0 ? 1 : uint128(uint256(keccak256(abi.encode(seed, index))));
    }
}
