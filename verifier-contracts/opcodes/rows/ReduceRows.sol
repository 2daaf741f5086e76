// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Swar} from "../../libraries/Swar.sol";
import {TYPE_S32} from "../../types/Program.sol";
import {Reduce} from "../Reduce.sol";

/// @notice REDUCE of whole tensors.
library ReduceRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat flat) {
        Flat a = Machines.operand(m, head, 0);
        flat = out.allocate();
        uint256 variant = head.variant();
        reduce(variant, a.code(), flat.pointer(), a.pointer(), a.last(), out.count());
    }

    /// @notice Reduces rows that stand one after another. @param code type of their elements
    /// @param target memory of the results, a word of room behind them @param row memory of the first row
    /// @param count elements of a row @param rows how many
    function reduce(uint256 variant, uint256 code, uint256 target, uint256 row, uint256 count, uint256 rows)
        internal
        pure
    {
        unchecked {
            uint256 size = Shapes.elementBytes(code);
            bool isSum = variant == Reduce.SUM;
            bool isExtreme = variant == Reduce.MIN || variant == Reduce.MAX;
            if (isExtreme && code == TYPE_S32 && count >= Swar.LANES) {
                return Swar.extremes(variant == Reduce.MAX, target, row, 4 * count, rows);
            }
            // A sum is s32, an extreme of the operand's type.
            uint256 outSize = isSum ? 4 : size;
            uint256 unused = 256 - 8 * outSize;
            for (uint256 end = target + outSize * rows; target < end; target += outSize) {
                uint256 stored = Reduce.reduce(variant, code, row, count) << unused;
                // In ascending order: what one store spills is overwritten by the next, or is room.
                assembly ("memory-safe") {
                    mstore(target, stored)
                }
                row += size * count;
            }
        }
    }
}
