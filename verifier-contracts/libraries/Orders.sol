// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {IAssayErrors} from "../interfaces/IAssayErrors.sol";
import {ModelId, Request, RequestId} from "../types/Types.sol";
import {FIRST_ADDRESS} from "./Memory.sol";

/// @notice Memory of a request that an order made: chainid, this contract and the words of its Request, as its id
/// hashes them; then the data of its event.
type Order is uint256;

uint256 constant ID_BYTES = 512;

/// @dev Behind it: data of the event.
uint256 constant EVENT = 512;
uint256 constant EVENT_ORDER = 596;

using {lanes, fee, deliveryFee, times, callback, id, log, release} for Order global;

function lanes(Order o) pure returns (uint256 word) {
    assembly ("memory-safe") {
        word := mload(add(o, 160))
    }
}

function fee(Order o) pure returns (uint256 word) {
    assembly ("memory-safe") {
        word := mload(add(o, 192))
    }
}

function deliveryFee(Order o) pure returns (uint256 word) {
    assembly ("memory-safe") {
        word := mload(add(o, 224))
    }
}

/// @return window seconds @return expiry and @return exclusiveUntil in seconds since 1970
function times(Order o) pure returns (uint256 window, uint256 expiry, uint256 exclusiveUntil) {
    assembly ("memory-safe") {
        window := mload(add(o, 288))
        expiry := mload(add(o, 320))
        exclusiveUntil := mload(add(o, 384))
    }
}

function callback(Order o) pure returns (uint256 word) {
    assembly ("memory-safe") {
        word := mload(add(o, 416))
    }
}

function id(Order o) pure returns (RequestId hash) {
    assembly ("memory-safe") {
        hash := keccak256(o, ID_BYTES)
    }
}

/// @notice emit Requested(id, modelId, requester ‖ order), of what stands in memory already.
/// @param length of the order
function log(Order o, RequestId requestId, ModelId modelId, uint256 length) {
    bytes32 topic = IAssay.Requested.selector;
    assembly ("memory-safe") {
        log3(add(o, EVENT), and(add(length, 115), not(31)), topic, requestId, modelId)
    }
}

/// @notice Gives back the order's memory, and whatever was allocated behind it. None of it may be used any more.
function release(Order o) pure {
    assembly ("memory-safe") {
        mstore(0x40, o)
    }
}

/// @notice Orders: what a requester sends, a Request and its input without what follows from the rest
/// (docs/PROTOCOL.md, section 2). The requester is the sender, the input's hash is computed.
/// Parts u8, lanes u8, window u32, expiry u40, fee u96, salt u64; then for each bit of parts that is set: 0 minBond u96,
/// 1 exclusiveProver and exclusiveUntil u40, 2 callback, callbackGas u32 and deliveryFee u96; then the input.
library Orders {
    uint256 private constant REQUESTER_BYTES = 20;
    uint256 private constant HEAD_BYTES = 31;
    uint256 private constant BOND_BYTES = 12;
    uint256 private constant EXCLUSIVE_BYTES = 25;
    uint256 private constant DELIVERY_BYTES = 36;
    uint256 private constant ALL_PARTS = 7;

    // The lowest bit of each field: of the head, which parts and lanes begin; of the part of the exclusive prover, and of
    // the callback's, which an address begins.
    uint256 private constant WINDOW = 208;
    uint256 private constant EXPIRY = 168;
    uint256 private constant FEE = 72;
    uint256 private constant SALT = 8;
    uint256 private constant UNTIL = 56;
    uint256 private constant CALLBACK_GAS = 64;
    /// @dev An amount of wei, u96, that begins a word.
    uint256 private constant FIRST_WEI = 160;

    /// @notice The order that files a request.
    /// @param r its requester and inputHash are not used
    function pack(Request memory r, bytes memory input) internal pure returns (bytes memory order) {
        uint8 parts;
        bytes memory optional;
        if (r.minBond != 0) {
            parts = 1;
            optional = abi.encodePacked(r.minBond);
        }
        if (r.exclusiveProver != address(0) || r.exclusiveUntil != 0) {
            parts |= 2;
            optional = abi.encodePacked(optional, r.exclusiveProver, r.exclusiveUntil);
        }
        if (r.callback != address(0) || r.callbackGas != 0 || r.deliveryFee != 0) {
            parts |= 4;
            optional = abi.encodePacked(optional, r.callback, r.callbackGas, r.deliveryFee);
        }
        return abi.encodePacked(parts, r.lanes, r.window, r.expiry, r.fee, r.salt, optional, input);
    }

    /// @notice Reads an order that was filed. @param filed the requester, then his order
    function readFiled(ModelId modelId, bytes calldata filed) internal view returns (Order o) {
        (address requester, bytes calldata order) = _split(filed);
        (o,) = read(modelId, requester, order);
    }

    /// @notice The input in an order that was filed, where `readFiled` finds it.
    function inputOf(bytes calldata filed) internal pure returns (bytes calldata input) {
        unchecked {
            (, bytes calldata order) = _split(filed);
            uint256 parts;
            assembly ("memory-safe") {
                parts := byte(0, calldataload(order.offset))
            }
            uint256 size = HEAD_BYTES + BOND_BYTES * (parts & 1) + EXCLUSIVE_BYTES * (parts >> 1 & 1)
                + DELIVERY_BYTES * (parts >> 2 & 1);
            if (order.length < size || parts > ALL_PARTS) {
                revert IAssayErrors.OrderMalformed(order.length, size, parts);
            }
            assembly ("memory-safe") {
                input.offset := add(order.offset, size)
                input.length := sub(order.length, size)
            }
        }
    }

    /// @dev Where there is no room for a requester the order is empty, which is malformed.
    function _split(bytes calldata filed) private pure returns (address requester, bytes calldata order) {
        assembly ("memory-safe") {
            requester := shr(FIRST_ADDRESS, calldataload(filed.offset))
            order.offset := add(filed.offset, REQUESTER_BYTES)
            let short := lt(filed.length, REQUESTER_BYTES)
            order.length := mul(iszero(short), sub(filed.length, REQUESTER_BYTES))
        }
    }

    /// @notice Reads a requester's order. @return o its request @return input the model's calldata
    function read(ModelId modelId, address requester, bytes calldata order)
        internal
        view
        returns (Order o, bytes calldata input)
    {
        uint256 parts;
        uint256 size = HEAD_BYTES;
        assembly ("memory-safe") {
            let at := order.offset
            let head := calldataload(at)
            parts := byte(0, head)
            o := mload(0x40)
            // A part that is absent is zero.
            calldatacopy(add(o, 224), calldatasize(), 256)
            mstore(o, chainid())
            mstore(add(o, 32), address())
            // SAFETY: an address as Solidity decoded it has no dirty bits.
            mstore(add(o, 64), requester)
            mstore(add(o, 96), modelId)
            mstore(add(o, 160), byte(1, head))
            mstore(add(o, 192), and(shr(FEE, head), 0xFFFFFFFFFFFFFFFFFFFFFFFF))
            mstore(add(o, 288), and(shr(WINDOW, head), 0xFFFFFFFF))
            mstore(add(o, 320), and(shr(EXPIRY, head), 0xFFFFFFFFFF))
            mstore(add(o, 480), and(shr(SALT, head), 0xFFFFFFFFFFFFFFFF))
            if parts {
                if and(parts, 1) {
                    mstore(add(o, 256), shr(FIRST_WEI, calldataload(add(at, size))))
                    size := add(size, BOND_BYTES)
                }
                if and(parts, 2) {
                    let exclusive := calldataload(add(at, size))
                    mstore(add(o, 352), shr(FIRST_ADDRESS, exclusive))
                    mstore(add(o, 384), and(shr(UNTIL, exclusive), 0xFFFFFFFFFF))
                    size := add(size, EXCLUSIVE_BYTES)
                }
                if and(parts, 4) {
                    let delivery := calldataload(add(at, size))
                    mstore(add(o, 416), shr(FIRST_ADDRESS, delivery))
                    mstore(add(o, 448), and(shr(CALLBACK_GAS, delivery), 0xFFFFFFFF))
                    mstore(add(o, 224), shr(FIRST_WEI, calldataload(add(add(at, 24), size))))
                    size := add(size, DELIVERY_BYTES)
                }
            }
        }
        bool malformed;
        assembly ("memory-safe") {
            malformed := or(lt(order.length, size), gt(parts, ALL_PARTS))
        }
        // INVARIANT: nothing behind the order's end was read into the request, and no bit has two meanings later.
        if (malformed) {
            revert IAssayErrors.OrderMalformed(order.length, size, parts);
        }
        assembly ("memory-safe") {
            // The event's one argument: offset, length, requester, order, padding.
            let copy := add(o, EVENT_ORDER)
            mstore(sub(copy, 84), 32)
            mstore(sub(copy, 52), add(order.length, 20))
            mstore(sub(copy, 20), shl(FIRST_ADDRESS, requester))
            calldatacopy(copy, order.offset, order.length)
            let end := add(copy, order.length)
            mstore(end, 0)
            mstore(0x40, and(add(end, 63), not(31)))
            input.offset := add(order.offset, size)
            input.length := sub(order.length, size)
            mstore(add(o, 128), keccak256(add(copy, size), input.length))
        }
    }
}
