// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentClient} from "../../../verifier-contracts/agents/AgentClient.sol";
import {SimpleSmartContractTool} from "../../../verifier-contracts/agents/SimpleSmartContractTool.sol";
import {CallbackAgent, CallbackTerms} from "../../../verifier-contracts/agents/callback/CallbackAgent.sol";
import {AgentRun, RunState} from "../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {AgentIterationResult} from "../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../../../verifier-contracts/agents/interfaces/ToolResultConverter.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {LANE_PROOF, Request} from "../../../verifier-contracts/types/Types.sol";
import {ModelToolFixture} from "./support/ModelToolFixture.sol";
import {Params} from "./support/Params.sol";
import {Ledger} from "./support/TestTools.sol";

/// @dev A callback agent whose tools are a verified model that it pays for, another callback agent, and a contract.
contract CallbackModelTest is ModelToolFixture {
    address private immutable executor = makeAddr("executor");
    CallbackAgent private inner;
    CallbackAgent private outer;
    SimpleSmartContractTool private plain;

    function setUp() public override {
        super.setUp();
        Ledger ledger = new Ledger();
        plain = new SimpleSmartContractTool(
            "AddTool",
            "adds",
            address(ledger),
            Ledger.add.selector,
            Params.describe(IERCAgentTool.ParamType.ADDRESS, IERCAgentTool.ParamType.UINT),
            true,
            "Successfully added",
            ToolResultConverter(address(0))
        );
        IERCAgentTool[] memory list = new IERCAgentTool[](1);
        list[0] = tool;
        inner = _newAgent("Inner Agent", list, 0.05 ether);
        list = new IERCAgentTool[](3);
        (list[0], list[1], list[2]) = (tool, inner, plain);
        outer = _newAgent("Outer Agent", list, 0.2 ether);
    }

    function _newAgent(string memory name, IERCAgentTool[] memory list, uint96 budget)
        private
        returns (CallbackAgent)
    {
        CallbackTerms memory t;
        t.executors = new address[](1);
        t.executors[0] = executor;
        (t.threshold, t.iterationSeconds, t.toolSeconds) = (1, 60, 2 hours);
        (t.toolGas, t.callbackGas, t.iterationFee, t.toolBudget) = (3_000_000, 400_000, 0.001 ether, budget);
        return new CallbackAgent("model", name, "scores", "what to score", "You score.", list, 5, t);
    }

    function _post(CallbackAgent agent, int256 runId, AgentIterationResult memory result) private {
        AgentRun memory r = agent.runOf(runId);
        vm.prank(executor);
        agent.postIteration(runId, r.iteration, r.historyHash, result, 0);
    }

    function _start(CallbackAgent agent) private returns (int256 runId) {
        (runId,) = client.ask{value: agent.price()}(agent, AgentInput.prompt("score this"));
    }

    function _use(IERCAgentTool which, IERCAgentTool.Input memory input)
        private
        pure
        returns (AgentIterationResult memory r)
    {
        (r.tool, r.toolInput) = (which, input);
    }

    function _final(string memory answer) private pure returns (AgentIterationResult memory r) {
        (r.isFinalAnswer, r.finalAnswer) = (true, answer);
    }

    // shows: E1-002, E1-004, E1-005, E1-006, E1-034, D-20, D-75
    function test_run_provenModel_succeeds() public {
        int256 runId = _start(outer);
        _post(outer, runId, _use(tool, _toolInput(0)));
        assertEq(uint8(outer.runOf(runId).state), uint8(RunState.TOOL));
        Request memory r = _filed(0);
        assertEq(tool.runOf(0).payer, address(outer));
        _settle(r, _noClaim());
        assertEq(uint8(outer.runOf(runId).state), uint8(RunState.TOOL), "final, not delivered");
        assay.deliver(r, _noClaim(), outputs[0]);
        assertEq(outer.runOf(runId).iteration, 1);
        assertTrue(tool.runOf(0).delivered);
        // A contract, then another agent, which uses the model as well.
        _post(outer, runId, _use(plain, Params.input(Params.account(alice), Params.number(1))));
        _post(outer, runId, _use(inner, AgentInput.prompt("score it for me")));
        _post(inner, 0, _final("inner answer"));
        _post(outer, runId, _final("scored"));
        assertEq(client.resultOf(outer, runId), "scored");
        assertEq(outer.balanceOf(address(client)), outer.refundedOf(runId));
        // What the inner run did not spend comes back to whoever asked.
        uint256 before = outer.balanceOf(address(client));
        outer.reclaim(inner, 0);
        assertEq(outer.balanceOf(address(client)) - before, inner.refundedOf(0));
        outer.reclaim(inner, 0);
        assertEq(outer.balanceOf(address(client)) - before, inner.refundedOf(0), "once");
        uint256 spent = outer.price() - outer.balanceOf(address(client));
        assertEq(spent, tool.price() + 4 * 0.001 ether + 0.001 ether);
        assertEq(address(outer).balance, outer.balanceOf(address(client)) + outer.balanceOf(executor));
    }

    function test_advance_unanswered_succeeds() public {
        int256 runId = _start(outer);
        _post(outer, runId, _use(tool, _toolInput(0)));
        Request memory r = _filed(0);
        skip(2 hours + 1);
        outer.advance(runId);
        assertEq(uint8(outer.runOf(runId).state), uint8(RunState.ITERATION));
        _post(outer, runId, _final("nobody knows"));
        uint256 before = outer.balanceOf(address(client));
        outer.reclaim(tool, 0);
        assertEq(outer.balanceOf(address(client)), before, "nothing came back yet");
        vm.warp(r.expiry + 1);
        tool.refund(r);
        vm.prank(alice);
        outer.reclaim(tool, 0);
        assertEq(outer.balanceOf(address(client)) - before, tool.price());
        assertEq(tool.balanceOf(address(outer)), 0);
    }

    /// @dev A tool that costs more than what is left for tools is not used, and the run goes on.
    function test_postIteration_dearTool_succeeds() public {
        int256 runId = _start(inner);
        for (uint256 i; i < 4; i++) {
            _post(inner, runId, _use(tool, _toolInput(0)));
            vm.prank(address(tool));
            inner.handleAgentResult(int256(i), "x");
        }
        assertEq(tool.runCount(), 4);
        _post(inner, runId, _final("enough"));
        assertEq(inner.balanceOf(executor), 5 * 0.001 ether);
        assertEq(inner.refundedOf(runId), 0.05 ether - 4 * tool.price());
        runId = _start(inner);
        IERCAgentTool[] memory list = new IERCAgentTool[](1);
        list[0] = tool;
        inner = _newAgent("Poor Agent", list, uint96(tool.price() - 1));
        runId = _start(inner);
        _post(inner, runId, _use(tool, _toolInput(0)));
        assertEq(tool.runCount(), 4, "not used");
        assertEq(inner.runOf(runId).iteration, 1);
    }
}
