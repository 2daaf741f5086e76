// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../libraries/Flat.sol";
import {Machine, Machines} from "../libraries/Machine.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {ArithRows} from "../opcodes/rows/ArithRows.sol";
import {DotRows} from "../opcodes/rows/DotRows.sol";
import {ElementRows} from "../opcodes/rows/ElementRows.sol";
import {LookupRows} from "../opcodes/rows/LookupRows.sol";
import {MoveRows} from "../opcodes/rows/MoveRows.sol";
import {ReduceRows} from "../opcodes/rows/ReduceRows.sol";
import {RequantRows} from "../opcodes/rows/RequantRows.sol";
import {
    INPUT_PRICES,
    INPUT_TEXT,
    NONE,
    OP_ARITH,
    OP_CODEC,
    OP_DOT,
    OP_FLOAT,
    OP_LOOKUP,
    OP_MOVE,
    OP_REDUCE,
    OP_REQUANT,
    OP_RESCALE,
    OP_TABLE,
    TYPE_S32,
    WEIGHT
} from "../types/Program.sol";
import {Waiting} from "./Waiting.sol";
import {CompiledLayer} from "./compiled/CompiledLayer.sol";

/// @notice The steps of a program, one after another.
library Steps {
    /// @notice Finds where each weight tensor is in the stream.
    function describeWeights(Machine memory m) internal pure {
        unchecked {
            uint256 count = ModelWord.weights(m.word);
            uint256 place = Flat.reserve(32 * count);
            m.weights = place;
            uint256 descriptor = m.records - ProgramReader.DESCRIPTOR_BYTES * count;
            uint256 offset = 0;
            for (; descriptor < m.records; descriptor += ProgramReader.DESCRIPTOR_BYTES) {
                uint256 flat;
                (flat, offset) = Flat.describeWeight(descriptor, offset);
                assembly ("memory-safe") {
                    mstore(place, flat)
                }
                place += 32;
            }
            if (offset <= ProgramReader.CHUNK_BYTES) m.whole = offset;
        }
    }

    /// @notice Runs all steps. @return flat the last one's tensor
    function run(Machine memory m) internal view returns (uint256 flat) {
        unchecked {
            uint256 record = m.records;
            uint256 place = m.steps;
            uint256 steps = ModelWord.steps(m.word);
            for (uint256 end = place + 32 * steps; place < end; place += 32) {
                flat = _step(m, record);
                assembly ("memory-safe") {
                    mstore(place, flat)
                }
                record += ProgramReader.RECORD_BYTES;
            }
            return Machines.tensor(m, steps - 1);
        }
    }

    function _step(Machine memory m, uint256 record) private view returns (uint256) {
        uint256 head = Flat.load(record);
        uint256 out;
        unchecked {
            out = Flat.describe(record + 32, ProgramReader.outputType(head), ProgramReader.outputRank(head));
        }
        uint256 opcode = ProgramReader.opcode(head);
        uint256 variant = ProgramReader.variant(head);
        if (opcode == OP_CODEC) return _codec(m, head, out);
        if (opcode == OP_LOOKUP) return _lookup(m, variant, head, out);
        uint256 a = ProgramReader.operandOf(head, 0);
        if (opcode == OP_REDUCE) return _reduce(m, variant, out, a);
        uint256 b = ProgramReader.operandOf(head, 1);
        if (opcode == OP_MOVE) return Waiting.move(m, record, out, a, b);
        if (opcode == OP_REQUANT && Waiting.canRequantize(variant, out)) return out;
        a = Machines.tensor(m, a);
        if (opcode == OP_DOT) {
            if (CompiledLayer.isAt(m.compiled, _indexOf(m, record))) return _compiled(m, out, a);
            return DotRows.run(m, variant, ProgramReader.attribute(head), out, a, b);
        }
        if (opcode == OP_REQUANT || opcode == OP_RESCALE) return _requant(m, opcode, variant, out, a, b);
        b = b == NONE ? 0 : Machines.tensor(m, b);
        if (opcode == OP_ARITH && Waiting.canSubtract(variant, out, a, b)) return out;
        if (opcode == OP_ARITH) return ArithRows.run(variant, out, a, b);
        if (opcode == OP_TABLE) return ElementRows.table(out, a, b);
        uint256 c = ProgramReader.operandOf(head, 2);
        c = c == NONE ? 0 : Machines.tensor(m, c);
        if (opcode == OP_FLOAT) return ElementRows.float(m.floatJudge, variant, out, a, b, c);
        return ElementRows.select(out, a, b, c);
    }

    function _indexOf(Machine memory m, uint256 record) private pure returns (uint256) {
        unchecked {
            return (record - m.records) / ProgramReader.RECORD_BYTES;
        }
    }

    /// @dev A DOT step by the code that LayerBuilder made of it.
    function _compiled(Machine memory m, uint256 out, uint256 a) private view returns (uint256 flat) {
        unchecked {
            flat = Flat.allocate(out);
            uint256 rows = Flat.count(out) / Flat.last(out);
            uint256 size = Flat.size(out);
            m.compiled = CompiledLayer.run(
                m.compiled, Flat.pointer(a), Flat.size(a), Flat.pointer(flat), rows, size / rows
            );
        }
    }

    function _codec(Machine memory m, uint256 head, uint256 out) private pure returns (uint256 flat) {
        unchecked {
            uint256 size = Flat.size(out);
            flat = out | Inputs.allocate(size + 32);
            uint256 k = ProgramReader.attribute(head);
            uint256 codec = ModelWord.inputCodec(m.word);
            uint256 target = Flat.pointer(flat);
            if (codec == INPUT_TEXT || codec == INPUT_PRICES) {
                uint256 last = Flat.last(out);
                uint256 rows = Flat.count(out) / last;
                Inputs.writeRows(m.word, k, rows, last, m.arguments, target, 4 * last);
            } else {
                Inputs.writeElements(codec, k, Flat.code(out), 1, size, m.arguments, target);
            }
        }
    }

    function _lookup(Machine memory m, uint256 variant, uint256 head, uint256 out)
        private
        view
        returns (uint256)
    {
        uint256 ids = Machines.operand(m, head, 0);
        uint256 table = ProgramReader.operandOf(head, 1);
        return variant == 0 ? LookupRows.sum(m, out, ids, table) : LookupRows.pick(m, out, ids, table);
    }

    /// @dev A matrix that a MOVE before would only have turned is reduced as it is.
    function _reduce(Machine memory m, uint256 variant, uint256 out, uint256 index)
        private
        view
        returns (uint256)
    {
        unchecked {
            if (index < WEIGHT && Flat.code(out) == TYPE_S32) {
                uint256 turned = Flat.load(m.steps + 32 * index);
                if (MoveRows.isView(turned)) {
                    (uint256 source, uint256 length, uint256 stride) = MoveRows.columns(turned);
                    if (length == Flat.last(turned)) {
                        return ReduceRows.columns(variant, out, source, length, stride);
                    }
                }
            }
            return ReduceRows.run(variant, out, Machines.tensor(m, index));
        }
    }

    function _requant(Machine memory m, uint256 opcode, uint256 variant, uint256 out, uint256 a, uint256 b)
        private
        view
        returns (uint256)
    {
        unchecked {
            (uint256 parameters, uint256 channels) = Machines.channelWords(m, b);
            if (opcode == OP_RESCALE) return RequantRows.rescale(out, a, parameters, channels);
            return RequantRows.requantize(m.floatJudge, variant, out, a, parameters, channels);
        }
    }
}
