// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {DotLanes} from "../../libraries/DotLanes.sol";
import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Memory} from "../../libraries/Memory.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {DOT_BINARY32, DOT_INTEGER, OP_DOT, TYPE_S32, UnknownVariant} from "../../types/Program.sol";
import {Dot} from "../Dot.sol";
import {RequantRows} from "./RequantRows.sol";

/// @notice DOT of whole tensors: each activation row is prepared once, then multiplied with every weight row.
library DotRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        uint256 form = head.variant();
        Flat a = Machines.operand(m, head, 0);
        return _dot(m, form, head.attribute(), out, a, head.operandOf(1));
    }

    /// @param groups G @param out tensor without a pointer @param a activations
    /// @param index WEIGHT + index of the weights
    function _dot(Machine memory m, uint256 form, uint256 groups, Flat out, Flat a, uint256 index)
        private
        view
        returns (Flat flat)
    {
        unchecked {
            if (form > DOT_BINARY32) revert UnknownVariant(OP_DOT, form);
            // The binary32 form starts from the sums, with the bias in them.
            flat = (form == DOT_BINARY32 ? out.withType(TYPE_S32) : out).allocate();
            Machines.hold(m);
            uint256 free = Memory.mark();
            uint256 outputs = out.last();
            uint256 rowBytes = 32 * ((a.last() + 31) >> 5) + 32;
            uint256 weights = Machines.part(m, Machines.weight(m, index).pointer(), rowBytes * outputs);
            _rows(flat, a, weights, groups, form == DOT_INTEGER);
            if (form == DOT_BINARY32) {
                uint256 first = weights + rowBytes - 32;
                return
                    RequantRows.binary32(
                        m.floatJudge, out, flat.pointer(), first, rowBytes * outputs, rowBytes
                    );
            }
            Memory.release(free);
        }
    }

    function _rows(Flat flat, Flat a, uint256 weights, uint256 groups, bool isInteger) private pure {
        unchecked {
            uint256 length = a.last();
            uint256 size = (length + 31) & ~uint256(31);
            uint256 stride = flat.last() / groups;
            uint256 rowBytes = (size + 32) * stride;
            if (!isInteger) stride *= 4;
            uint256 target = flat.pointer();
            uint256 end = target + flat.size();
            uint256 row = a.pointer();
            // Beyond what is allocated: nothing allocates before all rows are multiplied.
            uint256 prepared = Memory.mark();
            uint256 group = 0;
            for (; target < end; target += stride) {
                uint256 sum = DotLanes.prepare(row, length, prepared);
                row += length;
                uint256 first = weights + rowBytes * group;
                if (isInteger) Dot.integers(target, target + stride, prepared, sum, first, size);
                else Dot.sums(target, target + stride, prepared, sum, first, size);
                if (++group == groups) group = 0;
            }
        }
    }
}
