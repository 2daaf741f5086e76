// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    ICallbackAgent,
    RunFailure,
    RunState
} from "../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {Vm} from "../support/Vm.sol";
import {CallbackFixture} from "./support/CallbackFixture.sol";
import {Params} from "./support/Params.sol";
import {MoodyTool} from "./support/TestTools.sol";

/// @dev Agreement of executors, confirmation by a human, and the record of a run.
contract CallbackRulesTest is CallbackFixture {
    function test_postIteration_twoOfThree_succeeds() public {
        agent = _newAgent(_terms(2, address(0)), _twoTools());
        int256 runId = _start("use the tool");
        assertEq(agent.admittedOf(runId).length, 2);
        _post(runId, executors[0], _use(tool, 1, "mine"));
        _expectPost(
            runId,
            executors[0],
            _use(tool, 2, "again"),
            abi.encodeWithSelector(ICallbackAgent.AlreadyPosted.selector, runId, 0, executors[0])
        );
        _post(runId, executors[1], _use(tool, 2, "I disagree"));
        assertEq(tool.uses(), 0, "no agreement");
        _expectPost(
            runId,
            executors[2],
            _use(tool, 2, ""),
            abi.encodeWithSelector(ICallbackAgent.NotAdmitted.selector, runId, executors[2], 2)
        );
        skip(ITERATION_SECONDS + 1);
        agent.advance(runId);
        vm.recordLogs();
        _post(runId, executors[2], _use(tool, 2, "so do I"));
        assertEq(tool.uses(), 1);
        // Those who agreed are paid, and reasoning of one of them is handed to nobody.
        assertEq(agent.balanceOf(executors[0]), 0);
        assertEq(agent.balanceOf(executors[1]), FEE);
        assertEq(agent.balanceOf(executors[2]), FEE);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i; i < logs.length; i++) {
            if (logs[i].topics[0] != ICallbackAgent.ToolChosen.selector) continue;
            (, string memory reasoning) = abi.decode(logs[i].data, (IERCAgentTool.Input, string));
            assertEq(reasoning, "");
        }
    }

    function test_advance_noAgreement_succeeds() public {
        agent = _newAgent(_terms(2, address(0)), _twoTools());
        int256 runId = _start("answer");
        _post(runId, executors[0], _final("a"));
        _post(runId, executors[1], _final("b"));
        skip(ITERATION_SECONDS + 1);
        agent.advance(runId);
        _post(runId, executors[2], _final("c"));
        skip(ITERATION_SECONDS + 1);
        agent.advance(runId);
        assertEq(uint8(agent.runOf(runId).failure), uint8(RunFailure.EXECUTORS));
        assertEq(agent.balanceOf(address(client)), agent.price());
    }

    function _waiting() private returns (int256 runId) {
        agent = _newAgent(_terms(1, human), _twoTools());
        runId = _start("use the tool");
        _post(runId, executors[0], _use(tool, 1, "why"));
        assertEq(tool.uses(), 0);
        assertEq(uint8(agent.runOf(runId).state), uint8(RunState.CONFIRMATION));
    }

    // shows: E1-009, E1-096
    function test_confirm_exactCall_succeeds() public {
        int256 runId = _waiting();
        IERCAgentTool.Input memory input = Params.input(Params.number(1));
        vm.prank(human);
        agent.confirm(runId, tool, input);
        assertEq(tool.uses(), 1);
        _post(runId, executors[1], _final("done"));
        assertEq(client.resultOf(agent, runId), "done");
        // Without a confirmer a run finishes alone.
        agent = _newAgent(_terms(1, address(0)), _twoTools());
        runId = _start("use the tool");
        _post(runId, executors[0], _use(tool, 1, "why"));
        assertEq(tool.uses(), 2);
    }

    // shows: E1-096
    function test_confirm_anotherCall_reverts() public {
        int256 runId = _waiting();
        bytes32 mine = agent.runOf(runId).callHash;
        IERCAgentTool.Input memory input = Params.input(Params.number(2));
        vm.startPrank(human);
        bytes32 given = _callHash(runId, 0, tool, input);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.WrongCall.selector, runId, given, mine));
        agent.confirm(runId, tool, input);
        input = Params.input(Params.number(1));
        given = _callHash(runId, 0, other, input);
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.WrongCall.selector, runId, given, mine));
        agent.confirm(runId, other, input);
        vm.stopPrank();
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.NotConfirmer.selector, stranger, human));
        vm.prank(stranger);
        agent.confirm(runId, tool, input);
        assertEq(mine, _callHash(runId, 0, tool, input));
        assertEq(tool.uses() + other.uses(), 0);
    }

    function _callHash(int256 runId, uint16 iteration, IERCAgentTool which, IERCAgentTool.Input memory input)
        private
        view
        returns (bytes32)
    {
        return keccak256(abi.encode(block.chainid, agent, runId, iteration, which, input));
    }

    // shows: E1-096
    function test_deny_endsRun_succeeds() public {
        int256 runId = _waiting();
        vm.expectRevert(abi.encodeWithSelector(ICallbackAgent.NotConfirmer.selector, stranger, human));
        vm.prank(stranger);
        agent.deny(runId);
        vm.prank(human);
        agent.deny(runId);
        assertEq(uint8(agent.runOf(runId).failure), uint8(RunFailure.DENIED));
        assertEq(tool.uses(), 0);
        assertEq(agent.balanceOf(address(client)), 4 * FEE + TOOL_BUDGET);
        IERCAgentTool.Input memory input = Params.input(Params.number(1));
        vm.expectRevert(
            abi.encodeWithSelector(
                ICallbackAgent.WrongState.selector, runId, RunState.FAILED, RunState.CONFIRMATION
            )
        );
        vm.prank(human);
        agent.confirm(runId, tool, input);
    }

    function test_advance_unconfirmed_succeeds() public {
        int256 runId = _waiting();
        skip(CONFIRM_SECONDS + 1);
        agent.advance(runId);
        assertEq(uint8(agent.runOf(runId).failure), uint8(RunFailure.UNCONFIRMED));
        assertEq(tool.uses(), 0);
    }

    /// @dev What an indexer keeps of one run, from logs alone.
    struct Record {
        address requester;
        string prompt;
        bytes32 history;
        uint256 steps;
        string lastResult;
        string answer;
        bytes32 callHash;
    }

    // shows: E1-011, E1-049
    function test_runOf_rebuiltFromEvents_succeeds() public {
        vm.recordLogs();
        int256 runId = _start("use both tools");
        _post(runId, executors[0], _use(tool, 1, "first this"));
        other.setMood(MoodyTool.Mood.LATER);
        _post(runId, executors[1], _use(other, 2, "then that"));
        other.finish(agent, 0, "later");
        tool.setMood(MoodyTool.Mood.REVERT);
        _post(runId, executors[2], _use(tool, 3, "and that"));
        _post(runId, executors[0], _final("all done"));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        Record memory record;
        for (uint256 i; i < logs.length; i++) {
            if (logs[i].emitter == address(agent) && logs[i].topics.length > 1) {
                _read(record, logs[i], runId);
            }
        }
        assertEq(record.requester, address(client));
        assertEq(record.prompt, "use both tools");
        assertEq(record.steps, 3);
        assertEq(record.answer, agent.answerOf(runId));
        assertEq(record.history, agent.runOf(runId).historyHash, "the record is the run");
    }

    function _read(Record memory record, Vm.Log memory log, int256 runId) private view {
        bytes32 topic = log.topics[0];
        if (topic == ICallbackAgent.RunStarted.selector) {
            (,, record.prompt) = abi.decode(log.data, (address, uint32, string));
            record.requester = address(uint160(uint256(log.topics[2])));
            record.history =
                keccak256(abi.encode(block.chainid, agent, runId, record.requester, record.prompt));
        } else if (topic == ICallbackAgent.ToolChosen.selector) {
            (IERCAgentTool.Input memory input, string memory reasoning) =
                abi.decode(log.data, (IERCAgentTool.Input, string));
            IERCAgentTool which = IERCAgentTool(address(uint160(uint256(log.topics[3]))));
            bytes32 callHash = _callHash(runId, uint16(uint256(log.topics[2])), which, input);
            record.history = keccak256(abi.encode(record.history, callHash, reasoning));
        } else if (topic == ICallbackAgent.ToolAnswered.selector) {
            (bool success, string memory result) = abi.decode(log.data, (bool, string));
            record.history = keccak256(abi.encode(record.history, success, result));
            record.steps++;
        } else if (topic == ICallbackAgent.AgentRunResult.selector) {
            (,, record.answer) = abi.decode(log.data, (address, string[], string));
        }
    }
}
