// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Facts} from "../libraries/Facts.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {
    PARAMETER_ADDEND,
    PARAMETER_MULTIPLIER,
    PARAMETER_SHIFT,
    PARAMETER_SHIFT_BITS,
    Parameters
} from "../libraries/Parameters.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Values} from "../libraries/Values.sol";
import {
    LAYOUT_CHANNEL,
    OP_DOT,
    ProgramField,
    REQUANT_BINARY32,
    REQUANT_INTEGER,
    Tensor,
    UnknownVariant
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice REQUANT, and the parameter words that DOT, REQUANT and RESCALE share (docs/EXACT.md, sections 2 and 3).
library Requant {
    /// @dev Variants; DOT alone has the first one, which puts the accumulator out as it is.
    uint256 internal constant ACCUMULATOR = 0;
    uint256 internal constant INTEGER = 1;
    uint256 internal constant BINARY32 = 2;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        (int256 acc, Parameters parameters) = open(t, openings);
        return outputOf(t, acc, parameters);
    }

    /// @notice Opens the trial's element of a and its channel's parameter word; REQUANT's and RESCALE's operands.
    /// @return acc `wrap(a + bias′)`
    function open(Trial memory t, Opening[] calldata openings)
        internal
        view
        returns (int256 acc, Parameters parameters)
    {
        unchecked {
            int256 x;
            (x, parameters) = openAt(t, openings, t.element, t.element % t.out.last);
            acc = Values.wrap(x + parameters.bias());
        }
    }

    /// @param element of a @param index of its parameter word, where there is one for each channel @return x the element
    function openAt(Trial memory t, Opening[] calldata openings, uint256 element, uint256 index)
        internal
        view
        returns (int256 x, Parameters parameters)
    {
        unchecked {
            Tensor memory a = Openings.operand(t, 0);
            uint256 stored = Openings.openElement(t, openings, a, element);
            Tensor memory channels = Openings.operand(t, 1);
            uint256 channel = channels.rows == 1 ? 0 : index;
            parameters = Parameters.wrap(Openings.openWord(t, openings, channels, channel, 0));
            x = Values.wrap(int256(stored));
        }
    }

    /// @notice The stored output of the trial's DOT or REQUANT step. @param acc within s32
    function outputOf(Trial memory t, int256 acc, Parameters parameters) internal pure returns (uint256) {
        uint256 form = t.record.head.variant();
        if (form == INTEGER) return clamp(scale(acc, parameters), parameters);
        if (form == BINARY32) return clamp(t.floatJudge.requantize(acc, parameters.scaleBits()), parameters);
        uint256 opcode = t.record.head.opcode();
        if (form != ACCUMULATOR || opcode != OP_DOT) revert UnknownVariant(opcode, form);
        return Values.storeS32(acc);
    }

    /// @notice `(acc·M + B) >> S`: modulo 2^64 as signed, S modulo 64, arithmetic shift.
    function scale(int256 acc, Parameters parameters) internal pure returns (int256 scaled) {
        assembly ("memory-safe") {
            let multiplier := and(shr(PARAMETER_MULTIPLIER, parameters), 0xFFFFFFFF)
            // B's low 64 bits are all that counts, the sum is cut to 64.
            let sum := signextend(7, add(mul(acc, multiplier), shr(PARAMETER_ADDEND, parameters)))
            scaled := sar(and(shr(PARAMETER_SHIFT, parameters), PARAMETER_SHIFT_BITS), sum)
        }
    }

    /// @notice Stored byte `clamp(q + zero point)`. @param q within s64
    function clamp(int256 q, Parameters parameters) internal pure returns (uint256) {
        unchecked {
            int256 value = q + int256(parameters.zeroPoint());
            int256 lower = int256(parameters.lower());
            return uint256(Values.clamp(value, lower, int256(parameters.upper())));
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.variants(s, REQUANT_INTEGER, REQUANT_BINARY32);
        StepRules.outputType(s, StepRules.BYTES);
        channelRules(s);
    }

    /// @notice What holds for the operands of REQUANT and RESCALE.
    function channelRules(Scan memory s) internal pure {
        StepRules.same(s, 0, StepRules.S32);
        (Facts channels,) = StepRules.weights(s, 1, LAYOUT_CHANNEL);
        if (channels.rows() != 1 && channels.rows() != s.own.last()) {
            StepRules.fail(s, ProgramField.OPERAND_B, channels.rows());
        }
        StepRules.none(s, 2);
        StepRules.noAttribute(s);
    }
}
