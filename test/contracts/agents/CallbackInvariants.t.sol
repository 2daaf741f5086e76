// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {CallbackFixture} from "./support/CallbackFixture.sol";
import {CallbackHandler} from "./support/CallbackHandler.sol";
import {DoublePayTool} from "./support/DoublePayTool.sol";
import {PaidTool} from "./support/PaidTool.sol";

/// @notice Random play on a callback agent with tools that fail, burn, lie and cost.
contract CallbackInvariantsTest is CallbackFixture {
    CallbackHandler private handler;
    PaidTool private paid;

    function setUp() public override {
        super.setUp();
        paid = new PaidTool();
        DoublePayTool hostile = new DoublePayTool();
        IERCAgentTool[] memory list = new IERCAgentTool[](3);
        (list[0], list[1], list[2]) = (tool, paid, hostile);
        agent = _newAgent(_terms(1, address(0)), list);
        handler = new CallbackHandler(agent, paid, tool, hostile, executors);
        handler.start(0);
        targetContract(address(handler));
        bytes4[] memory moves = new bytes4[](13);
        moves[0] = handler.start.selector;
        moves[1] = handler.deposit.selector;
        moves[2] = handler.mood.selector;
        moves[3] = handler.clientMood.selector;
        moves[4] = handler.post.selector;
        moves[5] = handler.answerTool.selector;
        moves[6] = handler.refundTool.selector;
        moves[7] = handler.advance.selector;
        moves[8] = handler.deliver.selector;
        moves[9] = handler.withdraw.selector;
        moves[10] = handler.post.selector;
        moves[11] = handler.post.selector;
        moves[12] = handler.payBackTwice.selector;
        targetSelector(FuzzSelector(address(handler), moves));
    }

    // shows: E1-098
    function invariant_moneyInIsMoneyOut() public view {
        assertEq(address(agent).balance, handler.owed());
    }

    // shows: E1-098
    function invariant_runsAreBounded() public view {
        for (int256 runId; runId < agent.currentRunId(); runId++) {
            assertLe(agent.runOf(runId).iteration, MAX_ITERATIONS);
            assertLe(agent.refundedOf(runId), agent.price());
        }
    }

    function invariant_movesAreMade() public view {
        assertGt(handler.moves(), 0);
    }
}
