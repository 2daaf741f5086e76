// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Lookup} from "../../opcodes/Lookup.sol";
import {Plan} from "./Plan.sol";

/// @notice LOOKUP sums of a plan: of the table only the rows that ids name are read, from the chunks.
library PlanLookup {
    uint256 private constant CHUNK_BYTES = 24_544;
    uint256 private constant MASK = 0xFFFFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;

    /// @dev a: memory of the ids, b: scratch memory. 136..167 offset of the table in the stream, 120..135 bytes of its
    /// rows, 96..119 its last row, 80..95 elements of a row, 56..79 rows of ids, 48..55 ids of a row.
    function sum(uint256 word) internal view {
        unchecked {
            uint256 target = Plan.outOf(word);
            uint256 id = Plan.aOf(word);
            uint256 scratch = Plan.bOf(word);
            uint256 rowBytes = (word >> 120) & 0xFFFF;
            uint256 outBytes = 4 * ((word >> 80) & 0xFFFF);
            for (uint256 rows = (word >> 56) & MASK; rows != 0; --rows) {
                uint256 end = gather(word, id, scratch);
                id += 4 * ((word >> 48) & 0xFF);
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

    /// @notice Copies the table rows that a row of ids names, but row 0. @param word fields as in `sum`
    /// @param id memory of the first one @return end behind what was copied
    function gather(uint256 word, uint256 id, uint256 target) internal view returns (uint256 end) {
        unchecked {
            end = target;
            uint256 most = (word >> 96) & MASK;
            for (uint256 left = 4 * ((word >> 48) & 0xFF); left != 0;) {
                // Eight ids at a time, as far as the row goes; what is left once they are read is 0.
                uint256 ids = Flat.load(id);
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
                if (ids != 0) end = _gather(word, ids, end);
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
    function _gather(uint256 word, uint256 ids, uint256 target) private view returns (uint256 next) {
        assembly ("memory-safe") {
            let first := and(shr(136, word), 0xFFFFFFFF)
            let rowBytes := and(shr(120, word), 0xFFFF)
            next := target
            for {} 1 {} {
                let row := shr(224, ids)
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
