// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Steps} from "../../../verifier-contracts/execution/Steps.sol";
import {Assembler} from "../../../verifier-contracts/execution/compiled/Assembler.sol";
import {CompiledLayer} from "../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {PartWord, packPart} from "../../../verifier-contracts/execution/compiled/PartWord.sol";
import {Layer, Parts} from "../../../verifier-contracts/execution/compiled/Parts.sol";
import {IFloatJudge} from "../../../verifier-contracts/interfaces/IFloatJudge.sol";
import {Flat, describeFlat} from "../../../verifier-contracts/libraries/Flat.sol";
import {Machine} from "../../../verifier-contracts/libraries/Machine.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {MovePlan} from "../../../verifier-contracts/opcodes/rows/MovePlan.sol";
import {WEIGHT} from "../../../verifier-contracts/types/Program.sol";
import {Laid} from "./Laid.sol";
import {Case, Operand} from "./RecordCase.sol";

/// @notice Runs the record of a laid case by the interpreter's kernels or by compiled code.
library Engines {
    /// @notice Thrown when a kernel changed what is not its own.
    error NeighboursChanged();
    /// @notice Thrown when a kernel's tensor is of another shape, or stands where it must not.
    error WrongTensor(uint256 flat);

    /// @notice Thrown when the stream that a kernel brought to memory stands where the next step may write, or is another.
    error StreamLost(uint256 stream);

    /// @notice Memory of the record under test.
    function recordOf(Laid memory l) internal pure returns (uint256 record) {
        bytes memory program = l.program;
        assembly ("memory-safe") {
            record := add(program, sub(mload(program), 0x60))
        }
    }

    /// @notice Memory of the first record. @param l laid
    function recordsOf(Laid memory l) internal pure returns (uint256 records) {
        bytes memory program = l.program;
        uint256 offset = 64 + 32 * l.weights;
        assembly ("memory-safe") {
            records := add(program, offset)
        }
    }

    /// @notice The interpreter's kernel. @param chunks addresses of the stream's data contracts
    /// @param held 0 if the stream is in memory from the start, 1 if a stream of one chunk may be brought there, 2 or more
    /// if it is not
    /// @return flat the tensor @return arena memory of the operands
    function plain(Case memory c, Laid memory l, address[] memory chunks, IFloatJudge judge, uint256 held)
        internal
        view
        returns (Flat flat, uint256 arena)
    {
        Machine memory m = _machine(l, chunks, judge);
        arena = copyArena(l);
        if (held == 0 && l.prefix == 0) m.stream = arena + l.streamPlace;
        if (held == 1 && chunks.length == 1) m.whole = l.prefix + l.stream.length;
        _place(c, l, m, arena);
        m.compiled = CompiledLayer.NONE;
        return (_run(c, l, m, arena), arena);
    }

    /// @notice The code that LayerBuilder creates of a DOT step, part by part, called as the interpreter does.
    function compiled(
        Case memory c,
        Laid memory l,
        address[] memory chunks,
        address[] memory program,
        IFloatJudge judge
    ) internal returns (Flat flat) {
        Layer memory layer = Parts.layerOf(ModelWord.wrap(l.word), program, l.steps);
        uint256 cursor = Memory.reserve(32 * (layer.rows + 1));
        uint256 end = cursor;
        for (uint256 row = 0; row < layer.rows; row += layer.partRows) {
            uint256 count = Parts.rowsFrom(layer, row);
            address part = _part(layer, c.operands[1].data, row, count);
            _store(end, PartWord.unwrap(packPart(l.steps, layer.width * row, layer.width * count, part)));
            end += 32;
        }
        _store(end, 0);
        Machine memory m = _machine(l, chunks, judge);
        uint256 arena = copyArena(l);
        _place(c, l, m, arena);
        m.compiled = cursor;
        flat = _run(c, l, m, arena);
        if (m.compiled != end) revert WrongTensor(Flat.unwrap(flat));
    }

    /// @dev As LayerBuilder creates it: ten bytes, then the code; a word more than there is behind the rows.
    function _part(Layer memory layer, bytes memory rows, uint256 first, uint256 count)
        private
        returns (address part)
    {
        uint256 size = 32 * layer.weights.words;
        uint256 words = Memory.reserve(size * count + 32);
        assembly ("memory-safe") {
            mcopy(words, add(add(rows, 0x20), mul(first, size)), mul(count, size))
        }
        (uint256 start, uint256 length) = Assembler.assemble(layer, words, first, count);
        uint256 prefix = (0x61 << 72) | (length << 56) | 0x80600a5f395ff3;
        assembly ("memory-safe") {
            mstore(sub(start, 0x20), prefix)
            part := create(0, sub(start, 10), add(length, 10))
        }
        require(part != address(0), "a part was not created");
    }

    function _machine(Laid memory l, address[] memory chunks, IFloatJudge judge)
        private
        pure
        returns (Machine memory m)
    {
        m.word = ModelWord.wrap(l.word);
        m.floatJudge = judge;
        m.records = recordsOf(l);
        m.steps = Memory.reserve(32 * l.steps + 32);
        m.plan = Memory.reserve(MovePlan.BYTES);
        m.chunks = Memory.reserve(20 * chunks.length + 32);
        for (uint256 i = 0; i < chunks.length; ++i) {
            _store(m.chunks + 20 * i, uint256(uint160(chunks[i])) << 96);
        }
        Steps.describeWeights(m);
    }

    /// @return arena memory of the operands
    function copyArena(Laid memory l) internal pure returns (uint256 arena) {
        bytes memory from = l.arena;
        assembly ("memory-safe") {
            arena := mload(0x40)
            mcopy(arena, add(from, 0x20), mload(from))
            mstore(0x40, add(arena, mload(from)))
        }
    }

    function _place(Case memory c, Laid memory l, Machine memory m, uint256 arena) private pure {
        for (uint256 i = 0; i < 3; ++i) {
            uint256 index = l.index[i];
            if (index >= WEIGHT) continue;
            Operand memory x = c.operands[i];
            Flat flat = describeFlat(m.records + 128 * index + 32, x.code, x.rank);
            _store(m.steps + 32 * index, Flat.unwrap(flat.at(arena + l.places[i])));
        }
    }

    /// @dev Memory that is free is not clean: steps before have been there.
    function _run(Case memory c, Laid memory l, Machine memory m, uint256 arena)
        private
        view
        returns (Flat flat)
    {
        uint256 free = Memory.mark();
        uint256 dirty = 12 * c.count + 2048;
        bytes32 before;
        assembly ("memory-safe") {
            for { let place := free } lt(place, add(free, dirty)) { place := add(place, 0x20) } {
                mstore(place, 0x5AC35AC3DEADBEEF7F80FF01FEEDFACE5AC35AC3DEADBEEF7F80FF01FEEDFACE)
            }
            before := keccak256(arena, sub(free, arena))
        }
        bytes32 program = keccak256(l.program);
        uint256 record = recordOf(l);
        flat = Steps.runStep(m, record);
        bytes32 behind;
        assembly ("memory-safe") {
            behind := keccak256(arena, sub(free, arena))
        }
        if (before != behind || keccak256(l.program) != program) revert NeighboursChanged();
        if (m.whole != 0 && m.stream != 0) _checkStream(l, m);
        _checkTensor(c, record, flat);
    }

    /// @dev The same tensor but for its place, and no free memory is part of it.
    function _checkTensor(Case memory c, uint256 record, Flat flat) private pure {
        Flat expected = describeFlat(record + 32, c.code, c.rank).at(flat.pointer());
        if (Flat.unwrap(flat) != Flat.unwrap(expected)) revert WrongTensor(Flat.unwrap(flat));
        if (flat.pointer() + flat.size() > Memory.mark()) revert WrongTensor(Flat.unwrap(flat));
    }

    /// @dev What a kernel held is neither free memory nor changed.
    function _checkStream(Laid memory l, Machine memory m) private pure {
        bytes memory stream = l.stream;
        uint256 from = m.stream + l.prefix;
        bytes32 hash;
        assembly ("memory-safe") {
            hash := keccak256(from, mload(stream))
        }
        if (m.stream + m.whole > Memory.mark() || hash != keccak256(stream)) revert StreamLost(m.stream);
    }

    function _store(uint256 place, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(place, word)
        }
    }
}
