// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Facts} from "../libraries/Facts.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {Parameters} from "../libraries/Parameters.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Values} from "../libraries/Values.sol";
import {
    LAYOUT_CHANNEL,
    NONE,
    ProgramField,
    RESCALE_CHANNEL,
    RESCALE_PLANES,
    RESCALE_RATIO,
    Tensor
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";
import {Requant} from "./Requant.sol";

/// @notice RESCALE: s32 to s32, or to planes of bytes, by `(x·M + B) >> S`; or integers by a divisor a row
/// (docs/EXACT.md, section 3).
library Rescale {
    /// @dev The version of the judge that has the variants of ratios and of planes.
    uint256 private constant NEW_VERSION = 2;
    /// @dev The largest number of 16 bits.
    int256 private constant MOST_NUMBER = 65_535;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        if (t.record.head.variant() == RESCALE_RATIO) return _judgeRatio(t, openings);
        if (t.record.head.variant() == RESCALE_PLANES) return _judgePlanes(t, openings);
        (int256 acc, Parameters parameters) = Requant.open(t, openings);
        return rescale(acc, parameters);
    }

    /// @dev A row is the high bytes of as many of a's numbers, or of their products or ratios, then the low ones.
    function _judgePlanes(Trial memory t, Opening[] calldata openings) private view returns (uint256) {
        unchecked {
            uint256 length = t.out.last / 2;
            uint256 column = t.element % t.out.last;
            uint256 index = column % length;
            uint256 element = (t.element / t.out.last) * length + index;
            (int256 x, Parameters parameters) = Requant.openAt(t, openings, element, index);
            if (t.record.head.operandOf(2) != NONE) x = _changed(t, openings, x, element, index);
            uint256 number = numberOf(rescale(Values.wrap(x + parameters.bias()), parameters));
            return column < length ? number / 256 : number % 256;
        }
    }

    /// @dev x times its factor, wrapped, or by its divisor, saturated. @param element of a @param index in its row
    function _changed(Trial memory t, Opening[] calldata openings, int256 x, uint256 element, uint256 index)
        private
        view
        returns (int256)
    {
        unchecked {
            uint256 k = t.record.head.attribute();
            Tensor memory by = Openings.operand(t, 2);
            if (k != 0) element = _divisorAt(t, by, index);
            int256 number = Values.wrap(int256(Openings.openElement(t, openings, by, element)));
            if (k == 0) return Values.wrap(x * number);
            return Values.clamp(ratio(x, k, number), type(int32).min, type(int32).max);
        }
    }

    /// @dev A row has several divisors, each for as many numbers. @param index of a number in its row
    function _divisorAt(Trial memory t, Tensor memory by, uint256 index) private pure returns (uint256) {
        unchecked {
            uint256 parts = by.rows * by.last / t.out.rows;
            return t.element / t.out.last * parts + index * parts / (t.out.last / 2);
        }
    }

    /// @notice What 16 bits hold of a stored s32.
    function numberOf(uint256 stored) internal pure returns (uint256) {
        return uint256(Values.clamp(Values.wrap(int256(stored)), 0, MOST_NUMBER));
    }

    /// @dev The element of a, then the divisor of its row.
    function _judgeRatio(Trial memory t, Opening[] calldata openings) private view returns (uint256) {
        unchecked {
            Tensor memory a = Openings.operand(t, 0);
            int256 x = Values.toInteger(a.code, Openings.openElement(t, openings, a, t.element));
            Tensor memory divisors = Openings.operand(t, 1);
            uint256 divisor = Openings.openElement(t, openings, divisors, t.element / t.out.last);
            int256 quotient = ratio(x, t.record.head.attribute(), Values.wrap(int256(divisor)));
            return Values.saturate(t.out.code, quotient);
        }
    }

    /// @notice `⌊(2·x·M + d) / (2·d)⌋`, 0 of a divisor below 1. @param x within s32 @param multiplier u32
    /// @param divisor within s32
    function ratio(int256 x, uint256 multiplier, int256 divisor) internal pure returns (int256 quotient) {
        unchecked {
            if (divisor < 1) return 0;
            int256 numerator = 2 * x * int256(multiplier) + divisor;
            divisor *= 2;
            // Rounded toward zero.
            quotient = numerator / divisor;
            if (quotient * divisor > numerator) --quotient;
        }
    }

    /// @notice Stored s32. @param acc `wrap(a + bias′)`
    function rescale(int256 acc, Parameters parameters) internal pure returns (uint256) {
        return Values.storeS32(Requant.scale(acc, parameters));
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.variants(s, RESCALE_CHANNEL, RESCALE_PLANES);
        if (s.head.variant() == RESCALE_RATIO) return _ratioRules(s);
        if (s.head.variant() == RESCALE_PLANES) return _planesRules(s);
        StepRules.outputType(s, StepRules.S32);
        Requant.channelRules(s);
    }

    function _ratioRules(Scan memory s) private pure {
        StepRules.outputType(s, StepRules.BYTES | StepRules.S32);
        StepRules.same(s, 0, StepRules.INTEGER);
        (Facts divisors,) = StepRules.plain(s, 1, StepRules.S32);
        if (divisors.count() != s.own.rows()) StepRules.failOperand(s, 1, divisors.count());
        StepRules.none(s, 2);
        if (s.head.attribute() == 0) StepRules.fail(s, ProgramField.K, 0);
        s.needs(NEW_VERSION);
        StepRules.withoutKernel(s);
    }

    /// @dev Of factors, one a number, or of divisors, one for each part of a row. @param length numbers of a row
    function _changeRules(Scan memory s, uint256 length) private pure {
        unchecked {
            (Facts by,) = StepRules.plain(s, 2, StepRules.S32);
            uint256 count = by.count();
            uint256 rows = s.own.rows();
            bool fits = s.head.attribute() == 0
                ? count == rows * length
                : count % rows == 0 && length % (count / rows) == 0;
            if (!fits) StepRules.failOperand(s, 2, count);
        }
    }

    function _planesRules(Scan memory s) private pure {
        unchecked {
            StepRules.outputType(s, StepRules.U8);
            (Facts input,) = StepRules.plain(s, 0, StepRules.S32);
            (Facts channels,) = StepRules.weights(s, 1, LAYOUT_CHANNEL);
            uint256 length = s.own.last() / 2;
            if (s.own.last() != 2 * length) StepRules.fail(s, ProgramField.DIMS, s.own.last());
            if (2 * input.count() != s.own.count()) StepRules.fail(s, ProgramField.OPERAND_A, input.count());
            if (channels.rows() != 1 && channels.rows() != length) {
                StepRules.fail(s, ProgramField.OPERAND_B, channels.rows());
            }
            if (s.head.operandOf(2) == NONE) StepRules.noAttribute(s);
            else _changeRules(s, length);
            s.needs(NEW_VERSION);
            StepRules.withoutKernel(s);
        }
    }
}
