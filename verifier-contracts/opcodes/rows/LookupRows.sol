// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {WEIGHT} from "../../types/Program.sol";
import {Lookup} from "../Lookup.sol";

/// @notice LOOKUP of whole tensors: of a table that is not in memory only the rows that the ids name are read.
library LookupRows {
    uint256 private constant CHUNK_BYTES = 24_544;

    /// @param out tensor without a pointer @param ids operand a @param index WEIGHT + index of the table
    function sum(Machine memory m, uint256 out, uint256 ids, uint256 index)
        internal
        view
        returns (uint256 flat)
    {
        unchecked {
            Machines.hold(m);
            uint256 table = Machines.weight(m, index);
            uint256 columns = Flat.last(table);
            flat = Flat.allocate(out);
            uint256 target = Flat.pointer(flat);
            uint256 width = 4 * Flat.last(ids);
            uint256 id = Flat.pointer(ids);
            uint256 scratch = Flat.mark();
            for (uint256 end = id + Flat.size(ids); id < end; id += width) {
                uint256 rows = _gather(m, table, id, width, scratch);
                Lookup.sumRows(scratch, rows, (columns + 31) & ~uint256(31), target);
                // What a row's last word spills is overwritten by the next row, or is room behind the tensor.
                target += 4 * columns;
            }
        }
    }

    /// @dev Copies the rows that a row of ids names, without row 0. @return rows how many
    function _gather(Machine memory m, uint256 table, uint256 id, uint256 width, uint256 scratch)
        private
        view
        returns (uint256 rows)
    {
        unchecked {
            uint256 rowBytes = (Flat.last(table) + 31) & ~uint256(31);
            uint256 most = Flat.count(table) / Flat.last(table) - 1;
            uint256 first = Flat.pointer(table);
            uint256 target = scratch;
            uint256 stream = m.stream;
            for (uint256 end = id + width; id < end; id += 32) {
                // Eight ids at a time, as far as the row goes. What is left once they are read, or is padding, is 0.
                uint256 ids = Flat.load(id);
                if (end - id < 32) ids = (ids >> (8 * (32 - (end - id)))) << (8 * (32 - (end - id)));
                if (ids == 0) continue;
                target = stream == 0
                    ? _read(m.chunks, first, rowBytes, most, ids, target)
                    : _copyRows(stream + first, rowBytes, most, ids, target);
            }
            return (target - scratch) / rowBytes;
        }
    }

    /// @dev Copies the rows of up to eight ids from memory. @return next behind what was copied
    function _copyRows(uint256 first, uint256 rowBytes, uint256 most, uint256 ids, uint256 target)
        private
        pure
        returns (uint256 next)
    {
        assembly ("memory-safe") {
            for {} ids { ids := shl(32, ids) } {
                let row := shr(224, ids)
                // As Lookup.clampId: what is negative is 0.
                if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }
                if row {
                    mcopy(target, add(first, mul(row, rowBytes)), rowBytes)
                    target := add(target, rowBytes)
                }
            }
            next := target
        }
    }

    /// @dev The same from the chunks.
    function _read(uint256 chunks, uint256 first, uint256 rowBytes, uint256 most, uint256 ids, uint256 target)
        private
        view
        returns (uint256 next)
    {
        assembly ("memory-safe") {
            for {} ids { ids := shl(32, ids) } {
                let row := shr(224, ids)
                if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }
                if row {
                    row := add(first, mul(row, rowBytes))
                    let chunk := div(row, CHUNK_BYTES)
                    row := sub(row, mul(chunk, CHUNK_BYTES))
                    chunk := add(chunks, mul(20, chunk))
                    extcodecopy(shr(96, mload(chunk)), target, add(row, 1), rowBytes)
                    target := add(target, rowBytes)
                    // Code ends where the chunk does; the rest of the row is the next one's beginning.
                    let rest := add(row, rowBytes)
                    if gt(rest, CHUNK_BYTES) {
                        rest := sub(rest, CHUNK_BYTES)
                        extcodecopy(shr(96, mload(add(chunk, 20))), sub(target, rest), 1, rest)
                    }
                }
            }
            next := target
        }
    }

    /// @param out tensor without a pointer @param ids operand a @param index WEIGHT + index of the table
    function pick(Machine memory m, uint256 out, uint256 ids, uint256 index)
        internal
        view
        returns (uint256 flat)
    {
        unchecked {
            Machines.hold(m);
            uint256 table = index < WEIGHT ? Machines.tensor(m, index) : Machines.weight(m, index);
            uint256 tableRows = Flat.count(table) / Flat.last(table);
            uint256 rowBytes = Flat.last(table) * Shapes.elementBytes(Flat.code(table));
            flat = Flat.allocate(out);
            uint256 target = Flat.pointer(flat);
            uint256 id = Flat.pointer(ids);
            for (uint256 end = id + Flat.size(ids); id < end; id += 4) {
                uint256 row = Lookup.clampId(Flat.load(id) >> 224, tableRows);
                _copy(m, Flat.pointer(table) + row * rowBytes, rowBytes, target);
                target += rowBytes;
            }
        }
    }

    function _copy(Machine memory m, uint256 offset, uint256 length, uint256 target) private view {
        uint256 stream = m.stream;
        if (stream == 0) return ProgramReader.copyPacked(m.chunks, offset, length, target);
        assembly ("memory-safe") {
            mcopy(target, add(stream, offset), length)
        }
    }
}
