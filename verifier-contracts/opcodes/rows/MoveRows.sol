// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Record, TYPE_S32, Tensor} from "../../types/Program.sol";
import {Move} from "../Move.sol";

/// @notice MOVE of whole tensors. Where each coordinate depends on the output's index so that the source's element
/// number is one affine function of it, inside a box of the output, the box is copied run by run, or not at all where
/// it is one run. Everything else goes element by element, by the judge's own function.
library MoveRows {
    /// @dev Memory of a plan: the source's element number at the box's first element, the output's, the number of axes,
    /// then for each axis from the innermost on its length, its step in the source and in the output, in elements.
    uint256 private constant AXES = 96;
    uint256 private constant AXIS_BYTES = 96;
    /// @dev Behind them, for each axis of the output: the source's step, first and last index + 1 of the box.
    uint256 private constant BOX = AXES + 7 * AXIS_BYTES;
    uint256 internal constant PLAN_BYTES = BOX + 6 * AXIS_BYTES;

    /// @notice Runs a MOVE step.
    /// @param plan PLAN_BYTES of memory @param record of the step in memory @param out its tensor without a pointer
    /// @param a the source @param b what fills the rest, 0 if it is the pad
    /// @return flat the tensor; without a pointer if it can wait: `copyStrided` makes it, `columns` says what it holds
    function move(uint256 plan, uint256 record, uint256 out, uint256 a, uint256 b)
        internal
        pure
        returns (uint256 flat)
    {
        unchecked {
            (bool affine, bool whole) = _box(plan, record, out);
            if (!affine) return _elements(record, out, a, b);
            _axes(plan, out);
            if (whole) {
                uint256 step = _at(plan, AXES + 32);
                uint256 axes = _at(plan, 64);
                if (axes == 1 && step == 1) {
                    return out | (Flat.pointer(a) + _at(plan, 0) * Shapes.elementBytes(Flat.code(out)));
                }
                if (axes == 2 && Flat.code(out) == TYPE_S32 && _at(plan, AXES + AXIS_BYTES + 32) == 1) {
                    return out;
                }
                flat = Flat.allocate(out);
            } else {
                flat = Flat.allocate(out);
                _fill(flat, b, (Flat.load(record) >> 144) & 0xFFFFFFFF);
            }
            _copy(plan, flat, Flat.pointer(a));
        }
    }

    /// @notice The tensor of a step that `move` put off. @param out without a pointer @param a its source
    function copyStrided(uint256 plan, uint256 record, uint256 out, uint256 a)
        internal
        pure
        returns (uint256 flat)
    {
        _box(plan, record, out);
        _axes(plan, out);
        flat = Flat.allocate(out);
        _copy(plan, flat, Flat.pointer(a));
    }

    /// @notice A tensor that `move` put off: element [i, j] is the source's element number first + i + j·stride.
    /// @return first of the source @return length of a row, over j @return stride elements from j to j + 1
    function columns(uint256 plan, uint256 record, uint256 out)
        internal
        pure
        returns (uint256 first, uint256 length, uint256 stride)
    {
        _box(plan, record, out);
        _axes(plan, out);
        return (_at(plan, 0), _at(plan, AXES), _at(plan, AXES + 32));
    }

    /// @dev The box of output indices whose coordinates are all inside, and the affine function on it.
    /// @return affine false if there is no such box @return whole true if it is the whole output
    function _box(uint256 plan, uint256 record, uint256 out) private pure returns (bool affine, bool whole) {
        unchecked {
            uint256 rank = Flat.rank(out);
            uint256 shape = Flat.shape(out);
            for (uint256 axis = 0; axis < rank; ++axis) {
                uint256 box = plan + BOX + AXIS_BYTES * axis;
                _set(box, 0);
                _set(box + 32, 0);
                _set(box + 64, shape >> 224);
                shape <<= 32;
            }
            whole = true;
            uint256 first;
            uint256 stride = 1;
            for (uint256 j = 4; j != 0;) {
                uint256 coordinate = Flat.load(record + 64 + 16 * --j) >> 128;
                // View dim 1, nothing else: always inside, and no part of the number.
                if (coordinate == 1 << 96) continue;
                int256 c = int256(int32(uint32(coordinate >> 64)));
                (bool isAffine, bool isWhole) = _coordinate(plan, coordinate, c, stride);
                if (!isAffine) return (false, false);
                whole = whole && isWhole;
                first += uint256(c) * stride;
                stride *= coordinate >> 96;
            }
            _set(plan, first);
            return (true, whole);
        }
    }

    /// @dev Adds a coordinate to the affine function, and cuts the box to where it is inside. Its reach is taken inside
    /// the box so far: what lies outside of that is outside already.
    function _coordinate(uint256 plan, uint256 coordinate, int256 c, uint256 stride)
        private
        pure
        returns (bool affine, bool whole)
    {
        unchecked {
            int256 a = _s24(coordinate >> 40);
            int256 b = _s24(coordinate >> 16);
            uint256 p = plan + BOX + AXIS_BYTES * uint8(coordinate >> 8);
            uint256 q = plan + BOX + AXIS_BYTES * uint8(coordinate);
            if (a == 0 || p == q) (a, p, b) = (a + b, q, int256(0));
            int256 view_ = int256(coordinate >> 96);
            (int256 low, int256 high) = (c, c);
            if (a != 0) {
                _set(p, _at(p, 0) + uint256(a) * stride);
                int256 reach = a * (int256(_at(p, 64)) - 1);
                if (reach < 0) low += reach;
                else high += reach;
            }
            if (b != 0) {
                _set(q, _at(q, 0) + uint256(b) * stride);
                int256 reach = b * (int256(_at(q, 64)) - 1);
                if (reach < 0) low += reach;
                else high += reach;
            }
            if (low >= 0 && high < view_) return (true, true);
            if (b != 0 || a < 0) return (false, false);
            if (a == 0) {
                _set(plan + BOX + 64, 0);
                return (true, false);
            }
            int256 from = c < 0 ? (a - 1 - c) / a : int256(0);
            int256 to = c < view_ ? (view_ - 1 - c) / a + 1 : int256(0);
            if (from > int256(_at(p, 32))) _set(p + 32, uint256(from));
            if (to < int256(_at(p, 64))) _set(p + 64, uint256(to));
            return (true, false);
        }
    }

    /// @dev Joins axes that run on in source and output alike; those of length 1 are left out.
    function _axes(uint256 plan, uint256 out) private pure {
        unchecked {
            uint256 shape = Flat.shape(out);
            uint256 outStride = 1;
            uint256 first = _at(plan, 0);
            uint256 outFirst = 0;
            uint256 top = plan + AXES - AXIS_BYTES;
            for (uint256 axis = Flat.rank(out); axis != 0;) {
                uint256 box = plan + BOX + AXIS_BYTES * --axis;
                uint256 from = _at(box, 32);
                uint256 to = _at(box, 64);
                uint256 length = to > from ? to - from : 0;
                uint256 step = _at(box, 0);
                first += from * step;
                outFirst += from * outStride;
                if (length != 1) {
                    if (
                        top >= plan + AXES && step == _at(top, 0) * _at(top, 32)
                            && outStride == _at(top, 0) * _at(top, 64)
                    ) {
                        _set(top, _at(top, 0) * length);
                    } else {
                        // Runs are along the innermost axis: where the box is one element wide, so is a run.
                        if (top < plan + AXES && outStride != 1) top = _axis(top, 1, 1, 1);
                        top = _axis(top, length, step, outStride);
                    }
                }
                outStride *= Shapes.dim(shape, axis);
            }
            if (top < plan + AXES) top = _axis(top, 1, 1, 1);
            _set(plan, first);
            _set(plan + 32, outFirst);
            _set(plan + 64, (top - plan - AXES) / AXIS_BYTES + 1);
        }
    }

    function _axis(uint256 top, uint256 length, uint256 step, uint256 outStep)
        private
        pure
        returns (uint256)
    {
        unchecked {
            top += AXIS_BYTES;
            _set(top, length);
            _set(top + 32, step);
            _set(top + 64, outStep);
            return top;
        }
    }

    /// @dev Copies the box. @param source memory of the source
    function _copy(uint256 plan, uint256 flat, uint256 source) private pure {
        unchecked {
            uint256 size = Shapes.elementBytes(Flat.code(flat));
            source += _at(plan, 0) * size;
            uint256 target = Flat.pointer(flat) + _at(plan, 32) * size;
            uint256 length = _at(plan, AXES);
            uint256 step = _at(plan, AXES + 32);
            uint256 end = plan + AXES + AXIS_BYTES * _at(plan, 64);
            uint256 runs = 1;
            for (uint256 axis = plan + AXES + AXIS_BYTES; axis != end; axis += AXIS_BYTES) {
                runs *= _at(axis, 0);
            }
            if (length == 0) return;
            if (step == 1 && _at(plan, 64) == 2) {
                uint256 outer = plan + AXES + AXIS_BYTES;
                uint256 next = _at(outer, 32) * size;
                return _runs(target, source, length * size, next, _at(outer, 64) * size, runs);
            }
            for (uint256 run = 0; run < runs; ++run) {
                uint256 from = 0;
                uint256 to = 0;
                uint256 rest = run;
                for (uint256 axis = plan + AXES + AXIS_BYTES; axis != end; axis += AXIS_BYTES) {
                    uint256 dim = _at(axis, 0);
                    uint256 index = rest % dim;
                    rest /= dim;
                    from += index * _at(axis, 32);
                    to += index * _at(axis, 64);
                }
                if (step == 1) {
                    assembly ("memory-safe") {
                        mcopy(add(target, mul(to, size)), add(source, mul(from, size)), mul(length, size))
                    }
                } else {
                    _strided(target + to * size, source + from * size, length, step * size, size);
                }
            }
        }
    }

    /// @dev Copies runs of `size` bytes. @param step bytes from one to the next in the source
    /// @param outStep the same in the output
    function _runs(uint256 target, uint256 source, uint256 size, uint256 step, uint256 outStep, uint256 runs)
        private
        pure
    {
        assembly ("memory-safe") {
            for {} runs { runs := sub(runs, 1) } {
                mcopy(target, source, size)
                source := add(source, step)
                target := add(target, outStep)
            }
        }
    }

    /// @dev Each store spills 31 or 28 bytes that the next one overwrites; the last one's are put back.
    function _strided(uint256 target, uint256 source, uint256 length, uint256 step, uint256 size)
        private
        pure
    {
        assembly ("memory-safe") {
            let end := add(target, mul(length, size))
            let behind := mload(end)
            for { let early := add(target, mul(and(length, not(7)), size)) } lt(target, early) {} {
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
                mstore(target, mload(source))
                source := add(source, step)
                target := add(target, size)
            }
            for {} lt(target, end) { target := add(target, size) } {
                mstore(target, mload(source))
                source := add(source, step)
            }
            mstore(end, behind)
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

    function _s24(uint256 value) private pure returns (int256 result) {
        assembly ("memory-safe") {
            result := signextend(2, value)
        }
    }

    function _at(uint256 pointer, uint256 offset) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(pointer, offset))
        }
    }

    function _set(uint256 pointer, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(pointer, word)
        }
    }
}
