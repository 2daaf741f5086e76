// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentClient} from "../../../../verifier-contracts/agents/AgentClient.sol";
import {CallbackAgent, CallbackTerms} from "../../../../verifier-contracts/agents/callback/CallbackAgent.sol";
import {AgentRun} from "../../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Test} from "../../support/Test.sol";
import {Params} from "./Params.sol";
import {MoodyTool} from "./TestTools.sol";

/// @notice A callback agent with two tools, three executors and a client with money.
abstract contract CallbackFixture is Test {
    uint96 internal constant FEE = 0.001 ether;
    uint96 internal constant TOOL_BUDGET = 0.05 ether;
    uint16 internal constant MAX_ITERATIONS = 5;
    uint32 internal constant ITERATION_SECONDS = 60;
    uint32 internal constant TOOL_SECONDS = 3_600;
    uint32 internal constant CONFIRM_SECONDS = 86_400;
    uint32 internal constant TOOL_GAS = 1_000_000;
    uint32 internal constant CALLBACK_GAS = 300_000;
    bytes32 internal constant TRANSCRIPT = keccak256("transcript");

    address internal immutable owner = makeAddr("owner");
    address internal immutable human = makeAddr("human");
    address internal immutable stranger = makeAddr("stranger");
    address[] internal executors;
    MoodyTool internal tool;
    MoodyTool internal other;
    CallbackAgent internal agent;
    AgentClient internal client;

    function setUp() public virtual {
        vm.warp(1_800_000_000);
        executors.push(makeAddr("executor 0"));
        executors.push(makeAddr("executor 1"));
        executors.push(makeAddr("executor 2"));
        tool = new MoodyTool("FirstTool");
        other = new MoodyTool("SecondTool");
        agent = _newAgent(_terms(1, address(0)), _twoTools());
        client = new AgentClient(address(this));
    }

    function _twoTools() internal view returns (IERCAgentTool[] memory tools) {
        tools = new IERCAgentTool[](2);
        (tools[0], tools[1]) = (tool, other);
    }

    function _terms(uint16 threshold, address confirmer) internal view returns (CallbackTerms memory t) {
        t.owner = owner;
        t.confirmer = confirmer;
        t.executors = executors;
        t.threshold = threshold;
        (t.iterationSeconds, t.toolSeconds) = (ITERATION_SECONDS, TOOL_SECONDS);
        (t.confirmSeconds, t.toolGas) = (CONFIRM_SECONDS, TOOL_GAS);
        (t.callbackGas, t.iterationFee, t.toolBudget) = (CALLBACK_GAS, FEE, TOOL_BUDGET);
    }

    function _newAgent(CallbackTerms memory terms, IERCAgentTool[] memory tools)
        internal
        returns (CallbackAgent)
    {
        return new CallbackAgent(
            "model",
            "Callback Agent",
            "does things",
            "what to do",
            "You do things.",
            tools,
            MAX_ITERATIONS,
            terms
        );
    }

    /// @notice A run of the client, paid exactly.
    function _start(string memory prompt) internal returns (int256 runId) {
        uint256 price = agent.price();
        vm.deal(address(this), price);
        uint256 held = agent.balanceOf(address(client));
        if (held != 0) client.withdrawFrom(agent, stranger, held);
        (runId,) = client.ask{value: price}(agent, AgentInput.prompt(prompt));
    }

    function _final(string memory answer) internal pure returns (AgentIterationResult memory r) {
        (r.isFinalAnswer, r.finalAnswer) = (true, answer);
    }

    function _use(IERCAgentTool which, uint256 number, string memory why)
        internal
        pure
        returns (AgentIterationResult memory r)
    {
        (r.tool, r.toolInput, r.agentReasoning) = (which, Params.input(Params.number(number)), why);
    }

    function _postCall(int256 runId, AgentIterationResult memory result)
        internal
        view
        returns (bytes memory)
    {
        AgentRun memory r = agent.runOf(runId);
        return abi.encodeCall(agent.postIteration, (runId, r.iteration, r.historyHash, result, TRANSCRIPT));
    }

    function _post(int256 runId, address executor, AgentIterationResult memory result) internal {
        AgentRun memory r = agent.runOf(runId);
        vm.prank(executor);
        agent.postIteration(runId, r.iteration, r.historyHash, result, TRANSCRIPT);
    }

    function _expectPost(int256 runId, address executor, AgentIterationResult memory result, bytes memory why)
        internal
    {
        AgentRun memory r = agent.runOf(runId);
        vm.expectRevert(why);
        vm.prank(executor);
        agent.postIteration(runId, r.iteration, r.historyHash, result, TRANSCRIPT);
    }

    receive() external payable {}
}
