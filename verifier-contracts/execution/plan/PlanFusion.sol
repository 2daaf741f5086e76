// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Abi} from "../../opcodes/codecs/Abi.sol";
import {MovePlan} from "../../opcodes/rows/MovePlan.sol";
import {INPUT_TEXT, NONE, OP_CODEC, WEIGHT} from "../../types/Program.sol";
import {Plan} from "./Plan.sol";
import {PlanMoves} from "./PlanMoves.sol";
import {PlanWaits} from "./PlanWaits.sol";
import {PlanWindows} from "./PlanWindows.sol";
import {Draft, PlanWriter} from "./PlanWriter.sol";

/// @notice Instructions that stand for several steps which waited (PlanWaits).
library PlanFusion {
    /// @dev Stored bytes whose sum fits into lanes of 15 bits: 128 · 255 < 2^15.
    uint256 private constant MOST_BYTES = 128;
    uint256 private constant TOTAL = 0;
    uint256 private constant MAXIMUM = 2;

    /// @dev A sum of parts of a LOOKUP's rows and of a bias.
    /// @param lookup index of the step, NONE at first @param count of the parts
    /// @param packed 16 bits for each from the top: rows that it is shifted by + 128, its first column / 32
    /// @param bias index of the weight, NONE if there is none
    struct Terms {
        uint256 lookup;
        uint256 count;
        uint256 packed;
        uint256 bias;
    }

    /// @notice REDUCE of a matrix that only another one's columns turned to rows: reduces the columns.
    /// @param out its tensor without a pointer @param index of its operand @return flat the tensor, 0 if it is none
    function reduce(Draft memory d, uint256 variant, uint256 out, uint256 index)
        internal
        pure
        returns (uint256 flat)
    {
        unchecked {
            (uint256 base, uint256 first, uint256 length, uint256 stride) = PlanWaits.columns(d, index);
            if (base == NONE || length != Flat.last(d.steps[index])) return 0;
            uint256 rows = Flat.count(out);
            uint256 sort = PlanWaits.kind(d, base);
            if (variant == TOTAL && sort == PlanWaits.LANES) {
                if (first % stride + rows <= stride && stride == Flat.last(d.steps[base])) {
                    flat = out | PlanWriter.allocate(d, 4 * rows + 32);
                    uint256 lanes = _lanesOf(d, base) + 2 * first;
                    uint256 word = Plan.instruction(Plan.LANE_SUMS, 0, Flat.pointer(flat), lanes, 0);
                    PlanWriter.emitWord(d, word | rows << 144 | length << 120 | (2 * stride) << 96);
                    return flat;
                }
            }
            if (variant == MAXIMUM && (sort == PlanWaits.SUM || sort == PlanWaits.SHIFTED) && first == 0) {
                uint256 sums = d.steps[base];
                if (stride == Flat.last(sums) && rows == stride && length == Flat.count(sums) / stride) {
                    flat = _windows(d, out, base);
                    if (flat != 0) return flat;
                }
            }
            return _columns(d, variant, out, index);
        }
    }

    /// @dev The same for any matrix in memory.
    function _columns(Draft memory d, uint256 variant, uint256 out, uint256 index)
        private
        pure
        returns (uint256 flat)
    {
        unchecked {
            (uint256 base, uint256 first, uint256 length, uint256 stride) = PlanWaits.columns(d, index);
            uint256 source = Flat.pointer(PlanWriter.tensor(d, base)) + 4 * first;
            flat = out | PlanWriter.allocate(d, Flat.size(out));
            uint256 word = Plan.instruction(Plan.COLUMNS, variant, Flat.pointer(flat), source, 0);
            PlanWriter.emitWord(d, word | Flat.count(out) << 144 | length << 120 | (4 * stride) << 96);
        }
    }

    /// @notice MOVE that turns the requantized matrix of lanes. @param index of its operand
    /// @return flat the tensor, 0 if it is something else
    function turn(Draft memory d, uint256 record, uint256 out, uint256 index)
        internal
        pure
        returns (uint256 flat)
    {
        unchecked {
            if (PlanWaits.kind(d, index) != PlanWaits.LANES_BYTES) return 0;
            if (!_isTurn(d, record, out, Flat.last(d.steps[index]))) return 0;
            uint256 word = _sourceOf(d, index);
            if (word == 0) return 0;
            flat = out | PlanWriter.allocate(d, Flat.size(out));
            uint256 columns = Flat.last(d.steps[index]);
            word |= Plan.instruction(Plan.LANE_TURN, 0, Flat.pointer(flat), 0, 0) | d.top << 88;
            word |= (Flat.count(out) / columns) << 128 | columns << 120;
            uint256 place = d.place;
            PlanWriter.emitWord(d, word);
            _turnElse(d, place, record, out, index, flat);
        }
    }

    /// @dev What a REQUANT of lanes reads, as fields of LANE_TURN. @param index of the step @return word 0 if none
    function _sourceOf(Draft memory d, uint256 index) private pure returns (uint256 word) {
        unchecked {
            uint256 head = _headOf(d, index);
            uint256 parameters = d.weights[ProgramReader.operandOf(head, 1) - WEIGHT];
            word = Flat.pointer(parameters) << 168 | Flat.count(parameters) << 112;
            uint256 base = ProgramReader.operandOf(head, 0);
            if (PlanWaits.kind(d, base) == PlanWaits.LANES_LESS) {
                head = _headOf(d, base);
                base = ProgramReader.operandOf(head, 0);
                word |= Flat.pointer(PlanWriter.tensor(d, ProgramReader.operandOf(head, 1))) << 144;
            }
            return PlanWaits.kind(d, base) == PlanWaits.LANES ? word | _lanesOf(d, base) << 192 : 0;
        }
    }

    function _turnElse(
        Draft memory d,
        uint256 place,
        uint256 record,
        uint256 out,
        uint256 index,
        uint256 flat
    ) private pure {
        (uint256 top, uint256[] memory steps) = _fork(d);
        uint256 made = PlanMoves.move(d, record, out, index, 0);
        uint256 word = Plan.instruction(Plan.COPY, 0, Flat.pointer(flat), Flat.pointer(made), 1);
        PlanWriter.emitWord(d, word | Flat.size(flat) << 144);
        _skip(d, place, 1);
        (d.top, d.steps) = (top, steps);
    }

    /// @dev True if a MOVE turns all of a matrix of bytes.
    function _isTurn(Draft memory d, uint256 record, uint256 out, uint256 columns)
        private
        pure
        returns (bool)
    {
        (bool affine, bool whole) = MovePlan.make(d.moves, record, out);
        (uint256 axes, uint256 first,) = PlanMoves.box(d);
        if (!affine || !whole || axes != 2 || first != 0) return false;
        (, uint256 step,) = PlanMoves.axis(d, 0);
        (uint256 runs, uint256 runStep,) = PlanMoves.axis(d, 1);
        return step == columns && runs == columns && runStep == 1;
    }

    /// @dev Memory of the first lane of a CODEC step's tensor.
    function _lanesOf(Draft memory d, uint256 index) private pure returns (uint256) {
        unchecked {
            return d.arguments + Abi.HEAD_BYTES + 2 * ProgramReader.attribute(_headOf(d, index));
        }
    }

    /// @dev The greatest of each column of a sum of LOOKUP rows. @param out REDUCE's tensor without a pointer
    function _windows(Draft memory d, uint256 out, uint256 sums) private pure returns (uint256 flat) {
        unchecked {
            Terms memory t = Terms(NONE, 0, 0, NONE);
            if (!_collect(d, t, sums) || t.count == 0) return 0;
            if (!_isOfText(d, t.lookup)) return 0;
            // Both ways read them.
            uint256 ids = PlanWriter.tensor(d, ProgramReader.operandOf(_headOf(d, t.lookup), 0));
            if (t.count * Flat.last(ids) > MOST_BYTES) return 0;
            flat = out | PlanWriter.allocate(d, Flat.size(out));
            uint256 word =
                Plan.instruction(Plan.WINDOWS, t.count, Flat.pointer(flat), Flat.pointer(ids), d.top);
            word |= _tableOf(d, t) | Flat.count(out) << 80;
            word |= (Flat.count(ids) / Flat.last(ids)) << 56 | Flat.last(ids) << 48;
            uint256 place = d.place;
            PlanWriter.emitWord(d, word);
            PlanWriter.emitWord(d, t.packed);
            _windowsElse(d, place, flat, out, sums);
        }
    }

    /// @dev True if a LOOKUP's ids are a text's, made for a table that is no larger, and its rows are short.
    function _isOfText(Draft memory d, uint256 lookup) private pure returns (bool) {
        uint256 head = _headOf(d, lookup);
        uint256 index = ProgramReader.operandOf(head, 0);
        uint256 table = d.weights[ProgramReader.operandOf(head, 1) - WEIGHT];
        uint256 columns = Flat.last(table);
        if (index >= WEIGHT || columns > PlanWindows.GATHERED_BYTES) return false;
        head = _headOf(d, index);
        if (ProgramReader.opcode(head) != OP_CODEC || ModelWord.inputCodec(d.word) != INPUT_TEXT) {
            return false;
        }
        return ProgramReader.attribute(head) <= Flat.count(table) / columns;
    }

    /// @dev Table and bias, as fields of WINDOWS.
    function _tableOf(Draft memory d, Terms memory t) private pure returns (uint256 word) {
        unchecked {
            uint256 table = d.weights[ProgramReader.operandOf(_headOf(d, t.lookup), 1) - WEIGHT];
            word = Flat.pointer(table) << 136 | Flat.last(table) << 120;
            word |= (Flat.count(table) / Flat.last(table) - 1) << 96;
            if (t.bias != NONE) word |= Flat.pointer(d.weights[t.bias - WEIGHT]) << 24;
        }
    }

    function _headOf(Draft memory d, uint256 index) private pure returns (uint256) {
        return Flat.load(PlanWaits.recordOf(d, index));
    }

    function _windowsElse(Draft memory d, uint256 place, uint256 flat, uint256 out, uint256 sums)
        private
        pure
    {
        unchecked {
            (uint256 top, uint256[] memory steps) = _fork(d);
            uint256 a = PlanWriter.tensor(d, sums);
            uint256 column = Flat.last(a);
            uint256 word = Plan.instruction(Plan.COLUMNS, MAXIMUM, Flat.pointer(flat), Flat.pointer(a), 0);
            word |= Flat.count(out) << 144 | (Flat.count(a) / column) << 120 | (4 * column) << 96;
            PlanWriter.emitWord(d, word);
            _skip(d, place, 2);
            (d.top, d.steps) = (top, steps);
        }
    }

    /// @dev Adds an operand of a sum. @return fits false if it is none that WINDOWS adds
    function _collect(Draft memory d, Terms memory t, uint256 index) private pure returns (bool fits) {
        unchecked {
            if (index >= WEIGHT) {
                // One that stands in memory; a second one has no place.
                fits = t.bias == NONE;
                t.bias = index;
                return fits;
            }
            uint256 sort = PlanWaits.kind(d, index);
            uint256 record = PlanWaits.recordOf(d, index);
            uint256 head = Flat.load(record);
            uint256 a = ProgramReader.operandOf(head, 0);
            if (sort == PlanWaits.SUM) {
                return _collect(d, t, a) && _collect(d, t, ProgramReader.operandOf(head, 1));
            }
            if (sort != PlanWaits.SHIFTED || PlanWaits.kind(d, a) != PlanWaits.ROWS) return false;
            uint256 width = Flat.last(d.steps[a]);
            (bool found, uint256 shift, uint256 from) = PlanWaits.shifted(d, record, d.steps[index], width);
            if (t.lookup == NONE) t.lookup = a;
            if (!found || t.lookup != a || Flat.last(d.steps[index]) % 32 != 0) return false;
            if (from % 32 != 0 || from >= 32 << 8) return false;
            t.packed |= ((shift + 128) << 8 | from / 32) << (240 - 16 * t.count);
            ++t.count;
            return true;
        }
    }

    /// @dev What is made from here on is for the way that is not taken as a rule: its memory is free again afterwards, and
    /// its steps wait again.
    function _fork(Draft memory d) private pure returns (uint256 top, uint256[] memory steps) {
        unchecked {
            top = d.top;
            steps = new uint256[](d.steps.length);
            for (uint256 i = 0; i < steps.length; ++i) {
                steps[i] = d.steps[i];
            }
        }
    }

    /// @dev Tells an instruction how many words to skip. @param place memory of it @param words of its own
    function _skip(Draft memory d, uint256 place, uint256 words) private pure {
        unchecked {
            uint256 skipped = (d.place - place) / 32 - words;
            assembly ("memory-safe") {
                mstore(place, or(mload(place), skipped))
            }
        }
    }
}
