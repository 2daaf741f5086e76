// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Claim} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

/// @notice challenge, commitTrace, demand and reveal: who, when, how often.
contract InterrogationTest is AssayFixture {
    Claim internal c;

    function setUp() public override {
        super.setUp();
        (, c) = _filedAndClaimed(_wrong());
    }

    // challenge

    function test_challenge_first_succeeds() public {
        uint40 now_ = uint40(block.timestamp);
        vm.expectEmit(address(assay));
        emit IAssay.Challenged(_id(c), alice, now_ + T, uint40(now_ + L));
        _challenge(c, alice);
        assertEq(_field(c, 40, 40), 0, "lastEvent");
        assertEq(_field(c, 80, 40), now_ + L, "hardEnd");
        assertEq(_field(c, 120, 40), now_ + T, "traceDeadline");
        assertEq(_field(c, 160, 32), 1, "tickets");
        assertEq(_field(c, 192, 32), 1, "pending");
    }

    function test_challenge_secondBeforeTrace_succeeds() public {
        _challenge(c, alice);
        uint256 deadline = _field(c, 120, 40);
        skip(7);
        _challenge(c, bob);
        assertEq(_field(c, 40, 40), 0, "lastEvent");
        assertEq(_field(c, 80, 40), block.timestamp + L, "hardEnd");
        assertEq(_field(c, 120, 40), deadline, "traceDeadline");
        assertEq(_field(c, 160, 32), 2, "tickets");
        assertEq(_field(c, 192, 32), 1, "pending");
    }

    function test_challenge_afterTrace_succeeds() public {
        _challenge(c, alice);
        _commit(c);
        skip(7);
        _challenge(c, bob);
        assertEq(_field(c, 40, 40), block.timestamp, "lastEvent");
        assertEq(_field(c, 192, 32), 0, "pending");
    }

    function test_challenge_window_reverts() public {
        uint256 end = _field(c, 0, 40);
        vm.warp(end - 1);
        _challenge(c, alice);
        vm.warp(end);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.WindowEnded.selector, end, end));
        vm.prank(bob);
        assay.challenge{value: c.ticketBond}(c);
    }

    function test_challenge_final_reverts() public {
        uint256 end = _field(c, 0, 40);
        vm.warp(end);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, _id(c), end));
        vm.prank(bob);
        assay.challenge{value: c.ticketBond}(c);
    }

    function test_challenge_twiceByOne_reverts() public {
        _challenge(c, alice);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyHolding.selector, _id(c), alice));
        vm.prank(alice);
        assay.challenge{value: c.ticketBond}(c);
    }

    function testFuzz_challenge_wrongValue_reverts(uint256 value) public {
        value = bound(value, 0, 900 ether);
        vm.assume(value != c.ticketBond);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ValueWrong.selector, value, uint256(c.ticketBond))
        );
        vm.prank(alice);
        assay.challenge{value: value}(c);
    }

    /// @dev What a re-org does: the claim that a challenger saw is gone, another one stands in its place.
    function test_challenge_claimSwapped_reverts() public {
        Claim memory other = c;
        other.outputHash = keccak256(_right());
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(other), 0));
        vm.prank(alice);
        assay.challenge{value: c.ticketBond}(other);
    }

    // commitTrace

    function test_commitTrace_byProverOrOperator_succeeds() public {
        _challenge(c, alice);
        uint256 state = vm.snapshotState();
        skip(3);
        vm.expectEmit(address(assay));
        emit IAssay.TraceCommitted(_id(c), ROOT, _one(ROOT));
        _commit(c);
        assertEq(_field(c, 40, 40), block.timestamp, "lastEvent");
        assertEq(_field(c, 192, 32), 0, "pending");
        assertEq(assay.traceRootOf(_id(c)), ROOT);
        vm.revertToState(state);
        vm.prank(operator);
        assay.commitTrace(c, _one(ROOT));
    }

    function test_commitTrace_byStranger_reverts() public {
        _challenge(c, alice);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotProver.selector, alice, prover, operator));
        vm.prank(alice);
        assay.commitTrace(c, _one(ROOT));
    }

    function test_commitTrace_unchallenged_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotChallenged.selector, _id(c)));
        vm.prank(prover);
        assay.commitTrace(c, _one(ROOT));
    }

    function test_commitTrace_twice_reverts() public {
        _challenge(c, alice);
        _commit(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TraceAlreadyCommitted.selector, _id(c), ROOT));
        vm.prank(prover);
        assay.commitTrace(c, _one(keccak256("another")));
    }

    /// @dev Else the prover could commit again, and pay one owed answer twice.
    function test_commitTrace_zeroRoot_reverts() public {
        _challenge(c, alice);
        vm.expectRevert(IAssayErrors.EmptyTrace.selector);
        vm.prank(prover);
        assay.commitTrace(c, _one(0));
    }

    function test_commitTrace_deadline_reverts() public {
        _challenge(c, alice);
        uint256 deadline = block.timestamp + T;
        uint256 state = vm.snapshotState();
        vm.warp(deadline);
        _commit(c);
        vm.revertToState(state);
        vm.warp(deadline + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.DeadlinePassed.selector, deadline + 1, deadline));
        vm.prank(prover);
        assay.commitTrace(c, _one(ROOT));
    }

    // demand

    function test_demand_valid_succeeds() public {
        _challenge(c, alice);
        _commit(c);
        uint256 lastEvent = _field(c, 40, 40);
        skip(5);
        vm.expectEmit(address(assay));
        emit IAssay.Demanded(_id(c), alice, 7, uint40(block.timestamp + T));
        _demand(c, alice, 7);
        (uint40 deadline, bool answered) = assay.demandOf(_id(c), 7);
        assertEq(deadline, block.timestamp + T);
        assertFalse(answered);
        (bool held, uint8 demands, bool collected) = assay.ticketOf(_id(c), alice);
        assertTrue(held && !collected);
        assertEq(demands, 1);
        assertEq(_field(c, 40, 40), lastEvent, "a demand gives its sender no time");
        assertEq(_field(c, 192, 32), 1, "pending");
    }

    function test_demand_withoutTicket_reverts() public {
        _challenge(c, alice);
        _commit(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TicketMissing.selector, _id(c), bob));
        vm.prank(bob);
        assay.demand(c, ROOT, 1);
    }

    function test_demand_withoutTrace_reverts() public {
        _challenge(c, alice);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TraceMissing.selector, _id(c)));
        vm.prank(alice);
        assay.demand(c, 0, 1);
    }

    /// @dev What a re-org does: the prover commits another trace under a demand that is on its way.
    function test_demand_traceSwapped_reverts() public {
        _challenge(c, alice);
        _commit(c);
        bytes32 other = keccak256("the trace before the re-org");
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TraceMismatch.selector, other, ROOT));
        vm.prank(alice);
        assay.demand(c, other, 1);
    }

    function test_demand_quotaIsPerTicket_reverts() public {
        _challenge(c, alice);
        _challenge(c, bob);
        _commit(c);
        for (uint64 i; i < DEPTH; i++) {
            _demand(c, alice, i);
        }
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.QuotaUsed.selector, uint256(DEPTH)));
        vm.prank(alice);
        assay.demand(c, ROOT, 90);
        for (uint64 i; i < DEPTH; i++) {
            _demand(c, bob, 100 + i);
        }
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.QuotaUsed.selector, uint256(DEPTH)));
        vm.prank(bob);
        assay.demand(c, ROOT, 90);
    }

    function test_demand_outsideShape_reverts() public {
        _challenge(c, alice);
        _commit(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.PositionOutside.selector, 1000));
        vm.prank(alice);
        assay.demand(c, ROOT, 1000);
    }

    function test_demand_again_reverts() public {
        _challenge(c, alice);
        _challenge(c, bob);
        _commit(c);
        _demand(c, alice, 7);
        uint256 deadline = block.timestamp + T;
        bytes memory why = abi.encodeWithSelector(IAssayErrors.AlreadyDemanded.selector, 7, deadline);
        vm.expectRevert(why);
        vm.prank(bob);
        assay.demand(c, ROOT, 7);
        _reveal(c, 7);
        vm.expectRevert(why);
        vm.prank(bob);
        assay.demand(c, ROOT, 7);
    }

    function test_demand_lastSecond_reverts() public {
        vm.warp(_field(c, 0, 40) - 1);
        _challenge(c, alice);
        uint256 hardEnd = block.timestamp + L;
        skip(T);
        _commit(c);
        // Keep the claim open: each answer moves lastEvent.
        for (uint64 i; i < DEPTH - 1; i++) {
            skip(T);
            _demand(c, alice, i);
            skip(T);
            _reveal(c, i);
        }
        uint256 last = hardEnd - 2 * T - 1;
        uint256 state = vm.snapshotState();
        vm.warp(last);
        _demand(c, alice, 50);
        vm.revertToState(state);
        vm.warp(last);
        _challengeStillOpen();
        vm.warp(last + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, _id(c), last + 1));
        vm.prank(alice);
        assay.demand(c, ROOT, 50);
    }

    function _challengeStillOpen() private view {
        assertFalse(assay.isFinal(_id(c)), "an owner has T after each answer");
    }

    /// @dev With another demand owed the claim stays open past the last second for demands.
    function test_demand_tooLateWhileOwed_reverts() public {
        _challenge(c, alice);
        uint256 last = block.timestamp + L - 2 * T - 1;
        _commit(c);
        vm.warp(last);
        _demand(c, alice, 1);
        vm.warp(last + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.DemandTooLate.selector, last + 1, last));
        vm.prank(alice);
        assay.demand(c, ROOT, 2);
    }

    // reveal

    function test_reveal_byAnybody_succeeds() public {
        _challenge(c, alice);
        _commit(c);
        _demand(c, alice, 7);
        skip(9);
        vm.expectEmit(address(assay));
        emit IAssay.Revealed(_id(c), 7, _one(ROOT));
        vm.prank(stranger);
        assay.reveal(c, 7, _one(ROOT), new bytes32[](0));
        (, bool answered) = assay.demandOf(_id(c), 7);
        assertTrue(answered);
        assertEq(_field(c, 40, 40), block.timestamp, "lastEvent");
        assertEq(_field(c, 192, 32), 0, "pending");
    }

    function test_reveal_undemanded_reverts() public {
        _challenge(c, alice);
        _commit(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotDemanded.selector, 7));
        _reveal(c, 7);
    }

    function test_reveal_twice_reverts() public {
        _challenge(c, alice);
        _commit(c);
        _demand(c, alice, 7);
        _reveal(c, 7);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyAnswered.selector, 7));
        _reveal(c, 7);
    }

    function test_reveal_deadline_reverts() public {
        _challenge(c, alice);
        _commit(c);
        _demand(c, alice, 7);
        uint256 deadline = block.timestamp + T;
        uint256 state = vm.snapshotState();
        vm.warp(deadline);
        _reveal(c, 7);
        vm.revertToState(state);
        vm.warp(deadline + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.DeadlinePassed.selector, deadline + 1, deadline));
        _reveal(c, 7);
    }

    function test_reveal_otherRoot_reverts() public {
        _challenge(c, alice);
        _commit(c);
        _demand(c, alice, 7);
        bytes32 other = keccak256("garbage");
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TraceMismatch.selector, other, ROOT));
        assay.reveal(c, 7, _one(other), new bytes32[](0));
    }
}
