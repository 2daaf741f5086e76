// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Plan} from "./Plan.sol";

/// @notice A convolution of LOOKUP sums over their rows and its maximum, in lanes of 16 bits: LOOKUP, MOVEs that take
/// some of its columns and shift its rows, their ADDs with a bias, a turned matrix and REDUCE max. The ids are a text's.
library PlanWindows {
    uint256 private constant CHUNK_BYTES = 24_544;
    /// @dev From one gathered row to the next: the longest one.
    uint256 internal constant GATHERED_BYTES = 0x80;
    uint256 private constant MASK = 0xFFFFFF;
    uint256 private constant TOPS = 0x8000800080008000800080008000800080008000800080008000800080008000;
    uint256 private constant LANES = 0x0001000100010001000100010001000100010001000100010001000100010001;
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;
    uint256 private constant SIZES = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF;

    /// @dev a: memory of the ids, b: scratch memory; the variant is the number of terms. Fields as in PlanLookup.sum, but
    /// 80..95 columns of the result, and 24..47 memory of the bias, 0 if there is none.
    /// @param terms 16 bits each from the top: rows that it is shifted by + 128, its first column / 32
    /// @return done false if a sum with the bias might wrap
    function run(uint256 word, uint256 terms) internal view returns (bool done) {
        unchecked {
            uint256 columns = (word >> 80) & 0xFFFF;
            uint256 bias = (word >> 24) & MASK;
            if (bias != 0 && !_isSmall(bias, columns)) return false;
            uint256 rowBytes = 2 * ((word >> 120) & 0xFFFF);
            uint256 margin = _layTerms(Plan.bOf(word), terms, Plan.variantOf(word), rowBytes);
            // Sixteen rows to gather and three of zeros; then those of lanes between margins.
            uint256 gathered = Plan.bOf(word) + 32 * Plan.variantOf(word);
            uint256 lanes = gathered + 19 * GATHERED_BYTES + margin * rowBytes;
            uint256 zero = 128 * ((word >> 48) & 0xFF) * LANES;
            uint256 used = _usedRows(word);
            _fill(lanes - margin * rowBytes, margin * rowBytes, zero);
            _sums(word, used, gathered, lanes);
            uint256 rows = (word >> 56) & MASK;
            uint256 least = 0;
            if (used + margin < rows) {
                // One that no token reaches.
                rows = used + margin;
                least = zero * Plan.variantOf(word);
            }
            _fill(lanes + used * rowBytes, (rows + margin - used) * rowBytes, zero);
            uint256 target = Plan.outOf(word);
            for (uint256 end = target + 4 * columns; target < end; target += 128) {
                _block(word, lanes, rows, target, least);
                if (bias != 0) {
                    _addBias(target, bias);
                    bias += 128;
                }
                lanes += 64;
            }
            return true;
        }
    }

    /// @dev True if every number is from −2^30 to 2^30 − 1: sums, of 16 bits, with it stay within s32.
    function _isSmall(uint256 bias, uint256 columns) private pure returns (bool small) {
        assembly ("memory-safe") {
            let large := 0
            for { let end := add(bias, shl(2, columns)) } lt(bias, end) { bias := add(bias, 0x20) } {
                let x := mload(bias)
                large := or(large, xor(x, shl(1, x)))
            }
            small := iszero(and(large, SIGNS))
        }
    }

    /// @dev Writes each term's distance in bytes from the row that its sum is of. @return margin greatest shift
    function _layTerms(uint256 place, uint256 terms, uint256 count, uint256 rowBytes)
        private
        pure
        returns (uint256 margin)
    {
        assembly ("memory-safe") {
            for { let end := add(place, shl(5, count)) } lt(place, end) { place := add(place, 0x20) } {
                let shift := sub(byte(0, terms), 128)
                mstore(place, add(mul(shift, rowBytes), shl(6, byte(1, terms))))
                if slt(shift, 0) { shift := sub(0, shift) }
                if gt(shift, margin) { margin := shift }
                terms := shl(16, terms)
            }
        }
    }

    /// @dev Rows of ids up to the last one that has any, or some more.
    function _usedRows(uint256 word) private pure returns (uint256 used) {
        assembly ("memory-safe") {
            let ids := and(shr(192, word), 0xFFFFFF)
            let width := shl(2, and(shr(48, word), 0xFF))
            let end := add(ids, mul(width, and(shr(56, word), 0xFFFFFF)))
            for { let last := add(ids, 0x1F) } gt(end, last) { end := sub(end, 0x20) } {
                if mload(sub(end, 0x20)) { break }
            }
            used := div(add(sub(end, ids), sub(width, 1)), width)
        }
    }

    function _fill(uint256 target, uint256 size, uint256 lanes) private pure {
        assembly ("memory-safe") {
            for { let end := add(target, size) } lt(target, end) { target := add(target, 0x20) } {
                mstore(target, lanes)
            }
        }
    }

    /// @dev The sums of the table rows that each row of ids names, 128 added for each id: two words of 16 lanes for 32
    /// columns, the bytes 4i + 3 and 4i + 1 of the rows' words, then 4i + 2 and 4i.
    function _sums(uint256 word, uint256 rows, uint256 gathered, uint256 target) private view {
        unchecked {
            uint256 width = (word >> 48) & 0xFF;
            uint256 id = Plan.aOf(word);
            for (; rows != 0; --rows) {
                uint256 end = _gather(word, id, gathered);
                uint256 rest = (width - (end - gathered) / GATHERED_BYTES) * 128 * LANES;
                target = _sum(word, gathered, end, rest, target);
                id += 4 * width;
            }
        }
    }

    /// @dev Copies the table rows of a token, from `target` on. Its ids end with its row or at a 0; INVARIANT: CODEC text
    /// made them for no larger a table, so they need no limit. @return end behind them
    function _gather(uint256 word, uint256 id, uint256 target) private view returns (uint256 end) {
        assembly ("memory-safe") {
            let first := and(shr(136, word), 0xFFFFFFFF)
            let rowBytes := and(shr(120, word), 0xFFFF)
            let last := sub(CHUNK_BYTES, rowBytes)
            end := target
            for { let idEnd := add(id, shl(2, and(shr(48, word), 0xFF))) } lt(id, idEnd) { id := add(id, 4) }
            {
                let row := shr(224, mload(id))
                if iszero(row) { break }
                row := add(first, mul(row, rowBytes))
                let offset := mod(row, CHUNK_BYTES)
                let chunk := add(0xC0, shl(5, div(row, CHUNK_BYTES))) // Plan.AT + Plan.HEAD_BYTES
                extcodecopy(mload(chunk), end, add(offset, 1), rowBytes)
                if gt(offset, last) {
                    // The rest of it is the next chunk's beginning.
                    let rest := sub(offset, last)
                    extcodecopy(mload(add(chunk, 0x20)), sub(add(end, rowBytes), rest), 1, rest)
                }
                end := add(end, GATHERED_BYTES)
            }
        }
    }

    /// @dev Sums the rows from `gathered` to `end`. @param rest what is added to each lane @return next behind the sums
    function _sum(uint256 word, uint256 gathered, uint256 end, uint256 rest, uint256 target)
        private
        pure
        returns (uint256 next)
    {
        assembly ("memory-safe") {
            next := target
            // Zeros make the rows a multiple of four.
            calldatacopy(end, calldatasize(), 0x180)
            for { let rowEnd := add(gathered, and(shr(120, word), 0xFFFF)) } lt(gathered, rowEnd) {
                gathered := add(gathered, 0x20)
            } {
                let even := 0
                let all := 0
                for { let row := gathered } lt(row, end) { row := add(row, 0x200) } {
                    let a := mload(row)
                    let b := mload(add(row, 0x80))
                    let c := mload(add(row, 0x100))
                    let d := mload(add(row, 0x180))
                    even := add(
                        even,
                        add(add(and(a, PAIRS), and(b, PAIRS)), add(and(c, PAIRS), and(d, PAIRS)))
                    )
                    all := add(all, add(add(shr(8, a), shr(8, b)), add(shr(8, c), shr(8, d))))
                }
                // All that was shifted by a byte is the odd ones and, but for the lowest one's last eight bits, the even
                // ones shifted.
                all := sub(all, shr(8, sub(even, and(even, 0xFFFF))))
                mstore(next, add(even, rest))
                mstore(add(next, 0x20), add(all, rest))
                next := add(next, 0x40)
            }
        }
    }

    /// @dev 32 columns, as s32. @param row memory of their first row's lanes @param least of the sums, in all lanes
    function _block(uint256 word, uint256 row, uint256 rows, uint256 target, uint256 least) private pure {
        assembly ("memory-safe") {
            let rowBytes := shl(1, and(shr(120, word), 0xFFFF))
            let terms := and(shr(168, word), 0xFFFFFF)
            let termsEnd := add(terms, shl(5, and(shr(240, word), 0xFF)))
            let even := least
            let odd := least
            for { let end := add(row, mul(rows, rowBytes)) } lt(row, end) { row := add(row, rowBytes) } {
                let x := 0
                let y := 0
                for { let term := terms } lt(term, termsEnd) { term := add(term, 0x20) } {
                    let place := add(row, mload(term))
                    x := add(x, mload(place))
                    y := add(y, mload(add(place, 0x20)))
                }
                // 15 bits each, so that the highest one says which is greater.
                x := sub(or(x, TOPS), even)
                let greater := and(x, TOPS)
                even := add(even, and(x, sub(greater, shr(15, greater))))
                y := sub(or(y, TOPS), odd)
                greater := and(y, TOPS)
                odd := add(odd, and(y, sub(greater, shr(15, greater))))
            }
            // To s32, without 128 for each id of each term.
            let added := mul(shl(7, mul(and(shr(48, word), 0xFF), and(shr(240, word), 0xFF))), ONES)
            mstore(target, xor(sub(or(and(even, HALVES), SIGNS), added), SIGNS))
            mstore(add(target, 0x20), xor(sub(or(and(odd, HALVES), SIGNS), added), SIGNS))
            mstore(add(target, 0x40), xor(sub(or(and(shr(16, even), HALVES), SIGNS), added), SIGNS))
            mstore(add(target, 0x60), xor(sub(or(and(shr(16, odd), HALVES), SIGNS), added), SIGNS))
        }
    }

    /// @dev Of 32 columns.
    function _addBias(uint256 target, uint256 bias) private pure {
        assembly ("memory-safe") {
            for { let end := add(target, 0x80) } lt(target, end) { target := add(target, 0x20) } {
                let x := mload(target)
                let y := mload(bias)
                mstore(target, xor(add(and(x, SIZES), and(y, SIZES)), and(xor(x, y), SIGNS)))
                bias := add(bias, 0x20)
            }
        }
    }
}
