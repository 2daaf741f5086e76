// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../libraries/Flat.sol";
import {Lookup} from "../../opcodes/Lookup.sol";
import {Plan} from "./Plan.sol";

/// @notice LOOKUP sums of a plan: of the table only the rows that ids name are read, from the chunks.
library PlanLookup {
    uint256 private constant CHUNK_BYTES = 24_544;
    uint256 private constant MASK = 0xFFFFFF;

    /// @dev a: memory of the ids, b: scratch memory. 136..167 offset of the table in the stream, 120..135 bytes of its
    /// rows, 96..119 its last row, 80..95 elements of a row, 56..79 rows of ids, 48..55 ids of a row.
    function sum(uint256 word) internal view {
        unchecked {
            uint256 target = Plan.outOf(word);
            uint256 id = Plan.aOf(word);
            uint256 scratch = Plan.bOf(word);
            uint256 rowBytes = (word >> 120) & 0xFFFF;
            uint256 width = 4 * ((word >> 48) & 0xFF);
            uint256 outBytes = 4 * ((word >> 80) & 0xFFFF);
            for (uint256 rows = (word >> 56) & MASK; rows != 0; --rows) {
                uint256 end = scratch;
                for (uint256 left = width; left != 0;) {
                    // Eight ids at a time, as far as the row goes; what is left once they are read is 0.
                    uint256 ids = Flat.load(id);
                    uint256 size = 32;
                    if (left < 32) {
                        size = left;
                        ids = (ids >> (256 - 8 * size)) << (256 - 8 * size);
                    }
                    id += size;
                    left -= size;
                    if (ids != 0) end = _gather(word, ids, end);
                }
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

    /// @dev Copies the rows of up to eight ids.
    /// @return next behind what was copied
    function _gather(uint256 word, uint256 ids, uint256 target) private view returns (uint256 next) {
        assembly ("memory-safe") {
            let first := and(shr(136, word), 0xFFFFFFFF)
            let rowBytes := and(shr(120, word), 0xFFFF)
            let most := and(shr(96, word), 0xFFFFFF)
            for {} ids { ids := shl(32, ids) } {
                let row := shr(224, ids)
                // As Lookup.clampId: what is negative is 0.
                if gt(row, most) { row := mul(most, lt(row, 0x80000000)) }
                if row {
                    row := add(first, mul(row, rowBytes))
                    let offset := mod(row, CHUNK_BYTES)
                    let chunk := add(0xC0, shl(5, div(row, CHUNK_BYTES))) // Plan.AT + Plan.HEAD_BYTES
                    extcodecopy(mload(chunk), target, add(offset, 1), rowBytes)
                    target := add(target, rowBytes)
                    // Code ends where the chunk does; the rest of the row is the next one's beginning.
                    let rest := add(offset, rowBytes)
                    if gt(rest, CHUNK_BYTES) {
                        rest := sub(rest, CHUNK_BYTES)
                        extcodecopy(mload(add(chunk, 0x20)), sub(target, rest), 1, rest)
                    }
                }
            }
            next := target
        }
    }
}
