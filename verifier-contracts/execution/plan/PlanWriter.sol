// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPlanner} from "../../interfaces/IPlanner.sol";
import {Flat} from "../../libraries/Flat.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Arith} from "../../opcodes/Arith.sol";
import {Lookup} from "../../opcodes/Lookup.sol";
import {Requant} from "../../opcodes/Requant.sol";
import {Broadcast} from "../../opcodes/rows/Broadcast.sol";
import {
    ARITH_CAST,
    LAYOUT_DOT,
    LAYOUT_LOOKUP,
    NONE,
    OP_ARITH,
    OP_CODEC,
    OP_DOT,
    OP_LOOKUP,
    OP_MOVE,
    OP_REDUCE,
    OP_REQUANT,
    OP_RESCALE,
    OP_SELECT,
    OP_TABLE,
    REDUCE_MAX,
    TYPE_F32,
    TYPE_S32,
    UnknownVariant,
    WEIGHT
} from "../../types/Program.sol";
import {
    ARITH_A_STEP,
    ARITH_A_TYPE,
    ARITH_B_STEP,
    ARITH_B_TYPE,
    ARITH_SIZE,
    ARITH_TYPE,
    CODEC_K,
    CODEC_LENGTH,
    CODEC_ROWS,
    COPY_OUT_STEP,
    COPY_SIZE,
    DOT_GROUPS,
    DOT_LENGTH,
    DOT_OUTPUTS,
    DOT_ROWS,
    DOT_SCRATCH,
    END_COUNT,
    Instruction,
    LOAD_OFFSET,
    LOAD_SIZE,
    LOOKUP_COLUMNS,
    LOOKUP_IDS,
    LOOKUP_LAST_ROW,
    LOOKUP_ROWS,
    LOOKUP_ROW_BYTES,
    LOOKUP_SCRATCH,
    LOOKUP_TABLE,
    MAP_COUNT,
    REDUCE_LENGTH,
    REDUCE_ROWS,
    REDUCE_TYPE,
    REQUANT_CHANNELS,
    REQUANT_COUNT,
    REQUANT_LENGTH,
    SELECT_A_STEP,
    SELECT_B_STEP,
    SELECT_COUNT,
    SELECT_OTHER,
    SELECT_OTHER_STEP,
    SPREAD_COUNT,
    SPREAD_TIMES,
    instruction
} from "./Instruction.sol";
import {Plan} from "./Plan.sol";
import {PlanLayer} from "./PlanLayer.sol";
import {PlanMoves} from "./PlanMoves.sol";

/// @notice A plan in the making.
/// @param word the model word
/// @param records memory of the program's first record, its weight descriptors before it
/// @param moves memory for MovePlan
/// @param steps flat tensors of the steps so far
/// @param weights flat tensors of the weights; a LOOKUP table's pointer is its offset in the stream
/// @param place memory of the next instruction
/// @param end memory where they must end
/// @param top run-time memory that is free
/// @param step the one at work
/// @param arguments run-time memory of the calldata behind the selector
/// @param compiled CompiledLayer's cursor
struct Draft {
    uint256 word;
    uint256 records;
    uint256 moves;
    uint256[] steps;
    uint256[] weights;
    uint256 place;
    uint256 end;
    uint256 top;
    uint256 step;
    uint256 arguments;
    uint256 compiled;
}

/// @notice Writes the plan of a program (Plan). Every step becomes instructions that compute the very same tensor, or
/// none, where it only names elements of another one.
library PlanWriter {
    /// @dev What a plan is for: steps with more words of products must be compiled before (ILayerBuilder), and beyond so
    /// many bytes of weights, tables apart, reading them is what an inference costs.
    uint256 private constant MOST_PRODUCTS = 256;
    uint256 private constant MOST_WEIGHTS = 65_536;

    /// @notice Writes a plan's instructions.
    /// @param d with word, records, moves, place and end; `top` being where tensors may begin
    /// @param maxArguments bytes of the longest calldata behind the selector
    function write(Draft memory d, uint256 maxArguments) internal pure {
        unchecked {
            uint256 steps = ModelWord.steps(d.word);
            d.steps = new uint256[](steps);
            d.arguments = allocate(d, maxArguments);
            _weights(d);
            for (d.step = 0; d.step < steps; ++d.step) {
                uint256 record = d.records + ProgramReader.RECORD_BYTES * d.step;
                d.steps[d.step] = writeStep(d, record);
                if (d.top >= Plan.MEMORY_BYTES) revert IPlanner.NotPlannable(steps);
            }
            uint256 last = tensor(d, steps - 1);
            Instruction end = instruction(Plan.END, Flat.code(last), 0, Flat.pointer(last), 0);
            append(d, end.with(END_COUNT, Flat.count(last)));
        }
    }

    /// @notice Run-time memory for a tensor, with room behind it. @param size in bytes
    function allocate(Draft memory d, uint256 size) internal pure returns (uint256 place) {
        unchecked {
            place = d.top;
            d.top += (size + 63) & ~uint256(31);
        }
    }

    function append(Draft memory d, Instruction i) internal pure {
        emitWord(d, Instruction.unwrap(i));
    }

    function emitWord(Draft memory d, uint256 word) internal pure {
        uint256 place = d.place;
        if (place == d.end) revert IPlanner.NotPlannable(ModelWord.steps(d.word));
        assembly ("memory-safe") {
            mstore(place, word)
        }
        unchecked {
            d.place = place + 32;
        }
    }

    /// @notice An operand's tensor. @param index of a step, or WEIGHT + index of a weight tensor; NONE gives 0
    function tensor(Draft memory d, uint256 index) internal pure returns (uint256 flat) {
        if (index == NONE) return 0;
        return index < WEIGHT ? d.steps[index] : d.weights[index - WEIGHT];
    }

    function refuse(Draft memory d) internal pure {
        revert IPlanner.NotPlannable(d.step);
    }

    /// @dev Loads all weights but tables, neighbours at once.
    function _weights(Draft memory d) private pure {
        unchecked {
            uint256 count = ModelWord.weights(d.word);
            d.weights = new uint256[](count);
            uint256 descriptor = d.records - ProgramReader.DESCRIPTOR_BYTES * count;
            uint256 offset = 0;
            uint256 from = 0;
            uint256 total = 0;
            for (uint256 i = 0; i < count; ++i) {
                (uint256 flat, uint256 next) = Flat.describeWeight(descriptor, offset);
                uint256 form = Flat.load(descriptor) >> 248;
                // Compiled code has its weights within.
                if (form == LAYOUT_LOOKUP || (form == LAYOUT_DOT && Flat.load(d.compiled) != 0)) {
                    _load(d, from, offset - from);
                    d.weights[i] = flat;
                    from = next;
                } else {
                    d.weights[i] = (flat & ~uint256(0xFFFFFFFF)) | (d.top + offset - from);
                    total += next - offset;
                }
                offset = next;
                descriptor += ProgramReader.DESCRIPTOR_BYTES;
            }
            _load(d, from, offset - from);
            if (total > MOST_WEIGHTS) revert IPlanner.NotPlannable(ModelWord.steps(d.word));
        }
    }

    function _load(Draft memory d, uint256 offset, uint256 size) private pure {
        unchecked {
            if (size == 0) return;
            Instruction load = instruction(Plan.LOAD, 0, allocate(d, size), 0, 0);
            append(d, load.with(LOAD_OFFSET, offset).with(LOAD_SIZE, size));
        }
    }

    /// @notice Writes one step's instructions. @param record memory of it @return flat its tensor
    function writeStep(Draft memory d, uint256 record) internal pure returns (uint256 flat) {
        uint256 head = Flat.load(record);
        uint256 out =
            Flat.describe(record + 32, ProgramReader.outputType(head), ProgramReader.outputRank(head));
        uint256 opcode = ProgramReader.opcode(head);
        uint256 variant = ProgramReader.variant(head);
        if (opcode == OP_CODEC) return _codec(d, head, out);
        uint256 a = tensor(d, ProgramReader.operandOf(head, 0));
        if (opcode == OP_REDUCE) return _reduce(d, variant, out, a);
        // A compiled step's weights have no memory.
        if (opcode == OP_DOT && PlanLayer.isCompiled(d, record)) return PlanLayer.write(d, out, a);
        uint256 b = tensor(d, ProgramReader.operandOf(head, 1));
        if (opcode == OP_LOOKUP) return _lookup(d, variant, out, a, b);
        if (opcode == OP_MOVE) return PlanMoves.move(d, record, out, a, b);
        if (opcode == OP_ARITH) return _arith(d, variant, out, a, b);
        if (opcode == OP_DOT) return _dot(d, variant, ProgramReader.attribute(head), out, a, b);
        if (opcode == OP_REQUANT && variant == Requant.INTEGER) return _requant(d, Plan.REQUANT, out, a, b);
        if (opcode == OP_RESCALE) return _requant(d, Plan.RESCALE, out, a, b);
        if (opcode == OP_TABLE) {
            out |= allocate(d, Flat.size(out));
            append(d, _instruction(Plan.TABLE, 0, out, a, b).with(MAP_COUNT, Flat.count(out)));
            return out;
        }
        if (opcode == OP_SELECT) {
            return _select(d, out, a, b, tensor(d, ProgramReader.operandOf(head, 2)));
        }
        // FLOAT, REQUANT's binary32 form, and what no instruction is for.
        refuse(d);
    }

    /// @param out, a, b flat tensors
    function _instruction(uint256 operation, uint256 variant, uint256 out, uint256 a, uint256 b)
        private
        pure
        returns (Instruction)
    {
        return instruction(operation, variant, Flat.pointer(out), Flat.pointer(a), Flat.pointer(b));
    }

    function _codec(Draft memory d, uint256 head, uint256 out) private pure returns (uint256) {
        unchecked {
            out |= allocate(d, Flat.size(out));
            uint256 last = Flat.last(out);
            Instruction codec = _instruction(Plan.CODEC, Flat.code(out), out, 0, 0);
            codec = codec.with(CODEC_K, ProgramReader.attribute(head));
            append(d, codec.with(CODEC_LENGTH, last).with(CODEC_ROWS, Flat.count(out) / last));
            return out;
        }
    }

    function _lookup(Draft memory d, uint256 variant, uint256 out, uint256 ids, uint256 table)
        private
        pure
        returns (uint256)
    {
        unchecked {
            if (variant != Lookup.SUM) refuse(d);
            uint256 columns = Flat.last(table);
            uint256 rowBytes = (columns + 31) & ~uint256(31);
            // Sums of whole words spill: more than the room behind a tensor.
            out |= allocate(d, Flat.size(out) + 128);
            Instruction sum = _instruction(Plan.LOOKUP, 0, out, ids, 0).with(LOOKUP_SCRATCH, d.top);
            sum = sum.with(LOOKUP_TABLE, Flat.pointer(table)).with(LOOKUP_ROW_BYTES, rowBytes);
            sum = sum.with(LOOKUP_LAST_ROW, Flat.count(table) / columns - 1).with(LOOKUP_COLUMNS, columns);
            sum = sum.with(LOOKUP_ROWS, Flat.count(ids) / Flat.last(ids)).with(LOOKUP_IDS, Flat.last(ids));
            append(d, sum);
            return out;
        }
    }

    function _reduce(Draft memory d, uint256 variant, uint256 out, uint256 a) private pure returns (uint256) {
        unchecked {
            if (variant > REDUCE_MAX) revert UnknownVariant(OP_REDUCE, variant);
            if (Flat.code(a) == TYPE_F32) refuse(d);
            out |= allocate(d, Flat.size(out));
            Instruction reduce = _instruction(Plan.REDUCE, variant, out, a, 0);
            reduce = reduce.with(REDUCE_ROWS, Flat.count(out)).with(REDUCE_LENGTH, Flat.last(a));
            append(d, reduce.with(REDUCE_TYPE, Flat.code(a)));
            return out;
        }
    }

    function _dot(Draft memory d, uint256 form, uint256 groups, uint256 out, uint256 a, uint256 b)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256 length = Flat.last(a);
            if (form == Requant.BINARY32 || Flat.count(out) * ((length + 31) >> 5) > MOST_PRODUCTS) {
                refuse(d);
            }
            out |= allocate(d, Flat.size(out));
            Instruction dot = _instruction(Plan.DOT, form, out, a, b);
            dot = dot.with(DOT_OUTPUTS, Flat.last(out) / groups).with(DOT_ROWS, Flat.count(a) / length);
            append(d, dot.with(DOT_LENGTH, length).with(DOT_GROUPS, groups).with(DOT_SCRATCH, d.top));
            return out;
        }
    }

    function _requant(Draft memory d, uint256 operation, uint256 out, uint256 a, uint256 b)
        private
        pure
        returns (uint256)
    {
        unchecked {
            out |= allocate(d, Flat.size(out));
            Instruction i = _instruction(operation, Flat.code(out), out, a, b);
            i = i.with(REQUANT_COUNT, Flat.count(out)).with(REQUANT_LENGTH, Flat.last(out));
            append(d, i.with(REQUANT_CHANNELS, Flat.count(b)));
            return out;
        }
    }

    function _arith(Draft memory d, uint256 variant, uint256 out, uint256 a, uint256 b)
        private
        pure
        returns (uint256)
    {
        unchecked {
            if (variant > ARITH_CAST) revert UnknownVariant(OP_ARITH, variant);
            bool wide = Flat.code(a) == TYPE_S32 && (variant == Arith.CAST || Flat.code(b) == TYPE_S32);
            uint256 count = Flat.count(out);
            uint256 aStep;
            uint256 bStep;
            (a, aStep) = _expand(d, a, out);
            if (variant != Arith.CAST) (b, bStep) = _expand(d, b, out);
            else if (wide && aStep != 0) return _cast(d, out, a);
            if (wide && Flat.code(out) == TYPE_S32 && variant != Arith.CAST) {
                bool isProduct = variant == Arith.MUL || variant == Arith.DIV;
                out |= allocate(d, 4 * count);
                if (!isProduct) (aStep, bStep) = (8 * aStep, 8 * bStep);
                Instruction i = _instruction(isProduct ? Plan.PRODUCT : Plan.INT16S, variant, out, a, b);
                append(d, _sized(i, 4 * count, aStep, bStep));
                return out;
            }
            bool isComparison = variant > Arith.DIV && variant != Arith.CAST;
            if (wide && isComparison && Flat.size(out) == count) {
                out |= allocate(d, count);
                append(d, _sized(_instruction(Plan.PRODUCT, variant, out, a, b), count, aStep, bStep));
                return out;
            }
            out |= allocate(d, Flat.size(out));
            Instruction single = _sized(_instruction(Plan.ELEMENTS, variant, out, a, b), count, aStep, bStep);
            single = single.with(ARITH_TYPE, Flat.code(out)).with(ARITH_A_TYPE, Flat.code(a));
            append(d, single.with(ARITH_B_TYPE, Flat.code(b)));
            return out;
        }
    }

    function _sized(Instruction i, uint256 size, uint256 aStep, uint256 bStep)
        private
        pure
        returns (Instruction)
    {
        return i.with(ARITH_SIZE, size).with(ARITH_A_STEP, aStep).with(ARITH_B_STEP, bStep);
    }

    /// @dev Of s32 elements, as many as the output has.
    function _cast(Draft memory d, uint256 out, uint256 a) private pure returns (uint256) {
        unchecked {
            if (Flat.code(out) == TYPE_S32) return out | Flat.pointer(a);
            out |= allocate(d, Flat.size(out));
            append(d, _instruction(Plan.CAST, Flat.code(out), out, a, 0).with(MAP_COUNT, Flat.count(out)));
            return out;
        }
    }

    function _select(Draft memory d, uint256 out, uint256 a, uint256 b, uint256 c)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256 aStep;
            uint256 bStep;
            uint256 cStep;
            (a, aStep) = _expand(d, a, out);
            (b, bStep) = _expand(d, b, out);
            (c, cStep) = _expand(d, c, out);
            out |= allocate(d, Flat.size(out));
            Instruction select = _instruction(Plan.SELECT, Shapes.elementBytes(Flat.code(out)), out, a, b);
            select = select.with(SELECT_OTHER, Flat.pointer(c)).with(SELECT_COUNT, Flat.count(out));
            select = select.with(SELECT_A_STEP, aStep).with(SELECT_B_STEP, bStep);
            append(d, select.with(SELECT_OTHER_STEP, cStep));
            return out;
        }
    }

    /// @dev An operand under broadcast: itself if it has as many elements as the output or one, else a copy.
    /// @return expanded the operand
    /// @return step bytes from one element to the next
    function _expand(Draft memory d, uint256 x, uint256 out)
        private
        pure
        returns (uint256 expanded, uint256 step)
    {
        unchecked {
            uint256 count = Flat.count(x);
            uint256 times = Flat.count(out) / count;
            step = Shapes.elementBytes(Flat.code(x));
            if (times == 1) return (x, step);
            if (count == 1) return (x, 0);
            (uint256 leading, uint256 trailing) = Broadcast.ones(x, out);
            uint256 target = allocate(d, Flat.count(out) * step);
            uint256 source = Flat.pointer(x);
            if (leading == count) {
                Instruction spread = instruction(Plan.SPREAD, step, target, source, 0);
                append(d, spread.with(SPREAD_COUNT, count).with(SPREAD_TIMES, times));
            } else if (trailing == count) {
                Instruction copy = instruction(Plan.COPY, 0, target, source, times);
                append(d, copy.with(COPY_SIZE, count * step).with(COPY_OUT_STEP, count * step));
            } else {
                refuse(d);
            }
            return ((x & ~uint256(0xFFFFFFFF)) | target, step);
        }
    }
}
