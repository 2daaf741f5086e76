// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    COORDINATES,
    COORDINATE_A,
    COORDINATE_B,
    COORDINATE_BITS,
    COORDINATE_BYTES,
    COORDINATE_C,
    COORDINATE_P,
    COORDINATE_P_BYTE,
    COORDINATE_Q,
    COORDINATE_Q_BYTE,
    COORDINATE_VIEW
} from "../libraries/Coordinate.sol";
import {Facts} from "../libraries/Facts.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {DIM_BITS, DIM_MASK, DIM_TOP, Shapes} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {NONE, ProgramField, Record, Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice MOVE: the source viewed under 4 dims, at coordinates that are affine in two output axes each
/// (docs/EXACT.md, section 3).
library Move {
    uint256 private constant FACTOR = 0xFFFFFF;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        (bool inside, uint256 index) = source(t.record, t.out, t.element);
        if (inside) return Openings.openElement(t, openings, Openings.operand(t, 0), index);
        if (t.record.head.operandOf(1) == NONE) return t.record.head.attribute();
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
            for (uint256 j = 0; j < COORDINATES; ++j) {
                uint256 coordinate =
                    (j < 2 ? record.coordinates01 : record.coordinates23) << (COORDINATE_BITS * (j & 1));
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
                indices |= (element % dim) << (DIM_TOP - DIM_BITS * axis);
                element /= dim;
            }
        }
    }

    /// @dev `a·i[p] + b·i[q] + c` and v of the coordinate in the upper 16 bytes.
    function _coordinate(uint256 coordinate, uint256 indices) private pure returns (int256 s, uint256 view_) {
        assembly ("memory-safe") {
            view_ := shr(COORDINATE_VIEW, coordinate)
            s := signextend(3, shr(COORDINATE_C, coordinate))
            let a := signextend(2, shr(COORDINATE_A, coordinate))
            let p := and(shr(COORDINATE_P, coordinate), 0xFF)
            s := add(s, mul(a, and(shr(sub(DIM_TOP, mul(DIM_BITS, p)), indices), DIM_MASK)))
            let b := signextend(2, shr(COORDINATE_B, coordinate))
            let q := and(shr(COORDINATE_Q, coordinate), 0xFF)
            s := add(s, mul(b, and(shr(sub(DIM_TOP, mul(DIM_BITS, q)), indices), DIM_MASK)))
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        unchecked {
            StepRules.oneForm(s);
            uint256 code = s.own.code();
            (Facts viewed,) = StepRules.plain(s, 0, 1 << code);
            uint256 k = s.head.attribute();
            if (s.head.operandOf(1) == NONE) {
                if (k > type(uint8).max && Shapes.elementBytes(code) == 1) {
                    StepRules.fail(s, ProgramField.K, k);
                }
            } else {
                StepRules.same(s, 1, 1 << code);
                StepRules.noAttribute(s);
            }
            StepRules.none(s, 2);
            (uint256 product, uint256 misfit) =
                _fitCoordinates(s.pointer + StepRules.COORDINATES_AT, s.head.outputRank());
            if (misfit != 0) StepRules.fail(s, ProgramField.COORDINATES, misfit);
            // A view dim of 0 makes the product 0, which no tensor's element count is.
            if (product != viewed.count()) StepRules.fail(s, ProgramField.COORDINATES, product);
        }
    }

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
                product := mul(product, shr(COORDINATE_VIEW, coordinate))
                let p := byte(COORDINATE_P_BYTE, coordinate)
                let q := byte(COORDINATE_Q_BYTE, coordinate)
                if p {
                    if iszero(and(lt(p, rank), lt(0, and(shr(COORDINATE_A, coordinate), FACTOR)))) {
                        misfit := shr(COORDINATE_BITS, coordinate)
                    }
                }
                if q {
                    if iszero(and(lt(q, rank), lt(0, and(shr(COORDINATE_B, coordinate), FACTOR)))) {
                        misfit := shr(COORDINATE_BITS, coordinate)
                    }
                }
            }
        }
    }
}
