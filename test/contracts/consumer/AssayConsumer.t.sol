// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AssayConsumer, Terms} from "../../../verifier-contracts/consumer/AssayConsumer.sol";
import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    LANE_BOND,
    LANE_EXECUTION,
    LANE_PROOF,
    ModelId,
    Request,
    RequestId
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

/// @notice Counts what it is given.
contract CountingConsumer is AssayConsumer {
    uint256 public answers;
    bytes public last;
    uint8 public lastLane;

    constructor(IAssay assay_) AssayConsumer(assay_) {}

    function ask(ModelId model, bytes calldata input, Terms calldata terms)
        external
        payable
        returns (RequestId)
    {
        return _ask(model, input, terms);
    }

    function withdraw(address to) external {
        _withdraw(to);
    }

    function _onFinal(RequestId, bytes calldata output, uint8 lane) internal override {
        answers++;
        last = output;
        lastLane = lane;
    }
}

contract AssayConsumerTest is AssayFixture {
    CountingConsumer private consumer;
    Request private r;
    RequestId private id;

    function setUp() public override {
        super.setUp();
        consumer = new CountingConsumer(assay);
        (r, id) = _ask(0, 300_000);
    }

    /// @param salt how many questions were asked before
    function _ask(uint64 salt, uint32 callbackGas) private returns (Request memory asked, RequestId) {
        Terms memory t = Terms({
            lanes: LANE_BOND | LANE_EXECUTION,
            fee: FEE,
            deliveryFee: callbackGas == 0 ? 0 : DELIVERY_FEE,
            minBond: 2 ether,
            window: WINDOW,
            expiry: uint40(block.timestamp + 1 days),
            callbackGas: callbackGas
        });
        asked = _newRequest();
        asked.requester = address(consumer);
        asked.lanes = t.lanes;
        asked.fee = t.fee;
        asked.deliveryFee = t.deliveryFee;
        asked.minBond = t.minBond;
        asked.window = t.window;
        asked.expiry = t.expiry;
        asked.callback = callbackGas == 0 ? address(0) : address(consumer);
        asked.callbackGas = callbackGas;
        asked.salt = salt;
        return (asked, consumer.ask{value: uint256(t.fee) + t.deliveryFee}(MODEL, _input(), t));
    }

    function test_ask_twice_succeeds() public {
        assertEq(RequestId.unwrap(assay.requestIdOf(r)), RequestId.unwrap(id));
        (Request memory other, RequestId second) = _ask(1, 0);
        assertEq(RequestId.unwrap(assay.requestIdOf(other)), RequestId.unwrap(second));
        assertTrue(RequestId.unwrap(second) != RequestId.unwrap(id));
    }

    function test_onAssayResult_delivered_succeeds() public {
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW);
        assay.finalize(r, c);
        vm.prank(bob);
        assay.deliver(r, c, _right());
        assertEq(consumer.answers(), 1);
        assertEq(consumer.last(), _right());
        assertEq(consumer.lastLane(), LANE_BOND);
        assertEq(assay.credits(bob), DELIVERY_FEE);
    }

    function test_onAssayResult_byStranger_reverts() public {
        bytes memory why =
            abi.encodeWithSelector(AssayConsumer.NotCourier.selector, stranger, assay.courier());
        vm.expectRevert(why);
        vm.prank(stranger);
        consumer.onAssayResult(RequestId.unwrap(id), _wrong(), LANE_BOND, 0, 0);
    }

    /// @dev Anybody can name the consumer as the callback of a request of his own.
    function test_onAssayResult_foreignRequest_reverts() public {
        address courier = assay.courier();
        RequestId foreign = RequestId.wrap(keccak256("another"));
        vm.expectRevert(abi.encodeWithSelector(AssayConsumer.NotAsked.selector, foreign));
        vm.prank(courier);
        consumer.onAssayResult(RequestId.unwrap(foreign), _wrong(), LANE_BOND, 0, 0);
    }

    function test_onAssayResult_otherLane_reverts() public {
        address courier = assay.courier();
        vm.expectRevert(abi.encodeWithSelector(AssayConsumer.LaneRefused.selector, LANE_PROOF, r.lanes));
        vm.prank(courier);
        consumer.onAssayResult(RequestId.unwrap(id), _right(), LANE_PROOF, 0, 0);
    }

    function test_accept_unbooked_succeeds() public {
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 1, block.timestamp + 1, 0)
        );
        consumer.accept(r, c, _right());
        skip(1);
        vm.prank(stranger);
        consumer.accept(r, c, _right());
        assertEq(consumer.answers(), 1);
        assertEq(consumer.lastLane(), LANE_BOND);
    }

    /// @dev Whoever delivers what was accepted before is paid, and the consumer is given nothing twice.
    function test_accept_thenDelivered_succeeds() public {
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW);
        consumer.accept(r, c, _right());
        consumer.accept(r, c, _right());
        assay.finalize(r, c);
        vm.prank(bob);
        assay.deliver(r, c, _right());
        assertEq(consumer.answers(), 1);
        assertEq(assay.credits(bob), DELIVERY_FEE);
    }

    function test_accept_foreignRequest_reverts() public {
        Request memory own = _newRequest();
        own.requester = stranger;
        _file(own);
        Claim memory c = _claim(own, prover, _right());
        skip(WINDOW);
        vm.expectRevert(abi.encodeWithSelector(AssayConsumer.NotAsked.selector, c.requestId));
        consumer.accept(own, c, _right());
    }

    function test_withdraw_refunded_succeeds() public {
        skip(1 days + 1);
        assay.refund(r);
        uint256 before = alice.balance;
        consumer.withdraw(alice);
        assertEq(alice.balance - before, uint256(FEE) + DELIVERY_FEE);
    }
}
