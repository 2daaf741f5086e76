// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {Memory} from "../../libraries/Memory.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice FLOAT of whole tensors.
library FloatRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        Flat a = Machines.operand(m, head, 0);
        Flat b = Machines.operand(m, head, 1);
        Flat c = Machines.operand(m, head, 2);
        return float(m.floatJudge, head.variant(), out, a, b, c);
    }

    /// @param a operand @param b likewise, NO_FLAT if the variant has none @param c likewise
    function float(IFloatJudge floatJudge, uint256 variant, Flat out, Flat a, Flat b, Flat c)
        internal
        view
        returns (Flat flat)
    {
        bytes memory operands;
        unchecked {
            uint256 fromA = Broadcast.expand(a, out);
            uint256 fromB = _pointer(b, out);
            uint256 fromC = _pointer(c, out);
            uint256 count = out.count();
            uint256 size = count * Shapes.elementBytes(a.code());
            operands = new bytes(size + (b.isNone() ? 0 : 4 * count) + (c.isNone() ? 0 : 4 * count));
            assembly ("memory-safe") {
                let place := add(operands, 0x20)
                mcopy(place, fromA, size)
                place := add(place, size)
                if b {
                    mcopy(place, fromB, shl(2, count))
                    place := add(place, shl(2, count))
                }
                if c { mcopy(place, fromC, shl(2, count)) }
            }
        }
        bytes memory stored = floatJudge.computeAll(variant, out.code(), a.code(), out.count(), operands);
        assembly ("memory-safe") {
            flat := or(out, add(stored, 0x20))
        }
        Memory.reserve(0);
    }

    function _pointer(Flat x, Flat out) private pure returns (uint256) {
        return x.isNone() ? 0 : Broadcast.expand(x, out);
    }
}
