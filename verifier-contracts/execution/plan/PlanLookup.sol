// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32, Memory} from "../../libraries/Memory.sol";
import {Lookup} from "../../opcodes/Lookup.sol";
import {
    Instruction,
    LOOKUP_COLUMNS,
    LOOKUP_IDS,
    LOOKUP_LAST_ROW,
    LOOKUP_ROWS,
    LOOKUP_ROW_BYTES,
    LOOKUP_SCRATCH,
    LOOKUP_TABLE,
    U16,
    U32
} from "./Instruction.sol";

/// @notice LOOKUP sums of a plan: of the table only the rows that ids name are read, from the chunks.
library PlanLookup {
    uint256 private constant CHUNK_BYTES = 24_544;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;

    function sum(Instruction i) internal view {
        unchecked {
            uint256 target = i.out();
            uint256 id = i.a();
            uint256 scratch = i.u24(LOOKUP_SCRATCH);
            uint256 rowBytes = i.u16(LOOKUP_ROW_BYTES);
            uint256 outBytes = 4 * i.u16(LOOKUP_COLUMNS);
            for (uint256 rows = i.u24(LOOKUP_ROWS); rows != 0; --rows) {
                uint256 end = gather(i, id, scratch);
                id += 4 * i.u8(LOOKUP_IDS);
                if (end == scratch) {
                    assembly ("memory-safe") {
                        calldatacopy(target, calldatasize(), outBytes)
                    }
                } else {
                    Lookup.sumRows(scratch, (end - scratch) / rowBytes, rowBytes, target);
                }
                target += outBytes;
            }
        }
    }

    /// @notice Copies the table rows that a row of ids names, but row 0. @param i LOOKUP
    /// @param id memory of the first one @return end behind what was copied
    function gather(Instruction i, uint256 id, uint256 target) internal view returns (uint256 end) {
        unchecked {
            end = target;
            uint256 most = i.u24(LOOKUP_LAST_ROW);
            for (uint256 left = 4 * i.u8(LOOKUP_IDS); left != 0;) {
                // Eight ids at a time, as far as the row goes; what is left once they are read is 0.
                uint256 ids = Memory.load(id);
                uint256 size = 32;
                if (left < 32) {
                    size = left;
                    ids = (ids >> (256 - 8 * size)) << (256 - 8 * size);
                }
                id += size;
                left -= size;
                // With the sign bit set no lane borrows, and keeps it if its id is at most the last row's.
                if ((((most * ONES) | SIGNS) - (ids & ~SIGNS)) & ~ids & SIGNS != SIGNS) {
                    ids = _clamped(ids, most);
                }
                if (ids != 0) end = _gather(i, ids, end);
            }
        }
    }

    /// @dev As Lookup.clampId, eight ids.
    function _clamped(uint256 ids, uint256 most) private pure returns (uint256 clamped) {
        assembly ("memory-safe") {
            for { let shift := 0 } lt(shift, 256) { shift := add(shift, 32) } {
                let row := and(shr(shift, ids), 0xFFFFFFFF)
                // What is negative is 0.
                if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }
                clamped := or(clamped, shl(shift, row))
            }
        }
    }

    /// @dev Copies the rows of up to eight ids, at least one of them not 0.
    /// @return next behind what was copied
    function _gather(Instruction i, uint256 ids, uint256 target) private view returns (uint256 next) {
        assembly ("memory-safe") {
            let first := and(shr(LOOKUP_TABLE, i), U32)
            let rowBytes := and(shr(LOOKUP_ROW_BYTES, i), U16)
            next := target
            for {} 1 {} {
                let row := shr(FIRST_U32, ids)
                ids := shl(32, ids)
                if iszero(row) {
                    if ids { continue }
                    break
                }
                row := add(first, mul(row, rowBytes))
                let offset := mod(row, CHUNK_BYTES)
                let chunk := add(0xC0, shl(5, div(row, CHUNK_BYTES))) // Plan.AT + Plan.HEAD_BYTES
                extcodecopy(mload(chunk), next, add(offset, 1), rowBytes)
                next := add(next, rowBytes)
                // Code ends where the chunk does; the rest of the row is the next one's beginning.
                if gt(offset, sub(CHUNK_BYTES, rowBytes)) {
                    let rest := sub(add(offset, rowBytes), CHUNK_BYTES)
                    extcodecopy(mload(add(chunk, 0x20)), sub(next, rest), 1, rest)
                }
            }
        }
    }
}
