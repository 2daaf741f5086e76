// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {RequestWord, openRequest} from "../../../verifier-contracts/libraries/RequestWord.sol";
import {ModelId, Request, RequestId} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

contract RequestTest is AssayFixture {
    function _refused(Request memory r, bytes memory why) private {
        vm.expectRevert(why);
        vm.prank(r.requester);
        assay.request{value: uint256(r.fee) + r.deliveryFee}(r.modelId, Orders.pack(r, _input()));
    }

    function test_request_valid_succeeds() public {
        Request memory r = _newRequest();
        r.callback = alice;
        r.deliveryFee = DELIVERY_FEE;
        RequestId id = assay.requestIdOf(r);
        assertEq(RequestId.unwrap(id), keccak256(abi.encode(block.chainid, address(assay), r)));
        vm.expectEmit(address(assay));
        emit IAssay.Requested(id, MODEL, abi.encodePacked(requester, Orders.pack(r, _input())));
        assertEq(RequestId.unwrap(_file(r)), RequestId.unwrap(id));
        // OPEN, no lane, undelivered, attempt 0, filed now, not settled; nothing above the published fields.
        assertEq(assay.requestWord(id), 1 | block.timestamp << 56);
        assertEq(address(assay).balance, uint256(FEE) + DELIVERY_FEE);
    }

    /// @dev Depth and output length are the model's, all bits of them and no others.
    function test_request_wordOfModel_succeeds() public pure {
        uint256 fields = 0xff << 16 | 0xffffffff << 128;
        RequestWord w = openRequest(7, ModelWord.wrap(fields));
        assertEq(RequestWord.unwrap(w), 1 | 7 << 56 | 0xff << 136 | 0xffffffff << 144);
        assertEq(w.depth(), 0xff);
        assertEq(w.outputLength(), 0xffffffff);
        assertEq(RequestWord.unwrap(openRequest(7, ModelWord.wrap(~fields))), 1 | 7 << 56);
    }

    /// @dev Every field that is in the order, in each combination of its parts, reaches the id.
    function testFuzz_request_anyTerms_succeeds(Request memory r, uint8 parts) public {
        (r.requester, r.modelId, r.inputHash) = (requester, MODEL, keccak256(_input()));
        r.lanes = uint8(bound(r.lanes, 1, 7));
        r.window = uint32(bound(r.window, 4 * T, 30 days));
        r.expiry = uint40(bound(r.expiry, block.timestamp + 1, block.timestamp + 365 days));
        r.exclusiveUntil = uint40(bound(r.exclusiveUntil, 0, block.timestamp + 600));
        (r.fee, r.deliveryFee) = (uint96(r.fee % 100 ether), uint96(r.deliveryFee % 100 ether));
        if (parts & 1 != 0) r.minBond = 0;
        if (parts & 2 != 0) (r.exclusiveProver, r.exclusiveUntil) = (address(0), 0);
        if (parts & 4 != 0) (r.callbackGas, r.deliveryFee) = (0, 0);
        if (r.callback == address(0) || parts & 8 != 0) (r.callback, r.deliveryFee) = (address(0), 0);
        RequestId id = _file(r);
        assertEq(RequestId.unwrap(id), keccak256(abi.encode(block.chainid, address(assay), r)));
        assertEq(_requestState(r), 1);
    }

    /// @dev Whoever copies an order files a request of his own, and the copied one still works.
    function test_request_copied_succeeds() public {
        Request memory r = _newRequest();
        vm.prank(stranger);
        RequestId copy = assay.request{value: FEE}(MODEL, Orders.pack(r, _input()));
        assertEq(_requestState(r), 0, "not the requester's");
        _file(r);
        r.requester = stranger;
        assertEq(RequestId.unwrap(assay.requestIdOf(r)), RequestId.unwrap(copy));
    }

    function testFuzz_request_wrongValue_reverts(uint256 value) public {
        Request memory r = _newRequest();
        value = bound(value, 0, 100 ether);
        vm.assume(value != FEE);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ValueWrong.selector, value, uint256(FEE)));
        vm.prank(requester);
        assay.request{value: value}(MODEL, Orders.pack(r, _input()));
    }

    function test_request_twice_reverts() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        _refused(r, abi.encodeWithSelector(IAssayErrors.AlreadyRequested.selector, id));
    }

    function test_request_afterItsRefund_reverts() public {
        Request memory r = _newRequest();
        RequestId id = _file(r);
        vm.warp(r.expiry + 1);
        assay.refund(r);
        vm.warp(r.expiry - 1);
        _refused(r, abi.encodeWithSelector(IAssayErrors.AlreadyRequested.selector, id));
    }

    function test_request_shortCalldata_reverts() public {
        Request memory r = _newRequest();
        bytes memory short = abi.encodePacked(SELECTOR, uint256(32), uint256(2), uint256(1), uint248(2));
        vm.expectRevert(IAssayErrors.InputNotCanonical.selector);
        vm.prank(requester);
        assay.request{value: FEE}(MODEL, Orders.pack(r, short));
    }

    function test_request_otherSelector_reverts() public {
        Request memory r = _newRequest();
        bytes memory input = abi.encodeWithSelector(0xdeadbeef, new uint256[](2));
        vm.expectRevert(IAssayErrors.InputNotCanonical.selector);
        vm.prank(requester);
        assay.request{value: FEE}(MODEL, Orders.pack(r, input));
    }

    function test_request_unknownModel_reverts() public {
        Request memory r = _newRequest();
        r.modelId = ModelId.wrap(keccak256("nobody's"));
        _refused(r, abi.encodeWithSelector(IAssayErrors.UnknownModel.selector, r.modelId));
    }

    function test_request_lanesOutsideModel_reverts() public {
        registry.setModel(MODEL, _modelWord(5, DEPTH));
        Request memory r = _newRequest();
        uint8[4] memory bad = [0, 2, 7, 12];
        for (uint256 i; i < bad.length; i++) {
            r.lanes = bad[i];
            _refused(r, abi.encodeWithSelector(IAssayErrors.LanesInvalid.selector, bad[i], uint8(5)));
        }
        r.lanes = 5;
        _file(r);
    }

    function test_request_windowOutside_reverts() public {
        Request memory r = _newRequest();
        uint32[2] memory bad = [4 * uint32(T) - 1, 30 days + 1];
        for (uint256 i; i < bad.length; i++) {
            r.window = bad[i];
            _refused(
                r,
                abi.encodeWithSelector(
                    IAssayErrors.WindowOutOfRange.selector, bad[i], 4 * uint256(T), 30 days
                )
            );
        }
    }

    function test_request_windowAtLimits_succeeds() public {
        Request memory r = _newRequest();
        r.window = 4 * uint32(T);
        _file(r);
        r.window = 30 days;
        _file(r);
    }

    function test_request_expiryOutside_reverts() public {
        Request memory r = _newRequest();
        uint40[2] memory bad = [uint40(block.timestamp), uint40(block.timestamp + 365 days + 1)];
        for (uint256 i; i < bad.length; i++) {
            r.expiry = bad[i];
            _refused(
                r,
                abi.encodeWithSelector(
                    IAssayErrors.ExpiryOutOfRange.selector,
                    bad[i],
                    block.timestamp + 1,
                    block.timestamp + 365 days
                )
            );
        }
    }

    function test_request_expiryAtLimits_succeeds() public {
        Request memory r = _newRequest();
        r.expiry = uint40(block.timestamp + 1);
        _file(r);
        r.expiry = uint40(block.timestamp + 365 days);
        _file(r);
    }

    function test_request_exclusiveTooLong_reverts() public {
        Request memory r = _newRequest();
        r.exclusiveProver = prover;
        r.exclusiveUntil = uint40(block.timestamp + 601);
        _refused(
            r,
            abi.encodeWithSelector(
                IAssayErrors.ExclusiveTooLong.selector, r.exclusiveUntil, block.timestamp + 600
            )
        );
        r.exclusiveUntil--;
        _file(r);
    }

    function test_request_deliveryFeeWithoutCallback_reverts() public {
        Request memory r = _newRequest();
        r.deliveryFee = 1;
        _refused(r, abi.encodeWithSelector(IAssayErrors.CallbackMissing.selector, uint256(1)));
    }

    /// @dev An order that is cut off anywhere, with a length that the call states right.
    function test_request_cutOff_reverts() public {
        Request memory r = _newRequest();
        (r.minBond, r.exclusiveProver, r.callback) = (1 ether, prover, alice);
        bytes memory order = Orders.pack(r, "");
        uint256 required = order.length;
        while (order.length != 0) {
            uint256 shorter = order.length - 1;
            assembly {
                mstore(order, shorter)
            }
            if (shorter == 0) required = 31;
            vm.expectRevert(
                abi.encodeWithSelector(
                    IAssayErrors.OrderMalformed.selector, shorter, required, shorter == 0 ? 0 : 7
                )
            );
            vm.prank(requester);
            assay.request{value: FEE}(MODEL, order);
        }
    }

    function test_request_unknownParts_reverts() public {
        bytes memory order = Orders.pack(_newRequest(), _input());
        for (uint8 bit = 3; bit < 8; bit++) {
            order[0] = bytes1(uint8(1) << bit);
            vm.expectRevert(
                abi.encodeWithSelector(
                    IAssayErrors.OrderMalformed.selector, order.length, 31, uint256(1) << bit
                )
            );
            vm.prank(requester);
            assay.request{value: FEE}(MODEL, order);
        }
    }

    function test_refund_boundary_succeeds() public {
        Request memory r = _newRequest();
        r.callback = alice;
        r.deliveryFee = DELIVERY_FEE;
        RequestId id = _file(r);
        vm.warp(r.expiry);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.NotExpired.selector, uint256(r.expiry), uint256(r.expiry))
        );
        assay.refund(r);
        vm.warp(r.expiry + 1);
        vm.expectEmit(address(assay));
        emit IAssay.Refunded(id);
        vm.prank(stranger);
        assay.refund(r);
        assertEq(_requestState(r), 4);
        assertEq(assay.credits(requester), uint256(FEE) + DELIVERY_FEE);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestNotOpen.selector, id, 4));
        assay.refund(r);
    }

    function test_refund_oneWei_succeeds() public {
        Request memory r = _newRequest();
        r.fee = 1;
        _file(r);
        vm.warp(r.expiry + 1);
        vm.expectEmit(address(assay));
        emit IAssay.Credited(r.requester, 1);
        assay.refund(r);
        assertEq(assay.credits(r.requester), 1);
    }

    function test_refund_busy_reverts() public {
        (Request memory r,) = _filedAndClaimed(_right());
        vm.warp(r.expiry + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestNotOpen.selector, assay.requestIdOf(r), 2));
        assay.refund(r);
    }

    function test_refund_unknown_reverts() public {
        Request memory r = _newRequest();
        vm.warp(r.expiry + 1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.RequestNotOpen.selector, assay.requestIdOf(r), 0));
        assay.refund(r);
    }
}
