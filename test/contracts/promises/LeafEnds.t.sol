// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {Batch, PromiseStatus, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {BatchFixture} from "./BatchFixture.sol";

/// @notice Leaves that wait, batches that fall, and slots that come back.
contract LeafEndsTest is BatchFixture {
    function test_nextLeaf_none_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.NoLeafQueued.selector, _idOf(batch)));
        promises.nextLeaf(batch, payloads[0]);
    }

    function _leafWaits() private returns (Batch memory batch, bytes[] memory payloads, Filed memory f) {
        (batch, payloads) = _posted(0);
        SignedClaim memory s = _promise(_text(9), _right(_text(9)));
        s.minBond = 9 ether;
        _open(s, _text(9), _right(_text(9)), alice);
        f = _openLeaf(batch, payloads, 0, alice);
        _openLeaf(batch, payloads, 1, alice);
        _openLeaf(batch, payloads, 2, bob);
        assertTrue(leaves.leafStatus(_idOf(batch), 2) == PromiseStatus.QUEUED);
    }

    function test_nextLeaf_stake_reverts() public {
        (Batch memory batch, bytes[] memory payloads,) = _leafWaits();
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.StakeTooLow.selector, 0, uint256(BOND_OF_BATCH))
        );
        promises.nextLeaf(batch, payloads[2]);
    }

    function test_nextLeaf_default_succeeds() public {
        (Batch memory batch, bytes[] memory payloads,) = _leafWaits();
        promises.deposit{value: 0.5 ether}(prover);
        Filed memory f = _nextLeaf(batch, payloads[2]);
        assertTrue(leaves.leafStatus(_idOf(batch), 2) == PromiseStatus.OPEN);
        _stood(f);
        // It had no slot: its bond is free again, with half of the second deposit.
        assertEq(_account().free, BOND_OF_BATCH + D);
        assertEq(_state(batch).idle, 0);
    }

    function test_dropLeaf_default_succeeds() public {
        (Batch memory batch,, Filed memory f) = _leafWaits();
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.BatchNotFallen.selector, _idOf(batch)));
        promises.dropLeaf(batch);
        _fell(f);
        promises.close(f.r, f.c);
        promises.dropLeaf(batch);
        assertEq(promises.credits(bob), 2 * D);
        assertEq(_state(batch).open, 1);
        assertTrue(leaves.leafStatus(_idOf(batch), 2) == PromiseStatus.CLOSED);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.NoLeafQueued.selector, _idOf(batch)));
        promises.dropLeaf(batch);
    }

    function test_release_final_succeeds() public {
        (Batch memory batch,) = _posted(COUNT);
        vm.expectRevert(
            abi.encodeWithSelector(
                IPromisesErrors.BatchNotEnded.selector, _idOf(batch), block.timestamp + W0, 0
            )
        );
        promises.release(batch);
        skip(W0);
        promises.release(batch);
        _assertStake(10 ether, 0, 0, 0);
        promises.release(batch);
        _assertStake(10 ether, 0, 0, 0);
    }

    /// @dev A leaf that was opened keeps both slots, also after the window.
    function test_release_open_reverts() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        Filed memory f = _openLeaf(batch, payloads, 0, alice);
        uint256 windowEnd = _state(batch).windowEnd;
        skip(W0);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.BatchNotEnded.selector, _idOf(batch), windowEnd, 1)
        );
        promises.release(batch);
        promises.close(f.r, f.c);
        promises.release(batch);
        _assertStake(10 ether + D / 2, 0, 0, 0);
    }

    /// @dev One slot fell, the idle one is given back; a claim that stands later brings its slot to free stake.
    function test_release_fallen_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(0);
        Filed memory wrong = _openLeaf(batch, payloads, 0, alice);
        Filed memory right = _openLeaf(batch, payloads, 1, alice);
        _fell(wrong);
        promises.close(wrong.r, wrong.c);
        assertEq(promises.credits(alice), D);
        promises.release(batch);
        _assertStake(9 ether, 0, 0.5 ether, 0);
        _stood(right);
        _assertStake(9.5 ether + D / 2, 0, 0, 0);
        assertEq(_state(batch).idle, 0);
        assertEq(_state(batch).open, 0);
        assertFalse(leaves.isBatchFinal(_idOf(batch)));
    }
}
