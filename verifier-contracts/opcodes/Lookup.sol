// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Facts} from "../libraries/Facts.sol";
import {FIRST_U32} from "../libraries/Memory.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Values} from "../libraries/Values.sol";
import {
    LAYOUT_LOOKUP,
    LAYOUT_PLAIN,
    LOOKUP_BELOW,
    LOOKUP_EACH,
    LOOKUP_PICK,
    LOOKUP_SUM,
    NONE,
    OP_LOOKUP,
    ProgramField,
    TYPE_S8,
    Tensor,
    UnknownVariant
} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";
import {Reduce} from "./Reduce.sol";

/// @notice LOOKUP: sums of table rows, one row picked, an element for each id, or one by how far a number is below the
/// largest of its row (docs/EXACT.md, section 3).
library Lookup {
    /// @dev Ids of a row that one output sums.
    uint256 private constant MAX_SUMMED_ROWS = 16;
    uint256 internal constant SUM = 0;
    uint256 internal constant PICK = 1;
    /// @dev Of a row that is compared at once.
    uint256 private constant MAX_BELOW_LENGTH = 1024;
    /// @dev The version of the judge that has elements for each id, and by distances.
    uint256 private constant EACH_VERSION = 2;
    /// @dev Stored s32 order as their values do once it is flipped.
    uint256 private constant SIGN = 0x80000000;
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        Tensor memory ids = Openings.operand(t, 0);
        Tensor memory table = Openings.operand(t, 1);
        uint256 variant = t.record.head.variant();
        if (variant == SUM) return _sum(t, openings, ids, table);
        if (variant == LOOKUP_BELOW) return _below(t, openings, ids, table);
        if (variant != PICK && variant != LOOKUP_EACH) revert UnknownVariant(OP_LOOKUP, variant);
        unchecked {
            // Each id has a row of the table, which of variant EACH is one element.
            uint256 row = t.element / table.last;
            uint256 id = clampId(Openings.openElement(t, openings, ids, row), table.rows);
            return Openings.openElement(t, openings, table, id * table.last + t.element % table.last);
        }
    }

    function _sum(Trial memory t, Opening[] calldata openings, Tensor memory ids, Tensor memory table)
        private
        view
        returns (uint256)
    {
        unchecked {
            uint256 column = t.element % t.out.last;
            uint256 row = Openings.openRow(t, openings, ids, t.element / t.out.last);
            int256 sum = 0;
            for (uint256 i = 0; i < ids.last; ++i) {
                uint256 id = clampId(idAt(row, i), table.rows);
                if (id != 0) {
                    sum += value(Openings.openWord(t, openings, table, id, column >> 5), column & 31);
                }
            }
            return Values.storeS32(sum);
        }
    }

    /// @dev The table's element for how far the number is below the largest of its row whose place counts; 0 where its
    /// own place does not.
    function _below(Trial memory t, Opening[] calldata openings, Tensor memory a, Tensor memory table)
        private
        view
        returns (uint256)
    {
        unchecked {
            uint256 column = t.element % a.last;
            uint256 row = Openings.openRow(t, openings, a, t.element / a.last);
            uint256 greatest;
            if (t.record.head.operandOf(2) == NONE) {
                greatest = Reduce.extreme(true, true, row, a.last) ^ SIGN;
            } else {
                Tensor memory mask = Openings.operand(t, 2);
                uint256 maskRow = Shapes.broadcast(t.out, mask, t.element) / a.last;
                uint256 counts = Openings.openRow(t, openings, mask, maskRow);
                if (_byteAt(counts, column) == 0) return t.out.code == TYPE_S8 ? 128 : 0;
                greatest = _greatest(row, counts, a.last);
            }
            uint256 distance = greatest - (idAt(row, column) ^ SIGN);
            uint256 last = table.rows - 1;
            return Openings.openElement(t, openings, table, distance < last ? distance : last);
        }
    }

    /// @dev The greatest stored s32 of a row, its sign flipped, of the places whose byte of `counts` is not 0.
    function _greatest(uint256 row, uint256 counts, uint256 count) private pure returns (uint256 greatest) {
        assembly ("memory-safe") {
            for { let end := add(counts, count) } lt(counts, end) { counts := add(counts, 1) } {
                if byte(0, mload(counts)) {
                    let ordered := xor(shr(FIRST_U32, mload(row)), SIGN)
                    if gt(ordered, greatest) { greatest := ordered }
                }
                row := add(row, 4)
            }
        }
    }

    function _byteAt(uint256 row, uint256 i) private pure returns (uint256 result) {
        assembly ("memory-safe") {
            result := byte(0, mload(add(row, i)))
        }
    }

    /// @notice The id number i of a row in memory, stored.
    function idAt(uint256 row, uint256 i) internal pure returns (uint256 id) {
        assembly ("memory-safe") {
            id := shr(FIRST_U32, mload(add(row, shl(2, i))))
        }
    }

    /// @notice The table row that a stored id names. @param rows V
    function clampId(uint256 stored, uint256 rows) internal pure returns (uint256) {
        unchecked {
            return uint256(Values.clamp(Values.wrap(int256(stored)), 0, int256(rows) - 1));
        }
    }

    /// @notice Element `column` of a lane-interleaved word: number 8r + t is at byte 4t + 3 − r, stored + 128.
    function value(uint256 word, uint256 column) internal pure returns (int256) {
        unchecked {
            uint256 position = 4 * (column & 7) + 3 - (column >> 3);
            return int256((word >> (248 - 8 * position)) & 0xFF) - 128;
        }
    }

    /// @notice Sums of table rows in memory, as s32.
    /// @param from memory of the first row @param rows how many, 0 to 16 @param rowBytes of one, whole words
    /// @param target memory for four bytes a byte of a row
    function sumRows(uint256 from, uint256 rows, uint256 rowBytes, uint256 target) internal pure {
        assembly ("memory-safe") {
            if iszero(rows) {
                calldatacopy(target, calldatasize(), shl(2, rowBytes))
                rowBytes := 0
            }
            let offset := mul(shl(7, rows), ONES)
            let all := mul(rows, rowBytes)
            for { let end := add(from, rowBytes) } lt(from, end) { from := add(from, 0x20) } {
                // Bytes to SIMD lanes of 16 bits, which hold the sum of 16.
                let even := 0
                let odd := 0
                let behind := add(from, all)
                for { let row := from } lt(row, behind) { row := add(row, rowBytes) } {
                    let x := mload(row)
                    even := add(even, and(x, PAIRS))
                    odd := add(odd, and(shr(8, x), PAIRS))
                }
                // Elements 8r on are the byte r from the low end of each SIMD lane of 32 bits; 128 was added to each.
                mstore(target, xor(sub(or(and(even, HALVES), SIGNS), offset), SIGNS))
                mstore(add(target, 0x20), xor(sub(or(and(odd, HALVES), SIGNS), offset), SIGNS))
                even := and(shr(16, even), HALVES)
                odd := and(shr(16, odd), HALVES)
                mstore(add(target, 0x40), xor(sub(or(even, SIGNS), offset), SIGNS))
                mstore(add(target, 0x60), xor(sub(or(odd, SIGNS), offset), SIGNS))
                target := add(target, 0x80)
            }
        }
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.variants(s, LOOKUP_SUM, LOOKUP_BELOW);
        if (s.head.variant() >= LOOKUP_EACH) return _singleRules(s);
        bool sum = s.head.variant() == LOOKUP_SUM;
        (Facts ids,) = StepRules.plain(s, 0, StepRules.S32);
        if (ids.last() > (sum ? MAX_SUMMED_ROWS : 1)) {
            StepRules.fail(s, ProgramField.OPERAND_A, ids.last());
        }
        if (ids.rows() != s.own.rows()) StepRules.fail(s, ProgramField.OPERAND_A, ids.rows());
        (Facts table, uint256 shape) = StepRules.weights(s, 1, sum ? LAYOUT_LOOKUP : LAYOUT_PLAIN);
        // Rank 2: the second dim is there, the third is not.
        if (Shapes.dim(shape, 1) == 0 || Shapes.dim(shape, 2) != 0) {
            StepRules.fail(s, ProgramField.OPERAND_B, shape);
        }
        if (table.last() != s.own.last()) {
            StepRules.fail(s, ProgramField.OPERAND_B, table.last());
        }
        StepRules.outputType(s, sum ? StepRules.S32 : 1 << table.code());
        StepRules.none(s, 2);
        StepRules.noAttribute(s);
    }

    /// @dev Of the variants that take an element of a table for each one of operand a.
    function _singleRules(Scan memory s) private pure {
        StepRules.same(s, 0, StepRules.S32);
        (Facts table, uint256 shape) = StepRules.weights(s, 1, LAYOUT_PLAIN);
        // Rank 2 with the second dim 1.
        if (Shapes.dim(shape, 1) != 1 || Shapes.dim(shape, 2) != 0) {
            StepRules.fail(s, ProgramField.OPERAND_B, shape);
        }
        StepRules.outputType(s, 1 << table.code());
        if (s.head.variant() == LOOKUP_BELOW) _belowRules(s);
        else StepRules.none(s, 2);
        StepRules.noAttribute(s);
        s.needs(EACH_VERSION);
        StepRules.withoutKernel(s);
    }

    function _belowRules(Scan memory s) private pure {
        uint256 last = s.own.last();
        if (last > MAX_BELOW_LENGTH) StepRules.fail(s, ProgramField.OPERAND_A, last);
        if (s.head.operandOf(2) == NONE) return;
        StepRules.broadcast(s, 2, StepRules.BOOL);
        (Facts mask,) = StepRules.plain(s, 2, StepRules.BOOL);
        if (mask.last() != last) StepRules.failOperand(s, 2, mask.last());
    }
}
