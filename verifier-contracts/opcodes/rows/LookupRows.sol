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
            uint256 tableRows = Flat.count(table) / Flat.last(table);
            uint256 first = Flat.pointer(table);
            for (uint256 end = id + width; id < end; id += 4) {
                uint256 row = Lookup.clampId(Flat.load(id) >> 224, tableRows);
                if (row == 0) continue;
                _read(m, first + row * rowBytes, rowBytes, scratch + rows * rowBytes);
                ++rows;
            }
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
                _read(m, Flat.pointer(table) + row * rowBytes, rowBytes, target);
                target += rowBytes;
            }
        }
    }

    function _read(Machine memory m, uint256 offset, uint256 length, uint256 target) private view {
        uint256 stream = m.stream;
        if (stream == 0) return ProgramReader.copyPacked(m.chunks, offset, length, target);
        assembly ("memory-safe") {
            mcopy(target, add(stream, offset), length)
        }
    }
}
