// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Claim, Fall, LANE_BOND, Opening, Request} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

/// @notice convict, timeout and finalize: how a claim ends.
contract EndsTest is AssayFixture {
    function _assertFell(Request memory r, Claim memory c, Fall reason) private view {
        assertEq(_claimState(c), 3);
        assertEq(_field(c, 232, 8), uint256(reason));
        assertEq(_field(c, 248, 8), 0);
        // OPEN again, one attempt more.
        assertEq(_requestState(r), 1);
        assertEq(uint32(assay.requestWord(c.requestId) >> 24), c.attempt + 1);
    }

    // convict

    function test_convictElement_fault_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        vm.expectEmit(address(assay));
        emit IAssay.Fell(_id(c), c.requestId, Fall.ELEMENT, 5, 6, 5, 6);
        vm.prank(stranger);
        assay.convictElement(c, 5, 6, new Opening[](0));
        _assertFell(r, c, Fall.ELEMENT);
    }

    function test_convictElement_right_reverts() public {
        (, Claim memory c) = _disputed();
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoFault.selector, 5));
        assay.convictElement(c, 5, 5, new Opening[](0));
    }

    function test_convictCodec_fault_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        bytes32 right = keccak256("right root");
        bytes32 claimed = keccak256("claimed root");
        vm.expectEmit(address(assay));
        emit IAssay.Fell(_id(c), c.requestId, Fall.CODEC, 2, 0, uint256(right), uint256(claimed));
        assay.convictCodec(r, c, 2, _input(), claimed, _one(right));
        _assertFell(r, c, Fall.CODEC);
    }

    function test_convictCodec_right_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        bytes32 root = keccak256("right root");
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoFault.selector, root));
        assay.convictCodec(r, c, 2, _input(), root, _one(root));
    }

    function test_convictCodec_otherInput_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.InputHashMismatch.selector, keccak256("other"), r.inputHash)
        );
        assay.convictCodec(r, c, 2, "other", keccak256("a"), _one(keccak256("b")));
    }

    /// @dev The judge says that the step reads the claimed output: a path of two.
    function test_convictCodec_claimedOutput_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        bytes32[] memory path = new bytes32[](2);
        path[0] = keccak256("right root");
        assay.convictCodec(r, c, 2, _wrong(), keccak256("claimed root"), path);
        _assertFell(r, c, Fall.CODEC);
    }

    /// @dev Else an honest claim could be judged by an output that nobody claimed, or by the input.
    function test_convictCodec_otherOutput_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        bytes32[] memory path = new bytes32[](2);
        bytes[2] memory others = [_right(), _input()];
        for (uint256 i; i < 2; ++i) {
            vm.expectRevert(
                abi.encodeWithSelector(
                    IAssayErrors.InputHashMismatch.selector, keccak256(others[i]), c.outputHash
                )
            );
            assay.convictCodec(r, c, 2, others[i], keccak256("a"), path);
        }
    }

    /// @dev Nor a step that reads the input by the output.
    function test_convictCodec_outputForInput_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.InputHashMismatch.selector, keccak256(_wrong()), r.inputHash)
        );
        assay.convictCodec(r, c, 2, _wrong(), keccak256("a"), _one(keccak256("b")));
    }

    /// @dev Else an honest claim could be judged by the input of a request that its challenger made up.
    function test_convictCodec_otherRequest_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        r.inputHash = keccak256("other");
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.WrongClaim.selector, c.requestId, assay.requestIdOf(r))
        );
        assay.convictCodec(r, c, 2, "other", keccak256("a"), _one(keccak256("b")));
    }

    function test_convictOutput_fault_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        vm.expectEmit(address(assay));
        emit IAssay.Fell(
            _id(c),
            c.requestId,
            Fall.OUTPUT,
            0,
            uint256(keccak256(_right())),
            uint256(keccak256(_right())),
            uint256(c.outputHash)
        );
        _convict(c);
        _assertFell(r, c, Fall.OUTPUT);
    }

    function test_convictOutput_right_reverts() public {
        (, Claim memory c) = _disputed();
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoFault.selector, c.outputHash));
        assay.convictOutput(c, _wrong(), uint256(c.outputHash), new Opening[](0));
    }

    /// @dev Else an honest claim could be judged by an output that its challenger made up.
    function test_convictOutput_otherOutput_reverts() public {
        (, Claim memory c) = _disputed();
        bytes memory why =
            abi.encodeWithSelector(IAssayErrors.OutputMismatch.selector, keccak256(_right()), c.outputHash);
        vm.expectRevert(why);
        assay.convictOutput(c, _right(), 1, new Opening[](0));
    }

    function test_convict_withoutTrace_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        _challenge(c, alice);
        bytes memory why = abi.encodeWithSelector(IAssayErrors.TraceMissing.selector, _id(c));
        vm.expectRevert(why);
        assay.convictElement(c, 5, 6, new Opening[](0));
        vm.expectRevert(why);
        assay.convictCodec(r, c, 2, _input(), 0, _one(ROOT));
        vm.expectRevert(why);
        _convict(c);
    }

    function test_convict_final_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        uint256 finalAt = block.timestamp + WINDOW;
        vm.warp(finalAt);
        bytes memory why = abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, _id(c), finalAt);
        vm.expectRevert(why);
        assay.convictElement(c, 5, 6, new Opening[](0));
        vm.expectRevert(why);
        assay.convictCodec(r, c, 2, _input(), 0, _one(ROOT));
        vm.expectRevert(why);
        _convict(c);
        vm.warp(finalAt - 1);
        _convict(c);
    }

    function test_convict_fallen_reverts() public {
        (, Claim memory c) = _disputed();
        _convict(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 3));
        _convict(c);
    }

    // timeout

    function test_timeoutTrace_boundary_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        _challenge(c, alice);
        uint256 deadline = block.timestamp + T;
        vm.warp(deadline);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.DeadlineNotPassed.selector, deadline, deadline));
        assay.timeoutTrace(c);
        vm.warp(deadline + 1);
        vm.expectEmit(address(assay));
        emit IAssay.Fell(_id(c), c.requestId, Fall.TRACE_TIMEOUT, 0, 0, 0, 0);
        vm.prank(stranger);
        assay.timeoutTrace(c);
        _assertFell(r, c, Fall.TRACE_TIMEOUT);
    }

    function test_timeoutTrace_unchallenged_reverts() public {
        (, Claim memory c) = _filedAndClaimed(_right());
        skip(365 days);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotChallenged.selector, _id(c)));
        assay.timeoutTrace(c);
    }

    function test_timeoutTrace_committed_reverts() public {
        (, Claim memory c) = _disputed();
        skip(T + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TraceAlreadyCommitted.selector, _id(c), ROOT));
        assay.timeoutTrace(c);
    }

    function test_timeoutDemand_boundary_succeeds() public {
        (Request memory r, Claim memory c) = _disputed();
        _demand(c, alice, 7);
        uint256 deadline = block.timestamp + T;
        vm.warp(deadline);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.DeadlineNotPassed.selector, deadline, deadline));
        assay.timeoutDemand(c, 7);
        vm.warp(deadline + 1);
        vm.expectEmit(address(assay));
        emit IAssay.Fell(_id(c), c.requestId, Fall.DEMAND_TIMEOUT, 0, 7, 0, 0);
        vm.prank(stranger);
        assay.timeoutDemand(c, 7);
        _assertFell(r, c, Fall.DEMAND_TIMEOUT);
    }

    function test_timeoutDemand_undemandedOrAnswered_reverts() public {
        (, Claim memory c) = _disputed();
        _demand(c, alice, 7);
        _reveal(c, 7);
        skip(T + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyAnswered.selector, 7));
        assay.timeoutDemand(c, 7);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotDemanded.selector, 8));
        assay.timeoutDemand(c, 8);
    }

    function test_timeout_fallen_reverts() public {
        (, Claim memory c) = _disputed();
        _demand(c, alice, 7);
        skip(T + 1);
        assay.timeoutDemand(c, 7);
        bytes memory why = abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 3);
        vm.expectRevert(why);
        assay.timeoutDemand(c, 7);
        vm.expectRevert(why);
        assay.timeoutTrace(c);
    }

    // finalize

    function test_finalize_unchallenged_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        uint256 end = block.timestamp + WINDOW;
        vm.warp(end - 1);
        assertFalse(assay.isFinal(_id(c)));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, end, 0));
        assay.finalize(r, c);
        vm.warp(end);
        assertTrue(assay.isFinal(_id(c)));
        vm.expectEmit(address(assay));
        emit IAssay.Finalized(c.requestId, _id(c), LANE_BOND, c.outputHash);
        vm.prank(stranger);
        assay.finalize(r, c);
        assertEq(_claimState(c), 2);
        uint256 word = assay.requestWord(c.requestId);
        assertEq(uint8(word), 3);
        assertEq(uint8(word >> 8), LANE_BOND);
        assertEq(uint40(word >> 96), end);
        assertEq(assay.credits(prover), uint256(c.bond) + FEE);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotActive.selector, _id(c), 2));
        assay.finalize(r, c);
    }

    function test_finalize_owed_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.warp(_field(c, 0, 40) - 1);
        _challenge(c, alice);
        skip(L + 1);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, _field(c, 0, 40), 1)
        );
        assay.finalize(r, c);
        assay.timeoutTrace(c);
    }

    /// @dev After each answer its asker has T, but not past hardEnd.
    function test_finalize_afterReveal_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.warp(_field(c, 0, 40) - 1);
        _challenge(c, alice);
        skip(T);
        _commit(c);
        skip(T);
        _demand(c, alice, 1);
        skip(T);
        _reveal(c, 1);
        uint256 finalAt = block.timestamp + T + 1;
        vm.warp(finalAt - 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, finalAt, 0));
        assay.finalize(r, c);
        vm.warp(finalAt);
        assay.finalize(r, c);
        assertEq(assay.credits(prover), uint256(c.bond) + c.ticketBond / 2 + FEE);
        assertEq(assay.burned(), c.ticketBond - c.ticketBond / 2);
    }

    function test_finalize_hardEnd_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.warp(_field(c, 0, 40) - 1);
        _challenge(c, alice);
        uint256 hardEnd = block.timestamp + L;
        skip(T);
        _commit(c);
        for (uint64 i; i < DEPTH; i++) {
            skip(T);
            _demand(c, alice, i);
            skip(T);
            _reveal(c, i);
        }
        assertEq(block.timestamp + T + 1, hardEnd, "L is exactly what both need");
        vm.warp(hardEnd - 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, hardEnd, 0));
        assay.finalize(r, c);
        vm.warp(hardEnd);
        assay.finalize(r, c);
    }

    function test_finalize_otherRequest_reverts() public {
        (, Claim memory c) = _filedAndClaimed(_right());
        Request memory other = _newRequest();
        other.salt = 2;
        other.fee = 10 * FEE;
        _file(other);
        skip(WINDOW);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.WrongClaim.selector, c.requestId, assay.requestIdOf(other))
        );
        assay.finalize(other, c);
    }
}
