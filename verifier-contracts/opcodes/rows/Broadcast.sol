// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Tensor} from "../../types/Program.sol";
import {MoveRows} from "./MoveRows.sol";

/// @notice Operands under broadcast, written out in the shape of the output.
library Broadcast {
    /// @notice The operand if it has as many elements as the output, else a copy in the output's shape.
    function expand(uint256 x, uint256 out) internal pure returns (uint256 pointer) {
        unchecked {
            uint256 count = Flat.count(x);
            uint256 outCount = Flat.count(out);
            if (count == outCount) return Flat.pointer(x);
            uint256 bytesOf = Shapes.elementBytes(Flat.code(x));
            pointer = Flat.reserve(outCount * bytesOf);
            if (count == 1) {
                MoveRows.repeat(pointer, Flat.element(x, 0), bytesOf, outCount * bytesOf);
                return pointer;
            }
            (uint256 leading, uint256 trailing) = ones(x, out);
            if (leading == count) {
                uint256 times = outCount / count;
                for (uint256 i = 0; i < count; ++i) {
                    uint256 place = pointer + i * times * bytesOf;
                    MoveRows.repeat(place, Flat.element(x, i), bytesOf, times * bytesOf);
                }
            } else if (trailing == count) {
                _double(pointer, Flat.pointer(x), count * bytesOf, outCount * bytesOf);
            } else {
                _elements(pointer, x, out);
            }
        }
    }

    /// @notice The elements of x's axes that agree with the output's from the first on until one differs, and from the last
    /// one back. All of them: the operand is stretched at its end, or repeated as a whole.
    function ones(uint256 x, uint256 out) internal pure returns (uint256 leading, uint256 trailing) {
        unchecked {
            (uint256 rank, uint256 outRank) = (Flat.rank(x), Flat.rank(out));
            (uint256 shape, uint256 outShape) = (Flat.shape(x), Flat.shape(out));
            trailing = 1;
            uint256 axis = rank;
            while (
                axis != 0 && Shapes.dim(shape, axis - 1) == Shapes.dim(outShape, axis - 1 + outRank - rank)
            ) {
                trailing *= Shapes.dim(shape, --axis);
            }
            leading = 1;
            if (rank != outRank) return (0, trailing);
            for (axis = 0; axis < rank && Shapes.dim(shape, axis) == Shapes.dim(outShape, axis); ++axis) {
                leading *= Shapes.dim(shape, axis);
            }
        }
    }

    /// @dev Fills memory with copies of what is at the source.
    function _double(uint256 target, uint256 source, uint256 size, uint256 whole) private pure {
        assembly ("memory-safe") {
            mcopy(target, source, size)
            for {} lt(size, whole) {} {
                let more := sub(whole, size)
                if gt(more, size) { more := size }
                mcopy(add(target, size), target, more)
                size := add(size, more)
            }
        }
    }

    function _elements(uint256 pointer, uint256 x, uint256 out) private pure {
        unchecked {
            Tensor memory from;
            Tensor memory to;
            (from.rank, from.shape) = (Flat.rank(x), Flat.shape(x));
            (to.rank, to.shape) = (Flat.rank(out), Flat.shape(out));
            uint256 copy = (x & ~uint256(0xFFFFFFFF)) | pointer;
            uint256 count = Flat.count(out);
            for (uint256 i = 0; i < count; ++i) {
                Flat.put(copy, i, Flat.element(x, Shapes.broadcast(to, from, i)));
            }
        }
    }
}
