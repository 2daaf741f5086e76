// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {
    Claim,
    ClaimId,
    Fall,
    LANE_EXECUTION,
    LANE_PROOF,
    Request,
    RequestId,
    Truth
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

contract SettleTest is AssayFixture {
    function setUp() public override {
        super.setUp();
        execution.setRight(MODEL, _input(), _right());
        proof.setRight(MODEL, _input(), _right());
    }

    function _settle(Request memory r, Claim memory c, uint8 lane, bytes memory output) private {
        bytes memory evidence = execution.evidenceFor(stranger);
        vm.prank(stranger);
        assay.settle(r, c, lane, _input(), output, evidence);
    }

    function _refused(Request memory r, Claim memory c, uint8 lane, bytes memory why) private {
        bytes memory evidence = execution.evidenceFor(stranger);
        vm.expectRevert(why);
        vm.prank(stranger);
        assay.settle(r, c, lane, _input(), _right(), evidence);
    }

    function test_settle_withoutClaim_succeeds() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        vm.expectEmit(address(assay));
        emit IAssay.Settled(id, stranger, LANE_EXECUTION, _right());
        vm.expectEmit(address(assay));
        emit IAssay.Finalized(id, ClaimId.wrap(0), LANE_EXECUTION, keccak256(_right()));
        _settle(r, _noClaim(), LANE_EXECUTION, _right());
        assertEq(assay.resultOf(id), keccak256(_right()));
        assertEq(
            assay.requestWord(id),
            3 | uint256(LANE_EXECUTION) << 8 | block.timestamp << 56 | block.timestamp << 96
        );
    }

    function test_settle_agreeingClaimMidDispute_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        _challenge(c, alice);
        _commit(c);
        _demand(c, alice, 3);
        vm.expectEmit(address(assay));
        emit IAssay.Finalized(c.requestId, _id(c), LANE_PROOF, c.outputHash);
        _settle(r, c, LANE_PROOF, _right());
        assertEq(_claimState(c), 2);
        assertEq(uint8(assay.requestWord(c.requestId) >> 8), LANE_PROOF);
        assertEq(assay.resultOf(c.requestId), 0, "the claim holds it");
        // The demand that is still open can do no harm.
        skip(T + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 2));
        assay.timeoutDemand(c, 3);
    }

    function test_settle_contradictedClaim_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        vm.expectEmit(address(assay));
        emit IAssay.Fell(
            _id(c), c.requestId, Fall.TRUTH, 0, 0, uint256(keccak256(_right())), uint256(c.outputHash)
        );
        _settle(r, c, LANE_PROOF, _right());
        assertEq(_claimState(c), 3);
        assertEq(_field(c, 232, 8), uint256(Fall.TRUTH));
        assertEq(_field(c, 248, 8), 1);
        assertEq(_requestState(r), 3);
        assertEq(assay.resultOf(c.requestId), keccak256(_right()));
    }

    function test_settle_otherLane_reverts() public {
        Request memory r = _newRequest();
        r.lanes = 5;
        _file(r);
        bytes4 why = IAssayErrors.LaneNotAllowed.selector;
        _refused(r, _noClaim(), LANE_PROOF, abi.encodeWithSelector(why, LANE_PROOF, 5));
        _refused(r, _noClaim(), 0, abi.encodeWithSelector(why, 0, 5));
        _refused(r, _noClaim(), 4, abi.encodeWithSelector(IAssayErrors.NotATruthLane.selector, 4));
        _refused(r, _noClaim(), 3, abi.encodeWithSelector(IAssayErrors.NotATruthLane.selector, 3));
    }

    function test_settle_rejectedEvidence_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        bytes memory why =
            abi.encodeWithSelector(IAssayErrors.EvidenceRejected.selector, LANE_PROOF, keccak256(_wrong()));
        bytes memory evidence = proof.evidenceFor(stranger);
        vm.expectRevert(why);
        vm.prank(stranger);
        assay.settle(r, _noClaim(), LANE_PROOF, _input(), _wrong(), evidence);
    }

    /// @dev A proof is bound to who submits it, so copying it from the pool earns nothing.
    function test_settle_copiedProof_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        bytes memory evidence = proof.evidenceFor(stranger);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.EvidenceRejected.selector, LANE_PROOF, keccak256(_right()))
        );
        vm.prank(bob);
        assay.settle(r, _noClaim(), LANE_PROOF, _input(), _right(), evidence);
    }

    function test_settle_otherInputOrLength_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.InputHashMismatch.selector, keccak256("other"), r.inputHash)
        );
        assay.settle(r, _noClaim(), LANE_PROOF, "other", _right(), "");
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.OutputLengthWrong.selector, 65, 64));
        assay.settle(r, _noClaim(), LANE_PROOF, _input(), bytes.concat(_right(), hex"00"), "");
    }

    function test_settle_busyWithoutItsClaim_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        bytes4 why = IAssayErrors.WrongClaim.selector;
        _refused(r, _noClaim(), LANE_PROOF, abi.encodeWithSelector(why, bytes32(0), c.requestId));
        Request memory other = _newRequest();
        other.salt = 2;
        _file(other);
        Claim memory foreign = _claim(other, alice, _right());
        _refused(r, foreign, LANE_PROOF, abi.encodeWithSelector(why, foreign.requestId, c.requestId));
        // Nor one that nobody made.
        c.bond++;
        _refused(r, c, LANE_PROOF, abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 0));
    }

    /// @dev Somebody convicted the claim a moment before: truth still settles the request.
    function test_settle_claimJustFell_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        _convict(c);
        _settle(r, c, LANE_EXECUTION, _right());
        assertEq(_requestState(r), 3);
        assertEq(_field(c, 232, 8), uint256(Fall.OUTPUT), "it fell once");
        assertEq(assay.credits(stranger), FEE);
    }

    function test_settle_afterFinality_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        uint256 end = block.timestamp + WINDOW;
        vm.warp(end);
        // Final, though nobody has booked it.
        _refused(r, c, LANE_PROOF, abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, _id(c), end));
        assay.finalize(r, c);
        _refused(
            r, c, LANE_PROOF, abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, c.requestId, 3)
        );
    }

    function test_settle_lastSecond_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        vm.warp(_field(c, 0, 40) - 1);
        _settle(r, c, LANE_PROOF, _right());
        assertEq(_claimState(c), 3);
    }

    function test_settle_refundedOrUnknown_reverts() public {
        Request memory r = _newRequest();
        RequestId id = assay.requestIdOf(r);
        bytes4 why = IAssayErrors.RequestSettled.selector;
        _refused(r, _noClaim(), LANE_PROOF, abi.encodeWithSelector(why, id, 0));
        _file(r);
        vm.warp(r.expiry + 1);
        assay.refund(r);
        _refused(r, _noClaim(), LANE_PROOF, abi.encodeWithSelector(why, id, 4));
    }

    function test_settle_noAdapter_reverts() public {
        assay = new Assay(
            IModelRegistry(address(registry)),
            IJudge(address(assay.judge())),
            ITraceReader(address(assay.traceReader())),
            ITruth(address(0)),
            ITruth(address(0)),
            T,
            FLOOR,
            GAS_BASE,
            GAS_PER_DEMAND
        );
        Request memory r = _newRequest();
        _file(r);
        bytes4 why = IAssayErrors.LaneUnavailable.selector;
        _refused(r, _noClaim(), LANE_EXECUTION, abi.encodeWithSelector(why, LANE_EXECUTION));
        _refused(r, _noClaim(), LANE_PROOF, abi.encodeWithSelector(why, LANE_PROOF));
    }

    // haltProof

    function _truth(uint8 lane, bytes memory output) private view returns (Truth memory) {
        return Truth(lane, alice, output, abi.encode(alice));
    }

    function _forged(bytes memory output) private view returns (Truth memory) {
        return Truth(LANE_PROOF, bob, output, abi.encode("forged", bob));
    }

    /// @dev By somebody else than the two whose evidence it is.
    function test_haltProof_againstExecution_succeeds() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        vm.expectEmit(address(assay));
        emit IAssay.ProofHalted(MODEL);
        vm.prank(stranger);
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(LANE_EXECUTION, _right()));
        assertTrue(assay.isProofHalted(MODEL));
        bytes memory halted = abi.encodeWithSelector(IAssayErrors.ProofIsHalted.selector, MODEL);
        _refused(r, _noClaim(), LANE_PROOF, halted);
        vm.expectRevert(halted);
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(LANE_EXECUTION, _right()));
        _settle(r, _noClaim(), LANE_EXECUTION, _right());
        assertEq(assay.resultOf(id), keccak256(_right()));
    }

    function test_haltProof_twoProofs_succeeds() public {
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(LANE_PROOF, _right()));
        assertTrue(assay.isProofHalted(MODEL));
    }

    /// @dev Nothing undoes a final result, not even that its proof was forged.
    function test_haltProof_finalResultStays_succeeds() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        bytes memory forgery = proof.forgeryFor(bob);
        vm.prank(bob);
        assay.settle(r, _noClaim(), LANE_PROOF, _input(), _wrong(), forgery);
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(LANE_EXECUTION, _right()));
        assertEq(assay.resultOf(id), keccak256(_wrong()));
        assay.requireFinal(r, _noClaim(), _wrong(), _policy(r));
    }

    function test_haltProof_agreement_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoContradiction.selector, keccak256(_right())));
        assay.haltProof(MODEL, _input(), _truth(LANE_PROOF, _right()), _truth(LANE_EXECUTION, _right()));
    }

    function test_haltProof_untrue_reverts() public {
        bytes4 why = IAssayErrors.EvidenceRejected.selector;
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, keccak256(_wrong())));
        assay.haltProof(MODEL, _input(), _truth(LANE_PROOF, _wrong()), _truth(LANE_EXECUTION, _right()));
        vm.expectRevert(abi.encodeWithSelector(why, LANE_EXECUTION, keccak256(_wrong())));
        assay.haltProof(MODEL, _input(), _truth(LANE_PROOF, _right()), _truth(LANE_EXECUTION, _wrong()));
    }

    function test_haltProof_wrongLanes_reverts() public {
        bytes4 why = IAssayErrors.LaneNotAllowed.selector;
        vm.expectRevert(abi.encodeWithSelector(why, LANE_EXECUTION, LANE_PROOF));
        assay.haltProof(MODEL, _input(), _truth(LANE_EXECUTION, _right()), _forged(_wrong()));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotATruthLane.selector, 4));
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(4, _right()));
        registry.setModel(MODEL, _modelWord(6, DEPTH));
        vm.expectRevert(abi.encodeWithSelector(why, LANE_EXECUTION, 6));
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(LANE_EXECUTION, _right()));
        registry.setModel(MODEL, _modelWord(5, DEPTH));
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, 5));
        assay.haltProof(MODEL, _input(), _forged(_wrong()), _truth(LANE_EXECUTION, _right()));
    }

    /// @dev On calldata that no request can hold a lane may answer anything.
    function test_haltProof_inputOfNoRequest_reverts() public {
        vm.expectRevert(IAssayErrors.InputNotCanonical.selector);
        assay.haltProof(
            MODEL, abi.encodePacked(SELECTOR, "odd"), _forged(_wrong()), _truth(LANE_EXECUTION, _right())
        );
    }
}
