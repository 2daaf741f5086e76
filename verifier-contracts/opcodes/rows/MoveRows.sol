// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Memory} from "../../libraries/Memory.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Record, Tensor} from "../../types/Program.sol";
import {Move} from "../Move.sol";
import {CopyRuns, Runs} from "./CopyRuns.sol";
import {MovePlan} from "./MovePlan.sol";

/// @notice MOVE of whole tensors. Where there is a plan, its box is copied run by run, or not at all where it is one run.
/// Everything else goes element by element, by the judge's own function.
library MoveRows {
    using MovePlan for uint256;

    /// @dev Where a plan's axes behind the two innermost ones stand.
    uint256 private constant OUTER_AXES = MovePlan.OUTER + MovePlan.AXIS_BYTES;

    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256 record, RecordHead head, Flat out) internal view returns (Flat) {
        return move(m.plan, record, out, Machines.operand(m, head, 0), Machines.operand(m, head, 1));
    }

    /// @notice The tensor of a MOVE record.
    /// @param plan MovePlan.BYTES of memory @param record of the step in memory @param out its tensor without a pointer
    /// @param a the source @param b what fills the rest, 0 if it is the pad
    /// @return flat the tensor; where it is a run of the source's elements it shares their memory
    function move(uint256 plan, uint256 record, Flat out, Flat a, Flat b) internal pure returns (Flat flat) {
        unchecked {
            (bool affine, bool whole) = MovePlan.make(plan, record, out);
            if (!affine) return _elements(record, out, a, b);
            if (whole) {
                if (plan.word(MovePlan.COUNT) == 1 && plan.word(MovePlan.STEP) == 1) {
                    return out.at(a.pointer() + plan.word(0) * Shapes.elementBytes(out.code()));
                }
                flat = out.allocate();
            } else {
                flat = out.allocate();
                _fill(flat, b, RecordHead.wrap(Memory.load(record)).attribute());
            }
            _copy(plan, flat, a.pointer());
        }
    }

    /// @dev Copies the box: the two innermost axes for each index of the others. @param source memory of the source
    function _copy(uint256 plan, Flat flat, uint256 source) private pure {
        unchecked {
            uint256 size = Shapes.elementBytes(flat.code());
            uint256 end = plan + MovePlan.AXES + MovePlan.AXIS_BYTES * plan.word(MovePlan.COUNT);
            uint256 times = 1;
            for (uint256 axis = plan + OUTER_AXES; axis < end; axis += MovePlan.AXIS_BYTES) {
                times *= axis.word(0);
            }
            // An empty box may begin anywhere: not even a load belongs there.
            if (plan.word(MovePlan.AXES) == 0) return;
            source += plan.word(0) * size;
            uint256 target = flat.pointer() + plan.word(MovePlan.OUT_FIRST) * size;
            uint256 free = Memory.mark();
            Runs memory r = _innerAxes(plan, size);
            for (uint256 index = 0; index < times; ++index) {
                uint256 from = source + size * _offset(plan + OUTER_AXES, end, 32, index);
                uint256 to = target + size * _offset(plan + OUTER_AXES, end, 64, index);
                CopyRuns.copy(r, to, from);
            }
            Memory.release(free);
        }
    }

    function _innerAxes(uint256 plan, uint256 size) private pure returns (Runs memory r) {
        unchecked {
            r.size = size;
            r.length = plan.word(MovePlan.AXES);
            r.step = plan.word(MovePlan.STEP) * size;
            r.runs = plan.word(MovePlan.OUTER);
            r.runStep = plan.word(MovePlan.OUTER_STEP) * size;
            r.outStep = plan.word(MovePlan.OUTER_STEP + 32) * size;
        }
    }

    /// @dev Elements from an outer index' place to the first one's. @param step where axes hold their steps
    function _offset(uint256 axis, uint256 end, uint256 step, uint256 index)
        private
        pure
        returns (uint256 offset)
    {
        unchecked {
            for (; axis < end; axis += MovePlan.AXIS_BYTES) {
                offset += (index % axis.word(0)) * axis.word(step);
                index /= axis.word(0);
            }
        }
    }

    /// @dev b's elements, or the pad, everywhere.
    function _fill(Flat flat, Flat b, uint256 pad) private pure {
        unchecked {
            uint256 target = flat.pointer();
            uint256 size = flat.size();
            if (!b.isNone()) {
                uint256 source = b.pointer();
                assembly ("memory-safe") {
                    mcopy(target, source, size)
                }
                return;
            }
            repeat(target, pad, Shapes.elementBytes(flat.code()), size);
        }
    }

    /// @notice Fills memory with an element. @param stored its bytes @param bytesOf 1 or 4 @param size bytes to fill
    function repeat(uint256 target, uint256 stored, uint256 bytesOf, uint256 size) internal pure {
        assembly ("memory-safe") {
            switch bytesOf
            case 1 {
                stored := mul(stored, 0x0101010101010101010101010101010101010101010101010101010101010101)
            }
            default {
                stored := mul(stored, 0x0000000100000001000000010000000100000001000000010000000100000001)
            }
            for { let end := add(target, size) } lt(target, end) { target := add(target, 0x20) } {
                mstore(target, stored)
            }
        }
    }

    /// @dev Element by element.
    function _elements(uint256 record, Flat out, Flat a, Flat b) private pure returns (Flat flat) {
        unchecked {
            flat = out.allocate();
            Tensor memory shape;
            (shape.rank, shape.shape) = (out.rank(), out.shape());
            Record memory r;
            assembly ("memory-safe") {
                mcopy(r, record, 0x80)
            }
            uint256 pad = r.head.attribute();
            uint256 count = out.count();
            for (uint256 i = 0; i < count; ++i) {
                (bool inside, uint256 index) = Move.source(r, shape, i);
                uint256 stored = inside ? a.element(index) : b.isNone() ? pad : b.element(i);
                flat.put(i, stored);
            }
        }
    }
}
