// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Memory} from "../../libraries/Memory.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {MovePlan} from "../../opcodes/rows/MovePlan.sol";
import {
    COPY_ELEMENT_STEP,
    COPY_OUT_STEP,
    COPY_RUNS,
    COPY_SIZE,
    COPY_STEP,
    FILL_ELEMENT,
    FILL_ELEMENT_BYTES,
    FILL_SIZE,
    Instruction,
    U24,
    instruction
} from "./Instruction.sol";
import {Plan} from "./Plan.sol";
import {Draft, PlanWriter} from "./PlanWriter.sol";

/// @notice MOVE steps in a plan: none, where the result is a part of the source as it stands; else copies of runs.
library PlanMoves {
    /// @dev Copies of a MOVE with more than two axes, at most.
    uint256 private constant MOST_COPIES = 16;

    /// @param record memory of the step's record @param out its tensor without a pointer @param a the source
    /// @param b what fills the rest, NO_FLAT if it is the pad
    function move(Draft memory d, uint256 record, Flat out, Flat a, Flat b)
        internal
        pure
        returns (Flat flat)
    {
        unchecked {
            (bool affine, bool whole) = MovePlan.make(d.moves, record, out);
            if (!affine) PlanWriter.refuse(d);
            if (whole && _isRun(d)) {
                (, uint256 first,) = box(d);
                return out.at(a.pointer() + first * Shapes.elementBytes(out.code()));
            }
            flat = out.at(PlanWriter.allocate(d, out.size()));
            if (!whole) _fillAround(d, flat, b, RecordHead.wrap(Memory.load(record)).attribute());
            _copies(d, flat, a.pointer());
        }
    }

    /// @dev True if the box is one run of elements.
    function _isRun(Draft memory d) private pure returns (bool) {
        (uint256 axes,,) = box(d);
        (, uint256 step,) = axis(d, 0);
        return axes == 1 && step == 1;
    }

    /// @dev Fills what the box leaves: before and behind it where it is in one piece, else the whole tensor.
    function _fillAround(Draft memory d, Flat flat, Flat b, uint256 pad) private pure {
        unchecked {
            (uint256 axes,, uint256 from) = box(d);
            (uint256 length,,) = axis(d, 0);
            uint256 count = flat.count();
            if (axes == 2) {
                (uint256 runs,, uint256 outStep) = axis(d, 1);
                if (outStep == length) (axes, length) = (1, length * runs);
            }
            if (axes != 1 || length == 0) return _fill(d, flat, b, pad, 0, count);
            // In this order: the first spills into the box, and behind it if that is small.
            _fill(d, flat, b, pad, 0, from);
            _fill(d, flat, b, pad, from + length, count);
        }
    }

    /// @dev Elements `from` to `to`, of b or the pad.
    function _fill(Draft memory d, Flat flat, Flat b, uint256 pad, uint256 from, uint256 to) private pure {
        unchecked {
            if (from >= to) return;
            uint256 bytesOf = Shapes.elementBytes(flat.code());
            uint256 size = (to - from) * bytesOf;
            uint256 target = flat.pointer() + from * bytesOf;
            if (!b.isNone()) {
                Instruction copy = instruction(Plan.COPY, 0, target, b.pointer() + from * bytesOf, 1);
                return PlanWriter.append(d, copy.with(COPY_SIZE, size));
            }
            Instruction fill = instruction(Plan.FILL, 0, target, 0, 0).with(FILL_SIZE, size);
            PlanWriter.append(d, fill.with(FILL_ELEMENT, pad).with(FILL_ELEMENT_BYTES, bytesOf));
        }
    }

    /// @dev One instruction for the two innermost axes, as often as the others have indices.
    function _copies(Draft memory d, Flat flat, uint256 source) private pure {
        unchecked {
            uint256 size = Shapes.elementBytes(flat.code());
            (uint256 axes, uint256 first, uint256 outFirst) = box(d);
            uint256 times = 1;
            for (uint256 i = 0; i < axes; ++i) {
                (uint256 length,,) = axis(d, i);
                if (length == 0) return;
                if (i > 1) times *= length;
            }
            if (times > MOST_COPIES) PlanWriter.refuse(d);
            for (uint256 i = 0; i < times; ++i) {
                (uint256 from, uint256 to) = _outer(d, i, axes);
                from = source + (first + from) * size;
                _copy(d, flat.pointer() + (outFirst + to) * size, from, size, axes);
            }
        }
    }

    /// @dev Where the two innermost axes begin at index number i of the others, in elements.
    function _outer(Draft memory d, uint256 i, uint256 axes) private pure returns (uint256 from, uint256 to) {
        unchecked {
            for (uint256 number = 2; number < axes; ++number) {
                (uint256 length, uint256 step, uint256 outStep) = axis(d, number);
                from += i % length * step;
                to += i % length * outStep;
                i /= length;
            }
        }
    }

    function _copy(Draft memory d, uint256 target, uint256 source, uint256 size, uint256 axes) private pure {
        unchecked {
            (uint256 length, uint256 step,) = axis(d, 0);
            Instruction i;
            if (step == 1 || length == 1) {
                i = instruction(Plan.COPY, 0, target, source, 0).with(COPY_SIZE, length * size);
            } else {
                i = instruction(Plan.STRIDED, size, target, source, 0).with(COPY_SIZE, length);
                i = i.with(COPY_ELEMENT_STEP, _s24(d, step * size));
            }
            PlanWriter.append(d, _runs(d, i, size, axes));
        }
    }

    /// @dev As often as the second axis has indices.
    function _runs(Draft memory d, Instruction i, uint256 size, uint256 axes)
        private
        pure
        returns (Instruction)
    {
        unchecked {
            if (axes == 1) return i.with(COPY_RUNS, 1);
            (uint256 runs, uint256 step, uint256 outStep) = axis(d, 1);
            i = i.with(COPY_RUNS, runs).with(COPY_STEP, _s24(d, step * size));
            return i.with(COPY_OUT_STEP, outStep * size);
        }
    }

    /// @dev A two's complement in 24 bits.
    function _s24(Draft memory d, uint256 value) private pure returns (uint256) {
        unchecked {
            if (value + 0x800000 > U24) PlanWriter.refuse(d);
            return value & U24;
        }
    }

    /// @notice The box of the MOVE at hand: its axes, its first element's number in the source and in the output.
    function box(Draft memory d) internal pure returns (uint256 axes, uint256 first, uint256 outFirst) {
        unchecked {
            uint256 plan = d.moves;
            return
                (
                    Memory.load(plan + MovePlan.COUNT),
                    Memory.load(plan),
                    Memory.load(plan + MovePlan.OUT_FIRST)
                );
        }
    }

    /// @notice An axis of it, from the innermost on: its length, elements from one index to the next in the source, two's
    /// complement, and in the output.
    function axis(Draft memory d, uint256 number)
        internal
        pure
        returns (uint256 length, uint256 step, uint256 outStep)
    {
        unchecked {
            uint256 place = d.moves + MovePlan.AXES + MovePlan.AXIS_BYTES * number;
            return (Memory.load(place), Memory.load(place + 32), Memory.load(place + 64));
        }
    }
}
