// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {SimpleSmartContractTool} from "../../../verifier-contracts/agents/SimpleSmartContractTool.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../../../verifier-contracts/agents/interfaces/ToolResultConverter.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Request} from "../../../verifier-contracts/types/Types.sol";
import {AgentFixture} from "../agents/support/AgentFixture.sol";
import {CallbackFixture} from "../agents/support/CallbackFixture.sol";
import {ModelToolFixture} from "../agents/support/ModelToolFixture.sol";
import {Params} from "../agents/support/Params.sol";
import {Ledger, MoodyTool} from "../agents/support/TestTools.sol";
import {Test} from "../support/Test.sol";

// Gas of what agents and their tools do. With --isolate, as `npm run snapshot` runs it, each figure is a whole
// transaction, with every account and slot cold.

abstract contract AgentMeasurement is Test {
    function _measure(string memory what) internal returns (uint256) {
        return vm.snapshotGasLastCall("agents", what);
    }
}

contract AgentGasTest is AgentFixture, AgentMeasurement {
    // shows: E0-23, E1-101
    function test_run_gas_succeeds() public {
        executor.onAnswer("answer", "done");
        executor.onTool("use", tool, _number(1), "a tool is needed");
        executor.onAnswer("use", "done");
        executor.onTool("use two", tool, _number(1), "a tool is needed");
        executor.onTool("use two", other, _number(1), "another is needed");
        executor.onAnswer("use two", "done");
        executor.setForgetful();
        agent.run(AgentInput.prompt("answer"), address(0));
        _measure("agent run, first ever, no tool");
        agent.run(AgentInput.prompt("answer"), address(0));
        uint256 none = _measure("agent run, no tool");
        agent.run(AgentInput.prompt("use"), address(0));
        uint256 one = _measure("agent run, one tool");
        agent.run(AgentInput.prompt("use two"), address(0));
        uint256 two = _measure("agent run, two tools");
        assertLt(none, one);
        assertLt(one, two);
        assertLt(two, 3_000_000);
    }

    // shows: E0-23
    function test_run_toolGas_succeeds() public {
        Ledger ledger = new Ledger();
        SimpleSmartContractTool plain = new SimpleSmartContractTool(
            "AddTool",
            "adds",
            address(ledger),
            Ledger.add.selector,
            Params.describe(IERCAgentTool.ParamType.ADDRESS, IERCAgentTool.ParamType.UINT),
            true,
            "Successfully added",
            ToolResultConverter(address(0))
        );
        plain.run(Params.input(Params.account(alice), Params.number(1)), address(0));
        assertLt(_measure("contract tool, two parameters, stores three words"), 250_000);
    }
}

contract CallbackGasTest is CallbackFixture, AgentMeasurement {
    // shows: E0-23
    function test_run_callbackGas_succeeds() public {
        _start("use the tool");
        int256 runId = _start("use the tool");
        _measure("callback agent, client starts a run and pays for it");
        _post(runId, executors[1], _use(tool, 1, "a tool is needed"));
        assertLt(_measure("callback agent, iteration that uses a tool at once"), 500_000);
        tool.setMood(MoodyTool.Mood.LATER);
        _post(runId, executors[2], _use(tool, 1, "a tool is needed"));
        _measure("callback agent, iteration that starts a tool");
        tool.finish(agent, 0, "a result");
        assertLt(_measure("callback agent, result of a tool"), CALLBACK_GAS);
        skip(ITERATION_SECONDS + 1);
        agent.advance(runId);
        _measure("callback agent, more executors after a timeout");
        _post(runId, executors[0], _final("done"));
        assertLt(_measure("callback agent, final answer and delivery"), 600_000);
        vm.prank(executors[0]);
        agent.withdraw(executors[0], FEE);
        _measure("callback agent, withdraw");
    }
}

contract ModelToolGasTest is ModelToolFixture, AgentMeasurement {
    // shows: E0-23, E0-24
    function test_run_claimedGas_succeeds() public {
        _ask();
        uint256 price = tool.price();
        IERCAgentTool.Input memory input = _toolInput(0);
        (int256 runId,) = client.ask{value: price}(tool, input);
        assertLt(_measure("claimed model tool, client pays and files a request"), 700_000);
        Request memory r = _filed(runId);
        _settle(r, _noClaim());
        vm.prank(alice);
        assay.deliver(r, _noClaim(), outputs[0]);
        uint256 delivery = _measure("claimed model tool, delivery to tool and client");
        assertLt(delivery, r.callbackGas);
        (, r) = _ask();
        vm.warp(r.expiry + 1);
        tool.refund(r);
        _measure("claimed model tool, refund of an expired request");
    }
}
