// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {DOT_BINARY32, DOT_INTEGER, OP_DOT, TYPE_S32, UnknownVariant} from "../../types/Program.sol";
import {Dot} from "../Dot.sol";
import {RequantRows} from "./RequantRows.sol";

/// @notice DOT of whole tensors: each activation row is prepared once, then multiplied with every weight row.
library DotRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256) {
        uint256 form = ProgramReader.variant(head);
        uint256 a = Machines.operand(m, head, 0);
        return _dot(m, form, ProgramReader.attribute(head), out, a, ProgramReader.operandOf(head, 1));
    }

    /// @param groups G @param out tensor without a pointer @param a activations
    /// @param index WEIGHT + index of the weights
    function _dot(Machine memory m, uint256 form, uint256 groups, uint256 out, uint256 a, uint256 index)
        private
        view
        returns (uint256 flat)
    {
        unchecked {
            if (form > DOT_BINARY32) revert UnknownVariant(OP_DOT, form);
            // The binary32 form starts from the sums, with the bias in them.
            flat = Flat.allocate(form == DOT_BINARY32 ? _as32(out) : out);
            Machines.hold(m);
            uint256 free = Flat.mark();
            uint256 outputs = Flat.last(out);
            uint256 rowBytes = 32 * ((Flat.last(a) + 31) >> 5) + 32;
            uint256 weights = Machines.part(m, Flat.pointer(Machines.weight(m, index)), rowBytes * outputs);
            _rows(flat, a, weights, groups, form == DOT_INTEGER);
            if (form == DOT_BINARY32) {
                uint256 first = weights + rowBytes - 32;
                return RequantRows.binary32(
                    m.floatJudge, out, Flat.pointer(flat), first, rowBytes * outputs, rowBytes
                );
            }
            Flat.release(free);
        }
    }

    function _rows(uint256 flat, uint256 a, uint256 weights, uint256 groups, bool isInteger) private pure {
        unchecked {
            uint256 length = Flat.last(a);
            uint256 size = (length + 31) & ~uint256(31);
            uint256 stride = Flat.last(flat) / groups;
            uint256 rowBytes = (size + 32) * stride;
            if (!isInteger) stride *= 4;
            uint256 target = Flat.pointer(flat);
            uint256 end = target + Flat.size(flat);
            uint256 row = Flat.pointer(a);
            // Beyond what is allocated: nothing allocates before all rows are multiplied.
            uint256 prepared = Flat.mark();
            uint256 group = 0;
            for (; target < end; target += stride) {
                uint256 sum = Dot.prepare(row, length, prepared);
                row += length;
                uint256 first = weights + rowBytes * group;
                if (isInteger) Dot.integers(target, target + stride, prepared, sum, first, size);
                else Dot.sums(target, target + stride, prepared, sum, first, size);
                if (++group == groups) group = 0;
            }
        }
    }

    /// @dev The same tensor of s32.
    function _as32(uint256 out) private pure returns (uint256) {
        unchecked {
            return (out & ~(uint256(0xFF) << 96)) | (TYPE_S32 << 96);
        }
    }
}
