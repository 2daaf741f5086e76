// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Record, Tensor} from "../../types/Program.sol";
import {Move} from "../Move.sol";
import {MovePlan} from "./MovePlan.sol";

/// @notice MOVE of whole tensors. Where there is a plan, its box is copied run by run, or not at all where it is one run.
/// Everything else goes element by element, by the judge's own function.
library MoveRows {
    using MovePlan for uint256;

    /// @notice Runs a MOVE step.
    /// @param plan MovePlan.BYTES of memory @param record of the step in memory @param out its tensor without a pointer
    /// @param a the source @param b what fills the rest, 0 if it is the pad
    /// @return flat the tensor; where it is a run of the source's elements it shares their memory
    function move(uint256 plan, uint256 record, uint256 out, uint256 a, uint256 b)
        internal
        pure
        returns (uint256 flat)
    {
        unchecked {
            (bool affine, bool whole) = MovePlan.make(plan, record, out);
            if (!affine) return _elements(record, out, a, b);
            if (whole) {
                if (plan.word(MovePlan.COUNT) == 1 && plan.word(MovePlan.STEP) == 1) {
                    return out | (Flat.pointer(a) + plan.word(0) * Shapes.elementBytes(Flat.code(out)));
                }
                flat = Flat.allocate(out);
            } else {
                flat = Flat.allocate(out);
                _fill(flat, b, (Flat.load(record) >> 144) & 0xFFFFFFFF);
            }
            _copy(plan, flat, Flat.pointer(a));
        }
    }

    /// @dev Copies the box: the two innermost axes for each index of the others. @param source memory of the source
    function _copy(uint256 plan, uint256 flat, uint256 source) private pure {
        unchecked {
            uint256 size = Shapes.elementBytes(Flat.code(flat));
            source += plan.word(0) * size;
            uint256 target = Flat.pointer(flat) + plan.word(MovePlan.OUT_FIRST) * size;
            if (plan.word(MovePlan.COUNT) < 3) return _copyAxes(plan, target, source, size);
            _copyOuter(plan, target, source, size);
        }
    }

    function _copyOuter(uint256 plan, uint256 target, uint256 source, uint256 size) private pure {
        unchecked {
            uint256 first = plan + MovePlan.OUTER + MovePlan.AXIS_BYTES;
            uint256 end = plan + MovePlan.AXES + MovePlan.AXIS_BYTES * plan.word(MovePlan.COUNT);
            uint256 runs = 1;
            for (uint256 axis = first; axis < end; axis += MovePlan.AXIS_BYTES) {
                runs *= axis.word(0);
            }
            for (uint256 run = 0; run < runs; ++run) {
                uint256 from = source + size * _offset(first, end, 32, run);
                uint256 to = target + size * _offset(first, end, 64, run);
                _copyAxes(plan, to, from, size);
            }
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

    /// @dev Copies runs of elements. @param size bytes of an element
    function _copyAxes(uint256 plan, uint256 target, uint256 source, uint256 size) private pure {
        uint256 length;
        uint256 step;
        uint256 runStep;
        uint256 outStep;
        uint256 runs = plan.word(MovePlan.OUTER);
        unchecked {
            length = plan.word(MovePlan.AXES) * size;
            step = plan.word(MovePlan.STEP) * size;
            runStep = plan.word(MovePlan.OUTER_STEP) * size;
            outStep = plan.word(MovePlan.OUTER_STEP + 32) * size;
        }
        // An empty box may begin anywhere: not even a load belongs there.
        if (length == 0) return;
        assembly ("memory-safe") {
            // Each store spills 31 or 28 bytes that the next one overwrites; the last one's are put back.
            function copyStrided(place, from, end, apart, bytes_) {
                let behind := mload(end)
                for { let early := sub(end, bytes_) } lt(place, early) {} {
                    mstore(place, mload(from))
                    from := add(from, apart)
                    place := add(place, bytes_)
                    mstore(place, mload(from))
                    from := add(from, apart)
                    place := add(place, bytes_)
                }
                for {} lt(place, end) { place := add(place, bytes_) } {
                    mstore(place, mload(from))
                    from := add(from, apart)
                }
                mstore(end, behind)
            }
            for {} runs { runs := sub(runs, 1) } {
                switch eq(step, size)
                case 1 { mcopy(target, source, length) }
                default { copyStrided(target, source, add(target, length), step, size) }
                source := add(source, runStep)
                target := add(target, outStep)
            }
        }
    }

    /// @dev b's elements, or the pad, everywhere.
    function _fill(uint256 flat, uint256 b, uint256 pad) private pure {
        unchecked {
            uint256 target = Flat.pointer(flat);
            uint256 size = Flat.size(flat);
            if (b != 0) {
                uint256 source = Flat.pointer(b);
                assembly ("memory-safe") {
                    mcopy(target, source, size)
                }
                return;
            }
            repeat(target, pad, Shapes.elementBytes(Flat.code(flat)), size);
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
    function _elements(uint256 record, uint256 out, uint256 a, uint256 b)
        private
        pure
        returns (uint256 flat)
    {
        unchecked {
            flat = Flat.allocate(out);
            Tensor memory shape;
            (shape.rank, shape.shape) = (Flat.rank(out), Flat.shape(out));
            Record memory r;
            assembly ("memory-safe") {
                mcopy(r, record, 0x80)
            }
            uint256 pad = (r.head >> 144) & 0xFFFFFFFF;
            uint256 count = Flat.count(out);
            for (uint256 i = 0; i < count; ++i) {
                (bool inside, uint256 index) = Move.source(r, shape, i);
                uint256 stored = inside ? Flat.element(a, index) : b == 0 ? pad : Flat.element(b, i);
                Flat.put(flat, i, stored);
            }
        }
    }
}
