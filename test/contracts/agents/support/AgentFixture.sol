// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgent} from "../../../../verifier-contracts/agents/IERCAgent.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Test} from "../../support/Test.sol";
import {Vm} from "../../support/Vm.sol";
import {Params} from "./Params.sol";
import {ScriptedExecutor} from "./ScriptedExecutor.sol";
import {PlainAgent} from "./TestAgents.sol";
import {MoodyTool} from "./TestTools.sol";

/// @notice An agent of one transaction with two tools and a scripted executor.
abstract contract AgentFixture is Test {
    bytes32 internal constant RUN_RESULT = 0xacc2c26fc587b3896c67ae18ba81a38e10f42b3744366add9bc28252e4e0e819;

    ScriptedExecutor internal executor;
    MoodyTool internal tool;
    MoodyTool internal other;
    PlainAgent internal agent;
    address internal immutable alice = makeAddr("alice");

    function setUp() public virtual {
        executor = new ScriptedExecutor();
        tool = new MoodyTool("FirstTool");
        other = new MoodyTool("SecondTool");
        agent = new PlainAgent(address(executor), "Plain Agent", _tools(), 4);
    }

    function _tools() internal view returns (IERCAgentTool[] memory list) {
        list = new IERCAgentTool[](2);
        (list[0], list[1]) = (tool, other);
    }

    function _number(uint256 number) internal pure returns (IERCAgentTool.Input memory) {
        return Params.input(Params.number(number));
    }

    function _ask(IERCAgent a, string memory prompt) internal returns (string memory) {
        (int256 runId, string memory answer) = a.run(AgentInput.prompt(prompt), address(0));
        assertEq(runId, -1);
        return answer;
    }

    function _expectAsk(IERCAgent a, string memory prompt, bytes memory why) internal {
        IERCAgentTool.Input memory input = AgentInput.prompt(prompt);
        vm.expectRevert(why);
        a.run(input, address(0));
    }

    /// @dev Steps and answer of the last run in the recorded logs.
    function _lastRun(Vm.Log[] memory logs, address emitter)
        internal
        pure
        returns (int256 runId, address requester, string[] memory steps, string memory answer)
    {
        for (uint256 i = logs.length; i > 0; i--) {
            Vm.Log memory log = logs[i - 1];
            if (log.emitter != emitter || log.topics[0] != RUN_RESULT) continue;
            assertEq(log.topics.length, 2);
            (requester, steps, answer) = abi.decode(log.data, (address, string[], string));
            return (int256(uint256(log.topics[1])), requester, steps, answer);
        }
        revert("no run");
    }
}
