// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat, NO_FLAT} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Arith} from "../../opcodes/Arith.sol";
import {Broadcast} from "../../opcodes/rows/Broadcast.sol";
import {ARITH_CAST, OP_ARITH, TYPE_S32, UnknownVariant} from "../../types/Program.sol";
import {
    ARITH_A_STEP,
    ARITH_A_TYPE,
    ARITH_B_STEP,
    ARITH_B_TYPE,
    ARITH_SIZE,
    ARITH_TYPE,
    COPY_OUT_STEP,
    COPY_SIZE,
    Instruction,
    MAP_COUNT,
    SELECT_A_STEP,
    SELECT_B_STEP,
    SELECT_COUNT,
    SELECT_OTHER,
    SELECT_OTHER_STEP,
    SPREAD_COUNT,
    SPREAD_TIMES,
    instruction
} from "./Instruction.sol";
import {Plan} from "./Plan.sol";

import {Draft, PlanWriter} from "./PlanWriter.sol";

/// @notice ARITH and SELECT steps in a plan: element by element, operands under broadcast.
library PlanElements {
    function arith(Draft memory d, uint256 variant, Flat out, Flat a, Flat b) internal pure returns (Flat) {
        unchecked {
            if (variant > ARITH_CAST) revert UnknownVariant(OP_ARITH, variant);
            bool wide = a.code() == TYPE_S32 && (variant == Arith.CAST || b.code() == TYPE_S32);
            uint256 count = out.count();
            uint256 aStep;
            uint256 bStep;
            (a, aStep) = _expand(d, a, out);
            if (variant != Arith.CAST) (b, bStep) = _expand(d, b, out);
            else if (wide && aStep != 0) return _cast(d, out, a);
            if (wide && out.code() == TYPE_S32 && variant != Arith.CAST) {
                bool isProduct = variant == Arith.MUL || variant == Arith.DIV;
                out = out.at(PlanWriter.allocate(d, 4 * count));
                if (!isProduct) (aStep, bStep) = (8 * aStep, 8 * bStep);
                Instruction i =
                    PlanWriter.instructionOf(isProduct ? Plan.PRODUCT : Plan.INT16S, variant, out, a, b);
                PlanWriter.append(d, _sized(i, 4 * count, aStep, bStep));
                return out;
            }
            bool isComparison = variant > Arith.DIV && variant != Arith.CAST;
            if (wide && isComparison && out.size() == count) {
                out = out.at(PlanWriter.allocate(d, count));
                PlanWriter.append(
                    d, _sized(PlanWriter.instructionOf(Plan.PRODUCT, variant, out, a, b), count, aStep, bStep)
                );
                return out;
            }
            out = out.at(PlanWriter.allocate(d, out.size()));
            Instruction single =
                _sized(PlanWriter.instructionOf(Plan.ELEMENTS, variant, out, a, b), count, aStep, bStep);
            single = single.with(ARITH_TYPE, out.code()).with(ARITH_A_TYPE, a.code());
            PlanWriter.append(d, single.with(ARITH_B_TYPE, b.code()));
            return out;
        }
    }

    function _sized(Instruction i, uint256 size, uint256 aStep, uint256 bStep)
        private
        pure
        returns (Instruction)
    {
        return i.with(ARITH_SIZE, size).with(ARITH_A_STEP, aStep).with(ARITH_B_STEP, bStep);
    }

    /// @dev Of s32 elements, as many as the output has.
    function _cast(Draft memory d, Flat out, Flat a) private pure returns (Flat) {
        unchecked {
            if (out.code() == TYPE_S32) return out.at(a.pointer());
            out = out.at(PlanWriter.allocate(d, out.size()));
            PlanWriter.append(
                d,
                PlanWriter.instructionOf(Plan.CAST, out.code(), out, a, NO_FLAT).with(MAP_COUNT, out.count())
            );
            return out;
        }
    }

    function select(Draft memory d, Flat out, Flat a, Flat b, Flat c) internal pure returns (Flat) {
        unchecked {
            uint256 aStep;
            uint256 bStep;
            uint256 cStep;
            (a, aStep) = _expand(d, a, out);
            (b, bStep) = _expand(d, b, out);
            (c, cStep) = _expand(d, c, out);
            out = out.at(PlanWriter.allocate(d, out.size()));
            Instruction select =
                PlanWriter.instructionOf(Plan.SELECT, Shapes.elementBytes(out.code()), out, a, b);
            select = select.with(SELECT_OTHER, c.pointer()).with(SELECT_COUNT, out.count());
            select = select.with(SELECT_A_STEP, aStep).with(SELECT_B_STEP, bStep);
            PlanWriter.append(d, select.with(SELECT_OTHER_STEP, cStep));
            return out;
        }
    }

    /// @dev An operand under broadcast: itself if it has as many elements as the output or one, else a copy.
    /// @return expanded the operand
    /// @return step bytes from one element to the next
    function _expand(Draft memory d, Flat x, Flat out) private pure returns (Flat expanded, uint256 step) {
        unchecked {
            uint256 count = x.count();
            uint256 times = out.count() / count;
            step = Shapes.elementBytes(x.code());
            if (times == 1) return (x, step);
            if (count == 1) return (x, 0);
            (uint256 leading, uint256 trailing) = Broadcast.ones(x, out);
            uint256 target = PlanWriter.allocate(d, out.count() * step);
            uint256 source = x.pointer();
            if (leading == count) {
                Instruction spread = instruction(Plan.SPREAD, step, target, source, 0);
                PlanWriter.append(d, spread.with(SPREAD_COUNT, count).with(SPREAD_TIMES, times));
            } else if (trailing == count) {
                Instruction copy = instruction(Plan.COPY, 0, target, source, times);
                PlanWriter.append(d, copy.with(COPY_SIZE, count * step).with(COPY_OUT_STEP, count * step));
            } else {
                PlanWriter.refuse(d);
            }
            return (x.moved(target), step);
        }
    }
}
