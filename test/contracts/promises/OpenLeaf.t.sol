// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IPromises} from "../../../verifier-contracts/interfaces/IPromises.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {
    Batch,
    BatchState,
    PromiseStatus,
    SignedClaim
} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {BatchFixture} from "./BatchFixture.sol";

/// @notice Leaves become claims, or wait.
contract OpenLeafTest is BatchFixture {
    function test_openLeaf_default_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        Filed memory f = _openLeaf(batch, payloads, 4, alice);
        _assertStake(9 ether, 0, 0.5 ether, 0.5 ether);
        assertEq(f.r.inputHash, keccak256(_input(_text(4))));
        assertEq(f.c.outputHash, keccak256(_right(_text(4))));
        BatchState memory b = _state(batch);
        assertEq(b.open, 1);
        assertEq(b.idle, 1);
        assertEq(promises.leafState(_idOf(batch), 4).opener, alice);
        assertEq(promises.leafState(_idOf(batch), 4).deposit, D);
    }

    /// @dev A base fee ten times as high between post and open: the slot gives its B, the stake the rest.
    function test_openLeaf_baseFee_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        uint256 gasPrice = 200 gwei;
        vm.fee(gasPrice / 5);
        uint256 bond = _least(gasPrice);
        assertGt(bond, BOND_OF_BATCH);
        Filed memory f = _openLeaf(batch, payloads, 0, alice);
        assertEq(f.c.bond, bond);
        _assertStake(9 ether - (bond - BOND_OF_BATCH), 0, bond, BOND_OF_BATCH);
        _stood(f);
        _assertStake(9 ether + bond / 20, 0, 0, 2 * uint256(BOND_OF_BATCH));
    }

    function test_openLeaf_deposit_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        uint256[5] memory factor = [uint256(1), 1, 2, 2, 3];
        for (uint256 i; i < COUNT; i++) {
            (, uint256 required) = promises.leafBonds(batch);
            assertEq(required, factor[i] * D);
            bytes32[] memory path = _path(payloads, i);
            vm.expectRevert(
                abi.encodeWithSelector(IPromisesErrors.DepositTooLow.selector, required - 1, required)
            );
            promises.openLeaf{value: required - 1}(batch, i, payloads[i], path);
            _openLeaf(batch, payloads, i, alice);
        }
        // Two by slots, three by free stake.
        _assertStake(7.5 ether, 0, 2.5 ether, 0);
    }

    function test_openLeaf_queues_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        vm.prank(prover);
        promises.announceExit(9 ether);
        skip(1);
        _openLeaf(batch, payloads, 0, alice);
        _openLeaf(batch, payloads, 1, alice);
        // Leaving stake backs a leaf as well; then there is none.
        SignedClaim memory s = _promise(_text(0), _right(_text(0)));
        s.minBond = 9 ether;
        _open(s, _text(0), _right(_text(0)), alice);
        bytes32[] memory path = _path(payloads, 2);
        vm.expectEmit(address(promises));
        emit IPromises.LeafQueued(_idOf(batch), 2, bob, uint96(2 * D), payloads[2]);
        vm.prank(bob);
        promises.openLeaf{value: 2 * D}(batch, 2, payloads[2], path);
        assertTrue(leaves.leafStatus(_idOf(batch), 2) == PromiseStatus.QUEUED);
        assertEq(_state(batch).open, 3);
        assertEq(promises.firstQueuedLeaf(_idOf(batch)), 2);
    }

    /// @dev Opening two leaves in a block: the second pays as the second.
    function test_openLeaf_byBatchOrder_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        vm.prank(prover);
        promises.announceExit(9 ether);
        SignedClaim memory s = _promise(_text(0), _right(_text(0)));
        s.minBond = 9 ether;
        _open(s, _text(0), _right(_text(0)), alice);
        Filed memory f = _openLeaf(batch, payloads, 0, alice);
        _openLeaf(batch, payloads, 1, alice);
        _openLeaf(batch, payloads, 2, alice);
        _openLeaf(batch, payloads, 3, alice);
        _stood(f);
        // A slot is idle, but leaf 2 is before.
        assertEq(_state(batch).idle, 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IPromisesErrors.LeafNotFirst.selector, keccak256(payloads[3]), keccak256(payloads[2])
            )
        );
        promises.nextLeaf(batch, payloads[3]);
        _nextLeaf(batch, payloads[2]);
        assertEq(promises.firstQueuedLeaf(_idOf(batch)), 3);
    }

    function _openRefused(
        Batch memory batch,
        uint256 i,
        bytes memory payload,
        bytes32[] memory path,
        bytes memory why
    ) private {
        vm.expectRevert(why);
        promises.openLeaf{value: 1 ether}(batch, i, payload, path);
    }

    function test_openLeaf_unknownBatch_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        batch.window += 1;
        _openRefused(
            batch,
            0,
            payloads[0],
            _path(payloads, 0),
            abi.encodeWithSelector(IPromisesErrors.UnknownBatch.selector, _idOf(batch))
        );
    }

    function test_openLeaf_twice_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        Filed memory f = _openLeaf(batch, payloads, 0, alice);
        bytes memory why = abi.encodeWithSelector(IPromisesErrors.LeafAlreadyOpened.selector, _idOf(batch), 0);
        _openRefused(batch, 0, payloads[0], _path(payloads, 0), why);
        _stood(f);
        assertTrue(leaves.leafStatus(_idOf(batch), 0) == PromiseStatus.CLOSED);
        _openRefused(batch, 0, payloads[0], _path(payloads, 0), why);
    }

    function test_openLeaf_lastSecond_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(0);
        skip(W0 - 1);
        _openLeaf(batch, payloads, 0, alice);
        skip(1);
        _openRefused(
            batch,
            1,
            payloads[1],
            _path(payloads, 1),
            abi.encodeWithSelector(IAssayErrors.WindowEnded.selector, block.timestamp, block.timestamp)
        );
        // Opened in the last second, it keeps the batch from being final.
        assertFalse(leaves.isBatchFinal(_idOf(batch)));
    }

    /// @dev What fell stays fallen; its other leaves are opened on, and only the prover can lose by it.
    function test_openLeaf_fallen_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(0);
        Filed memory f = _openLeaf(batch, payloads, 0, alice);
        _fell(f);
        promises.close(f.r, f.c);
        _stood(_openLeaf(batch, payloads, 1, alice));
        assertTrue(_state(batch).fallen);
        assertFalse(leaves.isBatchFinal(_idOf(batch)));
        _assertStake(9.5 ether + D / 2, 0, 0, 0);
    }

    function test_openLeaf_path_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        bytes32[] memory path = _path(payloads, 1);
        _openRefused(
            batch,
            COUNT,
            payloads[1],
            path,
            abi.encodeWithSelector(IPromisesErrors.LeafOutside.selector, COUNT, COUNT)
        );
        _openRefused(
            batch,
            1,
            payloads[1],
            new bytes32[](2),
            abi.encodeWithSelector(IPromisesErrors.PathLengthWrong.selector, 2, 3)
        );
        // Under another index.
        vm.expectPartialRevert(IPromisesErrors.RootMismatch.selector);
        promises.openLeaf{value: 1 ether}(batch, 0, payloads[1], path);
        path[2] ^= bytes32(uint256(1));
        vm.expectPartialRevert(IPromisesErrors.RootMismatch.selector);
        promises.openLeaf{value: 1 ether}(batch, 1, payloads[1], path);
    }
}
