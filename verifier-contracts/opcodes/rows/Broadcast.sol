// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Memory} from "../../libraries/Memory.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Tensor} from "../../types/Program.sol";
import {MoveRows} from "./MoveRows.sol";

/// @notice Operands under broadcast, written out in the shape of the output.
library Broadcast {
    /// @notice The operand if it has as many elements as the output, else a copy in the output's shape.
    function expand(Flat x, Flat out) internal pure returns (uint256 pointer) {
        unchecked {
            uint256 count = x.count();
            uint256 outCount = out.count();
            if (count == outCount) return x.pointer();
            uint256 bytesOf = Shapes.elementBytes(x.code());
            pointer = Memory.reserve(outCount * bytesOf);
            if (count == 1) {
                MoveRows.repeat(pointer, x.element(0), bytesOf, outCount * bytesOf);
                return pointer;
            }
            (uint256 leading, uint256 trailing) = ones(x, out);
            if (leading == count) {
                uint256 times = outCount / count;
                for (uint256 i = 0; i < count; ++i) {
                    uint256 place = pointer + i * times * bytesOf;
                    MoveRows.repeat(place, x.element(i), bytesOf, times * bytesOf);
                }
            } else if (trailing == count) {
                _double(pointer, x.pointer(), count * bytesOf, outCount * bytesOf);
            } else {
                _elements(pointer, x, out);
            }
        }
    }

    /// @notice The elements of x's axes that agree with the output's from the first on until one differs, and from the last
    /// one back. All of them: the operand is stretched at its end, or repeated as a whole.
    function ones(Flat x, Flat out) internal pure returns (uint256 leading, uint256 trailing) {
        unchecked {
            (uint256 rank, uint256 outRank) = (x.rank(), out.rank());
            (uint256 shape, uint256 outShape) = (x.shape(), out.shape());
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

    function _elements(uint256 pointer, Flat x, Flat out) private pure {
        unchecked {
            Tensor memory from;
            Tensor memory to;
            (from.rank, from.shape) = (x.rank(), x.shape());
            (to.rank, to.shape) = (out.rank(), out.shape());
            Flat copy = x.moved(pointer);
            uint256 count = out.count();
            for (uint256 i = 0; i < count; ++i) {
                copy.put(i, x.element(Shapes.broadcast(to, from, i)));
            }
        }
    }
}
