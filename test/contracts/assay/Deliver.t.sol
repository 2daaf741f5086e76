// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Courier} from "../../../verifier-contracts/Courier.sol";
import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {
    Claim,
    LANE_BOND,
    LANE_EXECUTION,
    Request,
    RequestId
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";
import {Listener, Saboteur} from "../support/assay/Callbacks.sol";

contract DeliverTest is AssayFixture {
    uint32 private constant CALLBACK_GAS = 600_000;
    Listener private listener;
    Saboteur private saboteur;

    function setUp() public override {
        super.setUp();
        listener = new Listener();
        saboteur = new Saboteur(assay);
        vm.deal(address(saboteur), 1 ether);
    }

    function _finalFor(address callback) private returns (Request memory r, Claim memory c) {
        r = _newRequest();
        r.callback = callback;
        r.callbackGas = CALLBACK_GAS;
        r.deliveryFee = DELIVERY_FEE;
        if (callback == address(saboteur)) r.requester = callback;
        _file(r);
        c = _claim(r, prover, _right());
        skip(WINDOW);
        assay.finalize(r, c);
    }

    function _deliver(Request memory r, Claim memory c, bool success) private {
        vm.expectEmit(address(assay));
        emit IAssay.Delivered(c.requestId, bob, success);
        vm.prank(bob);
        assay.deliver(r, c, _right());
    }

    function test_deliver_claimed_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(listener));
        uint256 requestedAt = block.timestamp - WINDOW;
        uint256 finalAt = block.timestamp;
        skip(30 days);
        _deliver(r, c, true);
        assertEq(listener.caller(), assay.courier());
        assertEq(listener.requestId(), RequestId.unwrap(c.requestId));
        assertEq(listener.output(), _right());
        assertEq(listener.lane(), LANE_BOND);
        assertEq(listener.requestedAt(), requestedAt);
        assertEq(listener.finalAt(), finalAt);
        assertEq(assay.credits(bob), DELIVERY_FEE);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyDelivered.selector, c.requestId));
        assay.deliver(r, c, _right());
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyDelivered.selector, c.requestId));
        assay.reclaimDelivery(r);
    }

    function test_deliver_truthWithoutClaim_succeeds() public {
        Request memory r = _newRequest();
        r.callback = address(listener);
        r.callbackGas = CALLBACK_GAS;
        _file(r);
        _settleExecution(r, _noClaim(), stranger, _right());
        vm.prank(bob);
        assay.deliver(r, _noClaim(), _right());
        assertEq(listener.lane(), LANE_EXECUTION);
        assertEq(assay.credits(bob), 0, "no fee was offered");
    }

    function test_deliver_notDone_reverts() public {
        Request memory r = _newRequest();
        r.callback = address(listener);
        bytes4 why = IAssayErrors.RequestNotDone.selector;
        vm.expectRevert(abi.encodeWithSelector(why, assay.requestIdOf(r), 0));
        assay.deliver(r, _noClaim(), _right());
        _file(r);
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW);
        vm.expectRevert(abi.encodeWithSelector(why, c.requestId, 2));
        assay.deliver(r, c, _right());
    }

    function test_deliver_otherOutputOrClaim_reverts() public {
        (Request memory r, Claim memory c) = _finalFor(address(listener));
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), c.outputHash)
        );
        assay.deliver(r, c, _wrong());
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.WrongClaim.selector, bytes32(0), c.requestId));
        assay.deliver(r, _noClaim(), _right());
        Claim memory forged = c;
        forged.outputHash = keccak256(_wrong());
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(forged), 0, 0, 0));
        assay.deliver(r, forged, _wrong());
    }

    /// @dev A claim that fell, of a request that truth settled: its output is not the result.
    function test_deliver_fallenClaim_reverts() public {
        Request memory r = _newRequest();
        r.callback = address(listener);
        _file(r);
        Claim memory c = _claim(r, prover, _wrong());
        _settleExecution(r, c, stranger, _right());
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), keccak256(_right())
            )
        );
        assay.deliver(r, c, _wrong());
    }

    function test_deliver_withoutCallback_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        assay.finalize(r, c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.CallbackMissing.selector, 0));
        assay.deliver(r, c, _right());
    }

    /// @dev Failures leave everything as it was; the first success is paid, once.
    function test_deliver_repeatedUntilSuccess_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        uint256 word = assay.requestWord(c.requestId);
        for (uint256 way = 1; way <= 3; way++) {
            saboteur.set(Saboteur.Way(way), "");
            _deliver(r, c, false);
            assertEq(assay.requestWord(c.requestId), word);
            assertEq(assay.credits(bob), 0);
        }
        assertEq(saboteur.calls(), 0);
        saboteur.set(Saboteur.Way.NONE, "");
        _deliver(r, c, true);
        assertEq(saboteur.calls(), 1);
        assertEq(assay.credits(bob), DELIVERY_FEE);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyDelivered.selector, c.requestId));
        assay.deliver(r, c, _right());
    }

    function test_deliver_burningCallback_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        saboteur.set(Saboteur.Way.BURN, "");
        uint256 before = gasleft();
        _deliver(r, c, false);
        assertLt(before - gasleft(), uint256(CALLBACK_GAS) + 150_000, "only its own gas");
    }

    function test_deliver_hugeReturn_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        saboteur.set(Saboteur.Way.HUGE_RETURN, "");
        uint256 before = gasleft();
        _deliver(r, c, true);
        assertLt(before - gasleft(), uint256(CALLBACK_GAS) + 150_000, "nobody copied it");
    }

    function test_deliver_callbackDeliversAgain_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        saboteur.set(Saboteur.Way.DELIVER, abi.encodeCall(assay.deliver, (r, c, _right())));
        _deliver(r, c, true);
        assertEq(
            saboteur.tried(), abi.encodeWithSelector(IAssayErrors.AlreadyDelivered.selector, c.requestId)
        );
        assertEq(saboteur.calls(), 1);
        assertEq(assay.credits(bob), DELIVERY_FEE);
        assertEq(assay.credits(address(saboteur)), 0);
    }

    function test_deliver_callbackReclaims_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        skip(7 days);
        saboteur.set(Saboteur.Way.RECLAIM, abi.encodeCall(assay.reclaimDelivery, (r)));
        _deliver(r, c, true);
        assertEq(
            saboteur.tried(), abi.encodeWithSelector(IAssayErrors.AlreadyDelivered.selector, c.requestId)
        );
        assertEq(assay.credits(address(saboteur)), 0);
    }

    function test_deliver_callbackRequestsAgain_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        Request memory next = _newRequest();
        next.requester = address(saboteur);
        next.salt = 77;
        saboteur.set(
            Saboteur.Way.REQUEST, abi.encodeCall(assay.request, (next.modelId, Orders.pack(next, _input())))
        );
        _deliver(r, c, true);
        assertEq(saboteur.tried(), "done");
        assertEq(_requestState(next), 1);
        assertEq(_requestState(r), 3);
    }

    function test_deliver_callbackWithdraws_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        saboteur.set(Saboteur.Way.WITHDRAW, abi.encodeCall(assay.withdraw, (address(saboteur))));
        _deliver(r, c, true);
        assertEq(saboteur.tried(), abi.encodeWithSelector(IAssayErrors.NoCredit.selector, address(saboteur)));
    }

    function test_deliver_callbackWithoutCode_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(makeAddr("not deployed yet"));
        _deliver(r, c, false);
        vm.etch(r.callback, address(listener).code);
        _deliver(r, c, true);
        assertEq(Listener(r.callback).calls(), 1);
    }

    /// @dev Whatever gas a deliverer brings: either it is refused, or the callback has all that it was promised.
    function testFuzz_deliver_gas_succeeds(uint256 gasLimit) public {
        (Request memory r, Claim memory c) = _finalFor(address(listener));
        gasLimit = bound(gasLimit, 100_000, 900_000);
        vm.prank(bob);
        try assay.deliver{gas: gasLimit}(r, c, _right()) {
            assertEq(listener.calls(), 1);
            assertGe(listener.gasGiven(), CALLBACK_GAS - 5_000);
            assertEq(assay.credits(bob), DELIVERY_FEE);
        } catch (bytes memory why) {
            assertEq(listener.calls(), 0);
            assertEq(bytes4(why), IAssayErrors.NotEnoughGas.selector);
            assertLt(gasLimit, uint256(CALLBACK_GAS) + 100_000, "enough gas is enough");
        }
    }

    /// @dev A callback that uses up all its gas leaves enough to book the delivery, at the least gas allowed.
    function test_deliver_leastGas_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(listener));
        uint256 low = 100_000;
        uint256 high = 900_000;
        while (high - low > 1) {
            uint256 middle = (low + high) / 2;
            uint256 state = vm.snapshotState();
            vm.prank(bob);
            (bool done,) = address(assay).call{gas: middle}(abi.encodeCall(assay.deliver, (r, c, _right())));
            vm.revertToState(state);
            if (done) high = middle;
            else low = middle;
        }
        saboteur.set(Saboteur.Way.BURN, "");
        vm.etch(address(listener), address(saboteur).code);
        vm.store(address(listener), bytes32(0), bytes32(uint256(Saboteur.Way.BURN)));
        vm.prank(bob);
        assay.deliver{gas: high}(r, c, _right());
        assertEq(assay.credits(bob), 0, "it failed, and that was booked");
    }

    function test_carry_byStranger_reverts() public {
        Courier courier = Courier(assay.courier());
        assertEq(courier.assay(), address(assay));
        vm.expectRevert(abi.encodeWithSelector(Courier.NotAssay.selector, stranger));
        vm.prank(stranger);
        courier.carry(address(listener), 100_000, bytes32(0), _wrong(), LANE_BOND, 0, 0);
    }

    // reclaimDelivery

    function test_reclaimDelivery_boundary_succeeds() public {
        (Request memory r, Claim memory c) = _finalFor(address(saboteur));
        saboteur.set(Saboteur.Way.REVERT, "");
        _deliver(r, c, false);
        uint256 first = block.timestamp + 7 days;
        vm.warp(first - 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotYet.selector, first - 1, first));
        assay.reclaimDelivery(r);
        vm.warp(first);
        vm.expectEmit(address(assay));
        emit IAssay.DeliveryReclaimed(c.requestId);
        vm.prank(stranger);
        assay.reclaimDelivery(r);
        assertEq(assay.credits(r.requester), DELIVERY_FEE);
        assertEq(uint8(assay.requestWord(c.requestId) >> 16), 2);
        bytes memory why = abi.encodeWithSelector(IAssayErrors.AlreadyDelivered.selector, c.requestId);
        vm.expectRevert(why);
        assay.reclaimDelivery(r);
        vm.expectRevert(why);
        assay.deliver(r, c, _right());
    }

    /// @dev Else anybody could take a delivery away that somebody would make for nothing.
    function test_reclaimDelivery_withoutFee_reverts() public {
        Request memory r = _newRequest();
        r.callback = address(listener);
        r.callbackGas = CALLBACK_GAS;
        _file(r);
        Claim memory c = _claim(r, prover, _right());
        skip(WINDOW);
        assay.finalize(r, c);
        skip(30 days);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NothingToReclaim.selector, c.requestId));
        assay.reclaimDelivery(r);
        _deliver(r, c, true);
    }

    function test_reclaimDelivery_notDone_reverts() public {
        Request memory r = _newRequest();
        r.callback = address(listener);
        r.deliveryFee = DELIVERY_FEE;
        _file(r);
        skip(8 days);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestNotDone.selector, assay.requestIdOf(r), 1));
        assay.reclaimDelivery(r);
    }
}
