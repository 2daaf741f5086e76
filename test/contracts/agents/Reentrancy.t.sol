// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ICallbackAgent} from "../../../verifier-contracts/agents/interfaces/ICallbackAgent.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {CallbackFixture} from "./support/CallbackFixture.sol";

/// @notice A handler that, while it takes a result or ether, tries everything that could pay it twice.
contract GreedyHandler {
    ICallbackAgent private immutable _agent;
    uint256 public tries;
    uint256 public successes;
    uint256 public results;

    constructor(ICallbackAgent agent) {
        _agent = agent;
    }

    function start() external returns (int256 runId) {
        (runId,) = _agent.run(AgentInput.prompt("answer"), address(this));
    }

    function withdraw(uint256 amount) external {
        _agent.withdraw(address(this), amount);
    }

    function handleAgentResult(int256 runId, string memory) external {
        results++;
        _try(abi.encodeCall(_agent.deliver, (runId)));
        _try(abi.encodeCall(_agent.advance, (runId)));
        _try(abi.encodeCall(IERCAgentTool.run, (AgentInput.prompt("again"), address(this))));
        _try(abi.encodeCall(_agent.reclaim, (IERCAgentTool(address(this)), 0)));
        _try(abi.encodeCall(_agent.handleAgentResult, (0, "forged")));
        _try(abi.encodeCall(IPrepaid.depositFor, (address(this))));
        _try(abi.encodeCall(IPrepaid.withdraw, (address(this), 1)));
    }

    receive() external payable {
        if (tries < 20) _try(abi.encodeCall(IPrepaid.withdraw, (address(this), msg.value)));
    }

    function _try(bytes memory call) private {
        tries++;
        (bool success,) = address(_agent).call(call);
        if (success) successes++;
    }
}

/// @notice Refuses ether.
contract Wall {
    function withdraw(IPrepaid agent, uint256 amount) external {
        agent.withdraw(address(this), amount);
    }
}

contract ReentrancyTest is CallbackFixture {
    // shows: D-14, D-78
    function test_deliver_reentered_succeeds() public {
        GreedyHandler greedy = new GreedyHandler(agent);
        vm.deal(address(this), 10 ether);
        agent.depositFor{value: 10 * agent.price()}(address(greedy));
        int256 runId = greedy.start();
        _post(runId, executors[0], _final("done"));
        assertTrue(agent.runOf(runId).delivered);
        assertEq(greedy.results(), 1);
        assertEq(greedy.tries(), 7);
        assertEq(greedy.successes(), 0);
        assertEq(agent.currentRunId(), 1);
    }

    function test_withdraw_reentered_succeeds() public {
        GreedyHandler greedy = new GreedyHandler(agent);
        vm.deal(address(this), 10 ether);
        agent.depositFor{value: 1 ether}(address(client));
        agent.depositFor{value: 1 ether}(address(greedy));
        greedy.withdraw(1 ether);
        // Its balance was gone before the ether came.
        assertEq(greedy.successes(), 0);
        assertEq(address(greedy).balance, 1 ether);
        assertEq(address(agent).balance, 1 ether);
    }

    function test_withdraw_refused_reverts() public {
        Wall wall = new Wall();
        vm.deal(address(this), 1 ether);
        agent.depositFor{value: 5}(address(wall));
        vm.expectRevert(abi.encodeWithSelector(IPrepaid.TransferFailed.selector, address(wall), 5));
        wall.withdraw(agent, 5);
        vm.expectRevert(abi.encodeWithSelector(IPrepaid.BalanceTooSmall.selector, address(wall), 5, 6));
        wall.withdraw(agent, 6);
        assertEq(agent.balanceOf(address(wall)), 5);
    }
}
