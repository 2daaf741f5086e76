// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice FLOAT of whole tensors.
library FloatRows {
    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, uint256 head, uint256 out) internal view returns (uint256) {
        uint256 a = Machines.operand(m, head, 0);
        uint256 b = Machines.operand(m, head, 1);
        uint256 c = Machines.operand(m, head, 2);
        return float(m.floatJudge, ProgramReader.variant(head), out, a, b, c);
    }

    /// @param a operand @param b likewise, 0 if the variant has none @param c likewise
    function float(IFloatJudge floatJudge, uint256 variant, uint256 out, uint256 a, uint256 b, uint256 c)
        internal
        view
        returns (uint256 flat)
    {
        bytes memory operands;
        unchecked {
            uint256 fromA = Broadcast.expand(a, out);
            uint256 fromB = _pointer(b, out);
            uint256 fromC = _pointer(c, out);
            uint256 count = Flat.count(out);
            uint256 size = count * Shapes.elementBytes(Flat.code(a));
            operands = new bytes(size + (b == 0 ? 0 : 4 * count) + (c == 0 ? 0 : 4 * count));
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
        bytes memory stored =
            floatJudge.computeAll(variant, Flat.code(out), Flat.code(a), Flat.count(out), operands);
        assembly ("memory-safe") {
            flat := or(out, add(stored, 0x20))
        }
        Flat.reserve(0);
    }

    function _pointer(uint256 x, uint256 out) private pure returns (uint256) {
        return x == 0 ? 0 : Broadcast.expand(x, out);
    }
}
