// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../libraries/Flat.sol";
import {Machine, Machines} from "../libraries/Machine.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {ArithRows} from "../opcodes/rows/ArithRows.sol";
import {DotRows} from "../opcodes/rows/DotRows.sol";
import {ElementRows} from "../opcodes/rows/ElementRows.sol";
import {LookupRows} from "../opcodes/rows/LookupRows.sol";
import {MoveRows} from "../opcodes/rows/MoveRows.sol";
import {ReduceRows} from "../opcodes/rows/ReduceRows.sol";
import {RequantRows} from "../opcodes/rows/RequantRows.sol";
import {
    OP_ARITH,
    OP_CODEC,
    OP_DOT,
    OP_FLOAT,
    OP_LOOKUP,
    OP_MOVE,
    OP_REDUCE,
    OP_REQUANT,
    OP_RESCALE,
    OP_SELECT,
    OP_TABLE,
    Record,
    UnknownOpcode
} from "../types/Program.sol";
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

    /// @notice Runs the first steps. @param steps how many, at least 1 @return flat the last one's tensor
    function run(Machine memory m, uint256 steps) internal view returns (uint256 flat) {
        unchecked {
            uint256 record = m.records;
            uint256 place = m.steps;
            for (uint256 end = place + 32 * steps; place < end; place += 32) {
                flat = runStep(m, record);
                assembly ("memory-safe") {
                    mstore(place, flat)
                }
                record += ProgramReader.RECORD_BYTES;
            }
        }
    }

    /// @notice Runs one step: its record and the tensors of its operands make its tensor, nothing else does.
    /// @param record memory of it @return flat its tensor
    function runStep(Machine memory m, uint256 record) internal view returns (uint256 flat) {
        uint256 head = Flat.load(record);
        uint256 out;
        unchecked {
            out = Flat.describe(record + 32, ProgramReader.outputType(head), ProgramReader.outputRank(head));
        }
        uint256 opcode = ProgramReader.opcode(head);
        uint256 variant = ProgramReader.variant(head);
        if (opcode == OP_CODEC) return _codec(m, record, out);
        uint256 a = Machines.operand(m, head, 0);
        // Rows of weights are read where they are: of a table only those that ids name.
        uint256 b = ProgramReader.operandOf(head, 1);
        if (opcode == OP_LOOKUP) return LookupRows.run(m, variant, out, a, b);
        if (opcode == OP_DOT) {
            if (CompiledLayer.isAt(m.compiled, _indexOf(m, record))) return _compiled(m, out, a);
            return DotRows.run(m, variant, ProgramReader.attribute(head), out, a, b);
        }
        if (opcode == OP_REQUANT || opcode == OP_RESCALE) {
            (uint256 parameters, uint256 channels) = Machines.channelWords(m, b);
            if (opcode == OP_RESCALE) return RequantRows.rescale(out, a, parameters, channels);
            return RequantRows.requantize(m.floatJudge, variant, out, a, parameters, channels);
        }
        b = Machines.operand(m, head, 1);
        if (opcode == OP_MOVE) return MoveRows.move(m.plan, record, out, a, b);
        if (opcode == OP_ARITH) return ArithRows.run(variant, out, a, b);
        if (opcode == OP_TABLE) return ElementRows.table(out, a, b);
        if (opcode == OP_REDUCE) return ReduceRows.run(variant, out, a);
        uint256 c = Machines.operand(m, head, 2);
        if (opcode == OP_FLOAT) return ElementRows.float(m.floatJudge, variant, out, a, b, c);
        if (opcode == OP_SELECT) return ElementRows.select(out, a, b, c);
        revert UnknownOpcode(opcode);
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

    /// @dev Asks the codec judge: the tensor is the one that it would commit to.
    function _codec(Machine memory m, uint256 record, uint256 out) private view returns (uint256 flat) {
        Record memory r;
        bytes calldata input;
        (uint256 offset, uint256 length) = (m.inputOffset, m.inputLength);
        assembly ("memory-safe") {
            mcopy(r, record, 0x80)
            input.offset := offset
            input.length := length
        }
        bytes memory stored = m.codecJudge.inputElements(m.word, r, input);
        assembly ("memory-safe") {
            flat := or(out, add(stored, 0x20))
        }
        Flat.reserve(0); // room behind it
    }
}
