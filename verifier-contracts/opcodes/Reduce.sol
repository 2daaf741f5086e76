// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Facts} from "../libraries/Facts.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {
    OP_REDUCE,
    ProgramField,
    REDUCE_NORM,
    REDUCE_SUM,
    TYPE_S32,
    TYPE_S8,
    Tensor,
    UnknownVariant
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice REDUCE: sum, min, max or norm of a row (docs/EXACT.md, section 3).
library Reduce {
    /// @dev Elements of a row that is not of a norm: so many bytes sum up in 16 bits for each 32nd of them.
    uint256 private constant MAX_REDUCED_LENGTH = 1024;
    uint256 private constant MAX_NORM_BYTES = 8192;
    uint256 private constant LARGEST_S32 = 0x7FFFFFFF;
    /// @dev The version of the judge that has the variant of norms.
    uint256 private constant NORM_VERSION = 2;
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant QUARTERS = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF;
    uint256 internal constant SUM = 0;
    uint256 internal constant MIN = 1;
    uint256 internal constant MAX = 2;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        Tensor memory a = Openings.operand(t, 0);
        uint256 row = Openings.openRow(t, openings, a, t.element);
        uint256 variant = t.record.head.variant();
        if (variant == REDUCE_NORM) return norm(t.record.head.attribute(), a.code, row, a.last);
        return reduce(variant, a.code, row, a.last);
    }

    /// @notice Stored result of a row in memory. @param variant 0 sum, 1 min, 2 max @param code type of the elements
    /// @param count of the elements, at least 1
    function reduce(uint256 variant, uint256 code, uint256 row, uint256 count)
        internal
        pure
        returns (uint256)
    {
        if (variant == SUM) return sum(code, row, count);
        if (variant != MIN && variant != MAX) revert UnknownVariant(OP_REDUCE, variant);
        return extreme(variant == MAX, code == TYPE_S32, row, count);
    }

    /// @notice Stored s32: the root of the sum of squares and k, rounded down, at most 2^31 − 1.
    /// @param row memory of at most 8,192 bytes, so that the sum is below 2^74
    function norm(uint256 k, uint256 code, uint256 row, uint256 count) internal pure returns (uint256) {
        unchecked {
            uint256 size = Shapes.elementBytes(code);
            // A number is `(stored xor flip) − offset`: of s32 both are the sign bit, of s8 a stored byte is 128 more.
            uint256 offset = code == TYPE_S32 ? 0x80000000 : code == TYPE_S8 ? 128 : 0;
            uint256 flip = code == TYPE_S32 ? offset : 0;
            assembly ("memory-safe") {
                let shift := sub(256, shl(3, size))
                for { let end := add(row, mul(count, size)) } lt(row, end) { row := add(row, size) } {
                    let x := sub(xor(shr(shift, mload(row)), flip), offset)
                    k := add(k, mul(x, x))
                }
            }
            uint256 length = _root(k);
            return length < LARGEST_S32 ? length : LARGEST_S32;
        }
    }

    /// @dev The root, rounded down, by Newton's method from above, which never goes below it. @param n below 2^74
    function _root(uint256 n) private pure returns (uint256 root) {
        unchecked {
            if (n == 0) return 0;
            uint256 next = 1 << 37;
            do {
                root = next;
                next = (root + n / root) >> 1;
            } while (next < root);
        }
    }

    /// @notice Stored s32: the sum modulo 2^32. @param count at most 1,024
    function sum(uint256 code, uint256 row, uint256 count) internal pure returns (uint256 total) {
        bool wide = code == TYPE_S32;
        assembly ("memory-safe") {
            let size := shl(mul(2, wide), count)
            // Every second element of a word, in lanes of twice its width, which hold the sum of all.
            let mask := 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF
            let shift := 32
            if iszero(wide) {
                mask := 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF
                shift := 8
            }
            let lanes := 0
            let end := add(row, size)
            for { let whole := add(row, and(size, not(31))) } lt(row, whole) { row := add(row, 0x20) } {
                let word := mload(row)
                lanes := add(lanes, add(and(word, mask), and(shr(shift, word), mask)))
            }
            if lt(row, end) {
                let unused := shl(3, sub(32, sub(end, row)))
                let word := shl(unused, shr(unused, mload(row)))
                lanes := add(lanes, add(and(word, mask), and(shr(shift, word), mask)))
            }
            if iszero(wide) {
                lanes := add(and(lanes, HALVES), and(shr(16, lanes), HALVES))
                lanes := add(and(lanes, QUARTERS), and(shr(32, lanes), QUARTERS))
            }
            // Four SIMD lanes of 64 bits: the product's top lane is their sum.
            total := shr(192, mul(lanes, 0x0000000000000001000000000000000100000000000000010000000000000001))
        }
        unchecked {
            // A stored s8 is its value + 128.
            if (code == TYPE_S8) total -= 128 * count;
        }
        return total & 0xFFFFFFFF;
    }

    /// @notice The least or greatest stored element. Stored bytes order as their values do; of s32 they do so once
    /// the sign bit is flipped.
    function extreme(bool greatest, bool wide, uint256 row, uint256 count)
        internal
        pure
        returns (uint256 result)
    {
        assembly ("memory-safe") {
            let shift := sub(248, mul(24, wide))
            let bytesOf := add(1, mul(3, wide))
            // Order by `element xor flip`; a minimum is the maximum of the complement.
            let flip := mul(wide, 0x80000000)
            if iszero(greatest) { flip := xor(flip, sub(shl(shl(3, bytesOf), 1), 1)) }
            let end := add(row, mul(count, bytesOf))
            for {} lt(row, end) { row := add(row, bytesOf) } {
                let ordered := xor(shr(shift, mload(row)), flip)
                if gt(ordered, result) { result := ordered }
            }
            result := xor(result, flip)
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        unchecked {
            StepRules.variants(s, REDUCE_SUM, REDUCE_NORM);
            (Facts input,) = StepRules.plain(s, 0, StepRules.INTEGER);
            bool isNorm = s.head.variant() == REDUCE_NORM;
            uint256 most = isNorm ? MAX_NORM_BYTES / Shapes.elementBytes(input.code()) : MAX_REDUCED_LENGTH;
            if (input.last() > most) StepRules.fail(s, ProgramField.OPERAND_A, input.last());
            if (input.rows() != s.own.count()) {
                StepRules.fail(s, ProgramField.OPERAND_A, input.rows());
            }
            bool isS32 = isNorm || s.head.variant() == REDUCE_SUM;
            StepRules.outputType(s, isS32 ? StepRules.S32 : 1 << input.code());
            StepRules.none(s, 1);
            StepRules.none(s, 2);
            if (!isNorm) return StepRules.noAttribute(s);
            s.needs(NORM_VERSION);
            StepRules.withoutKernel(s);
        }
    }
}
