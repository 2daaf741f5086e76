// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Facts} from "../libraries/Facts.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Swar} from "../libraries/Swar.sol";
import {Values} from "../libraries/Values.sol";
import {
    ARITH_ADD,
    ARITH_CAST,
    ARITH_DIV,
    ARITH_ROTATE,
    OP_ARITH,
    ProgramField,
    TYPE_S32,
    Tensor,
    UnknownVariant
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice ARITH: integer arithmetic, comparison, cast and rotation (docs/EXACT.md, section 3).
library Arith {
    uint256 internal constant ADD = 0;
    uint256 internal constant SUB = 1;
    uint256 internal constant MUL = 2;
    uint256 internal constant MIN = 3;
    uint256 internal constant MAX = 4;
    uint256 internal constant DIV = 5;
    uint256 private constant LT = 6;
    uint256 private constant LE = 7;
    uint256 private constant EQ = 8;
    uint256 internal constant CAST = 9;

    /// @dev The version of the judge that has rotations.
    uint256 private constant NEW_VERSION = 2;
    uint256 private constant MOST_SHIFT = 31;
    /// @dev Of each number of a pair.
    uint256 private constant NUMBER_BITS = 32;
    /// @dev Where the lowest bit of a word's first two numbers is.
    uint256 private constant FIRST_PAIR = 192;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        uint256 variant = t.record.head.variant();
        if (variant == ARITH_ROTATE) return _judgeRotate(t, openings);
        int256 a = _open(t, openings, 0);
        int256 b = variant == CAST ? int256(0) : _open(t, openings, 1);
        return compute(variant, t.out.code, a, b);
    }

    function _open(Trial memory t, Opening[] calldata openings, uint256 position)
        private
        view
        returns (int256)
    {
        (uint256 stored, uint256 code) = Openings.openBroadcast(t, openings, position);
        return Values.toInteger(code, stored);
    }

    /// @dev The pair of a, then that of b.
    function _judgeRotate(Trial memory t, Opening[] calldata openings) private view returns (uint256) {
        uint256 a = _openPair(t, openings, 0);
        uint256 b = _openPair(t, openings, 1);
        return Values.saturate(t.out.code, rotate(a, b, t.record.head.attribute(), t.element % 2 == 0));
    }

    /// @dev Rows are even and words hold eight numbers: a pair is in one word.
    function _openPair(Trial memory t, Opening[] calldata openings, uint256 position)
        private
        view
        returns (uint256)
    {
        unchecked {
            Tensor memory x = Openings.operand(t, position);
            uint256 index = Shapes.broadcast(t.out, x, t.element);
            uint256 column = index % x.last;
            uint256 word = Openings.openWord(t, openings, x, index / x.last, column >> 3);
            return uint64(word >> (FIRST_PAIR - NUMBER_BITS * (column & 6)));
        }
    }

    /// @notice An element of the pair (x, y) of a turned by the pair (c, s) of b: `x·c − y·s`, or `x·s + y·c`, by
    /// 2^shift, to the nearest integer, halves up. @param a stored s32, two of them @param b likewise
    /// @param isFirst whether it is the pair's first element
    function rotate(uint256 a, uint256 b, uint256 shift, bool isFirst) internal pure returns (int256 value) {
        unchecked {
            (int256 x, int256 y) = (Values.wrap(int256(a >> NUMBER_BITS)), Values.wrap(int256(a)));
            (int256 c, int256 s) = (Values.wrap(int256(b >> NUMBER_BITS)), Values.wrap(int256(b)));
            value = isFirst ? x * c - y * s : x * s + y * c;
            // An arithmetic shift: the floor.
            value = (2 * value + int256(1 << shift)) >> (shift + 1);
        }
    }

    /// @param variant 0 to 9 @param outputCode type of the output @param a within s32 @param b likewise, 0 for CAST
    /// @return stored bytes of the result
    function compute(uint256 variant, uint256 outputCode, int256 a, int256 b)
        internal
        pure
        returns (uint256)
    {
        if (variant >= LT && variant <= EQ) return compare(variant, a, b) ? 1 : 0;
        return Values.saturate(outputCode, Values.wrap(combine(variant, a, b)));
    }

    /// @notice s32 results, eight at a time. @param variant ADD, SUB, MIN or MAX
    /// @param out memory of them @param end of them @param a memory of the first operand @param b of the second
    function lanes(uint256 variant, uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        if (variant == ADD) return Swar.add(out, end, a, b);
        if (variant == SUB) return Swar.sub(out, end, a, b);
        if (variant != MIN && variant != MAX) revert UnknownVariant(OP_ARITH, variant);
        Swar.extreme(variant == MAX, out, end, a, b);
    }

    /// @notice The exact value before it wraps.
    function combine(uint256 variant, int256 a, int256 b) internal pure returns (int256) {
        unchecked {
            if (variant == ADD) return a + b;
            if (variant == SUB) return a - b;
            if (variant == MUL) return a * b;
            if (variant == MIN) return a < b ? a : b;
            if (variant == MAX) return a > b ? a : b;
            if (variant == DIV) return b < 1 ? int256(0) : a / b;
            if (variant == CAST) return a;
        }
        revert UnknownVariant(OP_ARITH, variant);
    }

    function compare(uint256 variant, int256 a, int256 b) internal pure returns (bool) {
        if (variant == LT) return a < b;
        return variant == LE ? a <= b : a == b;
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.variants(s, ARITH_ADD, ARITH_ROTATE);
        uint256 variant = s.head.variant();
        if (variant == ARITH_ROTATE) return _rotateRules(s);
        StepRules.broadcast(s, 0, StepRules.INTEGER);
        if (variant == ARITH_CAST) {
            StepRules.none(s, 1);
            StepRules.outputType(s, StepRules.INTEGER);
        } else {
            StepRules.broadcast(s, 1, StepRules.INTEGER);
            StepRules.outputType(s, variant <= ARITH_DIV ? StepRules.BYTES | StepRules.S32 : StepRules.BOOL);
        }
        StepRules.none(s, 2);
        StepRules.noAttribute(s);
    }

    function _rotateRules(Scan memory s) private pure {
        StepRules.outputType(s, StepRules.BYTES | StepRules.S32);
        for (uint256 position = 0; position < 2; ++position) {
            StepRules.broadcast(s, position, StepRules.S32);
            (Facts facts,) = StepRules.plain(s, position, StepRules.S32);
            // Rows are whole pairs.
            if (facts.last() != s.own.last() || facts.last() % 2 != 0) {
                StepRules.failOperand(s, position, facts.last());
            }
        }
        StepRules.none(s, 2);
        uint256 shift = s.head.attribute();
        if (shift > MOST_SHIFT) StepRules.fail(s, ProgramField.K, shift);
        s.needs(NEW_VERSION);
        StepRules.withoutKernel(s);
    }
}
