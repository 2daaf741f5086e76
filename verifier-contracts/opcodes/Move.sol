// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Facts, Scan} from "../libraries/Scan.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {NONE, ProgramField, Record, Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice MOVE: the source viewed under 4 dims, at coordinates that are affine in two output axes each
/// (docs/EXACT.md, section 3).
library Move {
    /// @dev A record's coordinates, in a word's upper 16 bytes each: v u32, c s32, a s24, b s24, p u8, q u8.
    uint256 private constant COORDINATES = 4;
    uint256 private constant COORDINATE_BYTES = 16;
    uint256 private constant COORDINATE_SHIFT = 128;
    uint256 private constant VIEW_SHIFT = 224;
    uint256 private constant A_SHIFT = 168;
    uint256 private constant B_SHIFT = 144;
    uint256 private constant FACTOR = 0xFFFFFF;
    uint256 private constant P_AT = 14;
    uint256 private constant Q_AT = 15;

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

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        unchecked {
            StepRules.oneForm(s);
            uint256 code = Facts.code(s.own);
            (uint256 viewed,) = StepRules.plain(s, 0, 1 << code);
            uint256 k = ProgramReader.attribute(s.head);
            if (ProgramReader.operandOf(s.head, 1) == NONE) {
                if (k > type(uint8).max && Shapes.elementBytes(code) == 1) {
                    StepRules.fail(s, ProgramField.K, k);
                }
            } else {
                StepRules.same(s, 1, 1 << code);
                StepRules.noAttribute(s);
            }
            StepRules.none(s, 2);
            (uint256 product, uint256 misfit) =
                _fitCoordinates(s.pointer + StepRules.COORDINATES_AT, ProgramReader.outputRank(s.head));
            if (misfit != 0) StepRules.fail(s, ProgramField.COORDINATES, misfit);
            // A view dim of 0 makes the product 0, which no tensor's element count is.
            if (product != Facts.count(viewed)) StepRules.fail(s, ProgramField.COORDINATES, product);
        }
    }

    /// @dev Four coordinates of v u32, c s32, a s24, b s24, p u8, q u8.
    /// @return product of the view dims @return misfit the last coordinate with an axis that is not below the rank, or
    /// is not 0 though its factor is; 0 if there is none (an axis of 0 fits, so a misfit is not 0)
    function _fitCoordinates(uint256 pointer, uint256 rank)
        private
        pure
        returns (uint256 product, uint256 misfit)
    {
        assembly ("memory-safe") {
            product := 1
            let end := add(pointer, mul(COORDINATES, COORDINATE_BYTES))
            for {} lt(pointer, end) { pointer := add(pointer, COORDINATE_BYTES) } {
                let coordinate := mload(pointer)
                product := mul(product, shr(VIEW_SHIFT, coordinate))
                let p := byte(P_AT, coordinate)
                let q := byte(Q_AT, coordinate)
                if p {
                    if iszero(and(lt(p, rank), lt(0, and(shr(A_SHIFT, coordinate), FACTOR)))) {
                        misfit := shr(COORDINATE_SHIFT, coordinate)
                    }
                }
                if q {
                    if iszero(and(lt(q, rank), lt(0, and(shr(B_SHIFT, coordinate), FACTOR)))) {
                        misfit := shr(COORDINATE_SHIFT, coordinate)
                    }
                }
            }
        }
    }
}
