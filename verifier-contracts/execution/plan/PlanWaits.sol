// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Arith} from "../../opcodes/Arith.sol";
import {Requant} from "../../opcodes/Requant.sol";
import {MovePlan} from "../../opcodes/rows/MovePlan.sol";
import {
    INPUT_LANES,
    NONE,
    OP_ARITH,
    OP_CODEC,
    OP_LOOKUP,
    OP_MOVE,
    OP_REQUANT,
    TYPE_S32,
    WEIGHT
} from "../../types/Program.sol";
import {PlanMoves} from "./PlanMoves.sol";
import {Draft} from "./PlanWriter.sol";

/// @notice Steps whose instructions wait until another step wants their tensor, since that one may do without it
/// (PlanFusion). Such a step's flat tensor has no pointer, but its kind at bits 144..151, and for sums the number of
/// their terms at bits 152..159.
library PlanWaits {
    /// @dev MOVE of an s32 matrix whose rows are another tensor's columns; a part of each row of such a one.
    uint256 internal constant TURNED = 1;
    uint256 internal constant TURNED_PART = 2;
    /// @dev CODEC lanes of up to eight columns; from whose columns numbers are subtracted; which is requantized.
    uint256 internal constant LANES = 3;
    uint256 internal constant LANES_LESS = 4;
    uint256 internal constant LANES_BYTES = 5;
    /// @dev LOOKUP sum; some columns of it, its rows shifted, zeros where they leave; a sum of such and of a bias.
    uint256 internal constant ROWS = 6;
    uint256 internal constant SHIFTED = 7;
    uint256 internal constant SUM = 8;

    uint256 private constant KIND = 144;
    uint256 private constant TERMS = 152;
    /// @dev Terms of a sum: each is one more level of steps that wait.
    uint256 internal constant MOST_TERMS = 8;
    /// @dev Columns of a tensor of lanes: rows of 16 bytes; its rows come 32 at a time.
    uint256 private constant MOST_COLUMNS = 8;
    uint256 private constant BLOCK = 32;

    /// @notice The kind of a step that waits, 0 of any other operand.
    function kind(Draft memory d, uint256 index) internal pure returns (uint256) {
        return index < WEIGHT ? (d.steps[index] >> KIND) & 0xFF : 0;
    }

    /// @notice A waiting step's flat tensor as it was described.
    function described(uint256 flat) internal pure returns (uint256) {
        return flat & ((1 << KIND) - 1);
    }

    /// @param out the step's tensor without a pointer @return waiting it with its kind, 0 if it does not wait
    function waits(Draft memory d, uint256 record, uint256 head, uint256 out)
        internal
        pure
        returns (uint256 waiting)
    {
        uint256 opcode = ProgramReader.opcode(head);
        uint256 variant = ProgramReader.variant(head);
        uint256 sort;
        if (opcode == OP_CODEC) sort = _codec(d, out);
        else if (opcode == OP_MOVE) sort = _move(d, record, head, out);
        else if (opcode == OP_ARITH) sort = _arith(d, variant, head, out);
        else if (opcode == OP_REQUANT && variant == Requant.INTEGER) sort = _requant(d, head);
        else if (opcode == OP_LOOKUP && variant == 0 && Flat.last(out) % 32 == 0) sort = ROWS;
        return sort == 0 ? 0 : out | sort << KIND;
    }

    /// @notice What a TURNED step holds: its element [i, j] is number first + i + stride·j of another tensor.
    /// @return base index of that tensor, NONE if the step is not TURNED (any more)
    /// @return first element of it
    /// @return length of a row, over j
    /// @return stride elements
    function columns(Draft memory d, uint256 index)
        internal
        pure
        returns (uint256 base, uint256 first, uint256 length, uint256 stride)
    {
        unchecked {
            uint256 sort = kind(d, index);
            base = NONE;
            if (sort == TURNED) {
                base = _operand(d, index);
                (first, length, stride) = _axesOf(d, index);
                // Backwards is not for columns: their stride is unsigned.
                if (int256(stride) < 0) base = NONE;
            } else if (sort == TURNED_PART && kind(d, _operand(d, index)) == TURNED) {
                uint256 rowLength;
                (base, first, rowLength, stride) = columns(d, _operand(d, index));
                uint256 begin;
                (begin, length,) = _axesOf(d, index);
                first += begin / rowLength + begin % rowLength * stride;
            }
        }
    }

    /// @notice What a MOVE takes of a LOOKUP sum [T, W]: its element [t, c] is [t + shift, from + c], or 0 beyond.
    /// @param out its tensor @param width W
    /// @return found false if it is no such MOVE
    /// @return shift two's complement
    /// @return from first column
    function shifted(Draft memory d, uint256 record, uint256 out, uint256 width)
        internal
        pure
        returns (bool found, uint256 shift, uint256 from)
    {
        unchecked {
            if (!_isCut(d, record, out)) return (false, 0, 0);
            (, uint256 row, uint256 outRow) = PlanMoves.box(d);
            uint256 size = Flat.last(out);
            (uint256 rows, uint256 step, uint256 outStep) = PlanMoves.axis(d, 1);
            found = step == width && outStep == size && outRow % size == 0;
            (from, row, outRow) = (row % width, row / width, outRow / size);
            // All of the rows that stay inside, and no other.
            found = found && (row == 0 || outRow == 0) && rows + row + outRow == Flat.count(out) / size
                && from + size <= width && row + outRow < 128;
            return (found, row - outRow, from);
        }
    }

    /// @dev True if a MOVE copies whole rows of its output, and leaves zeros in the others.
    function _isCut(Draft memory d, uint256 record, uint256 out) private pure returns (bool) {
        (bool affine, bool whole) = MovePlan.make(d.moves, record, out);
        if (!whole) {
            uint256 head = Flat.load(record);
            affine = affine && (head >> 144) & 0xFFFFFFFF == 0 && ProgramReader.operandOf(head, 1) == NONE;
        }
        (uint256 axes,,) = PlanMoves.box(d);
        (uint256 length, uint256 step, uint256 outStep) = PlanMoves.axis(d, 0);
        return affine && axes == 2 && length == Flat.last(out) && step == 1 && outStep == 1;
    }

    function _codec(Draft memory d, uint256 out) private pure returns (uint256) {
        unchecked {
            uint256 columns_ = Flat.last(out);
            if (ModelWord.inputCodec(d.word) != INPUT_LANES || columns_ > MOST_COLUMNS) return 0;
            return Flat.count(out) / columns_ % BLOCK == 0 ? LANES : 0;
        }
    }

    function _move(Draft memory d, uint256 record, uint256 head, uint256 out) private pure returns (uint256) {
        unchecked {
            if (Flat.code(out) != TYPE_S32) return 0;
            uint256 index = ProgramReader.operandOf(head, 0);
            uint256 sort = kind(d, index);
            if (sort == ROWS) {
                (bool found,,) = shifted(d, record, out, Flat.last(d.steps[index]));
                if (found) return SHIFTED;
            }
            (bool affine, bool whole) = MovePlan.make(d.moves, record, out);
            (uint256 count, uint256 first,) = PlanMoves.box(d);
            if (!affine || !whole || count != 2) return 0;
            (, uint256 runStep,) = PlanMoves.axis(d, 1);
            if (runStep == 1) return TURNED;
            (uint256 length, uint256 step,) = PlanMoves.axis(d, 0);
            uint256 rowLength = sort == TURNED ? Flat.last(d.steps[index]) : 0;
            bool isPart = rowLength != 0 && step == 1 && runStep == rowLength;
            return isPart && first % rowLength + length <= rowLength ? TURNED_PART : 0;
        }
    }

    function _arith(Draft memory d, uint256 variant, uint256 head, uint256 out)
        private
        pure
        returns (uint256)
    {
        unchecked {
            if (variant > Arith.SUB || Flat.code(out) != TYPE_S32) return 0;
            (uint256 a, uint256 b) = (ProgramReader.operandOf(head, 0), ProgramReader.operandOf(head, 1));
            if (variant == Arith.SUB) {
                return kind(d, a) == LANES && _isWhole(d, a, out) && isRow(d, b, out) ? LANES_LESS : 0;
            }
            uint256 terms = _terms(d, a, out);
            uint256 others = _terms(d, b, out);
            if (terms == 0 || others == 0 || terms + others > MOST_TERMS) return 0;
            bool both = kind(d, a) != 0 && kind(d, b) != 0;
            bool one = kind(d, a) != 0 ? b >= WEIGHT : kind(d, b) != 0 && a >= WEIGHT;
            return both || one ? SUM | (terms + others) << (TERMS - KIND) : 0;
        }
    }

    /// @dev Terms of an operand of a sum, 0 if it can be none.
    function _terms(Draft memory d, uint256 index, uint256 out) private pure returns (uint256) {
        uint256 sort = kind(d, index);
        if (sort == SHIFTED || sort == SUM) {
            if (!_isWhole(d, index, out)) return 0;
            return sort == SUM ? (d.steps[index] >> TERMS) & 0xFF : 1;
        }
        return index >= WEIGHT && isRow(d, index, out) ? 1 : 0;
    }

    function _requant(Draft memory d, uint256 head) private pure returns (uint256) {
        uint256 sort = kind(d, ProgramReader.operandOf(head, 0));
        return sort == LANES || sort == LANES_LESS ? LANES_BYTES : 0;
    }

    /// @notice True if an operand is s32, one number for each column of the output.
    function isRow(Draft memory d, uint256 index, uint256 out) internal pure returns (bool) {
        unchecked {
            uint256 flat = index < WEIGHT ? d.steps[index] : d.weights[index - WEIGHT];
            return Flat.code(flat) == TYPE_S32 && Flat.count(flat) == Flat.last(flat)
                && Flat.last(flat) == Flat.last(out);
        }
    }

    function _isWhole(Draft memory d, uint256 index, uint256 out) private pure returns (bool) {
        return Flat.count(d.steps[index]) == Flat.count(out) && Flat.last(d.steps[index]) == Flat.last(out);
    }

    function _operand(Draft memory d, uint256 index) private pure returns (uint256) {
        return ProgramReader.operandOf(Flat.load(recordOf(d, index)), 0);
    }

    /// @notice Memory of a step's record.
    function recordOf(Draft memory d, uint256 index) internal pure returns (uint256) {
        unchecked {
            return d.records + ProgramReader.RECORD_BYTES * index;
        }
    }

    function _axesOf(Draft memory d, uint256 index)
        private
        pure
        returns (uint256 first, uint256 length, uint256 step)
    {
        MovePlan.make(d.moves, recordOf(d, index), d.steps[index]);
        (, first,) = PlanMoves.box(d);
        (length, step,) = PlanMoves.axis(d, 0);
    }
}
