// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentClient} from "../../../verifier-contracts/agents/AgentClient.sol";
import {AgentMetadata} from "../../../verifier-contracts/agents/AgentMetadata.sol";
import {
    ICallbackAgent,
    RunFailure,
    RunState
} from "../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {IERCAgentClient} from "../../../verifier-contracts/agents/interfaces/IERCAgentClient.sol";
import {AgentIterationResult} from "../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {BoundedCall} from "../../../verifier-contracts/agents/libraries/BoundedCall.sol";
import {ResultHandler} from "../../../verifier-contracts/agents/libraries/ResultHandler.sol";
import {CallbackFixture} from "./support/CallbackFixture.sol";
import {Params} from "./support/Params.sol";
import {MoodyHandler, MoodyTool, NotAClient} from "./support/TestTools.sol";

contract CallbackAgentTest is CallbackFixture {
    // shows: E1-005, E1-028, E1-031, E1-080, D-19, D-22
    function test_postIteration_toolThenAnswer_succeeds() public {
        int256 runId = _start("use the tool");
        assertEq(runId, 0);
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.ITERATION));
        _post(runId, executors[0], _use(tool, 7, "it must be used"));
        assertEq(tool.uses(), 1);
        assertEq(agent.runOf(runId).iteration, 1);
        _post(runId, executors[1], _final("used it"));
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.DONE));
        assertEq(agent.answerOf(runId), "used it");
        assertEq(client.resultOf(agent, runId), "used it");
        assertTrue(agent.runOf(runId).delivered);
        assertEq(agent.balanceOf(executors[0]), FEE);
        assertEq(agent.balanceOf(executors[1]), FEE);
        // Three iterations and the tool budget were not spent.
        assertEq(agent.refundedOf(runId), 3 * FEE + TOOL_BUDGET);
        assertEq(agent.balanceOf(address(client)), 3 * FEE + TOOL_BUDGET);
    }

    // shows: E1-029, E1-030, E1-079, D-43, D-75, D-76
    function test_handleAgentResult_asynchronousTool_succeeds() public {
        int256 runId = _start("use the tool");
        tool.setMood(MoodyTool.Mood.LATER);
        _post(runId, executors[0], _use(tool, 7, ""));
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.TOOL));
        assertEq(tool.handler(), address(agent));
        // Its id is 0, which is an id like any other.
        assertEq(agent.runOf(runId).toolRunId, 0);
        _refusesResult(address(other), 0);
        _refusesResult(address(tool), 1);
        _refusesResult(address(tool), -1);
        _refusesResult(stranger, 0);
        tool.finish(agent, 0, "42");
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.ITERATION));
        assertEq(agent.runOf(runId).iteration, 1);
        _refusesResult(address(tool), 0);
        _post(runId, executors[1], _final("it is 42"));
        assertEq(client.resultOf(agent, runId), "it is 42");
    }

    function _refusesResult(address sender, int256 toolRunId) private {
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.UnknownToolRun.selector, sender, toolRunId));
        vm.prank(sender);
        agent.handleAgentResult(toolRunId, "forged");
    }

    /// @dev Two runs wait for one tool at once; each gets its own.
    function test_handleAgentResult_twoRuns_succeeds() public {
        int256 first = _start("first");
        int256 second = _start("second");
        tool.setMood(MoodyTool.Mood.LATER);
        _post(first, executors[0], _use(tool, 1, ""));
        _post(second, executors[1], _use(tool, 2, ""));
        tool.finish(agent, 1, "for the second");
        assertEq(uint8(agent.runOf(first).state), uint8(RunState.TOOL));
        assertEq(uint8(agent.runOf(second).state), uint8(RunState.ITERATION));
    }

    // shows: E1-081, D-11
    function test_handleAgentResult_beforeRunReturned_succeeds() public {
        int256 runId = _start("use the tool");
        tool.setMood(MoodyTool.Mood.AT_ONCE);
        _post(runId, executors[0], _use(tool, 1, ""));
        // The tool's use failed and is undone; the run goes on.
        assertEq(tool.uses(), 0);
        assertEq(agent.runOf(runId).iteration, 1);
        tool.setMood(MoodyTool.Mood.ANSWER);
        _post(runId, executors[1], _use(tool, 1, ""));
        assertEq(tool.uses(), 1);
    }

    /// @dev A tool that gives out one id twice would hand the first run's result to the second.
    function test_postIteration_sameIdTwice_succeeds() public {
        int256 first = _start("first");
        int256 second = _start("second");
        tool.setMood(MoodyTool.Mood.LATER);
        _post(first, executors[0], _use(tool, 1, ""));
        tool.setNextId(0);
        _post(second, executors[1], _use(tool, 2, ""));
        assertEq(tool.uses(), 1, "undone");
        assertEq(uint8(agent.runOf(second).state), uint8(RunState.ITERATION));
        tool.finish(agent, 0, "for the first");
        assertEq(agent.runOf(first).iteration, 1);
    }

    // shows: D-03
    function test_postIteration_unlistedTool_reverts() public {
        int256 runId = _start("use another tool");
        MoodyTool unlisted = new MoodyTool("Unlisted");
        AgentIterationResult memory result = _use(unlisted, 1, "");
        _expectPost(
            runId, executors[0], result, abi.encodeWithSelector(AgentMetadata.NotATool.selector, unlisted)
        );
        assertEq(unlisted.uses(), 0);
    }

    function test_postIteration_byOthers_reverts() public {
        int256 runId = _start("answer");
        AgentIterationResult memory result = _final("hello");
        bytes4 why = ICallbackAgent.NotAdmitted.selector;
        _expectPost(runId, stranger, result, abi.encodeWithSelector(why, runId, stranger, 1));
        // The second executor's turn comes with the second iteration, or after a timeout.
        _expectPost(runId, executors[1], result, abi.encodeWithSelector(why, runId, executors[1], 1));
        _expectPost(runId, owner, result, abi.encodeWithSelector(why, runId, owner, 1));
    }

    function test_postIteration_wrongPlace_reverts() public {
        int256 runId = _start("answer");
        bytes32 history = agent.runOf(runId).historyHash;
        vm.startPrank(executors[0]);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.WrongIteration.selector, runId, 1, 0));
        agent.postIteration(runId, 1, history, _final("x"), 0);
        vm.expectRevert(
            abi.encodeWithSelector(ICallbackAgent.WrongHistory.selector, runId, bytes32(uint256(1)), history)
        );
        agent.postIteration(runId, 0, bytes32(uint256(1)), _final("x"), 0);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICallbackAgent.WrongState.selector, int256(9), RunState.NONE, RunState.ITERATION
            )
        );
        agent.postIteration(9, 0, history, _final("x"), 0);
        vm.stopPrank();
        _post(runId, executors[0], _final("x"));
        _expectPost(
            runId,
            executors[0],
            _final("y"),
            abi.encodeWithSelector(
                ICallbackAgent.WrongState.selector, runId, RunState.DONE, RunState.ITERATION
            )
        );
    }

    // shows: E1-056
    function test_postIteration_ambiguous_reverts() public {
        int256 runId = _start("answer");
        AgentIterationResult memory both = _use(tool, 1, "why");
        both.finalAnswer = "and an answer";
        bytes memory why = abi.encodeWithSelector(AgentMetadata.AmbiguousIteration.selector);
        _expectPost(runId, executors[0], both, why);
        both.isFinalAnswer = true;
        _expectPost(runId, executors[0], both, why);
    }

    // shows: D-18
    function test_postIteration_toolFails_succeeds() public {
        int256 runId = _start("use the tool");
        tool.setMood(MoodyTool.Mood.REVERT);
        _post(runId, executors[0], _use(tool, 7, ""));
        assertEq(tool.uses(), 0, "undone");
        assertEq(agent.runOf(runId).iteration, 1);
        // Burning the gas, answering nonsense, a mountain of error data: all the same.
        tool.setMood(MoodyTool.Mood.BURN);
        _post(runId, executors[1], _use(tool, 7, ""));
        tool.setMood(MoodyTool.Mood.BELOW);
        _post(runId, executors[2], _use(tool, 7, ""));
        tool.setMood(MoodyTool.Mood.BOMB);
        _post(runId, executors[0], _use(tool, 7, ""));
        assertEq(agent.runOf(runId).iteration, 4);
        _post(runId, executors[1], _final("nothing works"));
        assertEq(client.resultOf(agent, runId), "nothing works");
    }

    /// @dev Little gas would make a good tool fail: the post reverts instead.
    function test_postIteration_littleGas_reverts() public {
        int256 runId = _start("use the tool");
        bytes memory call = _postCall(runId, _use(tool, 7, ""));
        vm.prank(executors[0]);
        (bool success, bytes memory why) = address(agent).call{gas: TOOL_GAS}(call);
        assertFalse(success);
        assertEq(bytes4(why), BoundedCall.NotEnoughGas.selector);
        assertEq(agent.runOf(runId).iteration, 0);
        vm.prank(executors[0]);
        (success,) = address(agent).call{gas: 2 * TOOL_GAS}(call);
        assertTrue(success);
        assertEq(tool.uses(), 1);
    }

    // shows: E1-054
    function test_postIteration_neverFinal_succeeds() public {
        int256 runId = _start("use the tool for ever");
        for (uint256 i; i < MAX_ITERATIONS; i++) {
            _post(runId, executors[i % 3], _use(tool, i, ""));
        }
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.FAILED));
        assertEq(uint8(agent.runOf(runId).failure), uint8(RunFailure.ITERATIONS));
        assertEq(client.resultOf(agent, runId), "", "a failure is no result");
        assertEq(agent.balanceOf(address(client)), TOOL_BUDGET);
        vm.expectRevert(
            abi.encodeWithSelector(ICallbackAgent.WrongState.selector, runId, RunState.FAILED, RunState.DONE)
        );
        agent.answerOf(runId);
    }

    function test_advance_lostExecutors_succeeds() public {
        int256 runId = _start("answer");
        uint256 deadline = agent.runOf(runId).deadline;
        vm.warp(deadline);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.NotYet.selector, deadline, deadline + 1));
        agent.advance(runId);
        skip(1);
        vm.prank(stranger);
        agent.advance(runId);
        assertEq(agent.admittedOf(runId).length, 2);
        // The one that was lost may still come back.
        _post(runId, executors[0], _use(tool, 1, ""));
        for (uint256 i; i < 2; i++) {
            skip(ITERATION_SECONDS + 1);
            agent.advance(runId);
        }
        assertEq(agent.admittedOf(runId).length, 3);
        skip(ITERATION_SECONDS + 1);
        agent.advance(runId);
        assertEq(uint8(agent.runOf(runId).failure), uint8(RunFailure.EXECUTORS));
        assertEq(agent.balanceOf(address(client)), 4 * FEE + TOOL_BUDGET);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICallbackAgent.WrongState.selector, runId, RunState.FAILED, RunState.ITERATION
            )
        );
        agent.advance(runId);
    }

    function test_advance_lostTool_succeeds() public {
        int256 runId = _start("use the tool");
        tool.setMood(MoodyTool.Mood.LATER);
        _post(runId, executors[0], _use(tool, 1, ""));
        skip(TOOL_SECONDS + 1);
        agent.advance(runId);
        assertEq(agent.runOf(runId).iteration, 1);
        // Too late: the model has read that there was none.
        _refusesResult(address(tool), 0);
        _post(runId, executors[1], _final("no result"));
        assertEq(client.resultOf(agent, runId), "no result");
    }

    // shows: E1-032, D-10
    function test_run_handlers_succeeds() public {
        IERCAgentTool.Input memory input = AgentInput.prompt("answer");
        agent.depositFor{value: 10 ether}(address(this));
        vm.expectRevert(abi.encodeWithSelector(ResultHandler.HandlerWithoutCode.selector, stranger));
        agent.run(input, stranger);
        vm.expectRevert(abi.encodeWithSelector(ResultHandler.HandlerWithoutCode.selector, address(0)));
        agent.run(input, address(0));
        address no = address(new NotAClient());
        vm.expectRevert(abi.encodeWithSelector(ResultHandler.HandlerNotClient.selector, no));
        agent.run(input, no);
        // A client of the later text does not know ERC-165.
        agent.run(input, address(new MoodyHandler()));
        agent.run(input, address(client));
    }

    // shows: E0-24, D-54, D-78
    function test_deliver_badHandler_succeeds() public {
        MoodyHandler handler = new MoodyHandler();
        handler.setMood(MoodyHandler.Mood.BURN);
        agent.depositFor{value: 10 ether}(address(handler));
        (int256 runId,) = handler.run(agent, AgentInput.prompt("answer"));
        _post(runId, executors[0], _final("hello"));
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.DONE));
        assertFalse(agent.runOf(runId).delivered);
        handler.setMood(MoodyHandler.Mood.REVERT);
        agent.deliver(runId);
        assertFalse(agent.runOf(runId).delivered);
        handler.setMood(MoodyHandler.Mood.TAKE);
        (bool success, bytes memory why) =
            address(agent).call{gas: CALLBACK_GAS}(abi.encodeCall(agent.deliver, (runId)));
        assertFalse(success);
        assertEq(bytes4(why), BoundedCall.NotEnoughGas.selector);
        vm.prank(stranger);
        agent.deliver(runId);
        assertEq(handler.taken(), 1);
        assertEq(handler.lastSender(), address(agent));
        assertEq(handler.lastRunId(), runId);
        assertEq(handler.lastResult(), "hello");
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.AlreadyDelivered.selector, runId));
        agent.deliver(runId);
    }

    // shows: D-20
    function test_run_unpaid_reverts() public {
        agent.depositFor{value: agent.price() - 1}(address(this));
        vm.expectRevert(
            abi.encodeWithSelector(
                IPrepaid.BalanceTooSmall.selector, address(this), agent.price() - 1, agent.price()
            )
        );
        agent.run(AgentInput.prompt("answer"), address(client));
    }

    function test_setExecutors_runInFlight_succeeds() public {
        int256 before = _start("answer");
        address[] memory next = new address[](1);
        next[0] = stranger;
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.NotOwner.selector, stranger, owner));
        vm.prank(stranger);
        agent.setExecutors(next, 1);
        vm.prank(owner);
        agent.setExecutors(next, 1);
        int256 afterwards = _start("answer");
        _post(before, executors[0], _final("old"));
        _post(afterwards, stranger, _final("new"));
        assertEq(client.resultOf(agent, before), "old");
        assertEq(client.resultOf(agent, afterwards), "new");
    }

    function test_setExecutors_wrongSets_reverts() public {
        vm.startPrank(owner);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.WrongExecutors.selector, 0, 0));
        agent.setExecutors(new address[](0), 0);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.WrongExecutors.selector, 2, 3));
        agent.setExecutors(new address[](2), 3);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.WrongExecutors.selector, 33, 1));
        agent.setExecutors(new address[](33), 1);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.DuplicateExecutor.selector, address(0)));
        agent.setExecutors(new address[](2), 1);
        vm.stopPrank();
    }

    function test_receive_stray_reverts() public {
        vm.deal(stranger, 1 ether);
        vm.prank(stranger);
        (bool success, bytes memory why) = address(agent).call{value: 1}("");
        assertFalse(success);
        assertEq(why, abi.encodeWithSelector(ICallbackAgent.UnexpectedEther.selector, stranger));
    }

    function test_useTool_byOthers_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.OnlyItself.selector, stranger));
        vm.prank(stranger);
        agent.useTool(tool, Params.input(Params.number(1)), 0);
    }

    // shows: E0-01, E0-02, E0-03, E0-04, D-46
    function test_supportsInterface_all_succeeds() public view {
        bytes4[4] memory yes = [bytes4(0x01ffc9a7), 0x5450da3a, 0x36d21840, type(IPrepaid).interfaceId];
        for (uint256 i; i < yes.length; i++) {
            assertTrue(agent.supportsInterface(yes[i]));
        }
        assertFalse(agent.supportsInterface(0xffffffff));
        assertTrue(client.supportsInterface(type(IERCAgentClient).interfaceId));
        assertTrue(client.supportsInterface(0x01ffc9a7));
        assertFalse(client.supportsInterface(0xffffffff));
    }

    // shows: E1-078, E1-079
    function test_clientHandleAgentResult_foreign_reverts() public {
        int256 runId = _start("answer");
        bytes4 why = AgentClient.NotWaiting.selector;
        vm.expectRevert(abi.encodeWithSelector(why, address(this), runId));
        client.handleAgentResult(runId, "forged");
        vm.expectRevert(abi.encodeWithSelector(why, address(agent), runId + 1));
        vm.prank(address(agent));
        client.handleAgentResult(runId + 1, "another run");
        vm.expectRevert(abi.encodeWithSelector(why, address(agent), int256(-1)));
        vm.prank(address(agent));
        client.handleAgentResult(-1, "no run");
        _post(runId, executors[0], _final("right"));
        vm.expectRevert(abi.encodeWithSelector(why, address(agent), runId));
        vm.prank(address(agent));
        client.handleAgentResult(runId, "again");
        assertEq(client.resultOf(agent, runId), "right");
    }

    /// @dev A client holds no ether of its own, so none can be caught in it.
    function test_clientWithdrawFrom_toItself_reverts() public {
        int256 runId = _start("answer");
        _post(runId, executors[0], _final("done"));
        uint256 held = agent.balanceOf(address(client));
        vm.expectRevert(abi.encodeWithSelector(IPrepaid.TransferFailed.selector, address(client), held));
        client.withdrawFrom(agent, address(client), held);
        client.withdrawFrom(agent, stranger, held);
        assertEq(stranger.balance, held);
    }
}
