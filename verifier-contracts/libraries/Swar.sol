// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "./Memory.sol";

/// @notice Eight s32 lanes in a word, each operated on alone; words of two operands in memory, one after another.
/// @dev Every function takes the memory of the output, which may be that of an operand, its end, and the operands.
library Swar {
    /// @dev Elements of a word.
    uint256 internal constant LANES = 8;
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;
    uint256 private constant SIZE = 0x7FFFFFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;
    uint256 private constant SIZES = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF;

    /// @notice Sums modulo 2^32: no carry passes the sign bits, which are added apart.
    function add(uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        assembly ("memory-safe") {
            a := sub(a, out)
            b := sub(b, out)
            for {} lt(out, end) { out := add(out, 0x20) } {
                let x := mload(add(a, out))
                let y := mload(add(b, out))
                mstore(out, xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
            }
        }
    }

    /// @notice Differences modulo 2^32: a borrow stops at the sign bits, which are all set before.
    function sub(uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        assembly ("memory-safe") {
            a := sub(a, out)
            b := sub(b, out)
            for {} lt(out, end) { out := add(out, 0x20) } {
                let x := mload(add(a, out))
                let y := mload(add(b, out))
                mstore(out, xor(sub(or(x, SIGNS), and(y, SIZES)), and(not(xor(x, y)), SIGNS)))
            }
        }
    }

    /// @notice Quotients truncated toward zero, 0 where the divisor is below 1. Eight at once if all have the same power of
    /// two below them: d − 1 is added where the dividend is negative, then the whole word is divided.
    function divide(uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        assembly ("memory-safe") {
            a := sub(a, out)
            b := sub(b, out)
            for {} lt(out, end) { out := add(out, 0x20) } {
                let x := mload(add(a, out))
                let y := mload(add(b, out))
                let d := shr(FIRST_U32, y)
                let q := 0
                switch and(eq(mul(d, ONES), y), and(iszero(and(d, sub(d, 1))), lt(sub(d, 1), SIZE)))
                case 0 {
                    for { let shift := 0 } lt(shift, 256) { shift := add(shift, 32) } {
                        d := signextend(3, shr(shift, y))
                        d := mul(sgt(d, 0), sdiv(signextend(3, shr(shift, x)), d))
                        q := or(q, shl(shift, and(d, 0xFFFFFFFF)))
                    }
                }
                default {
                    let signs := and(x, SIGNS)
                    x := xor(add(and(x, SIZES), mul(shr(31, signs), sub(d, 1))), signs)
                    // Each lane without what came down from the one above, and with its sign above it.
                    signs := and(x, SIGNS)
                    q := and(div(x, d), mul(ONES, div(0xFFFFFFFF, d)))
                    q := or(q, sub(shl(1, signs), div(signs, d)))
                }
                mstore(out, q)
            }
        }
    }

    /// @notice The lesser, or the greater, of each two. @param greater which
    function extreme(bool greater, uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        assembly ("memory-safe") {
            a := sub(a, out)
            b := sub(b, out)
            for {} lt(out, end) { out := add(out, 0x20) } {
                let x := mload(add(a, out))
                let y := mload(add(b, out))
                let differ := xor(x, y)
                // Sign bits where x is at least y: where the signs differ y's says it, else that of a difference that
                // cannot borrow.
                let bits := sub(or(x, SIGNS), and(y, SIZES))
                bits := and(xor(bits, and(xor(bits, y), differ)), SIGNS)
                // To all 32 bits; the lesser of both is x where the greater is y.
                bits := and(differ, sub(shl(1, bits), shr(31, bits)))
                switch greater
                case 0 { mstore(out, xor(x, bits)) }
                default { mstore(out, xor(y, bits)) }
            }
        }
    }

    /// @notice The least, or the greatest, element of each row. @param out memory of them, one after another
    /// @param row memory of the first row @param rowBytes bytes of each, at least 32 @param rows how many
    function extremes(bool greatest, uint256 out, uint256 row, uint256 rowBytes, uint256 rows) internal pure {
        assembly ("memory-safe") {
            // The greater of each two lanes, as in `extreme`.
            function greater(x, y) -> z {
                let differ := xor(x, y)
                let bits := sub(or(x, SIGNS), and(y, SIZES))
                bits := and(xor(bits, and(xor(bits, y), differ)), SIGNS)
                z := xor(y, and(differ, sub(shl(1, bits), shr(31, bits))))
            }
            // A minimum is the complement of the greatest complement.
            let flip := sub(greatest, 1)
            for { let end := add(out, shl(2, rows)) } lt(out, end) { out := add(out, 4) } {
                let last := add(row, sub(rowBytes, 0x20))
                // The last word may hold elements of the one before.
                let x := xor(mload(last), flip)
                for {} lt(row, last) { row := add(row, 0x20) } { x := greater(xor(mload(row), flip), x) }
                row := add(last, 0x20)
                for { let shift := 128 } gt(shift, 16) { shift := shr(1, shift) } {
                    x := greater(x, shl(shift, x))
                }
                mstore(out, xor(x, flip))
            }
        }
    }
}
