// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {CallbackAgent} from "../../../../verifier-contracts/agents/callback/CallbackAgent.sol";
import {AgentRun, RunState} from "../../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {AgentInput} from "../../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Test} from "../../support/Test.sol";
import {DoublePayTool} from "./DoublePayTool.sol";
import {PaidTool} from "./PaidTool.sol";
import {Params} from "./Params.sol";
import {MoodyHandler, MoodyTool} from "./TestTools.sol";

/// @notice Random moves on a callback agent by clients, executors, tools and strangers. Moves that the state does not
/// allow are not made; those that it allows must succeed.
contract CallbackHandler is Test {
    CallbackAgent public immutable agent;
    PaidTool public immutable paid;
    MoodyTool public immutable moody;
    DoublePayTool public immutable hostile;
    MoodyHandler[] public clients;
    address[] public executors;
    uint256 public moves;
    uint256 public finished;
    uint256 public toolRuns;

    constructor(
        CallbackAgent agent_,
        PaidTool paid_,
        MoodyTool moody_,
        DoublePayTool hostile_,
        address[] memory executors_
    ) {
        (agent, paid, moody, hostile, executors) = (agent_, paid_, moody_, hostile_, executors_);
        for (uint256 i; i < 2; i++) {
            clients.push(new MoodyHandler());
        }
        vm.deal(address(this), type(uint96).max);
    }

    function start(uint256 who) external {
        MoodyHandler client = clients[who % 2];
        uint256 price = agent.price();
        uint256 held = agent.balanceOf(address(client));
        if (held < price) agent.depositFor{value: price - held}(address(client));
        client.run(agent, AgentInput.prompt("go"));
        moves++;
    }

    function deposit(uint256 who, uint256 amount) external {
        agent.depositFor{value: bound(amount, 0, 1 ether)}(address(clients[who % 2]));
        moves++;
    }

    function mood(uint256 to) external {
        // All moods but re-entering, which needs another input.
        uint256 which = to % 8;
        moody.setMood(MoodyTool.Mood(which == 4 ? 0 : which));
    }

    function clientMood(uint256 who, uint256 to) external {
        clients[who % 2].setMood(MoodyHandler.Mood(to % 3));
    }

    function post(uint256 which, uint256 choice) external {
        (int256 runId, AgentRun memory r) = _run(which);
        if (r.state != RunState.ITERATION) return;
        AgentIterationResult memory result;
        if (choice % 4 == 0) (result.isFinalAnswer, result.finalAnswer) = (true, "done");
        else if (choice % 4 == 1) result.tool = moody;
        else if (choice % 4 == 2) result.tool = hostile;
        else result.tool = paid;
        if (choice % 4 != 0) result.toolInput = Params.input(Params.number(choice));
        uint256 before = agent.balanceOf(executors[0]);
        vm.prank(agent.admittedOf(runId)[0]);
        agent.postIteration(runId, r.iteration, r.historyHash, result, 0);
        if (result.isFinalAnswer) finished++;
        if (agent.runOf(runId).state == RunState.TOOL) toolRuns++;
        assertGe(agent.balanceOf(executors[0]), before);
        moves++;
    }

    function answerTool(uint256 which) external {
        (, AgentRun memory r) = _run(which);
        if (r.state != RunState.TOOL) return;
        vm.prank(address(r.tool));
        agent.handleAgentResult(r.toolRunId, "a result");
        moves++;
    }

    function refundTool(uint256 which, uint256 amount) external {
        int256 count = paid.nextRun();
        if (count == 0) return;
        int256 toolRunId = int256(which % uint256(count));
        paid.giveBack(toolRunId, bound(amount, 0, paid.price()));
        agent.reclaim(paid, toolRunId);
        moves++;
    }

    /// @dev A tool that pays back by a deposit for a client, out of its own balance, from elsewhere, or plainly.
    function payBackTwice(uint256 which, uint256 way, uint256 amount) external {
        int256 count = hostile.nextRun();
        if (count == 0) return;
        int256 toolRunId = int256(which % uint256(count));
        amount = bound(amount, 1, 1 ether);
        way %= 5;
        if (way == uint256(DoublePayTool.Way.WITHDRAW)) agent.depositFor{value: amount}(address(hostile));
        hostile.setWay(DoublePayTool.Way(way), address(clients[which % 2]));
        hostile.giveBack{value: amount}(toolRunId);
        agent.reclaim(hostile, toolRunId);
        moves++;
    }

    function advance(uint256 which) external {
        (int256 runId, AgentRun memory r) = _run(which);
        if (r.deadline == 0 || r.state == RunState.NONE) return;
        vm.warp(uint256(r.deadline) + 1);
        agent.advance(runId);
        moves++;
    }

    function deliver(uint256 which) external {
        (int256 runId, AgentRun memory r) = _run(which);
        if (r.state != RunState.DONE || r.delivered) return;
        agent.deliver(runId);
        moves++;
    }

    function withdraw(uint256 who, uint256 amount) external {
        address account = executors[who % executors.length];
        uint256 held = agent.balanceOf(account);
        vm.prank(account);
        agent.withdraw(account, bound(amount, 0, held));
        moves++;
    }

    /// @notice Wei that the agent owes: balances, and what runs have set aside.
    function owed() external view returns (uint256 sum) {
        for (uint256 i; i < executors.length; i++) {
            sum += agent.balanceOf(executors[i]);
        }
        sum += agent.balanceOf(address(hostile)) + agent.balanceOf(address(clients[0]))
        + agent.balanceOf(address(clients[1]));
        for (int256 runId; runId < agent.currentRunId(); runId++) {
            sum += agent.runOf(runId).reserved;
        }
    }

    function _run(uint256 which) private view returns (int256 runId, AgentRun memory r) {
        int256 count = agent.currentRunId();
        if (count == 0) return (0, r);
        runId = int256(which % uint256(count));
        r = agent.runOf(runId);
    }
}
