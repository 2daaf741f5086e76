// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    ClaimId,
    LANE_BOND,
    LANE_PROOF,
    ModelId,
    Opening,
    Policy,
    Request,
    RequestId,
    Truth
} from "../../../verifier-contracts/types/Types.sol";
import {SettleFixture} from "./SettleFixture.sol";

/// @notice Real proofs against every state of a request, a claim and a dispute, on the real Assay.
contract SettleByProofTest is SettleFixture {
    uint64 private constant POSITION = 5;
    bytes32 private constant ROOT = keccak256("trace root");

    function _opened() private returns (Request memory r) {
        r = _requestOf(0);
        _file(r, 0);
    }

    function _claimed(bool right) private returns (Request memory r, Claim memory c) {
        r = _opened();
        c = _claim(r, right ? outputs[0] : outputs[1]);
    }

    function _challenge(Claim memory c) private {
        vm.prank(alice);
        assay.challenge{value: c.ticketBond}(c);
    }

    function _disputed(bool right, bool demanded) private returns (Request memory r, Claim memory c) {
        (r, c) = _claimed(right);
        _challenge(c);
        bytes32[] memory tops = new bytes32[](1);
        tops[0] = ROOT;
        vm.prank(prover);
        assay.commitTrace(c, tops);
        if (!demanded) return (r, c);
        vm.prank(alice);
        assay.demand(c, ROOT, POSITION);
    }

    function _convict(Claim memory c) private {
        assay.convictOutput(c, outputs[1], uint256(keccak256(outputs[0])), new Opening[](0));
    }

    function _stateOf(Claim memory c) private view returns (uint8) {
        return uint8(assay.claimWord(assay.claimIdOf(c)) >> 224);
    }

    /// @dev The claim said the same: it is final, and its prover gets the fee.
    function _settlesAgreeing(Request memory r, Claim memory c) private {
        _settle(r, c);
        assertEq(_stateOf(c), 2, "not FINAL");
        assertEq(assay.credits(submitter), 0);
        assertGe(assay.credits(prover), uint256(c.bond) + FEE);
        assay.requireFinal(r, c, outputs[0], Policy(model, r.inputHash, LANE_PROOF, 0, 0));
    }

    /// @dev The claim said something else: it falls, and the submitter gets the fee and a share.
    function _settlesContradicting(Request memory r, Claim memory c) private {
        _settle(r, c);
        assertEq(_stateOf(c), 3, "not FALLEN");
        assertGt(assay.credits(submitter), FEE);
        _isSettled(r, outputs[0]);
    }

    function test_settle_open_succeeds() public {
        Request memory r = _opened();
        _settle(r, _noClaim());
        _isSettled(r, outputs[0]);
        assertEq(assay.credits(submitter), FEE);
        assay.requireFinal(r, _noClaim(), outputs[0], Policy(model, r.inputHash, LANE_PROOF, 0, 0));
    }

    function test_settle_claimed_succeeds() public {
        (Request memory r, Claim memory c) = _claimed(true);
        _settlesAgreeing(r, c);
    }

    function test_settle_claimedWrong_succeeds() public {
        (Request memory r, Claim memory c) = _claimed(false);
        _settlesContradicting(r, c);
    }

    function test_settle_challenged_succeeds() public {
        (Request memory r, Claim memory c) = _claimed(true);
        _challenge(c);
        _settlesAgreeing(r, c);
    }

    function test_settle_challengedWrong_succeeds() public {
        (Request memory r, Claim memory c) = _claimed(false);
        _challenge(c);
        _settlesContradicting(r, c);
    }

    function test_settle_traced_succeeds() public {
        (Request memory r, Claim memory c) = _disputed(true, false);
        _settlesAgreeing(r, c);
    }

    function test_settle_demanded_succeeds() public {
        (Request memory r, Claim memory c) = _disputed(true, true);
        _settlesAgreeing(r, c);
    }

    function test_settle_demandedWrong_succeeds() public {
        (Request memory r, Claim memory c) = _disputed(false, true);
        _settlesContradicting(r, c);
    }

    /// @dev A prover that owes an answer past its deadline is still saved by truth until somebody times it out.
    function test_settle_overdue_succeeds() public {
        (Request memory r, Claim memory c) = _disputed(true, true);
        skip(T + 1);
        _settlesAgreeing(r, c);
    }

    function test_settle_afterWindow_reverts() public {
        (Request memory r, Claim memory c) = _claimed(false);
        skip(WINDOW);
        ClaimId id = assay.claimIdOf(c);
        uint256 finalAt = vm.getBlockTimestamp();
        (bytes memory input, bytes memory output, bytes memory proof) = (inputs[0], outputs[0], proofs[0]);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, id, finalAt));
        vm.prank(submitter);
        assay.settle(r, c, LANE_PROOF, input, output, proof);
    }

    function test_settle_done_reverts() public {
        Request memory r = _opened();
        _settle(r, _noClaim());
        _refuses(r, _noClaim(), abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, _id(r), 3));
    }

    function test_settle_refunded_reverts() public {
        Request memory r = _opened();
        skip(2 days);
        assay.refund(r);
        _refuses(r, _noClaim(), abi.encodeWithSelector(IAssayErrors.RequestSettled.selector, _id(r), 4));
    }

    /// @dev The conviction came a moment before, in the same block: the request is open again, and truth takes it.
    function test_settle_afterConviction_succeeds() public {
        (Request memory r, Claim memory c) = _disputed(false, false);
        _convict(c);
        _settle(r, c);
        _isSettled(r, outputs[0]);
        assertEq(assay.credits(submitter), FEE);
        assertEq(_stateOf(c), 3);
    }

    /// @dev Truth came a moment before, in the same block: the conviction finds a fallen claim.
    function test_settle_beforeConviction_reverts() public {
        (Request memory r, Claim memory c) = _disputed(false, false);
        _settle(r, c);
        ClaimId id = assay.claimIdOf(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, id, 3));
        assay.convictOutput(c, outputs[1], uint256(keccak256(outputs[0])), new Opening[](0));
    }

    function test_settle_copiedProof_reverts() public {
        Request memory r = _opened();
        (bytes memory input, bytes memory output, bytes memory proof) = (inputs[0], outputs[0], proofs[0]);
        bytes4 why = IAssayErrors.EvidenceRejected.selector;
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, keccak256(output)));
        vm.prank(other);
        assay.settle(r, _noClaim(), LANE_PROOF, input, output, proof);
        bytes memory own = otherProof;
        vm.prank(other);
        assay.settle(r, _noClaim(), LANE_PROOF, input, output, own);
        _isSettled(r, outputs[0]);
    }

    /// @dev A proof of one request is none of another.
    function test_settle_replayed_reverts() public {
        Request memory r = _requestOf(1);
        _file(r, 1);
        (bytes memory input, bytes memory output, bytes memory proof) = (inputs[1], outputs[1], proofs[0]);
        bytes4 why = IAssayErrors.EvidenceRejected.selector;
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, keccak256(output)));
        vm.prank(submitter);
        assay.settle(r, _noClaim(), LANE_PROOF, input, output, proof);
        input = inputs[0];
        why = IAssayErrors.InputHashMismatch.selector;
        vm.expectRevert(abi.encodeWithSelector(why, keccak256(input), r.inputHash));
        vm.prank(submitter);
        assay.settle(r, _noClaim(), LANE_PROOF, input, output, proof);
    }

    /// @dev The same question by somebody else is the same statement: one proof answers both.
    function test_settle_sameInputTwice_succeeds() public {
        Request memory r = _opened();
        _settle(r, _noClaim());
        r.salt = 2;
        _file(r, 0);
        _settle(r, _noClaim());
        assertEq(assay.credits(submitter), 2 * FEE);
    }

    function test_settle_laneNotAllowed_reverts() public {
        Request memory r = _requestOf(0);
        r.lanes = LANE_BOND;
        _file(r, 0);
        bytes4 why = IAssayErrors.LaneNotAllowed.selector;
        _refuses(r, _noClaim(), abi.encodeWithSelector(why, LANE_PROOF, LANE_BOND));
    }

    /// @dev Somebody knows the key's secrets: an honest proof and his contradict each other, and end the lane for this
    /// model alone.
    function test_haltProof_leakedKey_succeeds() public {
        Request memory r = _opened();
        Truth memory honest = Truth(LANE_PROOF, submitter, outputs[0], proofs[0]);
        Truth memory forged = Truth(LANE_PROOF, submitter, forgedOutput, forgedProof);
        vm.prank(alice);
        assay.haltProof(model, inputs[0], forged, honest);
        assertTrue(assay.isProofHalted(model));
        _refuses(r, _noClaim(), abi.encodeWithSelector(IAssayErrors.ProofIsHalted.selector, model));
        weightsRoot = keccak256("other weights");
        ModelId twin = _register(vkHash);
        assertFalse(assay.isProofHalted(twin));
        // The lane of bonds goes on.
        Claim memory c = _claim(r, outputs[0]);
        skip(WINDOW);
        assay.finalize(r, c);
    }

    function test_haltProof_honestProofs_reverts() public {
        Truth memory honest = Truth(LANE_PROOF, submitter, outputs[0], proofs[0]);
        Truth memory same = Truth(LANE_PROOF, other, outputs[0], otherProof);
        bytes memory input = inputs[0];
        bytes4 why = IAssayErrors.NoContradiction.selector;
        vm.expectRevert(abi.encodeWithSelector(why, keccak256(outputs[0])));
        assay.haltProof(model, input, honest, same);
        same.output = outputs[1];
        why = IAssayErrors.EvidenceRejected.selector;
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, keccak256(same.output)));
        assay.haltProof(model, input, honest, same);
    }

    function _refuses(Request memory r, Claim memory c, bytes memory why) private {
        (bytes memory input, bytes memory output, bytes memory proof) = (inputs[0], outputs[0], proofs[0]);
        vm.expectRevert(why);
        vm.prank(submitter);
        assay.settle(r, c, LANE_PROOF, input, output, proof);
    }

    function _id(Request memory r) private view returns (RequestId) {
        return assay.requestIdOf(r);
    }
}
