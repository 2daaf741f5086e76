// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Values} from "../../libraries/Values.sol";
import {TYPE_S32} from "../../types/Program.sol";
import {Dot} from "../Dot.sol";
import {Requant} from "../Requant.sol";
import {RequantRows} from "./RequantRows.sol";

/// @notice DOT of whole tensors: each activation row is prepared once, then multiplied with every weight row.
library DotRows {
    /// @param form 0 to 2 @param groups G @param out tensor without a pointer @param a activations
    /// @param index WEIGHT + index of the weights
    function run(Machine memory m, uint256 form, uint256 groups, uint256 out, uint256 a, uint256 index)
        internal
        view
        returns (uint256 flat)
    {
        unchecked {
            // The binary32 form starts from the sums, with the bias in them.
            flat = Flat.allocate(form == Requant.BINARY32 ? _as32(out) : out);
            Machines.hold(m);
            uint256 free = Flat.mark();
            uint256 outputs = Flat.last(out);
            uint256 rowBytes = 32 * ((Flat.last(a) + 31) >> 5) + 32;
            uint256 weights = Machines.part(m, Flat.pointer(Machines.weight(m, index)), rowBytes * outputs);
            _rows(flat, a, weights, groups, form == Requant.INTEGER);
            if (form == Requant.BINARY32) {
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
            uint256 words = (length + 31) >> 5;
            uint256 count = Flat.last(flat) / groups;
            uint256 target = Flat.pointer(flat);
            uint256 end = target + Flat.size(flat);
            uint256 row = Flat.pointer(a);
            // Beyond what is allocated: nothing allocates before all rows are multiplied.
            uint256 prepared = Flat.mark();
            while (target < end) {
                uint256 weight = weights;
                for (uint256 group = 0; group < groups; ++group) {
                    uint256 sum = Dot.prepare(row, length, prepared);
                    row += length;
                    if (isInteger) target = _integer(target, prepared, sum, weight, words, count);
                    else target = _sums(target, prepared, sum, weight, words, count);
                    weight += (32 * words + 32) * count;
                }
            }
        }
    }

    function _integer(
        uint256 target,
        uint256 prepared,
        uint256 sum,
        uint256 weight,
        uint256 words,
        uint256 count
    ) private pure returns (uint256) {
        unchecked {
            for (uint256 end = target + count; target < end; ++target) {
                uint256 product = Dot.dot(prepared, weight, words);
                weight += 32 * words;
                uint256 parameters = Flat.load(weight);
                weight += 32;
                int256 acc = Dot.accumulator(product, sum, parameters);
                uint256 stored = Requant.clamp(Requant.scale(acc, parameters), parameters);
                assembly ("memory-safe") {
                    mstore8(target, stored)
                }
            }
            return target;
        }
    }

    function _sums(
        uint256 target,
        uint256 prepared,
        uint256 sum,
        uint256 weight,
        uint256 words,
        uint256 count
    ) private pure returns (uint256) {
        unchecked {
            for (uint256 end = target + 4 * count; target < end; target += 4) {
                uint256 product = Dot.dot(prepared, weight, words);
                weight += 32 * words;
                uint256 stored = Values.storeS32(Dot.accumulator(product, sum, Flat.load(weight))) << 224;
                weight += 32;
                // The last one spills into the room behind the tensor.
                assembly ("memory-safe") {
                    mstore(target, stored)
                }
            }
            return target;
        }
    }

    /// @dev The same tensor of s32.
    function _as32(uint256 out) private pure returns (uint256) {
        unchecked {
            return (out & ~(uint256(0xFF) << 96)) | (TYPE_S32 << 96);
        }
    }
}
