// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {FinalOutputEvaluator} from "../../../../verifier-contracts/examples/escrow/FinalOutputEvaluator.sol";
import {IErc8183} from "../../../../verifier-contracts/examples/escrow/IErc8183.sol";
import {LocalToken} from "../../../../verifier-contracts/examples/trading/LocalToken.sol";
import {IAssayErrors} from "../../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    ClaimId,
    LANE_EXECUTION,
    LANE_PROOF,
    ModelId,
    Policy,
    Request
} from "../../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../../support/assay/AssayFixture.sol";
import {TestEscrow} from "./TestEscrow.sol";

/// @dev ERC-8183: alice is the client, `requester` the provider, who files the request of the job.
contract FinalOutputEvaluatorTest is AssayFixture {
    uint256 private constant BUDGET = 5_000;

    FinalOutputEvaluator private evaluator;
    TestEscrow private escrow;
    LocalToken private token;
    uint256 private jobId;
    uint256 private expiredAt;

    function setUp() public override {
        super.setUp();
        evaluator = new FinalOutputEvaluator(assay);
        token = new LocalToken("Local Dollar", "LUSD", alice, 10 * BUDGET);
        escrow = new TestEscrow(token);
        expiredAt = block.timestamp + 10 * WINDOW;
        jobId = _submittedJob(string.concat("The forecast of today. ", evaluator.termsText(_terms())));
    }

    function test_complete_finalClaim_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        vm.expectEmit(address(escrow));
        emit TestEscrow.JobCompleted(jobId, address(evaluator), keccak256(_right()));
        vm.prank(stranger);
        evaluator.complete(escrow, jobId, _terms(), r, c, _right());
        assertEq(token.balanceOf(requester), BUDGET);
        vm.expectRevert(abi.encodeWithSelector(TestEscrow.WrongStatus.selector, IErc8183.JobStatus.Completed));
        evaluator.complete(escrow, jobId, _terms(), r, c, _right());
    }

    function test_complete_truthWithoutClaim_succeeds() public {
        Request memory r = _newRequest();
        _file(r);
        Claim memory none;
        _settleRight(r, none);
        evaluator.complete(escrow, jobId, _terms(), r, none, _right());
        assertEq(token.balanceOf(requester), BUDGET);
    }

    function test_complete_pendingClaim_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        uint256 finalAt = block.timestamp + WINDOW;
        skip(WINDOW - 1);
        vm.expectRevert(_notFinal(c, 1, finalAt));
        evaluator.complete(escrow, jobId, _terms(), r, c, _right());
        _assertHeld();
    }

    /// @dev Attack: a wrong output, which the provider claims himself and which falls.
    function test_complete_fallenClaim_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        _settleRight(r, c);
        skip(WINDOW);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), keccak256(_right())
            )
        );
        evaluator.complete(escrow, jobId, _terms(), r, c, _wrong());
        _assertHeld();
        // The right output is final: the provider asked for it, and is paid.
        Claim memory none;
        evaluator.complete(escrow, jobId, _terms(), r, none, _right());
        assertEq(token.balanceOf(requester), BUDGET);
    }

    /// @dev Attack: terms that the client did not agree to, one field at a time.
    function test_complete_otherTerms_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        Policy[5] memory others = [_terms(), _terms(), _terms(), _terms(), _terms()];
        others[0].modelId = ModelId.wrap(keccak256("cheap model"));
        others[1].inputHash = keccak256("easy input");
        others[2].lanes = LANE_EXECUTION | LANE_PROOF;
        others[3].minBond -= 1;
        others[4].minWindow -= 1;
        for (uint256 i; i < others.length; ++i) {
            string memory text = evaluator.termsText(others[i]);
            vm.expectRevert(abi.encodeWithSelector(FinalOutputEvaluator.TermsOther.selector, jobId, text));
            evaluator.complete(escrow, jobId, others[i], r, c, _right());
        }
        _assertHeld();
    }

    /// @dev Attack: terms stand in the description, and others at its end; or it ends too early.
    function test_complete_termsNotAtTheEnd_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        string memory text = evaluator.termsText(_terms());
        string[3] memory descriptions = [string.concat(text, " "), "", "0x"];
        for (uint256 i; i < descriptions.length; ++i) {
            uint256 other = _submittedJob(descriptions[i]);
            vm.expectRevert(abi.encodeWithSelector(FinalOutputEvaluator.TermsOther.selector, other, text));
            evaluator.complete(escrow, other, _terms(), r, c, _right());
        }
    }

    /// @dev Attack: the provider lets another pay for the request and takes its output to the client.
    function test_complete_requestOfAnother_reverts() public {
        Request memory r = _newRequest();
        r.requester = bob;
        _file(r);
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW);
        vm.expectRevert(abi.encodeWithSelector(FinalOutputEvaluator.RequesterOther.selector, bob, requester));
        evaluator.complete(escrow, jobId, _terms(), r, c, _right());
        // Nor by saying that it was his: the request's id is the hash of what was filed.
        r.requester = requester;
        bytes memory unknown =
            abi.encodeWithSelector(IAssayErrors.RequestNotDone.selector, assay.requestIdOf(r), 0);
        vm.expectRevert(unknown);
        evaluator.complete(escrow, jobId, _terms(), r, c, _right());
        _assertHeld();
    }

    /// @dev Attack: around the evaluator.
    function test_complete_notEvaluator_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(TestEscrow.Unauthorized.selector, requester));
        vm.prank(requester);
        escrow.complete(jobId, 0, "");
    }

    /// @dev Attack: a client who disputes to gain time cannot take back what is final in time; one who is refunded
    /// because nobody completed the job in time is not charged afterwards.
    function test_complete_afterRefund_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.warp(expiredAt - 1);
        vm.expectRevert(abi.encodeWithSelector(TestEscrow.WrongStatus.selector, IErc8183.JobStatus.Submitted));
        escrow.claimRefund(jobId);
        vm.warp(expiredAt);
        uint256 before = token.balanceOf(alice);
        escrow.claimRefund(jobId);
        assertEq(token.balanceOf(alice), before + BUDGET);
        vm.expectRevert(abi.encodeWithSelector(TestEscrow.WrongStatus.selector, IErc8183.JobStatus.Expired));
        evaluator.complete(escrow, jobId, _terms(), r, c, _right());
    }

    function _terms() private view returns (Policy memory) {
        return Policy(MODEL, keccak256(_input()), ALL_LANES, 1_000, WINDOW);
    }

    function _submittedJob(string memory description) private returns (uint256 id) {
        vm.prank(alice);
        id = escrow.createJob(requester, address(evaluator), expiredAt, description);
        vm.prank(requester);
        escrow.setBudget(id, BUDGET);
        vm.startPrank(alice);
        token.approve(address(escrow), BUDGET);
        escrow.fund(id);
        vm.stopPrank();
        vm.prank(requester);
        escrow.submit(id, keccak256("where the request is"));
    }

    function _settleRight(Request memory r, Claim memory c) private {
        execution.setRight(MODEL, _input(), _right());
        bytes memory evidence = execution.evidenceFor(alice);
        vm.prank(alice);
        assay.settle(r, c, LANE_EXECUTION, _input(), _right(), evidence);
    }

    function _notFinal(Claim memory c, uint8 status, uint256 finalAt) private view returns (bytes memory) {
        ClaimId id = assay.claimIdOf(c);
        return abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, id, status, finalAt, 0);
    }

    function _assertHeld() private view {
        assertEq(token.balanceOf(address(escrow)), BUDGET);
        assertEq(token.balanceOf(requester), 0);
    }
}
