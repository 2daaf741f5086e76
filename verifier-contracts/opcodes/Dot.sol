// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {DotLanes, LANES} from "../libraries/DotLanes.sol";
import {Facts} from "../libraries/Facts.sol";
import {FIRST_U32} from "../libraries/Memory.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {
    PARAMETER_ADDEND,
    PARAMETER_BIAS,
    PARAMETER_LOWER,
    PARAMETER_MULTIPLIER,
    PARAMETER_OFFSET,
    PARAMETER_SHIFT,
    PARAMETER_SHIFT_BITS,
    PARAMETER_UPPER,
    PARAMETER_ZERO_POINT,
    Parameters
} from "../libraries/Parameters.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Values} from "../libraries/Values.sol";
import {
    DOT_ACTIVATIONS,
    DOT_PLANES,
    DOT_RESCALED,
    DOT_S32,
    LAYOUT_DOT,
    NONE,
    OP_DOT,
    ProgramField,
    TYPE_S32,
    Tensor,
    UnknownVariant
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";
import {DotActivations} from "./DotActivations.sol";
import {Requant} from "./Requant.sol";

/// @notice DOT: dot product of an activation row with a weight row, plus bias (docs/EXACT.md, section 3).
/// Weight words are byte-reversed, so in the product of group j of an activation word and a weight word, each in four groups
/// of SIMD lanes (DotLanes), the top lane is the sum of a[4i + j]·w[4i + j] over i: the lanes meet in reverse order, as in a
/// multiplication of polynomials. A lane never carries into the next: it sums at most 66,051 products below 2^16.
library Dot {
    /// @dev Of a row of bytes that weights are multiplied with: most elements. Numbers of 16 bits are in no compiled layer,
    /// and have as many as a row of weights.
    uint256 private constant MAX_BYTES_LENGTH = 992;
    /// @dev The version of the judge that has the variants of planes and of what is rescaled.
    uint256 private constant NEW_VERSION = 2;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        Tensor memory a = Openings.operand(t, 0);
        Tensor memory b = Openings.operand(t, 1);
        uint256 n = t.element % t.out.last;
        if (t.record.head.variant() == DOT_ACTIVATIONS) return DotActivations.judge(t, openings, a, b);
        uint256 row = activationRow(t.element, t.out.last, t.record.head.attribute());
        uint256 activations = Openings.openRow(t, openings, a, row);
        uint256 weights = Openings.openRow(t, openings, b, n);
        if (t.record.head.variant() == Requant.INTEGER) {
            return one(true, activations, a.last, weights);
        }
        if (t.record.head.variant() >= DOT_PLANES) {
            return _added(t, openings, _judgePlanes(t, activations, b.last, weights));
        }
        (int256 acc, Parameters parameters) = accumulate(activations, a.last, weights);
        return Requant.outputOf(t, acc, parameters);
    }

    /// @dev Of numbers of 16 bits: the accumulator, or what the row's parameters make of it.
    function _judgePlanes(Trial memory t, uint256 activations, uint256 length, uint256 weights)
        private
        pure
        returns (uint256)
    {
        (int256 acc, Parameters parameters) = planes(activations, length, weights);
        uint256 variant = t.record.head.variant();
        if (variant == DOT_PLANES) return Values.storeS32(acc);
        if (variant != DOT_RESCALED) revert UnknownVariant(OP_DOT, variant);
        int256 scaled = Requant.scale(acc, parameters);
        return t.out.code == TYPE_S32 ? limited(scaled, parameters) : Requant.clamp(scaled, parameters);
    }

    /// @dev What is added is s32, as the output is then. @param stored output without it
    function _added(Trial memory t, Opening[] calldata openings, uint256 stored)
        private
        view
        returns (uint256)
    {
        if (t.record.head.operandOf(2) == NONE) return stored;
        uint256 added = Openings.openElement(t, openings, Openings.operand(t, 2), t.element);
        unchecked {
            return (stored + added) & 0xFFFFFFFF;
        }
    }

    /// @notice Stored s32: a number clamped to `-2^u` to `2^u - 1`, u being the upper clamp modulo 32.
    function limited(int256 scaled, Parameters parameters) internal pure returns (uint256) {
        unchecked {
            int256 limit = int256(1 << (parameters.upper() % 32));
            return Values.storeS32(Values.clamp(scaled, -limit, limit - 1));
        }
    }

    /// @notice The accumulator of a row of numbers of 16 bits, as planes of bytes, and a row of weights, both in memory:
    /// `256·Σ high·w + Σ low·w`, with the bias once. @param activations memory of the high bytes, behind which the low ones
    /// are @param length K, bytes of a plane @return acc within s32 @return parameters word behind the weight row
    function planes(uint256 activations, uint256 length, uint256 weights)
        internal
        pure
        returns (int256 acc, Parameters parameters)
    {
        unchecked {
            int256 high;
            (high, parameters) = accumulate(activations, length, weights);
            (acc,) = accumulate(activations + length, length, weights);
            acc = Values.wrap(256 * (high - parameters.bias()) + acc);
        }
    }

    /// @notice The row of a that output element [m, n] reads: `m·G + ⌊n·G/N⌋`. @param outputs N @param groups G
    function activationRow(uint256 element, uint256 outputs, uint256 groups) internal pure returns (uint256) {
        unchecked {
            return (element / outputs) * groups + ((element % outputs) * groups) / outputs;
        }
    }

    /// @notice The accumulator of one row of activations and one of weights, both in memory.
    /// @param length K, bytes of the activation row @return acc within s32 @return parameters word behind the weight row
    function accumulate(uint256 activations, uint256 length, uint256 weights)
        internal
        pure
        returns (int256 acc, Parameters parameters)
    {
        acc = Values.wrap(int256(one(false, activations, length, weights)));
        assembly ("memory-safe") {
            parameters := mload(add(weights, and(add(length, 31), not(31))))
        }
    }

    /// @notice One output, stored: in the integer form, or the accumulator.
    function one(bool integerForm, uint256 activations, uint256 length, uint256 weights)
        internal
        pure
        returns (uint256 stored)
    {
        unchecked {
            uint256 words = (length + 31) >> 5;
            uint256 prepared;
            // Beyond what is allocated: nothing allocates before the row is multiplied.
            assembly ("memory-safe") {
                prepared := mload(0x40)
            }
            uint256 sum = DotLanes.prepare(activations, length, prepared);
            // The output is in scratch space.
            if (integerForm) {
                integers(0, 1, prepared, sum, weights, 32 * words);
                assembly ("memory-safe") {
                    stored := byte(0, mload(0))
                }
            } else {
                sums(0, 4, prepared, sum, weights, 32 * words);
                assembly ("memory-safe") {
                    stored := shr(FIRST_U32, mload(0))
                }
            }
        }
    }

    /// @notice Outputs of one activation row and consecutive weight rows: `wrap(Σ a·w − o·Σ a + bias′)`, s32. What the
    /// last one spills behind `end` is room.
    /// @param target memory of the first @param end of the last @param prepared memory of the prepared row
    /// @param sum of its stored bytes @param weights memory of the first byte-reversed weight row
    /// @param size bytes of a weight row without its parameter word
    function sums(uint256 target, uint256 end, uint256 prepared, uint256 sum, uint256 weights, uint256 size)
        internal
        pure
    {
        assembly ("memory-safe") {
            for {} lt(target, end) { target := add(target, 4) } {
                let product := 0
                let row := prepared
                for { let last := add(weights, size) } lt(weights, last) { weights := add(weights, 0x20) } {
                    let word := mload(weights)
                    // Group j of the weights is the byte 8j bits from the low end of each lane.
                    product := add(
                        add(
                            add(product, mul(mload(row), and(word, LANES))),
                            mul(mload(add(row, 0x20)), and(shr(8, word), LANES))
                        ),
                        add(
                            mul(mload(add(row, 0x40)), and(shr(16, word), LANES)),
                            mul(mload(add(row, 0x60)), and(shr(24, word), LANES))
                        )
                    )
                    row := add(row, 0x80)
                }
                let parameters := mload(weights)
                weights := add(weights, 0x20)
                let acc :=
                    sub(shr(FIRST_U32, product), mul(and(shr(PARAMETER_OFFSET, parameters), 0xFFFF), sum))
                mstore(target, shl(FIRST_U32, add(acc, sar(PARAMETER_BIAS, parameters))))
            }
        }
    }

    /// @notice The same in the integer form: `clamp(((acc·M + B) >> S) + zero point)`, bytes, as Requant.scale and
    /// Requant.clamp.
    function integers(
        uint256 target,
        uint256 end,
        uint256 prepared,
        uint256 sum,
        uint256 weights,
        uint256 size
    ) internal pure {
        assembly ("memory-safe") {
            for {} lt(target, end) { target := add(target, 1) } {
                let product := 0
                let row := prepared
                for { let last := add(weights, size) } lt(weights, last) { weights := add(weights, 0x20) } {
                    let word := mload(weights)
                    // Group j of the weights is the byte 8j bits from the low end of each lane.
                    product := add(
                        add(
                            add(product, mul(mload(row), and(word, LANES))),
                            mul(mload(add(row, 0x20)), and(shr(8, word), LANES))
                        ),
                        add(
                            mul(mload(add(row, 0x40)), and(shr(16, word), LANES)),
                            mul(mload(add(row, 0x60)), and(shr(24, word), LANES))
                        )
                    )
                    row := add(row, 0x80)
                }
                let parameters := mload(weights)
                weights := add(weights, 0x20)
                let value :=
                    sub(shr(FIRST_U32, product), mul(and(shr(PARAMETER_OFFSET, parameters), 0xFFFF), sum))
                value := signextend(3, add(value, sar(PARAMETER_BIAS, parameters)))
                value := add(
                    mul(value, and(shr(PARAMETER_MULTIPLIER, parameters), 0xFFFFFFFF)),
                    shr(PARAMETER_ADDEND, parameters)
                )
                value := sar(
                    and(shr(PARAMETER_SHIFT, parameters), PARAMETER_SHIFT_BITS),
                    signextend(7, value)
                )
                value := add(value, and(shr(PARAMETER_ZERO_POINT, parameters), 0xFF))
                let bound := and(shr(PARAMETER_LOWER, parameters), 0xFF)
                if slt(value, bound) { value := bound }
                bound := and(shr(PARAMETER_UPPER, parameters), 0xFF)
                if sgt(value, bound) { value := bound }
                mstore8(target, value)
            }
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        unchecked {
            StepRules.variants(s, DOT_S32, DOT_RESCALED);
            uint256 variant = s.head.variant();
            if (variant == DOT_ACTIVATIONS) return DotActivations.rules(s);
            bool isPlanes = variant >= DOT_PLANES;
            uint256 types = variant == DOT_S32 || isPlanes ? StepRules.S32 : StepRules.BYTES;
            StepRules.outputType(s, variant == DOT_RESCALED ? types | StepRules.BYTES : types);
            (Facts input,) = StepRules.plain(s, 0, isPlanes ? StepRules.U8 : StepRules.BYTES);
            (Facts table,) = StepRules.weights(s, 1, LAYOUT_DOT);
            if (variant == DOT_RESCALED && s.own.code() == TYPE_S32 && s.head.operandOf(2) != NONE) {
                StepRules.same(s, 2, StepRules.S32);
            } else {
                StepRules.none(s, 2);
            }
            uint256 groups = s.head.attribute();
            uint256 outputs = s.own.last();
            if (groups == 0 || outputs % groups != 0) StepRules.fail(s, ProgramField.K, groups);
            if (outputs != table.rows()) StepRules.fail(s, ProgramField.OPERAND_B, table.rows());
            if (!isPlanes && table.last() > MAX_BYTES_LENGTH) {
                StepRules.fail(s, ProgramField.OPERAND_B, table.last());
            }
            if (input.last() != (isPlanes ? 2 * table.last() : table.last())) {
                StepRules.fail(s, ProgramField.OPERAND_A, input.last());
            }
            if (input.rows() != s.own.rows() * groups) {
                StepRules.fail(s, ProgramField.OPERAND_A, input.rows());
            }
            if (!isPlanes) return;
            s.needs(NEW_VERSION);
            StepRules.withoutKernel(s);
        }
    }
}
