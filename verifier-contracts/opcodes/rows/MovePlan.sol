// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    COORDINATE_A,
    COORDINATE_B,
    COORDINATE_BITS,
    COORDINATE_C,
    COORDINATE_OF_ONE,
    COORDINATE_P_BYTE,
    COORDINATE_Q_BYTE,
    COORDINATE_VIEW
} from "../../libraries/Coordinate.sol";
import {FLAT_RANK, FLAT_SHAPE, FLAT_U32, FLAT_U8, Flat} from "../../libraries/Flat.sol";
import {DIM_BITS, DIM_MASK, DIM_TOP} from "../../libraries/Shapes.sol";

/// @notice What a MOVE does where each of its coordinates is affine in the output's indices, inside a box of the output:
/// the source's element number is then one affine function of them. Axes along which both go on alike are joined.
library MovePlan {
    /// @dev Memory of a plan: the source's element number at the box's first element, the output's, the number of axes,
    /// then for each axis from the innermost on its length, its step in the source and in the output, in elements. The
    /// innermost axis' step in the output is anything if its length is 1.
    uint256 internal constant OUT_FIRST = 0x20;
    uint256 internal constant COUNT = 0x40;
    uint256 internal constant AXES = 0x60;
    uint256 internal constant AXIS_BYTES = 0x60;
    uint256 internal constant STEP = 0x80;
    /// @dev The second axis; its length is 1 if there is none.
    uint256 internal constant OUTER = 0xC0;
    uint256 internal constant OUTER_STEP = 0xE0;
    /// @dev Behind up to seven of them, for each axis of the output: the source's step, first and last index + 1 of the box.
    uint256 private constant BOX = 0x300;
    uint256 internal constant BYTES = 0x540;

    /// @notice Plans a MOVE. @param plan BYTES of memory @param record of the step in memory
    /// @param out its tensor without a pointer
    /// @return affine false if there is no plan @return whole true if the box is the whole output
    function make(uint256 plan, uint256 record, Flat out) internal pure returns (bool affine, bool whole) {
        _layBox(plan, out);
        (affine, whole) = _cutBox(plan, record);
        if (affine) _join(plan, out);
    }

    /// @dev The whole output, no steps.
    function _layBox(uint256 plan, Flat out) private pure {
        assembly ("memory-safe") {
            let dims := mload(and(shr(FLAT_SHAPE, out), FLAT_U32))
            let box := add(plan, BOX)
            for { let end := add(box, mul(AXIS_BYTES, and(shr(FLAT_RANK, out), FLAT_U8))) } lt(box, end) {
                box := add(box, AXIS_BYTES)
            } {
                mstore(box, 0)
                mstore(add(box, 0x20), 0)
                mstore(add(box, 0x40), shr(DIM_TOP, dims))
                dims := shl(DIM_BITS, dims)
            }
        }
    }

    /// @dev Adds up the coordinates, from the innermost on, and cuts the box to where all are inside. A coordinate's reach
    /// is taken inside the box so far: what lies outside of that is outside already.
    function _cutBox(uint256 plan, uint256 record) private pure returns (bool affine, bool whole) {
        assembly ("memory-safe") {
            // An axis' step grows by a·stride. Adds its reach, a·(last index), to the coordinate's lowest or highest value.
            function grow(axis, a, stride, low, high) -> lowest, highest {
                mstore(axis, add(mload(axis), mul(a, stride)))
                let reach := mul(a, sub(mload(add(axis, 0x40)), 1))
                let isNegative := slt(reach, 0)
                lowest := add(low, mul(isNegative, reach))
                highest := add(high, mul(iszero(isNegative), reach))
            }
            affine := 1
            whole := 1
            mstore(plan, 0)
            let stride := 1
            for { let place := add(record, 112) } gt(place, add(record, 63)) { place := sub(place, 16) } {
                let coordinate := mload(place)
                // View dim 1, nothing else: always inside, and no part of the number.
                if eq(shr(COORDINATE_BITS, coordinate), shr(COORDINATE_BITS, COORDINATE_OF_ONE)) {
                    continue
                }
                let a := signextend(2, shr(COORDINATE_A, coordinate))
                let b := signextend(2, shr(COORDINATE_B, coordinate))
                let axis := add(add(plan, BOX), mul(AXIS_BYTES, byte(COORDINATE_P_BYTE, coordinate)))
                let second := add(add(plan, BOX), mul(AXIS_BYTES, byte(COORDINATE_Q_BYTE, coordinate)))
                if or(iszero(a), eq(axis, second)) {
                    a := add(a, b)
                    axis := second
                    b := 0
                }
                let low := signextend(3, shr(COORDINATE_C, coordinate))
                mstore(plan, add(mload(plan), mul(low, stride)))
                let high := low
                if a { low, high := grow(axis, a, stride, low, high) }
                if b { low, high := grow(second, b, stride, low, high) }
                let dim := shr(COORDINATE_VIEW, coordinate)
                stride := mul(stride, dim)
                if iszero(or(slt(low, 0), iszero(slt(high, dim)))) { continue }
                if or(iszero(iszero(b)), slt(a, 0)) {
                    affine := 0
                    break
                }
                whole := 0
                if iszero(a) {
                    mstore(add(plan, add(BOX, 0x40)), 0)
                    continue
                }
                // a > 0: inside from ⌈−c/a⌉ to ⌊(dim − 1 − c)/a⌋.
                let c := signextend(3, shr(COORDINATE_C, coordinate))
                low := mul(slt(c, 0), div(sub(sub(a, 1), c), a))
                high := mul(slt(c, dim), add(sdiv(sub(sub(dim, 1), c), a), 1))
                axis := add(axis, 0x20)
                if gt(low, mload(axis)) { mstore(axis, low) }
                axis := add(axis, 0x20)
                if lt(high, mload(axis)) { mstore(axis, high) }
            }
        }
    }

    /// @dev Joins axes that run on in source and output alike; those of length 1 are left out.
    function _join(uint256 plan, Flat out) private pure {
        assembly ("memory-safe") {
            let outStride := 1
            let outFirst := 0
            let bottom := add(plan, AXES)
            let top := sub(bottom, AXIS_BYTES)
            let dims := mload(and(shr(FLAT_SHAPE, out), FLAT_U32))
            for { let axis := and(shr(FLAT_RANK, out), FLAT_U8) } axis {} {
                axis := sub(axis, 1)
                let box := add(add(plan, BOX), mul(AXIS_BYTES, axis))
                let from := mload(add(box, 0x20))
                let length := mload(add(box, 0x40))
                length := mul(gt(length, from), sub(length, from))
                let step := mload(box)
                mstore(plan, add(mload(plan), mul(from, step)))
                outFirst := add(outFirst, mul(from, outStride))
                if iszero(eq(length, 1)) {
                    let isNew := 1
                    switch lt(top, bottom)
                    case 0 {
                        let size := mload(top)
                        isNew := or(
                            iszero(eq(step, mul(size, mload(add(top, 0x20))))),
                            iszero(eq(outStride, mul(size, mload(add(top, 0x40)))))
                        )
                        if iszero(isNew) { mstore(top, mul(size, length)) }
                    }
                    default {
                        // Runs are along the innermost axis: where the box is one element wide, so is a run.
                        if iszero(eq(outStride, 1)) {
                            top := bottom
                            mstore(top, 1)
                            mstore(add(top, 0x20), 1)
                        }
                    }
                    if isNew {
                        top := add(top, AXIS_BYTES)
                        mstore(top, length)
                        mstore(add(top, 0x20), step)
                        mstore(add(top, 0x40), outStride)
                    }
                }
                outStride := mul(outStride, and(shr(sub(DIM_TOP, mul(DIM_BITS, axis)), dims), DIM_MASK))
            }
            if lt(top, bottom) {
                top := bottom
                mstore(top, 1)
                mstore(add(top, 0x20), 1)
            }
            if eq(top, bottom) { mstore(add(plan, OUTER), 1) }
            mstore(add(plan, OUT_FIRST), outFirst)
            mstore(add(plan, COUNT), add(div(sub(top, bottom), AXIS_BYTES), 1))
        }
    }

    function word(uint256 plan, uint256 offset) internal pure returns (uint256 stored) {
        assembly ("memory-safe") {
            stored := mload(add(plan, offset))
        }
    }
}
