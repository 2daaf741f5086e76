// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {DotLanes, LANES} from "../libraries/DotLanes.sol";
import {Facts} from "../libraries/Facts.sol";
import {FIRST_U32} from "../libraries/Memory.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {ProgramField, TYPE_S8, Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice DOT of two tensors of activations, which has no weights (docs/EXACT.md, section 3). SIMD lanes are those of
/// DotLanes.
library DotActivations {
    /// @dev Every second SIMD lane of 32 bits, and every second pair of them.
    uint256 private constant EVEN = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF;
    uint256 private constant EVEN_PAIRS = 0x0000000000000000FFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF;
    /// @dev Of a row that both tensors share: most elements.
    uint256 private constant MAX_LENGTH = 1024;
    /// @dev The version of the judge that has the variant.
    uint256 private constant NEW_VERSION = 2;

    /// @dev One row of each operand: row m of a, and row n of the matrix that k rows of a share.
    function judge(Trial memory t, Opening[] calldata openings, Tensor memory a, Tensor memory b)
        internal
        view
        returns (uint256 stored)
    {
        unchecked {
            uint256 row = t.element / t.out.last;
            uint256 left = Openings.openRow(t, openings, a, row);
            row = (row / t.record.head.attribute()) * t.out.last + t.element % t.out.last;
            uint256 right = Openings.openRow(t, openings, b, row);
            return products(left, _zeroOf(a), right, _zeroOf(b), a.last);
        }
    }

    /// @dev What a stored byte of the tensor is above its value.
    function _zeroOf(Tensor memory x) private pure returns (uint256) {
        return x.code == TYPE_S8 ? 128 : 0;
    }

    /// @notice Stored s32: the sum of products of two rows of bytes in memory. @param left and right memory of the rows
    /// @param leftZero and rightZero what a stored byte is above its value: 128 of a signed type, else 0
    /// @param length elements of each, 1 to 1,024, so that no sum leaves s32
    function products(uint256 left, uint256 leftZero, uint256 right, uint256 rightZero, uint256 length)
        internal
        pure
        returns (uint256 stored)
    {
        unchecked {
            uint256 prepared;
            // Beyond what is allocated: nothing allocates before the rows are multiplied.
            assembly ("memory-safe") {
                prepared := mload(0x40)
            }
            // Σ (a − za)(b − zb) = Σ a·b − za·Σ b − zb·Σ a + K·za·zb. Of b the sum alone is needed: it is prepared first, and
            // a over it.
            stored = leftZero * rightZero * length - leftZero * DotLanes.prepare(right, length, prepared);
            stored -= rightZero * DotLanes.prepare(left, length, prepared);
            return (stored + _products(prepared, right, length)) & 0xFFFFFFFF;
        }
    }

    /// @dev Σ a·b of stored bytes. @param prepared memory of row a, prepared @param row memory of row b
    function _products(uint256 prepared, uint256 row, uint256 length) private pure returns (uint256 sum) {
        assembly ("memory-safe") {
            for { let end := add(row, length) } lt(row, end) { row := add(row, 0x20) } {
                // SIMD lanes in reverse order, the four bytes of each in theirs. What the last word holds beyond the row
                // meets zeros.
                let word := mload(row)
                word := or(shl(128, word), shr(128, word))
                word := or(shl(64, and(word, EVEN_PAIRS)), and(shr(64, word), EVEN_PAIRS))
                word := or(shl(32, and(word, EVEN)), and(shr(32, word), EVEN))
                sum := add(
                    add(
                        add(sum, mul(mload(prepared), and(shr(24, word), LANES))),
                        mul(mload(add(prepared, 0x20)), and(shr(16, word), LANES))
                    ),
                    add(
                        mul(mload(add(prepared, 0x40)), and(shr(8, word), LANES)),
                        mul(mload(add(prepared, 0x60)), and(word, LANES))
                    )
                )
                prepared := add(prepared, 0x80)
            }
            sum := shr(FIRST_U32, sum)
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        unchecked {
            StepRules.outputType(s, StepRules.S32);
            (Facts left,) = StepRules.plain(s, 0, StepRules.BYTES);
            (Facts right,) = StepRules.plain(s, 1, StepRules.BYTES);
            StepRules.none(s, 2);
            uint256 share = s.head.attribute();
            uint256 rows = s.own.rows();
            if (share == 0 || rows % share != 0) StepRules.fail(s, ProgramField.K, share);
            uint256 length = left.last();
            if (length > MAX_LENGTH) StepRules.fail(s, ProgramField.OPERAND_A, length);
            if (left.rows() != rows) StepRules.fail(s, ProgramField.OPERAND_A, left.rows());
            if (right.last() != length) StepRules.fail(s, ProgramField.OPERAND_B, right.last());
            if (right.rows() != (rows / share) * s.own.last()) {
                StepRules.fail(s, ProgramField.OPERAND_B, right.rows());
            }
            s.needs(NEW_VERSION);
            StepRules.withoutKernel(s);
        }
    }
}
