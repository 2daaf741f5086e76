// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromises} from "../interfaces/IPromises.sol";
import {Leaves} from "../libraries/Leaves.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {PromiseIds} from "../libraries/PromiseIds.sol";
import {PromiseRules} from "../libraries/PromiseRules.sol";
import {Account, Batch, BatchId, BatchState, LeafState} from "../types/PromiseTypes.sol";
import {ClaimId, ModelId} from "../types/Types.sol";
import {PromisesFiling} from "./PromisesFiling.sol";

/// @notice Batches: claims whose data are posted, and that are final together unless somebody opens one.
abstract contract PromisesBatches is PromisesFiling {
    using PromiseIds for Batch;
    using PromiseRules for BatchState;

    uint8 private constant SLOTS = 2;
    uint256 private constant MAX_WINDOW = 7 days;

    mapping(BatchId => mapping(uint256 position => uint16 index)) private _leafQueue;

    /// @inheritdoc IPromises
    function post(address prover, ModelId modelId, uint32 window, uint96 leafBond, bytes calldata data)
        external
        returns (BatchId id)
    {
        _requireProver(prover);
        _requireQueueEmpty(prover);
        ModelWord word = reader.wordOf(modelId);
        (bytes32 root, uint256 count) = Leaves.rootOf(word, data);
        if (window < baseWindow || window > MAX_WINDOW) {
            revert WindowOutOfRange(window, baseWindow, MAX_WINDOW);
        }
        uint256 bond = _bond(word.depth(), uint256(leafBond) * count);
        return _post(Batch(prover, modelId, window, uint16(count), root), bond, word.depth(), data);
    }

    /// @inheritdoc IPromises
    function openLeaf(Batch calldata batch, uint256 index, bytes calldata payload, bytes32[] calldata path)
        external
        payable
    {
        (BatchId id, BatchState storage state) = _requireBatch(batch);
        LeafState storage leaf = _leaves[id][index];
        if (leaf.opener != address(0)) revert LeafAlreadyOpened(id, index);
        if (block.timestamp >= state.windowEnd) revert WindowEnded(block.timestamp, state.windowEnd);
        Leaves.requireIn(batch.root, batch.count, index, payload, path);
        uint256 bond = _bond(state.depth, state.bond);
        uint96 amount = _takeDeposit(_leafDeposit(bond, state.open));
        (leaf.opener, leaf.deposit) = (msg.sender, amount);
        ++state.open;
        (bool there, uint256 slot) = _leafStake(batch.prover, state, bond);
        if (there && state.queueHead == state.queueTail) {
            _openLeaf(batch, id, index, payload, bond, slot);
            return;
        }
        leaf.hash = keccak256(payload);
        _leafQueue[id][state.queueTail++] = uint16(index);
        emit LeafQueued(id, index, msg.sender, amount, payload);
    }

    /// @inheritdoc IPromises
    function nextLeaf(Batch calldata batch, bytes calldata payload) external {
        (BatchId id, BatchState storage state) = _requireBatch(batch);
        uint256 index = firstQueuedLeaf(id);
        LeafState storage leaf = _leaves[id][index];
        if (keccak256(payload) != leaf.hash) revert LeafNotFirst(keccak256(payload), leaf.hash);
        uint256 bond = _bond(state.depth, state.bond);
        (bool there, uint256 slot) = _leafStake(batch.prover, state, bond);
        if (!there) revert StakeTooLow(_home(_accounts[batch.prover]) + slot, bond);
        ++state.queueHead;
        leaf.hash = 0;
        _openLeaf(batch, id, index, payload, bond, slot);
    }

    /// @inheritdoc IPromises
    function dropLeaf(Batch calldata batch) external {
        (BatchId id, BatchState storage state) = _requireBatch(batch);
        if (!state.fallen) revert BatchNotFallen(id);
        uint256 index = firstQueuedLeaf(id);
        LeafState storage leaf = _leaves[id][index];
        (address opener, uint96 amount) = (leaf.opener, leaf.deposit);
        ++state.queueHead;
        --state.open;
        (leaf.hash, leaf.deposit) = (0, 0);
        emit LeafDropped(id, index);
        _credit(opener, amount);
    }

    /// @inheritdoc IPromises
    function release(Batch calldata batch) external {
        (BatchId id, BatchState storage state) = _requireBatch(batch);
        if (!state.fallen && !state.isFinal()) revert BatchNotEnded(id, state.windowEnd, state.open);
        uint96 amount = state.bond * state.idle;
        state.idle = 0;
        Account storage a = _accounts[batch.prover];
        a.slots -= amount;
        a.free += amount;
        emit Released(id, amount);
    }

    /// @inheritdoc IPromises
    function leafBonds(Batch calldata batch) external view returns (uint256 bond, uint256 required) {
        (, BatchState storage state) = _requireBatch(batch);
        bond = _bond(state.depth, state.bond);
        required = _leafDeposit(bond, state.open);
    }

    /// @inheritdoc IPromises
    function firstQueuedLeaf(BatchId batchId) public view returns (uint256 index) {
        BatchState storage state = _batches[batchId];
        if (state.queueHead == state.queueTail) revert NoLeafQueued(batchId);
        return _leafQueue[batchId][state.queueHead];
    }

    function _post(Batch memory batch, uint256 bond, uint8 depth, bytes calldata data)
        private
        returns (BatchId id)
    {
        Account storage a = _accounts[batch.prover];
        uint256 slots = bond * SLOTS;
        if (a.free < slots) revert StakeTooLow(a.free, slots);
        id = batch.idOf(address(this));
        if (_batches[id].windowEnd != 0) revert AlreadyPosted(id);
        a.free -= uint96(slots);
        a.slots += uint96(slots);
        uint40 windowEnd = uint40(block.timestamp + batch.window);
        _batches[id] = BatchState(windowEnd, 0, SLOTS, false, uint96(bond), depth, 0, 0);
        emit Posted(id, batch.prover, batch.modelId, uint96(bond), windowEnd, batch, data);
    }

    function _openLeaf(
        Batch calldata batch,
        BatchId id,
        uint256 index,
        bytes calldata payload,
        uint256 bond,
        uint256 slot
    ) private {
        BatchState storage state = _batches[id];
        if (slot != 0) --state.idle;
        Draft memory d;
        (d.prover, d.modelId, d.bond, d.slot, d.window) =
        (batch.prover, batch.modelId, bond, slot, baseWindow);
        (d.origin, d.leaf, d.isLeaf) = (BatchId.unwrap(id), index, true);
        bytes memory input;
        bytes memory output;
        (d.word, input, output) = reader.readLeaf(batch.modelId, payload);
        ClaimId claimId = _file(d, input, output);
        LeafState storage leaf = _leaves[id][index];
        emit LeafOpened(id, index, claimId, leaf.opener, leaf.deposit);
    }

    /// @dev An idle slot and the rest at home; without one all of it.
    /// @return there true if there is stake for the leaf @return slot wei that a slot gives
    function _leafStake(address prover, BatchState storage state, uint256 bond)
        private
        view
        returns (bool there, uint256 slot)
    {
        if (state.idle != 0) slot = state.bond;
        there = _home(_accounts[prover]) >= bond - slot;
    }

    /// @dev Each two leaves that are open make the next one dearer, so that opening all of them does not pay.
    function _leafDeposit(uint256 bond, uint256 open) private pure returns (uint256) {
        return _ticketBond(bond) * (1 + open / SLOTS);
    }

    function _requireBatch(Batch calldata batch) private view returns (BatchId id, BatchState storage state) {
        id = batch.idOf(address(this));
        state = _batches[id];
        if (state.windowEnd == 0) revert UnknownBatch(id);
    }
}
