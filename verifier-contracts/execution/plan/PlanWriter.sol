// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPlanner} from "../../interfaces/IPlanner.sol";
import {Descriptor} from "../../libraries/Descriptor.sol";
import {Flat, NO_FLAT, describeFlat, describeWeight} from "../../libraries/Flat.sol";
import {Memory} from "../../libraries/Memory.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Lookup} from "../../opcodes/Lookup.sol";
import {Requant} from "../../opcodes/Requant.sol";
import {
    CODEC_CLAIMED,
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
    RESCALE_CHANNEL,
    TYPE_F32,
    UnknownVariant,
    WEIGHT
} from "../../types/Program.sol";
import {
    CODEC_K,
    CODEC_LENGTH,
    CODEC_ROWS,
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
    instruction
} from "./Instruction.sol";
import {Plan} from "./Plan.sol";
import {PlanElements} from "./PlanElements.sol";
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
    ModelWord word;
    uint256 records;
    uint256 moves;
    Flat[] steps;
    Flat[] weights;
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
            uint256 steps = d.word.steps();
            d.steps = new Flat[](steps);
            d.arguments = allocate(d, maxArguments);
            _weights(d);
            for (d.step = 0; d.step < steps; ++d.step) {
                uint256 record = d.records + ProgramReader.RECORD_BYTES * d.step;
                d.steps[d.step] = writeStep(d, record);
                if (d.top >= Plan.MEMORY_BYTES) revert IPlanner.NotPlannable(steps);
            }
            Flat last = tensor(d, steps - 1);
            Instruction end = instruction(Plan.END, last.code(), 0, last.pointer(), 0);
            append(d, end.with(END_COUNT, last.count()));
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
        if (place == d.end) revert IPlanner.NotPlannable(d.word.steps());
        assembly ("memory-safe") {
            mstore(place, word)
        }
        unchecked {
            d.place = place + 32;
        }
    }

    /// @notice An operand's tensor. @param index of a step, or WEIGHT + index of a weight tensor; NONE gives NO_FLAT
    function tensor(Draft memory d, uint256 index) internal pure returns (Flat flat) {
        if (index == NONE) return NO_FLAT;
        return index < WEIGHT ? d.steps[index] : d.weights[index - WEIGHT];
    }

    function refuse(Draft memory d) internal pure {
        revert IPlanner.NotPlannable(d.step);
    }

    /// @dev Loads all weights but tables, neighbours at once.
    function _weights(Draft memory d) private pure {
        unchecked {
            uint256 count = d.word.weights();
            d.weights = new Flat[](count);
            uint256 descriptor = d.records - ProgramReader.DESCRIPTOR_BYTES * count;
            uint256 offset = 0;
            uint256 from = 0;
            uint256 total = 0;
            for (uint256 i = 0; i < count; ++i) {
                (Flat flat, uint256 next) = describeWeight(descriptor, offset);
                uint256 form = Descriptor.wrap(Memory.load(descriptor)).rowLayout();
                // Compiled code has its weights within.
                if (form == LAYOUT_LOOKUP || (form == LAYOUT_DOT && Memory.load(d.compiled) != 0)) {
                    _load(d, from, offset - from);
                    d.weights[i] = flat;
                    from = next;
                } else {
                    d.weights[i] = flat.moved(d.top + offset - from);
                    total += next - offset;
                }
                offset = next;
                descriptor += ProgramReader.DESCRIPTOR_BYTES;
            }
            _load(d, from, offset - from);
            if (total > MOST_WEIGHTS) revert IPlanner.NotPlannable(d.word.steps());
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
    function writeStep(Draft memory d, uint256 record) internal pure returns (Flat flat) {
        RecordHead head = RecordHead.wrap(Memory.load(record));
        Flat out = describeFlat(record + 32, head.outputType(), head.outputRank());
        uint256 opcode = head.opcode();
        uint256 variant = head.variant();
        if (opcode == OP_CODEC) return _codec(d, head, out);
        Flat a = tensor(d, head.operandOf(0));
        if (opcode == OP_REDUCE) return _reduce(d, variant, out, a);
        // A compiled step's weights have no memory.
        if (opcode == OP_DOT && PlanLayer.isCompiled(d, record)) return PlanLayer.write(d, out, a);
        Flat b = tensor(d, head.operandOf(1));
        if (opcode == OP_LOOKUP) return _lookup(d, variant, out, a, b);
        if (opcode == OP_MOVE) return PlanMoves.move(d, record, out, a, b);
        if (opcode == OP_ARITH) return PlanElements.arith(d, variant, out, a, b);
        if (opcode == OP_DOT) return _dot(d, variant, head.attribute(), out, a, b);
        if (opcode == OP_REQUANT && variant == Requant.INTEGER) return _requant(d, Plan.REQUANT, out, a, b);
        if (opcode == OP_RESCALE && variant == RESCALE_CHANNEL) return _requant(d, Plan.RESCALE, out, a, b);
        if (opcode == OP_TABLE) {
            out = out.at(allocate(d, out.size()));
            append(d, instructionOf(Plan.TABLE, 0, out, a, b).with(MAP_COUNT, out.count()));
            return out;
        }
        if (opcode == OP_SELECT) {
            return PlanElements.select(d, out, a, b, tensor(d, head.operandOf(2)));
        }
        // FLOAT, REQUANT's binary32 form, RESCALE ratio, and what no instruction is for.
        refuse(d);
    }

    /// @param out, a, b flat tensors
    function instructionOf(uint256 operation, uint256 variant, Flat out, Flat a, Flat b)
        internal
        pure
        returns (Instruction)
    {
        return instruction(operation, variant, out.pointer(), a.pointer(), b.pointer());
    }

    function _codec(Draft memory d, RecordHead head, Flat out) private pure returns (Flat) {
        unchecked {
            if (head.variant() == CODEC_CLAIMED) refuse(d);
            out = out.at(allocate(d, out.size()));
            uint256 last = out.last();
            Instruction codec = instructionOf(Plan.CODEC, out.code(), out, NO_FLAT, NO_FLAT);
            codec = codec.with(CODEC_K, head.attribute());
            append(d, codec.with(CODEC_LENGTH, last).with(CODEC_ROWS, out.count() / last));
            return out;
        }
    }

    function _lookup(Draft memory d, uint256 variant, Flat out, Flat ids, Flat table)
        private
        pure
        returns (Flat)
    {
        unchecked {
            if (variant != Lookup.SUM) refuse(d);
            uint256 columns = table.last();
            uint256 rowBytes = (columns + 31) & ~uint256(31);
            // Sums of whole words spill: more than the room behind a tensor.
            out = out.at(allocate(d, out.size() + 128));
            Instruction sum = instructionOf(Plan.LOOKUP, 0, out, ids, NO_FLAT).with(LOOKUP_SCRATCH, d.top);
            sum = sum.with(LOOKUP_TABLE, table.pointer()).with(LOOKUP_ROW_BYTES, rowBytes);
            sum = sum.with(LOOKUP_LAST_ROW, table.count() / columns - 1).with(LOOKUP_COLUMNS, columns);
            sum = sum.with(LOOKUP_ROWS, ids.count() / ids.last()).with(LOOKUP_IDS, ids.last());
            append(d, sum);
            return out;
        }
    }

    function _reduce(Draft memory d, uint256 variant, Flat out, Flat a) private pure returns (Flat) {
        unchecked {
            if (variant > REDUCE_MAX) revert UnknownVariant(OP_REDUCE, variant);
            if (a.code() == TYPE_F32) refuse(d);
            out = out.at(allocate(d, out.size()));
            Instruction reduce = instructionOf(Plan.REDUCE, variant, out, a, NO_FLAT);
            reduce = reduce.with(REDUCE_ROWS, out.count()).with(REDUCE_LENGTH, a.last());
            append(d, reduce.with(REDUCE_TYPE, a.code()));
            return out;
        }
    }

    function _dot(Draft memory d, uint256 form, uint256 groups, Flat out, Flat a, Flat b)
        private
        pure
        returns (Flat)
    {
        unchecked {
            uint256 length = a.last();
            if (form >= Requant.BINARY32 || out.count() * ((length + 31) >> 5) > MOST_PRODUCTS) {
                refuse(d);
            }
            out = out.at(allocate(d, out.size()));
            Instruction dot = instructionOf(Plan.DOT, form, out, a, b);
            dot = dot.with(DOT_OUTPUTS, out.last() / groups).with(DOT_ROWS, a.count() / length);
            append(d, dot.with(DOT_LENGTH, length).with(DOT_GROUPS, groups).with(DOT_SCRATCH, d.top));
            return out;
        }
    }

    function _requant(Draft memory d, uint256 operation, Flat out, Flat a, Flat b)
        private
        pure
        returns (Flat)
    {
        unchecked {
            out = out.at(allocate(d, out.size()));
            Instruction i = instructionOf(operation, out.code(), out, a, b);
            i = i.with(REQUANT_COUNT, out.count()).with(REQUANT_LENGTH, out.last());
            append(d, i.with(REQUANT_CHANNELS, b.count()));
            return out;
        }
    }
}
