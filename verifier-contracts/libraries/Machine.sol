// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../interfaces/IFloatJudge.sol";
import {MoveRows} from "../opcodes/rows/MoveRows.sol";
import {WEIGHT} from "../types/Program.sol";
import {Flat} from "./Flat.sol";
import {ProgramReader} from "./ProgramReader.sol";

/// @notice A program at work.
/// @param records memory of the first record
/// @param steps memory of a flat tensor for each step so far
/// @param weights memory of a flat tensor for each weight tensor, whose pointer is its offset in the stream
/// @param stream memory of the whole stream, 0 if it is not held
/// @param whole bytes of the whole stream if it is one chunk, which the first step that reads it holds; else 0
/// @param compiled CompiledLayer's cursor
/// @param chunks memory of the addresses of the stream's chunks, 20 bytes each
/// @param arguments memory of the input's arguments, 0 until a step reads them
/// @param plan memory for MoveRows
struct Machine {
    uint256 word;
    uint256 records;
    uint256 steps;
    uint256 weights;
    uint256 stream;
    uint256 whole;
    uint256 compiled;
    uint256 chunks;
    uint256 arguments;
    uint256 plan;
    IFloatJudge floatJudge;
}

/// @notice Operands of a step in memory.
library Machines {
    /// @notice The operand whole in memory. @param position 0 for a, 1 for b, 2 for c
    function operand(Machine memory m, uint256 head, uint256 position) internal view returns (uint256 flat) {
        return tensor(m, ProgramReader.operandOf(head, position));
    }

    /// @param index of a step, or WEIGHT + index of a PLAIN weight tensor
    function tensor(Machine memory m, uint256 index) internal view returns (uint256 flat) {
        unchecked {
            if (index < WEIGHT) {
                flat = Flat.load(m.steps + 32 * index);
                if (Flat.pointer(flat) != 0) return flat;
                return _materialize(m, index);
            }
            flat = weight(m, index);
            hold(m);
            if (m.stream != 0) return flat + m.stream;
            uint256 offset = Flat.pointer(flat);
            return (flat - offset) | copyNew(m, offset, Flat.size(flat));
        }
    }

    /// @notice The weight tensor, its pointer being its offset in the stream.
    function weight(Machine memory m, uint256 index) internal pure returns (uint256 flat) {
        unchecked {
            return Flat.load(m.weights + 32 * (index - WEIGHT));
        }
    }

    /// @notice A part of the stream in memory: where it is held, or a copy.
    function part(Machine memory m, uint256 offset, uint256 length) internal view returns (uint256 pointer) {
        unchecked {
            hold(m);
            return m.stream != 0 ? m.stream + offset : copyNew(m, offset, length);
        }
    }

    /// @notice Brings the stream to memory if it is one chunk. Memory that is given back must not contain it: whoever
    /// does so calls this first.
    function hold(Machine memory m) internal view {
        if (m.stream == 0 && m.whole != 0) m.stream = copyNew(m, 0, m.whole);
    }

    function copyNew(Machine memory m, uint256 offset, uint256 length)
        internal
        view
        returns (uint256 pointer)
    {
        pointer = Flat.reserve(length);
        ProgramReader.copyPacked(m.chunks, offset, length, pointer);
    }

    /// @dev A MOVE that was put off is done when a step needs its tensor whole.
    function _materialize(Machine memory m, uint256 index) private view returns (uint256 flat) {
        unchecked {
            uint256 record = m.records + ProgramReader.RECORD_BYTES * index;
            uint256 a = operand(m, Flat.load(record), 0);
            flat = MoveRows.copyStrided(m.plan, record, Flat.load(m.steps + 32 * index), a);
            uint256 place = m.steps + 32 * index;
            assembly ("memory-safe") {
                mstore(place, flat)
            }
        }
    }
}
