// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ICallbackAgent} from "../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {CallbackFixture} from "./support/CallbackFixture.sol";
import {DoublePayTool} from "./support/DoublePayTool.sol";

/// @notice A tool that pays back and somebody who works with it, against the ether that a third one has prepaid.
contract ReclaimTest is CallbackFixture {
    address private immutable thief = makeAddr("thief");
    address private immutable saver = makeAddr("saver");
    DoublePayTool private hostile;
    int256 private runId;

    function setUp() public override {
        super.setUp();
        hostile = new DoublePayTool();
        IERCAgentTool[] memory list = new IERCAgentTool[](1);
        list[0] = hostile;
        agent = _newAgent(_terms(1, address(0)), list);
        runId = _start("use the tool");
        vm.deal(address(this), 10 ether);
        agent.depositFor{value: 1 ether}(saver);
        _post(runId, executors[0], _use(hostile, 1, ""));
        hostile.giveBack{value: 1 ether}(0);
    }

    function test_reclaim_plain_succeeds() public {
        agent.reclaim(hostile, 0);
        assertEq(agent.balanceOf(address(client)), 1 ether);
        _everybodyIsPaid();
    }

    /// @dev The tool brings the ether in by `depositFor`: it is the thief's, and the requester's once more.
    function test_reclaim_toolDeposits_succeeds() public {
        hostile.setWay(DoublePayTool.Way.DEPOSIT, thief);
        agent.reclaim(hostile, 0);
        uint256 credited = agent.balanceOf(thief) + agent.balanceOf(address(client));
        _everybodyIsPaid();
        assertEq(credited, 0, "credited for ether that did not come in");
        assertEq(hostile.successes(), 0, "entered");
    }

    function test_reclaim_toolWithdraws_succeeds() public {
        agent.depositFor{value: 1 ether}(address(hostile));
        hostile.setWay(DoublePayTool.Way.WITHDRAW, thief);
        agent.reclaim(hostile, 0);
        assertEq(hostile.successes(), 0, "entered");
        assertEq(agent.balanceOf(address(hostile)), 1 ether);
        assertEq(agent.balanceOf(address(client)), 0);
        _everybodyIsPaid();
    }

    /// @dev Ether counts as paid back if the tool itself sends it.
    function test_reclaim_anotherPays_succeeds() public {
        hostile.setWay(DoublePayTool.Way.BY_ANOTHER, thief);
        agent.reclaim(hostile, 0);
        assertEq(agent.balanceOf(address(client)), 0);
        assertEq(hostile.successes(), 0, "taken from another");
        _everybodyIsPaid();
    }

    /// @dev Ether that nobody would be credited for stays where it is.
    function test_receive_inToolUse_succeeds() public {
        hostile.setWay(DoublePayTool.Way.IN_RUN, thief);
        _answerTool();
        _post(runId, executors[1], _use(hostile, 1, ""));
        assertEq(hostile.successes(), 0, "taken and credited to nobody");
        _everybodyIsPaid();
    }

    function test_receive_afterReclaim_reverts() public {
        agent.reclaim(hostile, 0);
        vm.deal(address(hostile), 1);
        vm.prank(address(hostile));
        (bool success, bytes memory why) = address(agent).call{value: 1}("");
        assertFalse(success);
        assertEq(why, abi.encodeWithSelector(ICallbackAgent.UnexpectedEther.selector, hostile));
    }

    function _answerTool() private {
        vm.prank(address(hostile));
        agent.handleAgentResult(0, "done");
    }

    /// @dev Everybody takes out what the books say, and nothing is left but what runs have set aside.
    function _everybodyIsPaid() private {
        address[6] memory accounts =
            [thief, address(client), address(hostile), executors[0], executors[1], saver];
        for (uint256 i; i < accounts.length; i++) {
            uint256 held = agent.balanceOf(accounts[i]);
            vm.prank(accounts[i]);
            agent.withdraw(accounts[i].code.length == 0 ? accounts[i] : stranger, held);
        }
        assertEq(saver.balance, 1 ether, "the saver's ether is gone");
        assertEq(address(agent).balance, agent.runOf(runId).reserved);
    }
}
