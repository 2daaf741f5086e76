// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgent} from "../../../verifier-contracts/agents/IERCAgent.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {AgentFixture} from "./support/AgentFixture.sol";
import {ObservingAgent, ThriftyAgent} from "./support/TestAgents.sol";
import {MoodyTool} from "./support/TestTools.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @dev Failures that are observed, and bounds of gas.
contract AgentLimitsTest is AgentFixture {
    // shows: D-18
    function test_run_observed_succeeds() public {
        ObservingAgent observing = new ObservingAgent(address(executor), _tools(), 1_000_000);
        executor.onTool("go", tool, _number(5), "try");
        executor.onTool("go", other, _number(6), "or that");
        executor.onAnswer("go", "one failed");
        tool.setMood(MoodyTool.Mood.REVERT);
        assertEq(_ask(observing, "go"), "one failed");
        assertEq(tool.uses(), 0, "undone");
        assertEq(other.uses(), 1);
        bytes memory inner = abi.encodeWithSelector(MoodyTool.InABadMood.selector, 5);
        assertEq(executor.asked(2).toolResults[0], string.concat("Error: ", Strings.toHexString(inner)));
        MoodyTool.Mood[4] memory moods =
            [MoodyTool.Mood.BURN, MoodyTool.Mood.LATER, MoodyTool.Mood.BOMB, MoodyTool.Mood.REENTER];
        for (uint256 i; i < moods.length; i++) {
            tool.setMood(moods[i]);
            assertEq(_ask(observing, "go"), "one failed");
            assertEq(tool.uses(), 0);
            assertEq(tool.nextId(), 0);
        }
    }

    /// @dev Who brings little gas cannot choose which tools fail: the run reverts.
    function test_run_observedLittleGas_reverts() public {
        ObservingAgent observing = new ObservingAgent(address(executor), _tools(), 1_000_000);
        executor.onTool("go", tool, _number(5), "try");
        executor.onAnswer("go", "done");
        bytes memory call = abi.encodeCall(observing.run, (AgentInput.prompt("go"), address(0)));
        (bool success,) = address(observing).call{gas: 1_000_000}(call);
        assertFalse(success);
        assertEq(tool.uses(), 0);
        (success,) = address(observing).call{gas: 3_000_000}(call);
        assertTrue(success);
        assertEq(tool.uses(), 1);
    }

    function test_run_observedWithoutToolGas_reverts() public {
        ObservingAgent observing = new ObservingAgent(address(executor), _tools(), type(uint256).max);
        executor.onTool("go", tool, _number(5), "try");
        IERCAgentTool.Input memory input = AgentInput.prompt("go");
        vm.expectPartialRevert(bytes4(keccak256("NotEnoughGas(uint256,uint256)")));
        observing.run(input, address(0));
    }

    // shows: E1-101
    function test_run_gasLimit_reverts() public {
        executor.onTool("go", tool, _number(5), "try");
        executor.onAnswer("go", "done");
        ThriftyAgent thrifty = new ThriftyAgent(address(executor), _tools(), 5_000_000);
        assertEq(_ask(thrifty, "go"), "done");
        tool.setMood(MoodyTool.Mood.BURN);
        uint256 before = gasleft();
        IERCAgentTool.Input memory input = AgentInput.prompt("go");
        vm.expectRevert(abi.encodeWithSelector(IERCAgent.ToolFailed.selector, tool, bytes("")));
        thrifty.run{gas: 50_000_000}(input, address(0));
        assertLt(before - gasleft(), 6_000_000, "no more than its limit is burned");
        thrifty = new ThriftyAgent(address(executor), _tools(), 20_000);
        vm.expectRevert(abi.encodeWithSelector(IERCAgent.RunGasExceeded.selector, 20_000));
        thrifty.run(input, address(0));
    }

    function test_useTool_byOthers_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IERCAgent.OnlyItself.selector, alice));
        vm.prank(alice);
        agent.useTool(tool, _number(1));
    }
}
