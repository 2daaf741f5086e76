// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ModelResults} from "../../../../verifier-contracts/agents/adapter/ModelResults.sol";
import {RedundantResults} from "../../../../verifier-contracts/agents/adapter/RedundantResults.sol";
import {IRedundantResults} from "../../../../verifier-contracts/agents/interfaces/IRedundantResults.sol";
import {RedundantFixture} from "./RedundantFixture.sol";

contract RedundantResultsTest is RedundantFixture {
    bytes32 private constant NONE = bytes32(0);

    // Agreement

    // shows: S-40
    function test_reveal_oneDiffers_succeeds() public {
        bytes memory right = _price("10");
        bytes32 roundId = _request(_call());
        for (uint256 i = 0; i < 3; ++i) {
            _commit(roundId, i, i == 0 ? _price("11") : right);
        }
        _reveal(roundId, 0, _price("11"));
        _reveal(roundId, 1, right);
        _assertNotFinal(_call());
        vm.expectEmit(true, true, true, true, address(results));
        emit IRedundantResults.Agreed(roundId, keccak256(right), uint40(block.timestamp), right);
        vm.expectEmit(true, true, true, true, address(results));
        emit IRedundantResults.Dissented(roundId, executors[0], keccak256(_price("11")));
        _reveal(roundId, 2, right);
        assertEq(_result(_call()), right);
        assertEq(oracle.getPrice(URL, PATH), "10");
        assertEq(results.answerOf(roundId, executors[0]), keccak256(_price("11")), "dissent stays recorded");
        assertEq(results.credits(executors[0]), 0);
        assertEq(results.credits(executors[1]), ROUND_FEE / 2);
        assertEq(results.credits(executors[2]), ROUND_FEE - ROUND_FEE / 2);
    }

    // shows: S-40
    function test_reveal_dissentAfterAgreement_succeeds() public {
        bytes32 roundId = _request(_call());
        for (uint256 i = 0; i < 3; ++i) {
            _commit(roundId, i, i == 2 ? _price("11") : _price("10"));
        }
        _reveal(roundId, 0, _price("10"));
        _reveal(roundId, 1, _price("10"));
        vm.expectEmit(true, true, true, true, address(results));
        emit IRedundantResults.Dissented(roundId, executors[2], keccak256(_price("11")));
        _reveal(roundId, 2, _price("11"));
        assertEq(_result(_call()), _price("10"));
    }

    // shows: S-40
    function test_refund_noAgreement_succeeds() public {
        bytes32 roundId = _round(_call(), _price("1"), _price("2"), _price("3"));
        _assertNotFinal(_call());
        vm.expectRevert(_notFinal(_call()));
        oracle.getPrice(URL, PATH);
        uint256 end = block.timestamp + REVEAL;
        vm.expectRevert(
            abi.encodeWithSelector(
                IRedundantResults.OutsidePhase.selector, block.timestamp, end, type(uint256).max
            )
        );
        results.refund(roundId);
        vm.warp(end);
        results.refund(roundId);
        assertEq(results.credits(alice), ROUND_FEE);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.NothingToRefund.selector, roundId));
        results.refund(roundId);
        // Another round may follow, with an id of its own.
        bytes32 next = _round(_call(), _price("4"), _price("4"), _price("4"));
        assertTrue(next != roundId);
        assertEq(_result(_call()), _price("4"));
    }

    function test_refund_agreed_reverts() public {
        bytes32 roundId = _round(_call(), _price("1"), _price("1"), _price("1"));
        skip(COMMIT + REVEAL);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.NothingToRefund.selector, roundId));
        results.refund(roundId);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.NothingToRefund.selector, NONE));
        results.refund(NONE);
    }

    // shows: S-40
    /// @dev Nobody changes a result that is final: neither executors nor whoever deployed it, by whatever call.
    function test_request_final_reverts() public {
        bytes32 roundId = _round(_call(), _price("1"), _price("1"), _price("1"));
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.RoundNotOver.selector, roundId));
        results.request{value: ROUND_FEE}(_call());
        skip(3650 days);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.RoundNotOver.selector, roundId));
        results.request{value: ROUND_FEE}(_call());
        assertEq(_result(_call()), _price("1"));
    }

    function test_request_underWay_reverts() public {
        bytes32 roundId = _request(_call());
        skip(COMMIT + REVEAL - 1);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.RoundNotOver.selector, roundId));
        results.request{value: ROUND_FEE}(_call());
    }

    function test_request_wrongFee_reverts() public {
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.WrongValue.selector, ROUND_FEE - 1, ROUND_FEE)
        );
        results.request{value: ROUND_FEE - 1}(_call());
    }

    function test_request_agedResult_succeeds() public {
        RedundantResults.Terms memory t = _terms();
        t.maxAgeSeconds = 1 hours;
        _deploy(t, ModelResults(address(0)));
        _round(_call(), _price("1"), _price("1"), _price("1"));
        skip(1 hours);
        assertEq(_result(_call()), _price("1"));
        skip(1);
        _assertNotFinal(_call());
        _round(_call(), _price("2"), _price("2"), _price("2"));
        assertEq(_result(_call()), _price("2"));
    }

    // Independence: what a lazy or hostile executor would try

    function test_reveal_copiedCommitment_reverts() public {
        bytes32 roundId = _request(_call());
        _commit(roundId, 0, _price("1"));
        bytes32 copied = results.commitmentOf(roundId, executors[0], keccak256(_price("1")), SALT);
        vm.prank(executors[1]);
        results.commit(roundId, copied);
        skip(COMMIT);
        _reveal(roundId, 0, _price("1"));
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.NotCommitted.selector, roundId, executors[1])
        );
        _reveal(roundId, 1, _price("1"));
    }

    /// @dev After the first reveal nobody can commit, so nobody can follow the first.
    function test_commit_afterFirstReveal_reverts() public {
        bytes32 roundId = _request(_call());
        _commit(roundId, 0, _price("1"));
        uint256 commitEnd = block.timestamp + COMMIT;
        skip(COMMIT - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IRedundantResults.OutsidePhase.selector, block.timestamp, commitEnd, commitEnd + REVEAL
            )
        );
        _reveal(roundId, 0, _price("1"));
        skip(1);
        _reveal(roundId, 0, _price("1"));
        bytes32 late = results.commitmentOf(roundId, executors[1], keccak256(_price("1")), SALT);
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.OutsidePhase.selector, block.timestamp, 0, commitEnd)
        );
        vm.prank(executors[1]);
        results.commit(roundId, late);
    }

    function test_reveal_twiceOrOtherwise_reverts() public {
        bytes32 roundId = _request(_call());
        for (uint256 i = 0; i < 3; ++i) {
            _commit(roundId, i, _price("1"));
        }
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.NotCommitted.selector, roundId, executors[0])
        );
        _reveal(roundId, 0, _price("2"));
        _reveal(roundId, 0, _price("1"));
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.MovedAlready.selector, roundId, executors[0])
        );
        _reveal(roundId, 0, _price("1"));
        bytes memory long = new bytes(4_097);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.AnswerTooLong.selector, 4_097, 4_096));
        _reveal(roundId, 1, long);
        skip(REVEAL);
        vm.expectRevert(
            abi.encodeWithSelector(
                IRedundantResults.OutsidePhase.selector,
                block.timestamp,
                block.timestamp - REVEAL,
                block.timestamp
            )
        );
        _reveal(roundId, 1, _price("1"));
    }

    function test_commit_byOthers_reverts() public {
        bytes32 roundId = _request(_call());
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.NotExecutor.selector, stranger));
        vm.prank(stranger);
        results.commit(roundId, SALT);
        _commit(roundId, 0, _price("1"));
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.MovedAlready.selector, roundId, executors[0])
        );
        vm.prank(executors[0]);
        results.commit(roundId, SALT);
        vm.prank(executors[1]);
        results.retire();
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.NotExecutor.selector, executors[1]));
        vm.prank(executors[1]);
        results.commit(roundId, SALT);
        vm.expectRevert(
            abi.encodeWithSelector(IRedundantResults.OutsidePhase.selector, block.timestamp, 0, 0)
        );
        vm.prank(executors[2]);
        results.commit(SALT, SALT);
    }

    // Bonds

    function test_takeBond_afterRounds_succeeds() public {
        vm.prank(executors[0]);
        results.retire();
        uint256 freeAt = block.timestamp + COMMIT + REVEAL;
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.BondHeld.selector, executors[0], freeAt));
        vm.prank(executors[0]);
        results.takeBond();
        vm.warp(freeAt);
        vm.prank(executors[0]);
        results.takeBond();
        results.withdraw(executors[0]);
        assertEq(executors[0].balance, 10 ether);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.BondHeld.selector, executors[1], 0));
        vm.prank(executors[1]);
        results.takeBond();
    }

    function test_deposit_byOthers_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.NotExecutor.selector, stranger));
        vm.prank(stranger);
        results.deposit{value: EXECUTOR_BOND}();
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.BondHeld.selector, executors[0], 0));
        vm.prank(executors[0]);
        results.deposit{value: EXECUTOR_BOND}();
    }

    // Deployment

    function _expectTerm(RedundantResults.Terms memory t, uint256 value, uint256 min, uint256 max) private {
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.TermOutOfRange.selector, value, min, max));
        new RedundantResults(executors, t, ModelResults(address(0)));
    }

    /// @dev With half of the executors two values could both be agreed on.
    function test_constructor_terms_reverts() public {
        RedundantResults.Terms memory t = _terms();
        t.agreement = 1;
        _expectTerm(t, 1, 2, 3);
        t.agreement = 4;
        _expectTerm(t, 4, 2, 3);
        t = _terms();
        t.challengeSeconds = 1;
        _expectTerm(t, 1, 0, 0);
        t = _terms();
        t.maxOutputBytes = 31;
        _expectTerm(t, 31, 32, 16_384);
        executors.push(makeAddr("executor 3"));
        t = _terms();
        _expectTerm(t, 2, 3, 4);
        t.agreement = 3;
        executors.push(executors[0]);
        vm.expectRevert(abi.encodeWithSelector(IRedundantResults.ExecutorTwice.selector, executors[0]));
        new RedundantResults(executors, t, ModelResults(address(0)));
        for (uint256 i = 5; i < 17; ++i) {
            executors.push(address(uint160(i)));
        }
        _expectTerm(t, 17, 2, 16);
    }

    // Money

    /// @dev Whatever three executors answer and in whichever order, everything paid in can be taken out, and a final
    /// result is one that two of them gave.
    function testFuzz_reveal_anyAnswers_succeeds(uint8[3] memory answers, uint8 silent, uint8 first) public {
        bytes32 roundId = _request(_call());
        for (uint256 i = 0; i < 3; ++i) {
            if (silent >> i & 1 == 0) _commit(roundId, i, abi.encode(answers[i] % 3));
        }
        skip(COMMIT);
        for (uint256 k = 0; k < 3; ++k) {
            uint256 i = (uint256(first) + k) % 3;
            if (silent >> i & 9 == 0) _reveal(roundId, i, abi.encode(answers[i] % 3));
        }
        skip(REVEAL);
        (bool isFinal, bytes memory result) = results.resultOf(_call());
        uint256 equal;
        for (uint256 i = 0; i < 3; ++i) {
            if (isFinal && results.answerOf(roundId, executors[i]) == keccak256(result)) ++equal;
        }
        assertTrue(isFinal ? equal >= 2 : equal == 0);
        if (!isFinal) results.refund(roundId);
        for (uint256 i = 0; i < 3; ++i) {
            vm.prank(executors[i]);
            results.retire();
        }
        skip(COMMIT + REVEAL);
        for (uint256 i = 0; i < 3; ++i) {
            vm.prank(executors[i]);
            results.takeBond();
            results.withdraw(executors[i]);
        }
        results.withdraw(alice);
        assertEq(address(results).balance, 0);
    }
}
