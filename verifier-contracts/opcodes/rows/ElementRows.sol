// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {Flat} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Broadcast} from "./Broadcast.sol";

/// @notice TABLE, SELECT and FLOAT of whole tensors.
library ElementRows {
    /// @param out tensor without a pointer @param a operand of bytes @param map 256 bytes
    function table(uint256 out, uint256 a, uint256 map) internal pure returns (uint256 flat) {
        flat = Flat.allocate(out);
        (uint256 target, uint256 source, uint256 from) =
            (Flat.pointer(flat), Flat.pointer(a), Flat.pointer(map));
        uint256 count = Flat.count(out);
        assembly ("memory-safe") {
            for { let end := add(target, count) } lt(target, end) { target := add(target, 1) } {
                mstore8(target, byte(0, mload(add(from, byte(0, mload(source))))))
                source := add(source, 1)
            }
        }
    }

    /// @param out tensor without a pointer @param a condition @param b where it is true @param c where it is not
    function select(uint256 out, uint256 a, uint256 b, uint256 c) internal pure returns (uint256 flat) {
        flat = Flat.allocate(out);
        uint256 free = Flat.mark();
        uint256 condition = Broadcast.expand(a, out);
        uint256 yes = Broadcast.expand(b, out);
        uint256 no = Broadcast.expand(c, out);
        uint256 target = Flat.pointer(flat);
        uint256 size = Flat.size(out);
        uint256 bytesOf = Shapes.elementBytes(Flat.code(out));
        assembly ("memory-safe") {
            // Stores in ascending order: what one spills is overwritten by the next, or is room behind the tensor.
            for { let i := 0 } lt(i, size) { i := add(i, bytesOf) } {
                let from := no
                if byte(0, mload(condition)) { from := yes }
                mstore(add(target, i), mload(add(from, i)))
                condition := add(condition, 1)
            }
        }
        Flat.release(free);
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
