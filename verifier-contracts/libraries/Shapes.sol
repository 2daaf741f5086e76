// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    LAYOUT_CHANNEL,
    LAYOUT_DOT,
    LAYOUT_LOOKUP,
    LAYOUT_PLAIN,
    TYPE_F32,
    TYPE_S32,
    Tensor
} from "../types/Program.sol";

// A shape is a word of six dims u32, the first at the most significant bits, unused ones 0. The lowest bit of the first
// dim, the bits from one to the next, and what a dim holds.
uint256 constant DIM_TOP = 224;
uint256 constant DIM_BITS = 32;
uint256 constant DIM_MASK = 0xFFFFFFFF;
/// @dev The dims of a shape; what is below is no part of it.
uint256 constant SHAPE_MASK = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF0000000000000000;
/// @dev The shape [1].
uint256 constant SHAPE_OF_ONE = 1 << DIM_TOP;

/// @notice Shapes of tensors and of their trees (docs/EXACT.md, sections 1 and 2; docs/PROTOCOL.md, section 1).
library Shapes {
    /// @param axis 0 to 5
    function dim(uint256 shape, uint256 axis) internal pure returns (uint256) {
        unchecked {
            return (shape >> (DIM_TOP - DIM_BITS * axis)) & DIM_MASK;
        }
    }

    function elementBytes(uint256 code) internal pure returns (uint256) {
        return code == TYPE_S32 || code == TYPE_F32 ? 4 : 1;
    }

    /// @notice Real words of a row. @param last elements of a row
    function rowWords(uint256 rowLayout, uint256 code, uint256 last) internal pure returns (uint256) {
        unchecked {
            if (rowLayout == LAYOUT_PLAIN) return (last * elementBytes(code) + 31) >> 5;
            if (rowLayout == LAYOUT_DOT) return ((last + 31) >> 5) + 1;
            if (rowLayout == LAYOUT_LOOKUP) return (last + 31) >> 5;
            return 1;
        }
    }

    /// @notice The least n with 2^n >= x. @param x 1 to 2^32
    function ceilLog2(uint256 x) internal pure returns (uint256 n) {
        assembly ("memory-safe") {
            // Bit length of x - 1: halve down to 4 bits, then look those up.
            let y := sub(x, 1)
            n := shl(4, lt(0xFFFF, y))
            n := or(n, shl(3, lt(0xFF, shr(n, y))))
            n := or(n, shl(2, lt(0xF, shr(n, y))))
            n := add(n, byte(shr(n, y), 0x0001020203030303040404040404040400000000000000000000000000000000))
        }
    }

    /// @notice The tensor and its tree. @param rowLayout LAYOUT_PLAIN for a step's tensor
    /// @param shape a valid shape of this rank
    function tensor(uint256 rowLayout, uint256 code, uint256 rank, uint256 shape)
        internal
        pure
        returns (Tensor memory t)
    {
        unchecked {
            uint256 rows = 1;
            for (uint256 axis = 0; axis + 1 < rank; ++axis) {
                rows *= dim(shape, axis);
            }
            uint256 last = dim(shape, rank - 1);
            // A CHANNEL tensor is N rows of one parameter word.
            if (rowLayout == LAYOUT_CHANNEL) (rows, last) = (last, 1);
            t.code = code;
            t.rank = rank;
            t.shape = shape;
            t.last = last;
            t.rows = rows;
            t.words = rowWords(rowLayout, code, last);
            t.wordBits = ceilLog2(t.words);
            t.height = t.wordBits + ceilLog2(rows);
        }
    }

    /// @notice The element of `x` that stands at `element` of `out` when x is broadcast to out's shape.
    /// @param element row-major index in out @return index row-major index in x
    function broadcast(Tensor memory out, Tensor memory x, uint256 element)
        internal
        pure
        returns (uint256 index)
    {
        if (x.shape == out.shape) return element;
        unchecked {
            uint256 stride = 1;
            uint256 xAxis = x.rank;
            for (uint256 axis = out.rank; xAxis != 0;) {
                uint256 outDim = dim(out.shape, --axis);
                uint256 xDim = dim(x.shape, --xAxis);
                if (xDim != 1) {
                    index += (element % outDim) * stride;
                    stride *= xDim;
                }
                element /= outDim;
            }
        }
    }
}
