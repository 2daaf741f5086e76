// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IEzklVerifiers} from "../interfaces/IEzklVerifiers.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {IProofLane} from "../interfaces/IProofLane.sol";
import {ITruth} from "../interfaces/ITruth.sol";
import {DataContract} from "../libraries/DataContract.sol";
import {FIRST_U16} from "../libraries/Memory.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Orders} from "../libraries/Orders.sol";
import {Settlements} from "../libraries/Settlements.sol";
import {ModelId} from "../types/Types.sol";
import {EzklProof} from "./EzklProof.sol";
import {EzklVerifiers} from "./EzklVerifiers.sol";
import {Groth16} from "./Groth16.sol";
import {PublicSignals} from "./PublicSignals.sol";

/// @notice The PROOF lane: the key of each model beside what its program says about the public signals, and the
/// verifier of each kind. Every public signal is built here, from the registered program, calldata, return data and who
/// presents the proof to whom.
contract ProofLane is IProofLane {
    /// @dev Largest code without its STOP byte (EIP-170).
    uint256 private constant MAX_BYTES = 24_575;
    /// @dev Model word and number of bytes of its steps, before steps and key.
    uint256 private constant HEAD_BYTES = 34;

    /// @dev What a proof is checked against.
    /// @param word of the model @param steps memory of PublicSignals.stepsOf, `stepBytes` of them
    /// @param key memory of the key @param binding of chain, model and submitter
    struct Model {
        ModelWord word;
        uint256 steps;
        uint256 stepBytes;
        uint256 key;
        bytes32 binding;
    }

    /// @inheritdoc IProofLane
    IModelRegistry public immutable registry;

    /// @inheritdoc IProofLane
    IEzklVerifiers public immutable ezklVerifiers;

    /// @inheritdoc IProofLane
    mapping(ModelId => address) public keyOf;

    constructor(IModelRegistry registry_) {
        registry = registry_;
        ezklVerifiers = new EzklVerifiers();
    }

    /// @inheritdoc IProofLane
    /// @dev A registered model never changes, so a copy of what its program says can't grow old. One data contract with
    /// all that a verification needs costs it one cold account and one slot, in place of three and four.
    function storeKey(ModelId modelId, bytes calldata key) external returns (address pointer) {
        (ModelWord word, bytes32 vkHash, address[] memory chunks) = registry.proofModelOf(modelId);
        if (keccak256(key) != vkHash) revert WrongKey(modelId, keccak256(key), vkHash);
        pointer = keyOf[modelId];
        if (pointer != address(0)) return pointer;
        bytes memory steps;
        if (chunks.length == 0) {
            _requireKind(key, EzklProof.KIND);
            if (!EzklProof.isKeyLength(key.length)) {
                revert WrongKeyLength(key.length, EzklProof.KEY_HEAD_BYTES);
            }
        } else {
            _requireKind(key, Groth16.KIND);
            steps = PublicSignals.stepsOf(word, chunks);
            uint256 required = Groth16.keyLength(_plan(word, steps).signals.length);
            if (key.length != required) revert WrongKeyLength(key.length, required);
        }
        uint256 size = HEAD_BYTES + steps.length + key.length;
        if (size > MAX_BYTES) revert WrongKeyLength(size, MAX_BYTES);
        bytes memory init = bytes.concat(
            DataContract.prefix(size),
            bytes32(ModelWord.unwrap(word)),
            bytes2(uint16(steps.length)),
            steps,
            key
        );
        pointer = DataContract.addressOf(init);
        // Models that differ in their weights alone share one.
        if (pointer.code.length == 0 && !DataContract.create(init, pointer)) {
            revert KeyNotCreated(key.length);
        }
        keyOf[modelId] = pointer;
        emit KeyStored(modelId, vkHash, pointer);
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
        if (m.stepBytes == 0) return _isEzkl(m, input, output, evidence);
        (PublicSignals.Plan memory plan, Groth16.Product memory product) = _begin(m, 1);
        (bool canonical, uint256[] memory signals) = PublicSignals.build(plan, input, output);
        return canonical && Groth16.add(product, 1, signals, evidence) && Groth16.holds(product);
    }

    /// @inheritdoc IProofLane
    function areTrue(ModelId modelId, address submitter, bytes[] calldata batch)
        external
        view
        returns (bool)
    {
        if (batch.length == 0) revert EmptyBatch();
        Model memory m = _load(modelId, submitter);
        if (m.stepBytes == 0) return _areEzkl(m, batch);
        // Nobody can choose a proof for its coefficient: every byte of every proof and of its signals is in the seed.
        bytes32 seed = keccak256(msg.data);
        (PublicSignals.Plan memory plan, Groth16.Product memory product) = _begin(m, batch.length);
        for (uint256 i = 0; i < batch.length; ++i) {
            (bytes calldata order,, bytes calldata output, bytes calldata evidence) =
                Settlements.read(batch[i]);
            (bool canonical, uint256[] memory signals) =
                PublicSignals.build(plan, Orders.inputOf(order), output);
            if (!canonical || !Groth16.add(product, _coefficient(seed, i), signals, evidence)) return false;
        }
        return Groth16.holds(product);
    }

    /// @inheritdoc IProofLane
    function signalsOf(ModelId modelId, bytes calldata input, bytes calldata output, address submitter)
        external
        view
        returns (bool canonical, uint256[] memory signals)
    {
        (ModelWord word, address[] memory chunks) = registry.programOf(modelId);
        PublicSignals.Plan memory plan = _plan(word, PublicSignals.stepsOf(word, chunks));
        plan.binding = _binding(modelId, submitter);
        (canonical, signals) = PublicSignals.build(plan, input, output);
        if (!canonical) signals = new uint256[](0);
    }

    /// @dev Proofs of a model without a program, each by itself: nothing of theirs can be shared.
    function _areEzkl(Model memory m, bytes[] calldata batch) private view returns (bool) {
        for (uint256 i = 0; i < batch.length; ++i) {
            (bytes calldata order,, bytes calldata output, bytes calldata evidence) =
                Settlements.read(batch[i]);
            if (!_isEzkl(m, Orders.inputOf(order), output, evidence)) return false;
        }
        return true;
    }

    function _isEzkl(Model memory m, bytes calldata input, bytes calldata output, bytes calldata evidence)
        private
        view
        returns (bool)
    {
        return EzklProof.isTrue(m.word, m.key, uint256(m.binding) >> 8, input, output, evidence);
    }

    /// @param proofs number of proofs to come
    function _begin(Model memory m, uint256 proofs)
        private
        pure
        returns (PublicSignals.Plan memory plan, Groth16.Product memory product)
    {
        plan = PublicSignals.plan(m.word, m.steps, m.stepBytes);
        plan.binding = m.binding;
        product = Groth16.begin(m.key, plan.signals.length, proofs);
    }

    function _plan(ModelWord word, bytes memory steps) private pure returns (PublicSignals.Plan memory) {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(steps, 0x20)
        }
        return PublicSignals.plan(word, pointer, steps.length);
    }

    function _load(ModelId modelId, address submitter) private view returns (Model memory m) {
        address pointer = keyOf[modelId];
        if (pointer == address(0)) revert KeyMissing(modelId);
        uint256 content;
        ModelWord word;
        uint256 stepBytes;
        assembly ("memory-safe") {
            let size := sub(extcodesize(pointer), 1)
            content := mload(0x40)
            mstore(0x40, and(add(add(content, size), 31), not(31)))
            extcodecopy(pointer, content, 1, size)
            word := mload(content)
            stepBytes := shr(FIRST_U16, mload(add(content, 0x20)))
        }
        unchecked {
            m.word = word;
            m.steps = content + HEAD_BYTES;
            m.stepBytes = stepBytes;
            m.key = m.steps + stepBytes;
        }
        m.binding = _binding(modelId, submitter);
    }

    function _requireKind(bytes calldata key, uint8 required) private pure {
        uint8 kind = key.length == 0 ? 0 : uint8(key[0]);
        if (kind != required) revert WrongKeyKind(kind, required);
    }

    /// @dev Ties a proof to this chain, this contract, the model and whoever presents it.
    function _binding(ModelId modelId, address submitter) private view returns (bytes32) {
        return keccak256(abi.encode(block.chainid, address(this), modelId, submitter));
    }

    /// @dev 128 random bits; 1 for the first proof, since only the ratios count.
    function _coefficient(bytes32 seed, uint256 index) private pure returns (uint256 coefficient) {
        if (index == 0) return 1;
        assembly ("memory-safe") {
            mstore(0, seed)
            mstore(0x20, index)
            coefficient := shr(128, shl(128, keccak256(0, 0x40)))
        }
    }
}
