// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AgentClient} from "../../../verifier-contracts/agents/AgentClient.sol";
import {
    ClaimTerms,
    IClaimedModelTool,
    ModelRun
} from "../../../verifier-contracts/agents/interfaces/IClaimedModelTool.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {IPrepaid} from "../../../verifier-contracts/agents/interfaces/IPrepaid.sol";
import {ToolResultConverter} from "../../../verifier-contracts/agents/interfaces/ToolResultConverter.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {BoundedCall} from "../../../verifier-contracts/agents/libraries/BoundedCall.sol";
import {ResultHandler} from "../../../verifier-contracts/agents/libraries/ResultHandler.sol";
import {ClaimedModelTool} from "../../../verifier-contracts/agents/model/ClaimedModelTool.sol";
import {ModelTool} from "../../../verifier-contracts/agents/model/ModelTool.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    ClaimId,
    LANE_BOND,
    LANE_PROOF,
    ModelId,
    Request
} from "../../../verifier-contracts/types/Types.sol";
import {ModelToolFixture} from "./support/ModelToolFixture.sol";
import {MoodyHandler, NotAClient} from "./support/TestTools.sol";
import {BadConverter} from "./support/WordsConverter.sol";

contract ClaimedModelToolTest is ModelToolFixture {
    // shows: E1-008, E1-029, E1-031, E1-034, E1-080, D-75, D-76, D-77
    function test_run_settledOptimistically_succeeds() public {
        (int256 runId, Request memory r) = _ask();
        assertEq(runId, 0);
        assertEq(tool.runIdOf(assay.requestIdOf(r)), runId);
        Claim memory c = _claim(r, outputs[0]);
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.NotFinal.selector, runId));
        tool.outputOf(runId);
        skip(WINDOW);
        assay.finalize(r, c);
        vm.prank(alice);
        assay.deliver(r, c, outputs[0]);
        assertEq(assay.credits(alice), DELIVERY_FEE);
        _isAnswered(runId, LANE_BOND);
    }

    // shows: E1-006, E1-008, D-21
    function test_run_settledByProof_succeeds() public {
        (int256 runId, Request memory r) = _ask();
        bytes memory wrong = _flipped(proofs[0], 77);
        (bytes memory input, bytes memory output) = (inputs[0], outputs[0]);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.EvidenceRejected.selector, LANE_PROOF, keccak256(output))
        );
        vm.prank(submitter);
        assay.settle(r, _noClaim(), LANE_PROOF, input, output, wrong);
        // Nothing is final, so nothing can be brought to the tool.
        bytes32 id = _raw(r);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestNotDone.selector, id, 1));
        assay.deliver(r, _noClaim(), output);
        assertEq(uint8(client.statusOf(tool, runId)), uint8(AgentClient.Status.WAITING));
        _settle(r, _noClaim());
        assay.deliver(r, _noClaim(), output);
        _isAnswered(runId, LANE_PROOF);
    }

    function _isAnswered(int256 runId, uint8 lane) private view {
        assertEq(client.resultOf(tool, runId), _words(outputs[0]));
        assertEq(tool.outputOf(runId), outputs[0]);
        assertEq(tool.resultOf(runId), _words(outputs[0]));
        assertEq(tool.runOf(runId).lane, lane);
        assertTrue(tool.runOf(runId).delivered);
    }

    /// @dev The lie is convicted by truth, and only truth is delivered.
    function test_run_wrongClaim_succeeds() public {
        (int256 runId, Request memory r) = _ask();
        Claim memory c = _claim(r, outputs[1]);
        bytes memory lie = outputs[1];
        bytes32 id = _raw(r);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestNotDone.selector, id, 2));
        assay.deliver(r, c, lie);
        _settle(r, c);
        bytes32 truth = keccak256(outputs[0]);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.OutputMismatch.selector, keccak256(lie), truth));
        assay.deliver(r, c, lie);
        assay.deliver(r, _noClaim(), outputs[0]);
        _isAnswered(runId, LANE_PROOF);
    }

    function test_accept_pulled_succeeds() public {
        (int256 runId, Request memory r) = _ask();
        Claim memory c = _claim(r, outputs[0]);
        skip(WINDOW - 1);
        bytes memory output = outputs[0];
        bytes32 claimId = ClaimId.unwrap(assay.claimIdOf(c));
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, claimId, 1, block.timestamp + 1, 0)
        );
        tool.accept(r, c, output);
        skip(1);
        vm.prank(alice);
        tool.accept(r, c, output);
        _isAnswered(runId, LANE_BOND);
        // Whoever delivers it afterwards is paid, and nobody hears of it twice.
        assay.finalize(r, c);
        vm.prank(alice);
        assay.deliver(r, c, output);
        assertEq(assay.credits(alice), DELIVERY_FEE);
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.AlreadyDelivered.selector, runId));
        tool.deliver(runId);
    }

    function test_accept_foreignRequest_reverts() public {
        Request memory own = _requestOf(0);
        _file(own, 0);
        Claim memory c = _claim(own, outputs[1]);
        skip(WINDOW);
        bytes memory output = outputs[1];
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.UnknownRequest.selector, c.requestId));
        tool.accept(own, c, output);
    }

    // shows: D-75
    function test_onAssayResult_notCourier_reverts() public {
        (, Request memory r) = _ask();
        bytes32 id = _raw(r);
        bytes memory output = outputs[1];
        address courier = assay.courier();
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.NotCourier.selector, alice, courier));
        vm.prank(alice);
        tool.onAssayResult(id, output, LANE_PROOF, 0, 0);
    }

    // shows: E0-24, D-54, D-78
    function test_deliver_badHandler_succeeds() public {
        (MoodyHandler handler, int256 runId, Request memory r) = _askByHandler();
        handler.setMood(MoodyHandler.Mood.BURN);
        _settle(r, _noClaim());
        vm.prank(alice);
        assay.deliver(r, _noClaim(), outputs[0]);
        // The bytes are here, and who brought them is paid.
        assertEq(assay.credits(alice), DELIVERY_FEE);
        assertEq(tool.outputOf(runId), outputs[0]);
        assertFalse(tool.runOf(runId).delivered);
        handler.setMood(MoodyHandler.Mood.REVERT);
        tool.deliver(runId);
        assertFalse(tool.runOf(runId).delivered);
        handler.setMood(MoodyHandler.Mood.TAKE);
        (bool success, bytes memory why) =
            address(tool).call{gas: HANDLER_GAS}(abi.encodeCall(tool.deliver, (runId)));
        assertFalse(success);
        assertEq(bytes4(why), BoundedCall.NotEnoughGas.selector);
        tool.deliver(runId);
        assertEq(handler.taken(), 1);
        assertEq(handler.lastSender(), address(tool));
        assertEq(handler.lastRunId(), runId);
        assertEq(handler.lastResult(), _words(outputs[0]));
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.AlreadyDelivered.selector, runId));
        tool.deliver(runId);
        assertEq(handler.taken(), 1);
    }

    /// @dev The gas that the tool asks Assay for is enough for the whole way, measured with a handler that uses all.
    function test_onAssayResult_callbackGas_succeeds() public {
        (MoodyHandler handler,, Request memory r) = _askByHandler();
        _settle(r, _noClaim());
        assay.deliver(r, _noClaim(), outputs[0]);
        assertEq(handler.taken(), 1, "within the callback");
    }

    // shows: E1-032, D-10
    function test_run_handlers_reverts() public {
        IERCAgentTool.Input memory input = _toolInput(0);
        tool.depositFor{value: 1 ether}(address(this));
        vm.expectRevert(abi.encodeWithSelector(ResultHandler.HandlerWithoutCode.selector, alice));
        tool.run(input, alice);
        address no = address(new NotAClient());
        vm.expectRevert(abi.encodeWithSelector(ResultHandler.HandlerNotClient.selector, no));
        tool.run(input, no);
        tool.run(input, address(new MoodyHandler()));
        tool.run(input, address(client));
        assertEq(tool.runCount(), 2);
    }

    // shows: E1-101, D-20
    function test_run_unpaid_reverts() public {
        IERCAgentTool.Input memory input = _toolInput(0);
        uint256 price = tool.price();
        assertEq(price, uint256(FEE) + DELIVERY_FEE);
        tool.depositFor{value: price - 1}(address(this));
        vm.expectRevert(
            abi.encodeWithSelector(IPrepaid.BalanceTooSmall.selector, address(this), price - 1, price)
        );
        tool.run(input, address(client));
        vm.prank(alice);
        tool.depositFor{value: 1}(address(this));
        tool.run(input, address(client));
        assertEq(tool.balanceOf(address(this)), 0);
    }

    // shows: D-06
    function test_run_formsDisagree_reverts() public {
        IERCAgentTool.Input memory input = _toolInput(0);
        bytes32 right = keccak256(input.abiEncodedParams);
        input.abiEncodedParams = _toolInput(1).abiEncodedParams;
        tool.depositFor{value: 1 ether}(address(this));
        vm.expectRevert(
            abi.encodeWithSelector(
                AgentInput.EncodingMismatch.selector, keccak256(input.abiEncodedParams), right
            )
        );
        tool.run(input, address(client));
    }

    function test_run_notBytes_reverts() public {
        tool.depositFor{value: 1 ether}(address(this));
        uint256[] memory numbers = _numbers(0);
        numbers[2] = 256;
        IERCAgentTool.Input memory input = _listInput(numbers);
        vm.expectRevert(abi.encodeWithSelector(ModelTool.ByteOutOfRange.selector, 2, 256));
        tool.run(input, address(client));
        input = _listInput(new uint256[](numbers.length + 1));
        vm.expectRevert(
            abi.encodeWithSelector(ModelTool.WrongCount.selector, numbers.length + 1, numbers.length)
        );
        tool.run(input, address(client));
    }

    function test_refund_expired_succeeds() public {
        (int256 runId, Request memory r) = _ask();
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotExpired.selector, block.timestamp, r.expiry));
        tool.refund(r);
        vm.warp(r.expiry + 1);
        vm.prank(alice);
        tool.refund(r);
        assertEq(tool.balanceOf(address(client)), tool.price());
        assertEq(tool.refundedOf(runId), tool.price());
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.AlreadyRefunded.selector, runId));
        tool.refund(r);
        uint256 before = alice.balance;
        uint256 price = tool.price();
        client.withdrawFrom(tool, alice, price);
        assertEq(alice.balance - before, price);
        assertEq(address(tool).balance, 0);
    }

    /// @dev Somebody refunded two requests at Assay; the tool's credit covers both, whichever is asked for first.
    function test_refund_alreadyAtAssay_succeeds() public {
        (, Request memory first) = _ask();
        (, Request memory second) = _ask();
        vm.warp(second.expiry + 1);
        assay.refund(first);
        assay.refund(second);
        tool.refund(second);
        tool.refund(first);
        assertEq(tool.balanceOf(address(client)), 2 * tool.price());
        assertEq(address(tool).balance, 2 * tool.price());
    }

    function test_refund_undelivered_succeeds() public {
        (int256 runId, Request memory r) = _ask();
        Claim memory c = _claim(r, outputs[0]);
        bytes32 id = _raw(r);
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.NotRefundable.selector, id, 2));
        tool.refund(r);
        skip(WINDOW);
        assay.finalize(r, c);
        bytes memory output = outputs[0];
        tool.accept(r, c, output);
        skip(7 days);
        tool.refund(r);
        assertEq(tool.refundedOf(runId), DELIVERY_FEE);
        assertEq(tool.balanceOf(address(client)), DELIVERY_FEE);
    }

    function test_refund_delivered_reverts() public {
        (, Request memory r) = _ask();
        _settle(r, _noClaim());
        assay.deliver(r, _noClaim(), outputs[0]);
        skip(8 days);
        bytes32 id = _raw(r);
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.NotRefundable.selector, id, 3));
        tool.refund(r);
    }

    function test_receive_stray_reverts() public {
        vm.prank(alice);
        (bool success, bytes memory why) = address(tool).call{value: 1}("");
        assertFalse(success);
        assertEq(why, abi.encodeWithSelector(IClaimedModelTool.NotAssay.selector, alice));
    }

    /// @dev A converter that fails leaves the bytes readable and the run undelivered.
    function test_deliver_badConverter_succeeds() public {
        for (uint8 mood; mood < 3; mood++) {
            ToolResultConverter bad = new BadConverter(BadConverter.Mood(mood));
            tool = _newTool(bad);
            (int256 runId, Request memory r) = _ask();
            _settle(r, _noClaim());
            assay.deliver(r, _noClaim(), outputs[0]);
            assertEq(tool.outputOf(runId), outputs[0]);
            assertFalse(tool.runOf(runId).delivered);
            tool.deliver(runId);
            assertFalse(tool.runOf(runId).delivered);
            assertEq(uint8(client.statusOf(tool, runId)), uint8(AgentClient.Status.WAITING));
        }
    }

    function test_constructor_wrongModel_reverts() public {
        ClaimTerms memory terms = _claimTerms();
        ModelId none = ModelId.wrap(keccak256("no model"));
        ToolResultConverter converter = words;
        vm.expectRevert(abi.encodeWithSelector(ModelTool.UnknownModel.selector, none));
        new ClaimedModelTool(_text(1), assay, none, converter, terms);
        vm.expectRevert(abi.encodeWithSelector(ModelTool.WrongTextCount.selector, 3, 3, 1));
        new ClaimedModelTool(_text(3), assay, model, converter, terms);
        terms.lanes = 8;
        vm.expectRevert(abi.encodeWithSelector(ModelTool.LanesMissing.selector, lanes, 8));
        new ClaimedModelTool(_text(1), assay, model, converter, terms);
    }

    // shows: E0-01, E0-02
    function test_supportsInterface_tool_succeeds() public view {
        assertTrue(tool.supportsInterface(type(IERCAgentTool).interfaceId));
        assertTrue(tool.supportsInterface(type(IPrepaid).interfaceId));
        assertTrue(tool.supportsInterface(0x01ffc9a7));
        assertFalse(tool.supportsInterface(0xffffffff));
    }

    function test_runOf_unknown_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IClaimedModelTool.UnknownRun.selector, int256(3)));
        tool.outputOf(3);
        ModelRun memory none = tool.runOf(3);
        assertEq(none.payer, address(0));
    }
}
