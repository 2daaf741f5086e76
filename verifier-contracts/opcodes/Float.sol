// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Binary32} from "../libraries/Binary32.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Values} from "../libraries/Values.sol";
import {
    FLOAT_ADD,
    FLOAT_DEQUANT,
    FLOAT_DIV,
    FLOAT_EQ,
    FLOAT_LE,
    FLOAT_LT,
    FLOAT_MAX,
    FLOAT_MIN,
    FLOAT_MUL,
    FLOAT_QUANT,
    FLOAT_ROUND,
    FLOAT_SQRT,
    FLOAT_SUB,
    FLOAT_TOFLOAT,
    FLOAT_TOINT,
    OP_FLOAT,
    UnknownVariant
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice FLOAT: binary32, correctly rounded (docs/EXACT.md, section 3). Values are stored bytes, right-aligned.
library Float {
    // Sets of variants, a bit each.
    uint256 private constant TO_INTEGER = 1 << FLOAT_TOINT;
    uint256 private constant QUANTIZED = 1 << FLOAT_QUANT;
    uint256 private constant SCALED = (1 << FLOAT_DEQUANT) | QUANTIZED;
    uint256 private constant OF_INTEGERS = (1 << FLOAT_TOFLOAT) | (1 << FLOAT_DEQUANT);
    uint256 private constant OF_ONE =
        (1 << FLOAT_SQRT) | (1 << FLOAT_ROUND) | (1 << FLOAT_TOFLOAT) | TO_INTEGER;
    uint256 private constant COMPARISONS = (1 << FLOAT_LT) | (1 << FLOAT_LE) | (1 << FLOAT_EQ);

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        RecordHead head = t.record.head;
        (uint256 a, uint256 aCode) = Openings.openBroadcast(t, openings, 0);
        uint256 b = Openings.openIfNamed(t, openings, 1);
        uint256 c = Openings.openIfNamed(t, openings, 2);
        return t.floatJudge.compute(head.variant(), t.out.code, aCode, a, b, c);
    }

    /// @param variant FLOAT_ADD to FLOAT_QUANT
    /// @param outputType type code of the output @param aType type code of the first operand
    /// @param a first operand @param b second, unused where the variant names none @param c third, likewise
    /// @return stored the output element; total on any bytes
    function compute(uint256 variant, uint256 outputType, uint256 aType, uint256 a, uint256 b, uint256 c)
        internal
        pure
        returns (uint256 stored)
    {
        if (variant <= FLOAT_DIV) {
            if (variant <= FLOAT_SUB) return variant == FLOAT_ADD ? Binary32.add(a, b) : Binary32.sub(a, b);
            return variant == FLOAT_MUL ? Binary32.mul(a, b) : Binary32.div(a, b);
        }
        if (variant <= FLOAT_MAX) {
            if (variant <= FLOAT_ROUND) {
                return variant == FLOAT_SQRT ? Binary32.sqrt(a) : Binary32.roundHalfEven(a);
            }
            return variant == FLOAT_MIN ? Binary32.min(a, b) : Binary32.max(a, b);
        }
        if (variant <= FLOAT_EQ) {
            if (variant == FLOAT_LT) return _bool(Binary32.lt(a, b));
            return _bool(variant == FLOAT_LE ? Binary32.le(a, b) : Binary32.eq(a, b));
        }
        if (variant == FLOAT_TOFLOAT) return Binary32.fromInteger(Values.toInteger(aType, a));
        if (variant == FLOAT_TOINT) return Values.saturate(outputType, Binary32.truncate(a));
        int256 zeroPoint = Values.wrap(int256(c));
        unchecked {
            if (variant == FLOAT_DEQUANT) {
                int256 difference = Values.wrap(Values.toInteger(aType, a) - zeroPoint);
                return Binary32.mul(Binary32.fromInteger(difference), b);
            }
            if (variant != FLOAT_QUANT) revert UnknownVariant(OP_FLOAT, variant);
            return Values.saturate(outputType, Binary32.nearest(Binary32.div(a, b)) + zeroPoint);
        }
    }

    function _bool(bool condition) private pure returns (uint256 stored) {
        assembly ("memory-safe") {
            stored := condition
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.variants(s, FLOAT_ADD, FLOAT_QUANT);
        uint256 form = 1 << s.head.variant();
        StepRules.broadcast(s, 0, form & OF_INTEGERS != 0 ? StepRules.INTEGER : StepRules.F32);
        if (form & OF_ONE != 0) StepRules.none(s, 1);
        else StepRules.broadcast(s, 1, StepRules.F32);
        if (form & SCALED != 0) StepRules.broadcast(s, 2, StepRules.S32);
        else StepRules.none(s, 2);
        if (form & COMPARISONS != 0) StepRules.outputType(s, StepRules.BOOL);
        else if (form == TO_INTEGER) StepRules.outputType(s, StepRules.INTEGER);
        else if (form == QUANTIZED) StepRules.outputType(s, StepRules.BYTES);
        else StepRules.outputType(s, StepRules.F32);
        StepRules.noAttribute(s);
    }
}
