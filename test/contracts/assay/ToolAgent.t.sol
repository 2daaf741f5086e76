// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ToolAgent} from "../../../verifier-contracts/agents/ToolAgent.sol";
import {AssayConsumer} from "../../../verifier-contracts/consumer/AssayConsumer.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    LANE_BOND,
    LANE_EXECUTION,
    Policy,
    Request,
    RequestId
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

contract ToolAgentTest is AssayFixture {
    ToolAgent private agent;
    Request private r;
    RequestId private id;

    function setUp() public override {
        super.setUp();
        agent = new ToolAgent(assay, alice, Policy(MODEL, 0, LANE_BOND | LANE_EXECUTION, 2 ether, WINDOW));
        (r, id) = _ask(1);
    }

    function _offer(uint64 salt) private view returns (ToolAgent.Offer memory o) {
        o.fee = FEE;
        o.deliveryFee = DELIVERY_FEE;
        o.expiry = uint40(block.timestamp + 1 days);
        o.callbackGas = 300_000;
        o.salt = salt;
    }

    function _ask(uint64 salt) private returns (Request memory, RequestId) {
        ToolAgent.Offer memory o = _offer(salt);
        vm.prank(alice);
        RequestId asked = agent.ask{value: uint256(FEE) + DELIVERY_FEE}(_input(), o);
        return (agent.requestFor(keccak256(_input()), o), asked);
    }

    function test_ask_byStranger_reverts() public {
        ToolAgent.Offer memory o = _offer(2);
        vm.expectRevert(abi.encodeWithSelector(ToolAgent.NotOwner.selector, stranger, alice));
        vm.prank(stranger);
        agent.ask(_input(), o);
    }

    function test_ask_underPolicy_succeeds() public view {
        assertEq(RequestId.unwrap(assay.requestIdOf(r)), RequestId.unwrap(id));
        assertEq(r.minBond, 2 ether);
        assertEq(r.window, WINDOW);
        assertEq(r.inputHash, keccak256(_input()));
        assertEq(agent.answerTo(id).output, "");
    }

    function test_onAssayResult_delivered_succeeds() public {
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW);
        assay.finalize(r, c);
        vm.prank(bob);
        assay.deliver(r, c, _right());
        ToolAgent.Answer memory answer = agent.answerTo(id);
        assertEq(answer.output, _right());
        assertEq(answer.lane, LANE_BOND);
        assertEq(assay.credits(bob), DELIVERY_FEE);
    }

    function test_onAssayResult_byStranger_reverts() public {
        bytes memory why =
            abi.encodeWithSelector(AssayConsumer.NotCourier.selector, stranger, assay.courier());
        vm.expectRevert(why);
        vm.prank(stranger);
        agent.onAssayResult(RequestId.unwrap(id), _wrong(), LANE_BOND, 0, 0);
    }

    /// @dev Anybody can name the agent as the callback of a request of his own.
    function test_onAssayResult_foreignRequest_reverts() public {
        Request memory own = _newRequest();
        own.requester = stranger;
        own.callback = address(agent);
        own.callbackGas = 300_000;
        _file(own);
        Claim memory c = _claim(own, stranger, _wrong());
        skip(WINDOW);
        assay.finalize(own, c);
        assay.deliver(own, c, _wrong());
        assertEq(uint8(assay.requestWord(c.requestId) >> 16), 0, "refused");
        address courier = assay.courier();
        vm.expectRevert(abi.encodeWithSelector(AssayConsumer.NotAsked.selector, c.requestId));
        vm.prank(courier);
        agent.onAssayResult(RequestId.unwrap(c.requestId), _wrong(), LANE_BOND, 0, 0);
    }

    function test_onAssayResult_otherLane_reverts() public {
        address courier = assay.courier();
        vm.expectRevert(abi.encodeWithSelector(AssayConsumer.LaneRefused.selector, 2, 5));
        vm.prank(courier);
        agent.onAssayResult(RequestId.unwrap(id), _right(), 2, 0, 0);
    }

    function test_accept_unbooked_succeeds() public {
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, block.timestamp + 1, 0)
        );
        agent.accept(r, c, _right());
        skip(1);
        vm.prank(stranger);
        agent.accept(r, c, _right());
        assertEq(agent.answerTo(id).output, _right());
        assertEq(agent.answerTo(id).lane, LANE_BOND);
        // Who delivers it afterwards is paid all the same.
        assay.finalize(r, c);
        vm.prank(bob);
        assay.deliver(r, c, _right());
        assertEq(assay.credits(bob), DELIVERY_FEE);
    }

    function test_accept_truth_succeeds() public {
        _settleExecution(r, _noClaim(), stranger, _right());
        agent.accept(r, _noClaim(), _right());
        assertEq(agent.answerTo(id).lane, LANE_EXECUTION);
    }

    function test_accept_notAsked_reverts() public {
        Request memory own = _newRequest();
        _file(own);
        Claim memory c = _claim(own, stranger, _wrong());
        skip(WINDOW);
        vm.expectRevert(abi.encodeWithSelector(AssayConsumer.NotAsked.selector, c.requestId));
        agent.accept(own, c, _wrong());
    }

    function test_withdraw_refund_succeeds() public {
        vm.warp(r.expiry + 1);
        assay.refund(r);
        vm.expectRevert(abi.encodeWithSelector(ToolAgent.NotOwner.selector, stranger, alice));
        vm.prank(stranger);
        agent.withdraw(stranger);
        vm.prank(alice);
        agent.withdraw(bob);
        assertEq(bob.balance, 1_000 ether + uint256(FEE) + DELIVERY_FEE);
    }
}
