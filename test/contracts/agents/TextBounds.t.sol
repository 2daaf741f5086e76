// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {CallbackAgent, CallbackTerms} from "../../../verifier-contracts/agents/callback/CallbackAgent.sol";
import {ICallbackAgent, RunState} from "../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {BoundedCall} from "../../../verifier-contracts/agents/libraries/BoundedCall.sol";
import {Introspection} from "../../../verifier-contracts/agents/libraries/Introspection.sol";
import {CallbackFixture} from "./support/CallbackFixture.sol";
import {MoodyTool} from "./support/TestTools.sol";
import {WordyTool} from "./support/WordyTool.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice A callback agent whose tools get as much gas as an agent may give them, against tools that say megabytes.
/// Every post here is a transaction of at most 2^24 gas.
contract TextBoundsTest is CallbackFixture {
    uint256 private constant TRANSACTION_GAS = 1 << 24;
    uint32 private constant MOST_TOOL_GAS = 14_000_000;
    uint256 private constant RESULT_BYTES = 8_192;
    uint256 private constant NAME_BYTES = 128;

    WordyTool private wordy;
    int256 private runId;

    function setUp() public override {
        super.setUp();
        wordy = new WordyTool("WordyTool");
        agent = _newAgent(_widest(), _list());
        runId = _start("use the tool");
    }

    function test_postIteration_megabytesReturned_succeeds() public {
        uint256[4] memory sizes = [RESULT_BYTES + 1, 1 << 16, 1 << 19, 1 << 20];
        for (uint256 i; i < sizes.length; i++) {
            wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.TEXT, sizes[i]);
            _postWithin(executors[i % 3], _use(wordy, 1, ""));
            assertEq(agent.runOf(runId).iteration, i + 1);
        }
        _answers();
    }

    /// @dev The text that the model reads of a result that is one byte too long; one of the greatest length is whole.
    function test_postIteration_longestResult_succeeds() public {
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.TEXT, RESULT_BYTES);
        vm.expectEmit(address(agent));
        emit ICallbackAgent.ToolAnswered(runId, 0, true, string(new bytes(RESULT_BYTES)));
        _postWithin(executors[0], _use(wordy, 1, ""));
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.TEXT, RESULT_BYTES + 1);
        vm.expectEmit(address(agent));
        bytes memory why =
            abi.encodeWithSelector(BoundedCall.ResultTooLong.selector, RESULT_BYTES + 1, RESULT_BYTES);
        emit ICallbackAgent.ToolAnswered(runId, 1, false, string.concat("Error: ", Strings.toHexString(why)));
        _postWithin(executors[1], _use(wordy, 1, ""));
        _answers();
    }

    /// @dev What it said on the day when the agent looked at it first does not bind it.
    function test_postIteration_textGrows_succeeds() public {
        _postWithin(executors[0], _use(wordy, 1, ""));
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.TEXT, 1 << 20);
        wordy.say(WordyTool.Part.DESCRIPTION, WordyTool.Manner.TEXT, 1 << 20);
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.TEXT, 1 << 20);
        _postWithin(executors[1], _use(wordy, 1, ""));
        _postWithin(executors[2], _use(tool, 1, ""));
        assertEq(tool.uses(), 1, "the other tool");
        _start("a run that begins later");
        _answers();
    }

    function test_postIteration_burns_succeeds() public {
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.BURN, 0);
        _postWithin(executors[0], _use(wordy, 1, ""));
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.TEXT, 0);
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.BURN, 0);
        _postWithin(executors[1], _use(wordy, 1, ""));
        _answers();
    }

    function test_postIteration_revertsWithMegabytes_succeeds() public {
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.REVERT, 1 << 20);
        _postWithin(executors[0], _use(wordy, 1, ""));
        wordy.say(WordyTool.Part.PARAMS, WordyTool.Manner.TEXT, 0);
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.REVERT, 1 << 20);
        _postWithin(executors[1], _use(wordy, 1, ""));
        _answers();
    }

    /// @dev A run whose executors give up is refunded by a short transaction, whatever its tools say.
    function test_advance_hostileTool_succeeds() public {
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.BURN, 0);
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.BURN, 0);
        for (uint256 i; i < 3; i++) {
            skip(ITERATION_SECONDS + 1);
            agent.advance{gas: 200_000}(runId);
        }
        assertEq(agent.balanceOf(address(client)), agent.price());
    }

    function test_handleAgentResult_tooLong_reverts() public {
        tool.setMood(MoodyTool.Mood.LATER);
        _postWithin(executors[0], _use(tool, 1, ""));
        vm.expectRevert(
            abi.encodeWithSelector(BoundedCall.ResultTooLong.selector, RESULT_BYTES + 1, RESULT_BYTES)
        );
        tool.finish(agent, 0, string(new bytes(RESULT_BYTES + 1)));
        tool.finish(agent, 0, string(new bytes(RESULT_BYTES)));
        assertEq(agent.runOf(runId).iteration, 1);
        _answers();
    }

    /// @dev Names are read once, in the agent's first run; who begins one that fails so has not paid yet.
    function test_run_hostileName_reverts() public {
        CallbackAgent fresh = _newAgent(_widest(), _list());
        vm.deal(address(this), 1 ether);
        fresh.depositFor{value: 1 ether}(address(this));
        IERCAgentTool.Input memory input = AgentInput.prompt("go");
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.TEXT, NAME_BYTES + 1);
        vm.expectRevert(
            abi.encodeWithSelector(Introspection.NameTooLong.selector, wordy, NAME_BYTES + 1, NAME_BYTES)
        );
        fresh.run(input, address(client));
        // More than the gas of a name.
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.TEXT, 1 << 20);
        vm.expectRevert(bytes(""));
        fresh.run{gas: 1_000_000}(input, address(client));
        assertEq(fresh.balanceOf(address(this)), 1 ether);
        wordy.say(WordyTool.Part.NAME, WordyTool.Manner.TEXT, NAME_BYTES);
        fresh.run(input, address(client));
    }

    /// @dev With the most gas that terms may name, a tool that burns all of it and 16 KB of input fit a transaction;
    /// so do an answer of 4 KB and its delivery to a handler that burns all of its gas.
    function test_constructor_mostGas_succeeds() public {
        wordy.say(WordyTool.Part.RESULT, WordyTool.Manner.BURN, 0);
        AgentIterationResult memory result = _use(wordy, 1, string(new bytes(16_384)));
        _postWithin(executors[0], result);
        assertEq(agent.runOf(runId).iteration, 1);
        result = _final(string(new bytes(4_096)));
        _postWithin(executors[1], result);
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.DONE));
    }

    function test_constructor_tooMuchGas_reverts() public {
        CallbackTerms memory terms = _widest();
        IERCAgentTool[] memory list = _list();
        terms.toolGas = MOST_TOOL_GAS + 1;
        bytes4 why = ICallbackAgent.GasTooHigh.selector;
        vm.expectRevert(abi.encodeWithSelector(why, MOST_TOOL_GAS + 1, MOST_TOOL_GAS));
        _newAgent(terms, list);
        terms = _widest();
        terms.callbackGas += 1;
        vm.expectRevert(abi.encodeWithSelector(why, terms.callbackGas, terms.callbackGas - 1));
        _newAgent(terms, list);
    }

    function _widest() private view returns (CallbackTerms memory terms) {
        terms = _terms(1, address(0));
        (terms.toolGas, terms.callbackGas) = (MOST_TOOL_GAS, 8_000_000);
    }

    function _list() private view returns (IERCAgentTool[] memory list) {
        list = new IERCAgentTool[](2);
        (list[0], list[1]) = (wordy, tool);
    }

    /// @dev Posts with what a transaction of the most gas leaves for the call.
    function _postWithin(address executor, AgentIterationResult memory result) private {
        bytes memory data = _postCall(runId, result);
        uint256 before = agent.runOf(runId).iteration;
        vm.prank(executor);
        (bool success,) = address(agent).call{gas: TRANSACTION_GAS - 21_000 - 16 * data.length}(data);
        assertTrue(success, "the post does not fit a transaction");
        bool moved = agent.runOf(runId).iteration > before || agent.runOf(runId).state != RunState.ITERATION;
        assertTrue(moved, "the run stands still");
    }

    function _answers() private {
        uint256 turn = agent.runOf(runId).iteration;
        _postWithin(executors[turn % 3], _final("done"));
        assertEq(client.resultOf(agent, runId), "done");
        assertEq(agent.refundedOf(runId), agent.price() - (turn + 1) * FEE);
    }
}
