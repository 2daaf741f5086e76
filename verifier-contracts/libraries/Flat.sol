// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_CHANNEL, LAYOUT_PLAIN} from "../types/Program.sol";
import {DESCRIPTOR_SHAPE_AT, Descriptor} from "./Descriptor.sol";
import {Memory} from "./Memory.sol";
import {DIM_BITS, DIM_TOP, SHAPE_MASK, Shapes} from "./Shapes.sol";

/// @notice A tensor in memory, as one word: pointer u32, elements u32, last dim u32, type code u8, rank u8, and where its
/// shape stands in memory u32, from the lowest bit on. Elements stand one after another, row-major, without padding; what
/// follows the last one is anything.
type Flat is uint256;

// The lowest bit of each field but the pointer, which is the lowest one.
uint256 constant FLAT_COUNT = 32;
uint256 constant FLAT_LAST = 64;
uint256 constant FLAT_TYPE = 96;
uint256 constant FLAT_RANK = 104;
uint256 constant FLAT_SHAPE = 112;
// What a field holds, for assembly. Functions here say it by a literal: the compiler inlines only the smallest ones.
uint256 constant FLAT_U32 = 0xFFFFFFFF;
uint256 constant FLAT_U8 = 0xFF;

/// @dev Of an operand that a record does not name.
Flat constant NO_FLAT = Flat.wrap(0);

using {
    isNone,
    pointer,
    count,
    last,
    code,
    rank,
    shape,
    size,
    at,
    moved,
    shifted,
    withType,
    allocate,
    element,
    put
} for Flat global;

/// @notice A tensor without a pointer. @param shapeAt memory of its dims @param code_ type @param rank_ 1 to 6
function describeFlat(uint256 shapeAt, uint256 code_, uint256 rank_) pure returns (Flat flat) {
    assembly ("memory-safe") {
        let dims := mload(shapeAt)
        let count_ := shr(DIM_TOP, dims)
        let last_ := count_
        for { let axis := 1 } lt(axis, rank_) { axis := add(axis, 1) } {
            dims := shl(DIM_BITS, dims)
            last_ := shr(DIM_TOP, dims)
            count_ := mul(count_, last_)
        }
        flat := or(
            or(shl(FLAT_COUNT, count_), shl(FLAT_LAST, last_)),
            or(shl(FLAT_TYPE, code_), or(shl(FLAT_RANK, rank_), shl(FLAT_SHAPE, shapeAt)))
        )
    }
}

/// @notice A tensor without pointer and shape, for kernels that do not ask for them.
function flatOf(uint256 count_, uint256 last_, uint256 code_) pure returns (Flat) {
    return Flat.wrap((count_ << FLAT_COUNT) | (last_ << FLAT_LAST) | (code_ << FLAT_TYPE));
}

/// @notice A weight tensor whose pointer is its offset in the stream.
/// @param descriptorAt memory of its descriptor @return flat the tensor @return next offset of the one after it
function describeWeight(uint256 descriptorAt, uint256 offset) pure returns (Flat flat, uint256 next) {
    unchecked {
        Descriptor descriptor = Descriptor.wrap(Memory.load(descriptorAt));
        uint256 layout_ = descriptor.rowLayout();
        uint256 code_ = descriptor.code();
        flat = describeFlat(descriptorAt + DESCRIPTOR_SHAPE_AT, code_, descriptor.rank());
        uint256 length;
        if (layout_ == LAYOUT_PLAIN) {
            length = count(flat) * Shapes.elementBytes(code_);
        } else {
            uint256 rows_ = layout_ == LAYOUT_CHANNEL ? count(flat) : count(flat) / last(flat);
            length = 32 * rows_ * Shapes.rowWords(layout_, code_, last(flat));
        }
        return (at(flat, offset), offset + length);
    }
}

function isNone(Flat flat) pure returns (bool) {
    return Flat.unwrap(flat) == 0;
}

function pointer(Flat flat) pure returns (uint256) {
    return Flat.unwrap(flat) & 0xFFFFFFFF;
}

function count(Flat flat) pure returns (uint256) {
    return (Flat.unwrap(flat) >> FLAT_COUNT) & 0xFFFFFFFF;
}

function last(Flat flat) pure returns (uint256) {
    return (Flat.unwrap(flat) >> FLAT_LAST) & 0xFFFFFFFF;
}

function code(Flat flat) pure returns (uint256) {
    return (Flat.unwrap(flat) >> FLAT_TYPE) & 0xFF;
}

function rank(Flat flat) pure returns (uint256) {
    return (Flat.unwrap(flat) >> FLAT_RANK) & 0xFF;
}

/// @notice Six dims u32 from the most significant bits down, zeros behind them.
function shape(Flat flat) pure returns (uint256 dims) {
    assembly ("memory-safe") {
        dims := and(mload(and(shr(FLAT_SHAPE, flat), FLAT_U32)), SHAPE_MASK)
    }
}

/// @notice Bytes of the tensor.
function size(Flat flat) pure returns (uint256) {
    unchecked {
        return count(flat) * Shapes.elementBytes(code(flat));
    }
}

/// @notice A tensor that has no pointer yet, at a place.
function at(Flat flat, uint256 place) pure returns (Flat) {
    return Flat.wrap(Flat.unwrap(flat) | place);
}

/// @notice The tensor's like at another place.
function moved(Flat flat, uint256 place) pure returns (Flat) {
    return Flat.wrap((Flat.unwrap(flat) & ~uint256(0xFFFFFFFF)) | place);
}

/// @notice The tensor so many bytes further on.
function shifted(Flat flat, uint256 bytes_) pure returns (Flat) {
    unchecked {
        return Flat.wrap(Flat.unwrap(flat) + bytes_);
    }
}

function withType(Flat flat, uint256 code_) pure returns (Flat) {
    return Flat.wrap((Flat.unwrap(flat) & ~(uint256(0xFF) << FLAT_TYPE)) | (code_ << FLAT_TYPE));
}

/// @notice New memory for a tensor without a pointer, not cleared. @return the tensor
function allocate(Flat flat) pure returns (Flat) {
    return at(flat, Memory.reserve(size(flat)));
}

/// @notice The stored bytes of element number i, right-aligned.
function element(Flat flat, uint256 i) pure returns (uint256 stored) {
    unchecked {
        uint256 bytesOf = Shapes.elementBytes(code(flat));
        stored = Memory.load(pointer(flat) + bytesOf * i) >> (256 - 8 * bytesOf);
    }
}

/// @notice Stores element number i. @param stored its bytes, right-aligned
function put(Flat flat, uint256 i, uint256 stored) pure {
    unchecked {
        uint256 bytesOf = Shapes.elementBytes(code(flat));
        uint256 place = pointer(flat) + bytesOf * i;
        // Stores in ascending order: what this one spills is overwritten by the next.
        stored <<= 256 - 8 * bytesOf;
        assembly ("memory-safe") {
            mstore(place, stored)
        }
    }
}
