// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {NONE, Record, Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice MOVE: the source viewed under 4 dims, at coordinates that are affine in two output axes each
/// (docs/EXACT.md, section 3).
library Move {
    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        (bool inside, uint256 index) = source(t.record, t.out, t.element);
        if (inside) return Openings.openElement(t, openings, Openings.operand(t, 0), index);
        if (ProgramReader.operandOf(t.record.head, 1) == NONE) return ProgramReader.attribute(t.record.head);
        return Openings.openElement(t, openings, Openings.operand(t, 1), t.element);
    }

    /// @notice Where an output element comes from. @param out the output tensor @param element row-major
    /// @return inside false if a coordinate is out of its range @return index of the source's element, row-major
    function source(Record memory record, Tensor memory out, uint256 element)
        internal
        pure
        returns (bool inside, uint256 index)
    {
        unchecked {
            uint256 indices = outputIndices(out, element);
            for (uint256 j = 0; j < 4; ++j) {
                uint256 coordinate = (j < 2 ? record.coordinates01 : record.coordinates23) << (128 * (j & 1));
                (int256 s, uint256 view_) = _coordinate(coordinate, indices);
                if (s < 0 || uint256(s) >= view_) return (false, 0);
                index = index * view_ + uint256(s);
            }
            return (true, index);
        }
    }

    /// @notice The output's index on each axis, packed as a shape is.
    function outputIndices(Tensor memory out, uint256 element) internal pure returns (uint256 indices) {
        unchecked {
            for (uint256 axis = out.rank; axis != 0;) {
                uint256 dim = Shapes.dim(out.shape, --axis);
                indices |= (element % dim) << (224 - 32 * axis);
                element /= dim;
            }
        }
    }

    /// @dev `a·i[p] + b·i[q] + c` and v of the coordinate in the upper 16 bytes: v u32, c s32, a s24, b s24, p, q u8.
    function _coordinate(uint256 coordinate, uint256 indices) private pure returns (int256 s, uint256 view_) {
        assembly ("memory-safe") {
            view_ := shr(224, coordinate)
            s := signextend(3, shr(192, coordinate))
            let a := signextend(2, shr(168, coordinate))
            let p := and(shr(136, coordinate), 0xFF)
            s := add(s, mul(a, and(shr(sub(224, shl(5, p)), indices), 0xFFFFFFFF)))
            let b := signextend(2, shr(144, coordinate))
            let q := and(shr(128, coordinate), 0xFF)
            s := add(s, mul(b, and(shr(sub(224, shl(5, q)), indices), 0xFFFFFFFF)))
        }
    }
}
