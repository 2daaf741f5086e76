// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {CallerListedTool} from "../../../../verifier-contracts/agents/CallerListedTool.sol";
import {OwnedAgent} from "../../../../verifier-contracts/agents/OwnedAgent.sol";
import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {
    ViewBalanceResultConverter
} from "../../../../verifier-contracts/examples/wallet/ViewBalanceResultConverter.sol";
import {WalletAgent} from "../../../../verifier-contracts/examples/wallet/WalletAgent.sol";
import {WalletPool} from "../../../../verifier-contracts/examples/wallet/WalletPool.sol";
import {Params} from "../../agents/support/Params.sol";
import {ScriptedExecutor} from "../../agents/support/ScriptedExecutor.sol";
import {WrappedEther} from "../../agents/support/TestTokens.sol";
import {MoodyTool} from "../../agents/support/TestTools.sol";
import {Test} from "../../support/Test.sol";

contract WalletAgentTest is Test {
    ScriptedExecutor private executor;
    WrappedEther private token;
    WalletPool private pool;
    MoodyTool private existing;
    WalletAgent private agent;
    address private immutable owner = makeAddr("owner");
    address private immutable thief = makeAddr("thief");

    function setUp() public {
        executor = new ScriptedExecutor();
        token = new WrappedEther();
        pool = new WalletPool(owner);
        existing = new MoodyTool("ExistingTool");
        agent = new WalletAgent(address(executor), owner, pool, existing);
        vm.deal(owner, 100 ether);
        vm.startPrank(owner);
        token.deposit{value: 50 ether}();
        token.approve(address(pool), type(uint256).max);
        pool.setOperator(address(agent.tools(0)), true);
        pool.setOperator(address(agent.tools(1)), true);
        vm.stopPrank();
    }

    function _amount(uint256 amount) private view returns (IERCAgentTool.Input memory) {
        return Params.input(Params.account(address(token)), Params.number(amount));
    }

    function _ask(string memory prompt) private returns (string memory answer) {
        IERCAgentTool.Input memory input = AgentInput.prompt(prompt);
        vm.prank(owner);
        (, answer) = agent.run(input, address(0));
    }

    // shows: E1-092, E1-093, D-25, D-38
    function test_constructor_tools_succeeds() public view {
        assertEq(agent.name(), "Wallet Agent");
        assertEq(agent.modelId(), "llama_model_3");
        assertEq(agent.agentExecutorContract(), address(executor));
        assertEq(agent.agentMaxIterations(), 10);
        string[4] memory names = ["DeployTool", "WithdrawTool", "ViewBalanceTool", "ExistingTool"];
        for (uint256 i; i < 4; i++) {
            assertEq(agent.tools(i).name(), names[i]);
        }
        assertEq(address(agent.tools(3)), address(existing));
        for (uint256 i; i < 2; i++) {
            IERCAgentTool.ParamDescription[] memory params =
            agent.tools(i).inputDescription().paramDescriptions;
            assertEq(params.length, 2);
            assertEq(params[0].name, "asset");
            assertEq(uint8(params[0].paramType), uint8(IERCAgentTool.ParamType.ADDRESS));
            assertEq(params[1].name, "amount");
            assertEq(uint8(params[1].paramType), uint8(IERCAgentTool.ParamType.UINT));
        }
        assertEq(CallerListedTool(address(agent.tools(0))).staticResult(), "Successfully deployed");
        assertEq(CallerListedTool(address(agent.tools(1))).staticResult(), "Successfully withdrawn");
    }

    // shows: E1-092
    function test_convertToString_edges_succeeds() public {
        ViewBalanceResultConverter converter = new ViewBalanceResultConverter();
        assertEq(converter.convertToString(abi.encode(0)), "The balance is: 0");
        assertEq(converter.convertToString(abi.encode(1)), "The balance is: 1");
        assertEq(
            converter.convertToString(abi.encode(type(uint256).max)),
            "The balance is: 115792089237316195423570985008687907853269984665640564039457584007913129639935"
        );
    }

    // shows: E1-094, D-37
    function test_run_deposit_succeeds() public {
        string memory prompt = "deposit 10 ETH into the pool";
        executor.onTool(prompt, agent.tools(0), _amount(10 ether), "wrapped ether goes into the pool");
        executor.onAnswer(prompt, "10 ETH are in the pool");
        assertEq(_ask(prompt), "10 ETH are in the pool");
        assertEq(executor.askedCount(), 2);
        assertEq(executor.asked(1).toolResults[0], "Successfully deployed");
        assertEq(pool.balance(address(token)), 10 ether);
        assertEq(token.balanceOf(owner), 40 ether);
    }

    // shows: E1-093
    function test_run_allTools_succeeds() public {
        executor.onTool("all", agent.tools(0), _amount(10), "");
        executor.onTool("all", agent.tools(1), _amount(4), "");
        executor.onTool("all", agent.tools(2), Params.input(Params.account(address(token))), "");
        executor.onTool("all", existing, Params.input(Params.number(1)), "");
        executor.onAnswer("all", "done");
        assertEq(_ask("all"), "done");
        string[] memory results = executor.asked(4).toolResults;
        assertEq(results[0], "Successfully deployed");
        assertEq(results[1], "Successfully withdrawn");
        assertEq(results[2], "The balance is: 6");
        assertEq(results[3], "done");
        assertEq(existing.uses(), 1);
    }

    // shows: D-36
    function test_run_byThief_reverts() public {
        executor.onTool("mine", agent.tools(1), _amount(1), "");
        IERCAgentTool.Input memory input = AgentInput.prompt("mine");
        vm.expectRevert(abi.encodeWithSelector(OwnedAgent.NotOwner.selector, thief, owner));
        vm.prank(thief);
        agent.run(input, address(0));
        IERCAgentTool deploy = agent.tools(0);
        input = _amount(1);
        vm.expectRevert(abi.encodeWithSelector(CallerListedTool.CallerNotListed.selector, thief));
        vm.prank(thief);
        deploy.run(input, address(0));
        vm.expectRevert(abi.encodeWithSelector(WalletPool.NotOperator.selector, thief));
        vm.prank(thief);
        pool.withdraw(address(token), 1);
        vm.expectRevert(abi.encodeWithSelector(WalletPool.NotOwner.selector, thief, owner));
        vm.prank(thief);
        pool.setOperator(thief, true);
    }

    function test_withdraw_tooMuch_reverts() public {
        vm.startPrank(owner);
        pool.deploy(address(token), 3);
        vm.expectRevert(abi.encodeWithSelector(WalletPool.BalanceTooSmall.selector, address(token), 3, 4));
        pool.withdraw(address(token), 4);
        vm.stopPrank();
    }

    /// @dev Whatever order and whatever amounts a model makes up, tokens are the owner's or in his pool.
    /// forge-config: default.fuzz.runs = 200
    /// forge-config: change.fuzz.runs = 1000
    // shows: E1-098
    function testFuzz_run_anyOrder_succeeds(uint256[6] memory choices) public {
        for (uint256 i; i < choices.length; i++) {
            uint256 amount = choices[i] >> 8;
            if (choices[i] & 0x80 == 0) amount %= 60 ether;
            uint256 which = choices[i] % 3;
            executor.onTool(
                "go",
                agent.tools(which),
                which == 2 ? Params.input(Params.account(address(token))) : _amount(amount),
                ""
            );
            executor.onAnswer("go", "done");
            IERCAgentTool.Input memory input = AgentInput.prompt("go");
            vm.prank(owner);
            // It may fail, for too little or too much; then nothing has happened.
            (bool success,) = address(agent).call(abi.encodeCall(agent.run, (input, address(0))));
            executor.forget("go");
            uint256 held = pool.balance(address(token));
            assertEq(token.balanceOf(address(pool)), held);
            assertEq(token.balanceOf(owner) + held, 50 ether);
            if (success && which == 0) assertGe(held, amount);
        }
        assertEq(token.balanceOf(address(agent)) + token.balanceOf(address(agent.tools(0))), 0);
    }
}
