// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IPromises} from "../../../verifier-contracts/interfaces/IPromises.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {Batch, BatchId, BatchState, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {LANE_EXECUTION, ModelId, Policy} from "../../../verifier-contracts/types/Types.sol";
import {BatchFixture} from "./BatchFixture.sol";

/// @notice Posting of batches, and the gate that their leaves are read through.
contract PostTest is BatchFixture {
    function test_post_default_succeeds() public {
        bytes[] memory payloads = _leavesOf(COUNT, COUNT);
        Batch memory batch = Batch(prover, model, uint32(W0), uint16(COUNT), _root(payloads));
        uint40 windowEnd = uint40(block.timestamp + W0);
        BatchId id = _idOf(batch);
        vm.expectEmit(address(promises));
        emit IPromises.Posted(id, prover, model, BOND_OF_BATCH, windowEnd, batch, _join(payloads));
        _post(payloads, LEAF_BOND);
        _assertStake(9 ether, 0, 0, 1 ether);
        BatchState memory b = promises.batchState(id);
        assertEq(b.windowEnd, windowEnd);
        assertEq(b.idle, 2);
        assertEq(b.bond, BOND_OF_BATCH);
        assertEq(b.depth, DEPTH);
    }

    function test_post_leastBond_succeeds() public {
        _post(_leavesOf(1, 1), 0);
        _assertStake(10 ether - 2 * _least(FLOOR), 0, 0, 2 * _least(FLOOR));
    }

    function test_post_stranger_reverts() public {
        bytes memory data = _join(_leavesOf(1, 1));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotProver.selector, bob, prover, address(0)));
        vm.prank(bob);
        promises.post(prover, model, uint32(W0), 0, data);
    }

    function test_post_queueNotEmpty_reverts() public {
        SignedClaim memory s = _promise(_text(0), _right(_text(0)));
        s.minBond = 10 ether;
        _open(s, _text(0), _right(_text(0)), alice);
        s.salt = 1;
        _open(s, _text(0), _right(_text(0)), alice);
        bytes memory data = _join(_leavesOf(1, 1));
        promises.deposit{value: 10 ether}(prover);
        bytes32 head = leaves.digestOf(s);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.QueueNotEmpty.selector, prover, head));
        vm.prank(signer);
        promises.post(prover, model, uint32(W0), 0, data);
    }

    function _postRefused(ModelId id, uint256 window, uint96 leafBond, bytes memory data, bytes memory why)
        private
    {
        vm.expectRevert(why);
        vm.prank(signer);
        promises.post(prover, id, uint32(window), leafBond, data);
    }

    function test_post_model_reverts() public {
        bytes memory data = _join(_leavesOf(1, 1));
        ModelId unknown = ModelId.wrap(keccak256("another"));
        _postRefused(
            unknown, W0, 0, data, abi.encodeWithSelector(IAssayErrors.UnknownModel.selector, unknown)
        );
        ModelId noBond = registerText(EXECUTION);
        _postRefused(
            noBond, W0, 0, data, abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, BOND, EXECUTION)
        );
    }

    function test_post_window_reverts() public {
        bytes memory data = _join(_leavesOf(1, 1));
        uint256[2] memory wrong = [W0 - 1, 7 days + 1];
        for (uint256 i; i < 2; i++) {
            _postRefused(
                model,
                wrong[i],
                0,
                data,
                abi.encodeWithSelector(IAssayErrors.WindowOutOfRange.selector, wrong[i], W0, 7 days)
            );
        }
        vm.prank(signer);
        promises.post(prover, model, 7 days, 0, data);
    }

    function test_post_count_reverts() public {
        _postRefused(
            model, W0, 0, "", abi.encodeWithSelector(IPromisesErrors.CountOutOfRange.selector, 0, 1, 1024)
        );
        bytes memory one = _leaf("", _wrong());
        bytes memory many = new bytes(1025 * one.length);
        for (uint256 i; i < many.length; i++) {
            many[i] = one[i % one.length];
        }
        _postRefused(
            model,
            W0,
            0,
            many,
            abi.encodeWithSelector(IPromisesErrors.CountOutOfRange.selector, 1025, 1, 1024)
        );
    }

    function test_post_leafLength_reverts() public {
        bytes memory tooLong = _leaf(string(new bytes(TEXT_BYTES + 1)), _wrong());
        bytes memory data = bytes.concat(_leaf("first", _wrong()), tooLong);
        _postRefused(
            model,
            W0,
            0,
            data,
            abi.encodeWithSelector(IPromisesErrors.LeafLengthWrong.selector, 1, TEXT_BYTES + 1, TEXT_BYTES)
        );
        data = _leaf("first", _wrong());
        _postRefused(
            model,
            W0,
            0,
            this.slice(data, 0, data.length - 1),
            abi.encodeWithSelector(IPromisesErrors.LeafLengthWrong.selector, 0, data.length - 1, data.length)
        );
        _postRefused(
            model,
            W0,
            0,
            bytes.concat(data, hex"00"),
            abi.encodeWithSelector(IPromisesErrors.LeafLengthWrong.selector, 1, 1, 14)
        );
    }

    function test_post_stake_reverts() public {
        bytes memory data = _join(_leavesOf(1, 1));
        vm.prank(prover);
        promises.announceExit(8 ether + 1);
        _postRefused(
            model,
            W0,
            1 ether,
            data,
            abi.encodeWithSelector(IPromisesErrors.StakeTooLow.selector, 2 ether - 1, 2 ether)
        );
    }

    function test_post_bondTooLarge_reverts() public {
        bytes memory data = _join(_leavesOf(2, 2));
        uint256 bond = 2 * uint256(type(uint96).max);
        _postRefused(
            model,
            W0,
            type(uint96).max,
            data,
            abi.encodeWithSelector(IAssayErrors.BondTooLarge.selector, bond, type(uint96).max)
        );
    }

    function test_post_twice_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        bytes memory data = _join(payloads);
        skip(W0);
        promises.release(batch);
        // Another bond is no other batch.
        _postRefused(
            model, W0, 0, data, abi.encodeWithSelector(IPromisesErrors.AlreadyPosted.selector, _idOf(batch))
        );
    }

    function test_requireFinalLeaf_default_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        skip(W0);
        for (uint256 i; i < COUNT; i++) {
            bytes memory output =
                leaves.requireFinalLeaf(batch, i, payloads[i], _path(payloads, i), _policy(_input(_text(i))));
            assertEq(output, _right(_text(i)));
        }
    }

    function _readRefused(Batch memory batch, bytes[] memory payloads, Policy memory p, bytes memory why)
        private
    {
        bytes32[] memory path = _path(payloads, 1);
        vm.expectRevert(why);
        leaves.requireFinalLeaf(batch, 1, payloads[1], path, p);
    }

    function test_requireFinalLeaf_notFinal_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(0);
        Policy memory p = _policy(_input(_text(1)));
        uint256 windowEnd = _state(batch).windowEnd;
        BatchId id = _idOf(batch);
        bytes4 e = IPromisesErrors.BatchNotFinal.selector;
        skip(W0 - 1);
        _readRefused(batch, payloads, p, abi.encodeWithSelector(e, id, windowEnd, 0, false));
        Filed memory f = _openLeaf(batch, payloads, 0, alice);
        skip(1);
        _readRefused(batch, payloads, p, abi.encodeWithSelector(e, id, windowEnd, 1, false));
        _fell(f);
        // Fallen, and not closed yet.
        _readRefused(batch, payloads, p, abi.encodeWithSelector(e, id, windowEnd, 1, false));
        promises.close(f.r, f.c);
        _readRefused(batch, payloads, p, abi.encodeWithSelector(e, id, windowEnd, 0, true));
    }

    function test_requireFinalLeaf_policy_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        skip(W0);
        Policy memory p = _policy(_input(_text(1)));
        p.modelId = ModelId.wrap(keccak256("another"));
        _readRefused(
            batch, payloads, p, abi.encodeWithSelector(IAssayErrors.WrongModel.selector, model, p.modelId)
        );
        p = _policy(_input(_text(2)));
        _readRefused(
            batch,
            payloads,
            p,
            abi.encodeWithSelector(
                IAssayErrors.InputHashMismatch.selector, keccak256(_input(_text(1))), p.inputHash
            )
        );
        p = _policy(_input(_text(1)));
        p.lanes = LANE_EXECUTION;
        _readRefused(
            batch, payloads, p, abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, BOND, p.lanes)
        );
        p = _policy(_input(_text(1)));
        p.minWindow += 1;
        _readRefused(
            batch, payloads, p, abi.encodeWithSelector(IAssayErrors.WindowTooShort.selector, W0, W0 + 1)
        );
        p = _policy(_input(_text(1)));
        p.minBond += 1;
        _readRefused(
            batch,
            payloads,
            p,
            abi.encodeWithSelector(IAssayErrors.BondTooSmall.selector, BOND_OF_BATCH, BOND_OF_BATCH + COUNT)
        );
    }

    function test_requireFinalLeaf_unknownBatch_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        skip(W0);
        batch.count -= 1;
        bytes32[] memory path = _path(payloads, 1);
        Policy memory p = _policy(_input(_text(1)));
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.UnknownBatch.selector, _idOf(batch)));
        leaves.requireFinalLeaf(batch, 1, payloads[1], path, p);
    }
}
