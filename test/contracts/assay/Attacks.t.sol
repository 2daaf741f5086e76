// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    LANE_BOND,
    LANE_EXECUTION,
    LANE_PROOF,
    Request,
    RequestId
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

/// @notice Plans of attackers that need several moves. Attacks on one move are with that move's tests, those with
/// data are in Disputes.t.sol; docs/INVARIANTS.md lists where each attack is tested.
contract AttacksTest is AssayFixture {
    /// @dev The cheat's own ticket asks, in its last second, for what the honest one needs next: that spares the
    /// honest one a demand and costs it no time.
    function test_demand_sybilLastSecond_succeeds() public {
        (, Claim memory c) = _filedAndClaimed(_wrong());
        vm.warp(_field(c, 0, 40) - 1);
        _challenge(c, bob);
        _challenge(c, alice);
        skip(T);
        _commit(c);
        for (uint64 i; i < DEPTH; i++) {
            skip(T);
            _demand(c, bob, i);
            vm.expectRevert(
                abi.encodeWithSelector(IAssayErrors.AlreadyDemanded.selector, i, block.timestamp + T)
            );
            vm.prank(alice);
            assay.demand(c, ROOT, i);
            skip(T);
            _reveal(c, i);
        }
        skip(T);
        _convict(c);
        assertEq(_claimState(c), 3);
        (, uint8 used,) = assay.ticketOf(_id(c), alice);
        assertEq(used, 0);
    }

    /// @dev A sybil ticket that spends its demands on chaff takes none of the honest ticket's.
    function test_demand_sybilChaff_succeeds() public {
        (, Claim memory c) = _filedAndClaimed(_wrong());
        _challenge(c, bob);
        _challenge(c, alice);
        _commit(c);
        for (uint64 i; i < DEPTH; i++) {
            _demand(c, bob, 500 + i);
        }
        for (uint64 i; i < DEPTH; i++) {
            _demand(c, alice, i);
            _reveal(c, i);
        }
        _convict(c);
        assertEq(_claimState(c), 3);
    }

    /// @dev A challenge in the last second still has its full time.
    function test_challenge_lastSecond_succeeds() public {
        (, Claim memory c) = _filedAndClaimed(_wrong());
        vm.warp(_field(c, 0, 40) - 1);
        _challenge(c, alice);
        skip(T);
        _commit(c);
        for (uint64 i; i < DEPTH; i++) {
            skip(T);
            _demand(c, alice, i);
            skip(T);
            _reveal(c, i);
        }
        skip(T);
        assertEq(block.timestamp + 1, _field(c, 80, 40));
        _convict(c);
        assertEq(_claimState(c), 3);
    }

    /// @dev A cheat that convicts itself by its own ticket loses half of its bond, and an honest ticket gets its share.
    function test_convict_bySybil_succeeds() public {
        Request memory r = _newRequest();
        _file(r);
        uint256 before = prover.balance + bob.balance;
        Claim memory c = _claim(r, prover, _wrong());
        _challenge(c, bob);
        _challenge(c, alice);
        _commit(c);
        vm.prank(bob);
        _convict(c);
        assay.collect(c, alice);
        assay.collect(c, bob);
        vm.prank(bob);
        assay.withdraw(bob);
        assertEq(
            before - prover.balance - bob.balance,
            c.bond - c.bond / 2 / 2,
            "of the bond, a quarter comes back"
        );
        assertEq(assay.credits(alice), c.ticketBond + c.bond / 2 / 2);
    }

    /// @dev Without any honest ticket, disputing oneself still burns half.
    function test_convict_alone_succeeds() public {
        Request memory r = _newRequest();
        _file(r);
        uint256 before = prover.balance + bob.balance;
        Claim memory c = _claim(r, prover, _wrong());
        _challenge(c, bob);
        skip(T + 1);
        assay.timeoutTrace(c);
        assay.collect(c, bob);
        vm.prank(bob);
        assay.withdraw(bob);
        assertEq(before - prover.balance - bob.balance, c.bond - c.bond / 2);
    }

    /// @dev The trace never comes and nobody is awake: whoever wakes up first ends it, always the same way.
    function test_timeout_bothSidesLate_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        _challenge(c, alice);
        skip(365 days);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.DeadlinePassed.selector, block.timestamp, _field(c, 120, 40))
        );
        vm.prank(prover);
        assay.commitTrace(c, _one(ROOT));
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, _field(c, 0, 40), 1)
        );
        assay.finalize(r, c);
        assay.timeoutTrace(c);
        assertEq(_claimState(c), 3);
    }

    function test_timeout_bothSidesLateOnDemand_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        _demand(c, alice, 4);
        skip(365 days);
        uint256 deadline = block.timestamp - 365 days + T;
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.DeadlinePassed.selector, block.timestamp, deadline)
        );
        _reveal(c, 4);
        // Truth may still come, and a conviction: the claim is not final.
        assertFalse(assay.isFinal(_id(c)));
        uint256 state = vm.snapshotState();
        _convict(c);
        vm.revertToState(state);
        _settleExecution(r, c, stranger, _right());
        assertEq(_claimState(c), 3);
    }

    /// @dev Copying a conviction from the pool changes nobody's money, and the original fails without harm.
    function test_convict_copied_succeeds() public {
        (, Claim memory c) = _disputed();
        _challenge(c, bob);
        uint256 state = vm.snapshotState();
        uint256[2] memory honest;
        for (uint256 i; i < 2; i++) {
            vm.prank(i == 0 ? alice : stranger);
            _convict(c);
            vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 3));
            vm.prank(i == 0 ? stranger : alice);
            _convict(c);
            assay.collect(c, alice);
            honest[i] = assay.credits(alice);
            assertEq(assay.credits(stranger), 0);
            vm.revertToState(state);
            state = vm.snapshotState();
        }
        assertEq(honest[0], honest[1]);
    }

    /// @dev In the last second before finality a conviction or a proof wins; from that second on neither.
    function test_finalize_sameSecond_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        uint256 finalAt = _field(c, 0, 40);
        execution.setRight(MODEL, _input(), _right());
        proof.setRight(MODEL, _input(), _right());
        bytes memory evidence = proof.evidenceFor(stranger);
        for (uint256 order; order < 3; order++) {
            uint256 state = vm.snapshotState();
            vm.warp(finalAt);
            bytes memory closed = abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, _id(c), finalAt);
            if (order == 0) assay.finalize(r, c);
            if (order == 0) closed = abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 2);
            vm.expectRevert(closed);
            _convict(c);
            if (order == 0) {
                closed = abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, c.requestId, 3);
            }
            vm.expectRevert(closed);
            vm.prank(stranger);
            assay.settle(r, c, LANE_PROOF, _input(), _right(), evidence);
            if (order != 0) assay.finalize(r, c);
            assertEq(_claimState(c), 2);
            vm.revertToState(state);
            state = vm.snapshotState();
            vm.warp(finalAt - 1);
            if (order == 1) _convict(c);
            vm.prank(stranger);
            assay.settle(r, c, LANE_PROOF, _input(), _right(), evidence);
            assertEq(_claimState(c), 3);
            vm.revertToState(state);
        }
    }

    /// @dev The operator's key answers; it cannot take the bond, nor keep the prover from answering.
    function test_commitTrace_operatorAndProver_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        _challenge(c, alice);
        vm.prank(operator);
        assay.commitTrace(c, _one(ROOT));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TraceAlreadyCommitted.selector, _id(c), ROOT));
        _commit(c);
        _demand(c, alice, 1);
        vm.prank(operator);
        assay.reveal(c, 1, _one(ROOT), new bytes32[](0));
        skip(WINDOW);
        vm.prank(operator);
        assay.finalize(r, c);
        assertEq(assay.credits(operator), 0);
        assertGt(assay.credits(prover), c.bond);
    }

    /// @dev Without an operator named, the zero address is nobody's way in.
    function test_commitTrace_zeroOperator_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        Claim memory c = _claimOf(r, prover, _right());
        c.operator = address(0);
        vm.prank(prover);
        assay.claim{value: c.bond}(r, address(0), FLOOR, _right());
        _challenge(c, alice);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotProver.selector, alice, prover, address(0)));
        vm.prank(alice);
        assay.commitTrace(c, _one(ROOT));
    }

    /// @dev A squatter who claims garbage again and again keeps the fee where it was, and pays twice as much each time.
    function test_claim_squatting_succeeds() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        uint256 lost;
        uint256 last;
        for (uint256 i; i < 4; i++) {
            Claim memory c = _claim(r, stranger, _wrong());
            assertGe(c.bond, 2 * last);
            last = c.bond;
            lost += c.bond;
            _challenge(c, alice);
            _commit(c);
            _convict(c);
        }
        assertEq(assay.credits(stranger), 0);
        assertEq(lost, last * 15 / 8);
        Claim memory honest = _claim(r, prover, _right());
        skip(WINDOW);
        assay.finalize(r, honest);
        assertEq(assay.credits(prover), uint256(honest.bond) + FEE);
        assertEq(RequestId.unwrap(id), RequestId.unwrap(honest.requestId));
    }

    /// @dev Two requests that differ in anything have nothing in common, whatever claims move between them.
    function test_settle_otherRequestsMoney_reverts() public {
        (Request memory cheap,) = _filedAndClaimed(_wrong());
        Request memory rich = _newRequest();
        (rich.fee, rich.salt) = (100 * FEE, 9);
        _file(rich);
        Claim memory other = _claim(rich, alice, _right());
        execution.setRight(MODEL, _input(), _right());
        bytes memory evidence = execution.evidenceFor(stranger);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.WrongClaim.selector, other.requestId, assay.requestIdOf(cheap)
            )
        );
        vm.prank(stranger);
        assay.settle(cheap, other, 1, _input(), _right(), evidence);
    }

    /// @dev Somebody reads the output of a pending settlement and claims it first. The settlement reverts and moves
    /// nothing; the claim's bond stood for the right output, its prover takes the fee, and the result is the same.
    function test_settle_overtakenByClaim_succeeds() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        Claim memory c = _claim(r, bob, _right());
        execution.setRight(MODEL, _input(), _right());
        bytes memory evidence = execution.evidenceFor(stranger);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.WrongClaim.selector, bytes32(0), id));
        vm.prank(stranger);
        assay.settle(r, _noClaim(), LANE_EXECUTION, _input(), _right(), evidence);
        assertEq(assay.credits(stranger), 0);
        _settleExecution(r, c, stranger, _right());
        assertEq(_requestState(r), 3);
        assertEq(assay.credits(bob), uint256(c.bond) + FEE);
        assertEq(assay.credits(stranger), 0);
        assay.requireFinal(r, c, _right(), _policy(r));
    }

    /// @dev If he claims another output instead, truth takes half of his bond.
    function test_settle_overtakenByWrongClaim_succeeds() public {
        Request memory r = _newRequest();
        _file(r);
        Claim memory c = _claim(r, bob, _wrong());
        _settleExecution(r, c, stranger, _right());
        assertEq(assay.credits(stranger), uint256(FEE) + c.bond / 2);
        assertEq(assay.credits(bob), 0);
    }

    /// @dev Nobody can claim before the requester's exclusive prover, nor where the bond lane is not accepted: a
    /// settlement in that time, or of such a request, cannot be overtaken.
    function test_claim_overtakingSettlement_reverts() public {
        Request memory r = _newRequest();
        (r.exclusiveProver, r.exclusiveUntil) = (stranger, uint40(block.timestamp + 600));
        _file(r);
        vm.deal(bob, 1_000 ether);
        (uint96 bond,) = assay.bondsOf(r, FLOOR);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.NotExclusiveProver.selector, bob, stranger, uint256(r.exclusiveUntil)
            )
        );
        vm.prank(bob);
        assay.claim{value: bond}(r, address(0), FLOOR, _right());
        r.lanes = LANE_EXECUTION | LANE_PROOF;
        _file(r);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, LANE_BOND, r.lanes));
        vm.prank(bob);
        assay.claim{value: bond}(r, address(0), FLOOR, _right());
        _settleExecution(r, _noClaim(), stranger, _right());
        assertEq(assay.credits(stranger), FEE);
    }
}
