// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ChoicePrompt} from "../../../../verifier-contracts/agents/choice/ChoicePrompt.sol";
import {
    Choice,
    ChoiceTerms,
    FinalChoiceExecutor,
    RunHistory,
    ToolUse
} from "../../../../verifier-contracts/agents/choice/FinalChoiceExecutor.sol";
import {ICallbackAgent, RunState} from "../../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {IAssayErrors} from "../../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Claim, LANE_BOND, ModelId, Request, RequestId} from "../../../../verifier-contracts/types/Types.sol";
import {Vm} from "../../support/Vm.sol";
import {MoodyTool} from "../support/TestTools.sol";
import {ChoiceFixture} from "./ChoiceFixture.sol";

contract FinalChoiceExecutorTest is ChoiceFixture {
    function _answer(int256 runId) private view returns (string memory) {
        return agent.answerOf(runId);
    }

    function test_post_toolThenAnswer_succeeds() public {
        int256 runId = _start(QUESTION);
        tool.setAnswer("it is up");
        uint256 before = requester.balance;
        (Request memory r, Claim memory c) = _final(_history(QUESTION, 0), _output(USE));
        vm.expectEmit(address(executor));
        emit FinalChoiceExecutor.ChoicePosted(agent, runId, 0, assay.requestIdOf(r), 0);
        vm.expectEmit(true, true, true, false, address(agent));
        emit ICallbackAgent.IterationPosted(
            runId, 0, address(executor), 0, RequestId.unwrap(assay.requestIdOf(r)), "I look."
        );
        vm.prank(stranger);
        executor.post(agent, runId, _history(QUESTION, 0), r, c, _output(USE));
        assertEq(tool.uses(), 1);
        assertEq(agent.runOf(runId).iteration, 1);
        _post(runId, _history(QUESTION, 1), YES);
        assertEq(_answer(runId), "Yes.");
        // Who asked has the agent's fees, not who posted.
        assertEq(requester.balance + 2 * FEE - before, 2 * ITERATION_FEE);
        assertEq(stranger.balance, 1_000 ether);
        assertEq(agent.balanceOf(address(executor)), 0);
    }

    function test_post_answerWithResult_succeeds() public {
        int256 runId = _start(QUESTION);
        _post(runId, _history(QUESTION, 0), USE);
        _post(runId, _history(QUESTION, 1), REPEAT);
        assertEq(_answer(runId), "done");
        int256 second = _start(QUESTION);
        _post(second, _history(QUESTION, 0), REPEAT);
        assertEq(_answer(second), "There is no result.");
    }

    /// @dev One final output answers every run with this prompt: the model is a function.
    function test_post_sameOutput_succeeds() public {
        (int256 first, int256 second) = (_start(QUESTION), _start(QUESTION));
        RunHistory memory h = _history(QUESTION, 0);
        (Request memory r, Claim memory c) = _final(h, _output(YES));
        executor.post(agent, first, h, r, c, _output(YES));
        executor.post(agent, second, h, r, c, _output(YES));
        assertEq(_answer(second), "Yes.");
        vm.expectRevert(
            abi.encodeWithSelector(
                ICallbackAgent.WrongState.selector, second, RunState.DONE, RunState.ITERATION
            )
        );
        executor.post(agent, second, h, r, c, _output(YES));
    }

    function test_post_otherHistory_reverts() public {
        int256 runId = _start(QUESTION);
        _post(runId, _history(QUESTION, 0), USE);
        RunHistory memory h = _history(QUESTION, 1);
        // The tool did answer: a history that says that it failed is another one.
        h.uses[0].success = false;
        (Request memory r, Claim memory c) = _final(h, _output(YES));
        bytes32 wrong = executor.historyHashOf(agent, runId, h);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICallbackAgent.WrongHistory.selector, runId, wrong, agent.runOf(runId).historyHash
            )
        );
        executor.post(agent, runId, h, r, c, _output(YES));
    }

    function test_post_notFinal_reverts() public {
        int256 runId = _start(QUESTION);
        RunHistory memory h = _history(QUESTION, 0);
        bytes memory input = executor.inputOf(h);
        Request memory r = _requestOf(input);
        Claim memory c = _claimed(r, input, _output(YES));
        uint256 end = block.timestamp + WINDOW;
        skip(WINDOW - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, assay.claimIdOf(c), 1, end, 0)
        );
        executor.post(agent, runId, h, r, c, _output(YES));
        skip(1);
        // Another output than the one that was claimed.
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.OutputMismatch.selector, keccak256(_output(USE)), keccak256(_output(YES))
            )
        );
        executor.post(agent, runId, h, r, c, _output(USE));
        executor.post(agent, runId, h, r, c, _output(YES));
    }

    /// @dev Whatever is wrong with it: an output of another prompt, with less at stake, or open for less time.
    function test_post_otherRequest_reverts() public {
        bytes32 right = keccak256(executor.inputOf(_history(QUESTION, 0)));
        bytes memory other = executor.inputOf(_history("Is it down?", 0));
        _refused(
            _requestOf(other),
            other,
            abi.encodeWithSelector(IAssayErrors.InputHashMismatch.selector, keccak256(other), right)
        );
        bytes memory input = executor.inputOf(_history(QUESTION, 0));
        Request memory r = _requestOf(input);
        r.minBond = MIN_BOND - 1;
        _refused(r, input, abi.encodeWithSelector(IAssayErrors.BondTooSmall.selector, MIN_BOND - 1, MIN_BOND));
        r = _requestOf(input);
        r.window = WINDOW - 1;
        _refused(r, input, abi.encodeWithSelector(IAssayErrors.WindowTooShort.selector, WINDOW - 1, WINDOW));
    }

    function _refused(Request memory r, bytes memory input, bytes memory why) private {
        int256 runId = _start(QUESTION);
        Claim memory c = _claimed(r, input, _output(YES));
        skip(WINDOW);
        vm.expectRevert(why);
        executor.post(agent, runId, _history(QUESTION, 0), r, c, _output(YES));
    }

    /// @dev An agent of two executors keeps no reasoning, and would pay the fee of this one's post with another's request.
    function test_post_threshold_reverts() public {
        address[] memory both = new address[](2);
        (both[0], both[1]) = (address(executor), alice);
        agent = _newAgent(both, 2);
        int256 runId = _start(QUESTION);
        (Request memory r, Claim memory c) = _final(_history(QUESTION, 0), _output(YES));
        vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.NotAlone.selector, agent, 2));
        executor.post(agent, runId, _history(QUESTION, 0), r, c, _output(YES));
    }

    /// @dev A requester that takes no ether stops its own request's output, not the run.
    function test_post_requesterRefuses_reverts() public {
        int256 runId = _start(QUESTION);
        requesterOf = address(tool);
        vm.deal(address(tool), 1 ether);
        (Request memory r, Claim memory c) = _final(_history(QUESTION, 0), _output(YES));
        vm.expectRevert(
            abi.encodeWithSelector(IPrepaid.TransferFailed.selector, address(tool), uint256(ITERATION_FEE))
        );
        executor.post(agent, runId, _history(QUESTION, 0), r, c, _output(YES));
        requesterOf = requester;
        _post(runId, _history(QUESTION, 0), YES);
        assertEq(_answer(runId), "Yes.");
    }

    /// @dev A run of somebody else, with a question that reads the same to the model, is another history.
    function test_post_otherRun_reverts() public {
        int256 runId = _start(QUESTION);
        RunHistory memory h = _history(QUESTION, 0);
        (Request memory r, Claim memory c) = _final(h, _output(YES));
        h.requester = alice;
        vm.expectPartialRevert(ICallbackAgent.WrongHistory.selector);
        executor.post(agent, runId, h, r, c, _output(YES));
        int256 longer = _start("Is it up now or then?");
        h = _history("Is it up now and so on", 0);
        (r, c) = _final(h, _output(YES));
        // Cut after 12 bytes both are one prompt.
        assertEq(executor.inputOf(h), executor.inputOf(_history("Is it up now or then?", 0)));
        vm.expectPartialRevert(ICallbackAgent.WrongHistory.selector);
        executor.post(agent, longer, h, r, c, _output(YES));
        executor.post(agent, longer, _history("Is it up now or then?", 0), r, c, _output(YES));
    }

    /// @dev Nobody else can say what comes next, and nobody can name other executors.
    function test_postIteration_others_reverts() public {
        int256 runId = _start(QUESTION);
        bytes32 historyHash = agent.runOf(runId).historyHash;
        AgentIterationResult memory result;
        (result.isFinalAnswer, result.finalAnswer) = (true, "Yes.");
        vm.startPrank(alice);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.NotAdmitted.selector, runId, alice, 1));
        agent.postIteration(runId, 0, historyHash, result, 0);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.NotOwner.selector, alice, address(0)));
        agent.setExecutors(new address[](1), 1);
    }

    /// @dev An id of no choice, and an answer without an id, end a run by the words for it.
    function test_post_refusal_succeeds() public {
        uint16[3] memory ids = [uint16(0), YES + 100, type(uint16).max];
        for (uint256 i; i < ids.length; ++i) {
            int256 runId = _start(QUESTION);
            _post(runId, _history(QUESTION, 0), ids[i]);
            assertEq(_answer(runId), REFUSAL);
        }
        (uint256 place,) = executor.resultOf("", _history(QUESTION, 0));
        assertEq(place, 3);
    }

    function test_inputOf_tooLong_reverts() public {
        executor.inputOf(_history(QUESTION, 5));
        RunHistory memory h = _history(QUESTION, 6);
        vm.expectRevert(abi.encodeWithSelector(ChoicePrompt.PromptTooLong.selector, 41, PROMPT_IDS));
        executor.inputOf(h);
    }

    function test_historyHashOf_answer_reverts() public {
        RunHistory memory h = _history(QUESTION, 1);
        h.uses[0].choice = 1;
        vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.NotAUse.selector, 1));
        executor.historyHashOf(agent, 0, h);
        h.uses[0].choice = 3;
        vm.expectRevert(abi.encodeWithSignature("Panic(uint256)", 0x32));
        executor.historyHashOf(agent, 0, h);
    }

    function _unclear(Choice[] memory c, uint256 index) private {
        vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.ChoicesUnclear.selector, index));
        new FinalChoiceExecutor(assay, _terms(), c);
    }

    function test_constructor_choices_reverts() public {
        Choice[] memory c = _choices();
        c[2].id = c[0].id;
        _unclear(c, 2);
        c = _choices();
        c[1].text = c[0].text;
        _unclear(c, 1);
        _unclear(new Choice[](0), 0);
        _unclear(new Choice[](17), 17);
        c = _choices();
        c[0].input = hex"01";
        vm.expectRevert(bytes(""));
        new FinalChoiceExecutor(assay, _terms(), c);
        c = _choices();
        c[1].tool = tool;
        _unclear(c, 1);
        c = _choices();
        c[0].tool = IERCAgentTool(address(0));
        _unclear(c, 0);
        c = _choices();
        c[0].recall = "";
        vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.MalformedIds.selector, bytes(""), 2));
        new FinalChoiceExecutor(assay, _terms(), c);
        c[0].recall = hex"010203";
        vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.MalformedIds.selector, c[0].recall, 4));
        new FinalChoiceExecutor(assay, _terms(), c);
    }

    function test_constructor_terms_reverts() public {
        ChoiceTerms memory t = _terms();
        t.byteIds = bytes.concat(t.byteIds, hex"0001");
        vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.MalformedIds.selector, t.byteIds, 512));
        new FinalChoiceExecutor(assay, t, _choices());
        t = _terms();
        t.opening = new bytes(2 * PROMPT_IDS);
        vm.expectRevert(
            abi.encodeWithSelector(ChoicePrompt.PromptTooLong.selector, PROMPT_IDS + 1, PROMPT_IDS)
        );
        new FinalChoiceExecutor(assay, t, _choices());
        uint8[3] memory lanes = [0, 1, 5];
        for (uint256 i; i < lanes.length; ++i) {
            t = _terms();
            t.lanes = lanes[i];
            vm.expectRevert(
                abi.encodeWithSelector(FinalChoiceExecutor.LanesInvalid.selector, lanes[i], LANE_BOND)
            );
            new FinalChoiceExecutor(assay, t, _choices());
        }
        t = _terms();
        // A model without an output of ids, and none.
        ModelId[2] memory others = [MODEL, ModelId.wrap(keccak256("no model"))];
        for (uint256 i; i < others.length; ++i) {
            t.modelId = others[i];
            vm.expectRevert(abi.encodeWithSelector(FinalChoiceExecutor.NoLanguageModel.selector, others[i]));
            new FinalChoiceExecutor(assay, t, _choices());
        }
    }

    /// @dev Against the form in words: prompts of any size, texts of any bytes, any number of uses.
    function testFuzz_inputOf_plain_succeeds(uint256 size, bytes memory question, bytes[3] memory results)
        public
    {
        size = bound(size, 2 + QUESTION_BYTES + 3 * (1 + RESULT_BYTES), 200);
        ModelId sized = ModelId.wrap(bytes32(size));
        registry.setModel(sized, _languageModel(size));
        ChoiceTerms memory t = _terms();
        t.modelId = sized;
        RunHistory memory h = _history(string(question), results.length);
        uint256[] memory ids = new uint256[](size);
        uint256 count = _push(ids, 0, OPENING);
        count = _pushText(ids, count, question, QUESTION_BYTES);
        for (uint256 i; i < results.length; ++i) {
            h.uses[i].result = string(results[i]);
            count = _pushText(ids, _push(ids, count, RECALL), results[i], RESULT_BYTES);
        }
        count = _push(ids, count, CLOSING);
        uint256[] memory words = new uint256[]((size + 15) / 16);
        for (uint256 i; i < size; ++i) {
            // Nothing stands in front of a prompt that is shorter.
            int256 number = i < size - count ? int256(32_767) : int256(ids[i + count - size]) - 32_768;
            words[i / 16] |= uint256(uint16(int16(number))) << (240 - 16 * (i % 16));
        }
        bytes memory input = new FinalChoiceExecutor(assay, t, _choices()).inputOf(h);
        assertEq(keccak256(input), keccak256(abi.encodeWithSelector(SELECTOR, words)));
    }

    function _push(uint256[] memory ids, uint256 count, uint256 id) private pure returns (uint256) {
        ids[count] = id;
        return count + 1;
    }

    function _pushText(uint256[] memory ids, uint256 count, bytes memory text, uint256 most)
        private
        pure
        returns (uint256)
    {
        for (uint256 i; i < text.length && i < most; ++i) {
            count = _push(ids, count, 300 + uint256(uint8(text[i])));
        }
        return count;
    }

    function _with(RunHistory memory h, ToolUse memory use) private pure returns (RunHistory memory longer) {
        (longer.requester, longer.question) = (h.requester, h.question);
        longer.uses = new ToolUse[](h.uses.length + 1);
        for (uint256 i; i < h.uses.length; ++i) {
            longer.uses[i] = h.uses[i];
        }
        longer.uses[h.uses.length] = use;
    }

    /// @notice What the agent says that the tool returned.
    function _answered(Vm.Log[] memory logs) private pure returns (ToolUse memory use) {
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].topics[0] != ICallbackAgent.ToolAnswered.selector) continue;
            (use.success, use.result) = abi.decode(logs[i].data, (bool, string));
        }
    }

    /// @dev The agent's own hash, after uses that went well and that failed.
    function testFuzz_historyHashOf_agent_succeeds(string memory question, bool[3] memory fails) public {
        int256 runId = _start(question);
        RunHistory memory h = _history(question, 0);
        for (uint256 i; i < fails.length; ++i) {
            tool.setMood(fails[i] ? MoodyTool.Mood.REVERT : MoodyTool.Mood.ANSWER);
            (Request memory r, Claim memory c) = _final(h, _output(USE));
            vm.recordLogs();
            executor.post(agent, runId, h, r, c, _output(USE));
            h = _with(h, _answered(vm.getRecordedLogs()));
            assertEq(executor.historyHashOf(agent, runId, h), agent.runOf(runId).historyHash);
        }
    }
}
