// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Swar} from "../../libraries/Swar.sol";
import {Reduce} from "../Reduce.sol";

/// @notice REDUCE of whole tensors.
library ReduceRows {
    /// @param variant 0 sum, 1 min, 2 max @param out tensor without a pointer @param a operand
    function run(uint256 variant, uint256 out, uint256 a) internal pure returns (uint256 flat) {
        unchecked {
            flat = Flat.allocate(out);
            uint256 count = Flat.last(a);
            uint256 code = Flat.code(a);
            uint256 rowBytes = count * Shapes.elementBytes(code);
            uint256 row = Flat.pointer(a);
            uint256 rows = Flat.count(out);
            for (uint256 i = 0; i < rows; ++i) {
                Flat.put(flat, i, Reduce.reduce(variant, code, row, count));
                row += rowBytes;
            }
        }
    }

    /// @notice Of an s32 matrix read by columns: output i is reduced from element [i], [i + stride], …, eight outputs at
    /// a time. @param source memory of the first element @param length of a column @param stride elements
    function columns(uint256 variant, uint256 out, uint256 source, uint256 length, uint256 stride)
        internal
        pure
        returns (uint256 flat)
    {
        unchecked {
            flat = Flat.allocate(out);
            uint256 target = Flat.pointer(flat);
            stride *= 4;
            uint256 size = (Flat.size(out) + 31) & ~uint256(31);
            if (variant == 0) {
                for (uint256 place = 0; place < size; place += 32) {
                    Swar.addColumn(target + place, source + place, length, stride);
                }
                return flat;
            }
            assembly ("memory-safe") {
                mcopy(target, source, size)
            }
            for (uint256 i = 1; i < length; ++i) {
                source += stride;
                Swar.extreme(variant == 2, target, target + size, target, source);
            }
        }
    }
}
