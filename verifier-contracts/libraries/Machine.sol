// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ICodecJudge} from "../interfaces/ICodecJudge.sol";
import {IFloatJudge} from "../interfaces/IFloatJudge.sol";
import {NONE, WEIGHT} from "../types/Program.sol";
import {Flat, NO_FLAT} from "./Flat.sol";
import {Memory} from "./Memory.sol";
import {ModelWord} from "./ModelWord.sol";
import {ProgramReader} from "./ProgramReader.sol";
import {RecordHead} from "./RecordHead.sol";

/// @notice A program at work.
/// @param records memory of the first record
/// @param steps memory of a flat tensor for each step so far
/// @param weights memory of a flat tensor for each weight tensor, whose pointer is its offset in the stream
/// @param stream memory of the whole stream, 0 if it is not held
/// @param whole bytes of the whole stream if it is one chunk, which the first step that reads it holds; else 0
/// @param compiled CompiledLayer's cursor
/// @param chunks memory of the addresses of the stream's chunks, 20 bytes each
/// @param inputOffset where the input stands in calldata @param inputLength bytes of it
/// @param plan memory for MoveRows
struct Machine {
    ModelWord word;
    uint256 records;
    uint256 steps;
    uint256 weights;
    uint256 stream;
    uint256 whole;
    uint256 compiled;
    uint256 chunks;
    uint256 inputOffset;
    uint256 inputLength;
    uint256 plan;
    IFloatJudge floatJudge;
    ICodecJudge codecJudge;
}

/// @notice Operands of a step in memory.
library Machines {
    /// @notice The operand whole in memory, NO_FLAT if the record names none. @param position 0 for a, 1 for b, 2 for c
    function operand(Machine memory m, RecordHead head, uint256 position) internal view returns (Flat flat) {
        uint256 index = head.operandOf(position);
        return index == NONE ? NO_FLAT : tensor(m, index);
    }

    /// @param index of a step, or WEIGHT + index of a PLAIN weight tensor
    function tensor(Machine memory m, uint256 index) internal view returns (Flat flat) {
        unchecked {
            if (index < WEIGHT) return Flat.wrap(Memory.load(m.steps + 32 * index));
            flat = weight(m, index);
            hold(m);
            if (m.stream != 0) return flat.shifted(m.stream);
            uint256 offset = flat.pointer();
            return flat.moved(copyNew(m, offset, flat.size()));
        }
    }

    /// @notice The weight tensor, its pointer being its offset in the stream.
    function weight(Machine memory m, uint256 index) internal pure returns (Flat flat) {
        unchecked {
            return Flat.wrap(Memory.load(m.weights + 32 * (index - WEIGHT)));
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
        pointer = Memory.reserve(length);
        ProgramReader.copyPacked(m.chunks, offset, length, pointer);
    }

    /// @notice The parameter words of a CHANNEL weight tensor.
    /// @param index WEIGHT + its index @return parameters memory of them @return channels how many
    function channelWords(Machine memory m, uint256 index)
        internal
        view
        returns (uint256 parameters, uint256 channels)
    {
        unchecked {
            Flat flat = weight(m, index);
            channels = flat.count();
            parameters = part(m, flat.pointer(), 32 * channels);
        }
    }
}
