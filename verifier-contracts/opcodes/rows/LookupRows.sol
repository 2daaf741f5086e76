// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Machine, Machines} from "../../libraries/Machine.sol";
import {FIRST_ADDRESS, FIRST_U32, Memory} from "../../libraries/Memory.sol";
import {ProgramReader} from "../../libraries/ProgramReader.sol";
import {RecordHead} from "../../libraries/RecordHead.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {LOOKUP_PICK, LOOKUP_SUM, OP_LOOKUP, UnknownVariant} from "../../types/Program.sol";
import {Lookup} from "../Lookup.sol";

/// @notice LOOKUP of whole tensors: of a table that is not in memory only the rows that the ids name are read.
library LookupRows {
    uint256 private constant CHUNK_BYTES = 24_544;

    /// @notice Runs a step of an interpreter (generated/Kernels.sol).
    function run(Machine memory m, uint256, RecordHead head, Flat out) internal view returns (Flat) {
        Flat ids = Machines.operand(m, head, 0);
        // The table's rows are read where they are: only those that the ids name.
        uint256 index = head.operandOf(1);
        uint256 variant = head.variant();
        if (variant == LOOKUP_SUM) return _sum(m, out, ids, index);
        if (variant == LOOKUP_PICK) return _pick(m, out, ids, index);
        revert UnknownVariant(OP_LOOKUP, variant);
    }

    /// @param ids operand a @param index operand b: WEIGHT + index of the table
    function _sum(Machine memory m, Flat out, Flat ids, uint256 index) private view returns (Flat flat) {
        unchecked {
            Machines.hold(m);
            Flat table = Machines.weight(m, index);
            uint256 columns = table.last();
            flat = out.allocate();
            uint256 target = flat.pointer();
            uint256 width = 4 * ids.last();
            uint256 id = ids.pointer();
            uint256 scratch = Memory.mark();
            for (uint256 end = id + ids.size(); id < end; id += width) {
                uint256 rows = _gather(m, table, id, width, scratch);
                Lookup.sumRows(scratch, rows, (columns + 31) & ~uint256(31), target);
                // What a row's last word spills is overwritten by the next row, or is room behind the tensor.
                target += 4 * columns;
            }
        }
    }

    /// @dev Copies the rows that a row of ids names, without row 0. @return rows how many
    function _gather(Machine memory m, Flat table, uint256 id, uint256 width, uint256 scratch)
        private
        view
        returns (uint256 rows)
    {
        unchecked {
            uint256 rowBytes = (table.last() + 31) & ~uint256(31);
            uint256 most = table.count() / table.last() - 1;
            uint256 first = table.pointer();
            uint256 target = scratch;
            if (m.stream != 0) {
                first += m.stream;
                assembly ("memory-safe") {
                    for { let end := add(id, width) } lt(id, end) { id := add(id, 4) } {
                        let row := shr(FIRST_U32, mload(id))
                        // As Lookup.clampId: what is negative is 0.
                        if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }
                        if row {
                            mcopy(target, add(first, mul(row, rowBytes)), rowBytes)
                            target := add(target, rowBytes)
                        }
                    }
                }
            } else {
                _read(m.chunks, first, rowBytes, most, id, width, target);
                assembly ("memory-safe") {
                    target := mload(0)
                }
            }
            return (target - scratch) / rowBytes;
        }
    }

    /// @dev The same from the chunks; the end of what was copied is left in scratch space.
    function _read(
        uint256 chunks,
        uint256 first,
        uint256 rowBytes,
        uint256 most,
        uint256 id,
        uint256 width,
        uint256 target
    ) private view {
        assembly ("memory-safe") {
            for { let end := add(id, width) } lt(id, end) { id := add(id, 4) } {
                let row := shr(FIRST_U32, mload(id))
                if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }
                if row {
                    row := add(first, mul(row, rowBytes))
                    let chunk := div(row, CHUNK_BYTES)
                    row := sub(row, mul(chunk, CHUNK_BYTES))
                    chunk := add(chunks, mul(20, chunk))
                    extcodecopy(shr(FIRST_ADDRESS, mload(chunk)), target, add(row, 1), rowBytes)
                    target := add(target, rowBytes)
                    // Code ends where the chunk does; the rest of the row is the next one's beginning.
                    let rest := add(row, rowBytes)
                    if gt(rest, CHUNK_BYTES) {
                        rest := sub(rest, CHUNK_BYTES)
                        extcodecopy(shr(FIRST_ADDRESS, mload(add(chunk, 20))), sub(target, rest), 1, rest)
                    }
                }
            }
            mstore(0, target)
        }
    }

    function _pick(Machine memory m, Flat out, Flat ids, uint256 index) private view returns (Flat flat) {
        unchecked {
            Machines.hold(m);
            Flat table = Machines.weight(m, index);
            uint256 tableRows = table.count() / table.last();
            uint256 rowBytes = table.last() * Shapes.elementBytes(table.code());
            flat = out.allocate();
            uint256 target = flat.pointer();
            uint256 id = ids.pointer();
            for (uint256 end = id + ids.size(); id < end; id += 4) {
                uint256 row = Lookup.clampId(Memory.load(id) >> FIRST_U32, tableRows);
                _copy(m, table.pointer() + row * rowBytes, rowBytes, target);
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
