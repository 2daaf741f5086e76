// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssayErrors} from "../interfaces/IAssayErrors.sol";
import {IJudge} from "../interfaces/IJudge.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {IPromiseReader} from "../interfaces/IPromiseReader.sol";
import {IPromises} from "../interfaces/IPromises.sol";
import {IPromisesErrors} from "../interfaces/IPromisesErrors.sol";
import {Leaves} from "../libraries/Leaves.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {PromiseIds} from "../libraries/PromiseIds.sol";
import {PromiseRules} from "../libraries/PromiseRules.sol";
import {Batch, BatchId, BatchState, LeafState, PromiseStatus, SignedClaim} from "../types/PromiseTypes.sol";
import {LANE_BOND, ModelId, Policy} from "../types/Types.sol";

/// @notice The part of Promises that only reads.
contract PromiseReader is IPromiseReader, IAssayErrors, IPromisesErrors {
    using PromiseIds for SignedClaim;
    using PromiseIds for Batch;
    using PromiseRules for BatchState;
    using PromiseRules for LeafState;

    uint256 private constant MAX_LIFE = 1 days;

    IPromises public immutable promises;
    IModelRegistry private immutable _registry;
    IJudge private immutable _judge;

    /// @dev Made by Promises. @param registry and @param judge those of its Assay
    constructor(IModelRegistry registry, IJudge judge) {
        promises = IPromises(payable(msg.sender));
        (_registry, _judge) = (registry, judge);
    }

    /// @inheritdoc IPromiseReader
    function readSigned(SignedClaim calldata signed, bytes calldata input, bytes calldata output)
        external
        view
        returns (bytes32 digest, uint256 end, ModelWord word)
    {
        if (keccak256(input) != signed.inputHash) {
            revert InputHashMismatch(keccak256(input), signed.inputHash);
        }
        if (keccak256(output) != signed.outputHash) {
            revert OutputMismatch(keccak256(output), signed.outputHash);
        }
        word = wordOf(signed.modelId);
        // Whatever Assay would refuse is refused here: what cannot be opened would hide all behind it.
        if (!_judge.isCanonicalInput(word, input)) revert InputNotCanonical();
        if (output.length != word.outputLength()) {
            revert OutputLengthWrong(output.length, word.outputLength());
        }
        end = uint256(signed.issuedAt) + MAX_LIFE;
        if (signed.expiry < end) end = signed.expiry;
        digest = signed.digestOf(address(promises));
    }

    /// @inheritdoc IPromiseReader
    function readLeaf(ModelId modelId, bytes calldata payload)
        external
        view
        returns (ModelWord word, bytes memory input, bytes memory output)
    {
        word = wordOf(modelId);
        (input, output) = (Leaves.inputOf(word, payload), Leaves.outputOf(word, payload));
    }

    /// @inheritdoc IPromiseReader
    function requireFinalLeaf(
        Batch calldata batch,
        uint256 index,
        bytes calldata payload,
        bytes32[] calldata path,
        Policy calldata p
    ) external view returns (bytes memory output) {
        if (ModelId.unwrap(batch.modelId) != ModelId.unwrap(p.modelId)) {
            revert WrongModel(batch.modelId, p.modelId);
        }
        if (p.lanes & LANE_BOND == 0) revert LaneNotAllowed(LANE_BOND, p.lanes);
        if (batch.window < p.minWindow) revert WindowTooShort(batch.window, p.minWindow);
        _requireFinal(batch, p.minBond);
        Leaves.requireIn(batch.root, batch.count, index, payload, path);
        ModelWord word = wordOf(batch.modelId);
        bytes32 inputHash = keccak256(Leaves.inputOf(word, payload));
        if (inputHash != p.inputHash) revert InputHashMismatch(inputHash, p.inputHash);
        return Leaves.outputOf(word, payload);
    }

    /// @inheritdoc IPromiseReader
    function digestOf(SignedClaim calldata signed) external view returns (bytes32) {
        return signed.digestOf(address(promises));
    }

    /// @inheritdoc IPromiseReader
    function batchIdOf(Batch calldata batch) external view returns (BatchId) {
        return batch.idOf(address(promises));
    }

    /// @inheritdoc IPromiseReader
    function isBatchFinal(BatchId batchId) external view returns (bool) {
        return promises.batchState(batchId).isFinal();
    }

    /// @inheritdoc IPromiseReader
    function leafStatus(BatchId batchId, uint256 index) external view returns (PromiseStatus) {
        return promises.leafState(batchId, index).statusOf();
    }

    function _requireFinal(Batch calldata batch, uint256 minBond) private view {
        BatchId id = batch.idOf(address(promises));
        BatchState memory state = promises.batchState(id);
        if (state.windowEnd == 0) revert UnknownBatch(id);
        if (!state.isFinal()) revert BatchNotFinal(id, state.windowEnd, state.open, state.fallen);
        // One slot stands for all leaves: whoever falsifies many loses no more.
        uint256 least = batch.count * minBond;
        if (state.bond < least) revert BondTooSmall(state.bond, least);
    }

    /// @inheritdoc IPromiseReader
    function wordOf(ModelId modelId) public view returns (ModelWord word) {
        word = ModelWord.wrap(_registry.modelWord(modelId));
        if (word.isNone()) revert UnknownModel(modelId);
        if (word.lanes() & LANE_BOND == 0) revert LaneNotAllowed(LANE_BOND, word.lanes());
    }
}
