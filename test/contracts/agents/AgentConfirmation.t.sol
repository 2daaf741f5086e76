// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ConfirmedAgent} from "../../../verifier-contracts/agents/ConfirmedAgent.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {AgentFixture} from "./support/AgentFixture.sol";
import {CarefulAgent} from "./support/TestAgents.sol";

contract AgentConfirmationTest is AgentFixture {
    CarefulAgent private careful;
    address private immutable human = makeAddr("human");
    bytes32 private callHash;

    function setUp() public override {
        super.setUp();
        careful = new CarefulAgent(address(executor), _tools(), human);
        executor.onTool("go", tool, _number(1), "");
        executor.onAnswer("go", "done");
        callHash = careful.callHashOf(1, 0, address(this), "go", tool, _number(1));
    }

    function _unconfirmed(bytes32 hash, int256 runId, uint256 number) private view returns (bytes memory) {
        return abi.encodeWithSelector(
            ConfirmedAgent.NotConfirmed.selector, hash, runId, uint16(0), tool, _number(number)
        );
    }

    // shows: E1-009, E1-096
    function test_run_confirmed_succeeds() public {
        _expectAsk(careful, "go", _unconfirmed(callHash, 1, 1));
        assertEq(tool.uses(), 0);
        vm.prank(human);
        careful.confirm(callHash);
        assertEq(_ask(careful, "go"), "done");
        assertEq(tool.uses(), 1);
        // The next run needs its own.
        bytes32 next = careful.callHashOf(2, 0, address(this), "go", tool, _number(1));
        _expectAsk(careful, "go", _unconfirmed(next, 2, 1));
    }

    // shows: E1-096
    function test_run_otherCall_reverts() public {
        vm.prank(human);
        careful.confirm(callHash);
        executor.forget("go");
        executor.onTool("go", tool, _number(2), "");
        bytes32 given = careful.callHashOf(1, 0, address(this), "go", tool, _number(2));
        _expectAsk(careful, "go", _unconfirmed(given, 1, 2));
        // The same use for somebody else, or for another prompt, is another use.
        executor.forget("go");
        executor.onTool("go", tool, _number(1), "");
        executor.onTool("stay", tool, _number(1), "");
        given = careful.callHashOf(1, 0, address(this), "stay", tool, _number(1));
        _expectAsk(careful, "stay", _unconfirmed(given, 1, 1));
        given = careful.callHashOf(1, 0, alice, "go", tool, _number(1));
        IERCAgentTool.Input memory input = AgentInput.prompt("go");
        vm.expectRevert(_unconfirmed(given, 1, 1));
        vm.prank(alice);
        careful.run(input, address(0));
        assertEq(tool.uses(), 0);
    }

    // shows: E1-096
    function test_run_denied_reverts() public {
        vm.prank(human);
        careful.deny(callHash);
        _expectAsk(careful, "go", abi.encodeWithSelector(ConfirmedAgent.Denied.selector, callHash));
        vm.expectRevert(abi.encodeWithSelector(ConfirmedAgent.AlreadyDenied.selector, callHash));
        vm.prank(human);
        careful.confirm(callHash);
    }

    function test_confirm_byOthers_reverts() public {
        bytes4 why = ConfirmedAgent.NotConfirmer.selector;
        vm.expectRevert(abi.encodeWithSelector(why, alice, human));
        vm.prank(alice);
        careful.confirm(callHash);
        vm.expectRevert(abi.encodeWithSelector(why, alice, human));
        vm.prank(alice);
        careful.deny(callHash);
    }
}
