// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LAYOUT_CHANNEL, LAYOUT_PLAIN} from "../types/Program.sol";
import {Shapes} from "./Shapes.sol";

/// @notice A tensor in the interpreter's memory, as one word: pointer u32, elements u32, last dim u32, type code u8,
/// rank u8, and where its shape stands in memory u32. Elements stand one after another, row-major, without padding;
/// what follows the last one is anything.
library Flat {
    uint256 private constant MASK = 0xFFFFFFFF;
    /// @dev Behind every tensor: kernels store whole words.
    uint256 private constant SLACK = 32;

    function pointer(uint256 flat) internal pure returns (uint256) {
        return flat & MASK;
    }

    function count(uint256 flat) internal pure returns (uint256) {
        return (flat >> 32) & MASK;
    }

    function last(uint256 flat) internal pure returns (uint256) {
        return (flat >> 64) & MASK;
    }

    function code(uint256 flat) internal pure returns (uint256) {
        return (flat >> 96) & 0xFF;
    }

    function rank(uint256 flat) internal pure returns (uint256) {
        return (flat >> 104) & 0xFF;
    }

    /// @notice Six dims u32 from the most significant bits down, zeros behind them.
    function shape(uint256 flat) internal pure returns (uint256 dims) {
        assembly ("memory-safe") {
            dims := and(mload(and(shr(112, flat), 0xFFFFFFFF)), not(0xFFFFFFFFFFFFFFFF))
        }
    }

    /// @notice Bytes of the tensor.
    function size(uint256 flat) internal pure returns (uint256) {
        unchecked {
            return count(flat) * Shapes.elementBytes(code(flat));
        }
    }

    /// @notice The tensor without a pointer. @param shapeAt memory of its dims @param code_ type @param rank_ 1 to 6
    function describe(uint256 shapeAt, uint256 code_, uint256 rank_) internal pure returns (uint256 flat) {
        assembly ("memory-safe") {
            let dims := mload(shapeAt)
            let count_ := shr(224, dims)
            let last_ := count_
            for { let axis := 1 } lt(axis, rank_) { axis := add(axis, 1) } {
                dims := shl(32, dims)
                last_ := shr(224, dims)
                count_ := mul(count_, last_)
            }
            flat := or(
                or(shl(32, count_), shl(64, last_)),
                or(shl(96, code_), or(shl(104, rank_), shl(112, shapeAt)))
            )
        }
    }

    /// @notice A weight tensor whose pointer is its offset in the stream.
    /// @param descriptorAt memory of its descriptor @return flat the tensor @return next offset of the one after it
    function describeWeight(uint256 descriptorAt, uint256 offset)
        internal
        pure
        returns (uint256 flat, uint256 next)
    {
        unchecked {
            uint256 descriptor;
            assembly ("memory-safe") {
                descriptor := mload(descriptorAt)
            }
            uint256 layout_ = descriptor >> 248;
            uint256 code_ = (descriptor >> 240) & 0xFF;
            flat = describe(descriptorAt + 4, code_, (descriptor >> 232) & 0xFF);
            uint256 length;
            if (layout_ == LAYOUT_PLAIN) {
                length = count(flat) * Shapes.elementBytes(code_);
            } else {
                uint256 rows_ = layout_ == LAYOUT_CHANNEL ? count(flat) : count(flat) / last(flat);
                length = 32 * rows_ * Shapes.rowWords(layout_, code_, last(flat));
            }
            return (flat | offset, offset + length);
        }
    }

    /// @notice New memory for a tensor, not cleared. @param flat without a pointer
    /// @return the tensor
    function allocate(uint256 flat) internal pure returns (uint256) {
        return flat | reserve(size(flat));
    }

    /// @notice New memory, not cleared, with room behind it.
    function reserve(uint256 bytes_) internal pure returns (uint256 place) {
        assembly ("memory-safe") {
            place := mload(0x40)
            mstore(0x40, add(place, and(add(bytes_, 63), not(31))))
        }
    }

    /// @notice What is free from here on; `release` gives back what was reserved since.
    function mark() internal pure returns (uint256 free) {
        assembly ("memory-safe") {
            free := mload(0x40)
        }
    }

    function release(uint256 free) internal pure {
        assembly ("memory-safe") {
            mstore(0x40, free)
        }
    }

    function load(uint256 place) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(place)
        }
    }

    /// @notice The stored bytes of element number i, right-aligned.
    function element(uint256 flat, uint256 i) internal pure returns (uint256 stored) {
        unchecked {
            uint256 bytesOf = Shapes.elementBytes(code(flat));
            stored = load(pointer(flat) + bytesOf * i) >> (256 - 8 * bytesOf);
        }
    }

    /// @notice Stores element number i. @param stored its bytes, right-aligned
    function put(uint256 flat, uint256 i, uint256 stored) internal pure {
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
}
