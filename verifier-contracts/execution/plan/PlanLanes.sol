// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Turn} from "../../libraries/Turn.sol";
import {Requant} from "../../opcodes/Requant.sol";
import {Plan} from "./Plan.sol";

/// @notice Instructions of a plan on a matrix of up to eight columns as codec `lanes` brings it: signed numbers of 16
/// bits, without the copy to 32 bits that the CODEC step stands for. Two rows share a word, 16 bits an element.
library PlanLanes {
    uint256 private constant MASK = 0xFFFFFF;
    uint256 private constant TOPS = 0x8000800080008000800080008000800080008000800080008000800080008000;
    uint256 private constant LOWS = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant HIGH_128 = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF00000000000000000000000000000000;
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant BYTES = 0x0101010101010101010101010101010101010101010101010101010101010101;

    /// @dev Beyond it acc might wrap: |acc − X| and |element − X| stay below 2^31 (as in TurnedRequant).
    int256 private constant FAR = 2 ** 30 - 2 ** 16;
    int256 private constant HALF = 2 ** 15;

    /// @dev Scratch memory of `turn`: for both rows of a word the limits p and q and the addend z, 16 bits a column; S
    /// and the lower clamp in each byte, two words a column; sixteen words of rows.
    uint256 private constant LEAST = 0x20;
    uint256 private constant ADDEND = 0x40;
    uint256 private constant COLUMNS = 0x60;
    uint256 private constant ROWS = 0x260;

    /// @notice Sums of columns, s32. @dev a: memory of the first lane. 144..167 columns, 120..143 rows, 96..119 bytes from
    /// one row to the next.
    function sums(uint256 word) internal pure {
        assembly ("memory-safe") {
            let place := and(shr(192, word), 0xFFFFFF)
            let rows := and(shr(120, word), 0xFFFFFF)
            let stride := and(shr(96, word), 0xFFFFFF)
            // 2^15 is added to each number; every second column has lanes of 32 bits, which hold 2^16 rows.
            let odd := 0
            let all := 0
            let step := shl(2, stride)
            let third := shl(1, stride)
            let fourth := add(third, stride)
            for { let end := add(place, mul(stride, and(rows, not(3)))) } lt(place, end) {
                place := add(place, step)
            } {
                let x := xor(or(and(mload(place), HIGH_128), shr(128, mload(add(place, stride)))), TOPS)
                let y := or(and(mload(add(place, third)), HIGH_128), shr(128, mload(add(place, fourth))))
                y := xor(y, TOPS)
                odd := add(odd, add(and(x, LOWS), and(y, LOWS)))
                all := add(all, add(shr(16, x), shr(16, y)))
            }
            for { let left := and(rows, 3) } left { left := sub(left, 1) } {
                let x := and(xor(mload(place), TOPS), HIGH_128)
                odd := add(odd, and(x, LOWS))
                all := add(all, shr(16, x))
                place := add(place, stride)
            }
            // All that was shifted by 16 bits is the even ones and, but for the lowest one's, the odd ones shifted.
            let even := sub(all, shr(16, sub(odd, and(odd, 0xFFFFFFFF))))
            even := add(even, shl(128, even))
            odd := add(odd, shl(128, odd))
            let added := shl(15, rows)
            let out := and(shr(216, word), 0xFFFFFF)
            for { let end := add(out, shl(2, and(shr(144, word), 0xFFFFFF))) } lt(out, end) {} {
                mstore(out, shl(224, sub(shr(224, even), added)))
                mstore(add(out, 4), shl(224, sub(shr(224, odd), added)))
                even := shl(32, even)
                odd := shl(32, odd)
                out := add(out, 8)
            }
        }
    }

    /// @notice SUB of a number from each column, REQUANT in the integer form and MOVE that turns the matrix: bytes.
    /// @dev a: memory of the first lane, b: parameter words. 144..167 the subtracted numbers s32, 0 if there are none,
    /// 128..143 rows, a multiple of 32, 120..127 columns, 112..119 parameter words, 88..111 scratch memory.
    ///
    /// An output is `lower + (t >> S)`, t being acc − X limited to 0 … L − 1, with X the least acc that gives the lower
    /// clamp and L = (upper − lower + 1)·2^S. With u = element + 2^15 and X' = X + the subtracted number + 2^15 that is
    /// t = max(min(u, q), p) − p + z, where p and q are X' and X' + L − 1 limited to 16 bits, and z what p cut off.
    /// @return done false if M is not 1, the clamps, S or X do not allow this
    function turn(uint256 word) internal pure returns (bool done) {
        unchecked {
            uint256 table = (word >> 88) & MASK;
            uint256 columns = (word >> 120) & 0xFF;
            if (!_lay(word, table, columns)) return false;
            uint256 rows = (word >> 128) & 0xFFFF;
            uint256 source = Plan.aOf(word);
            uint256 target = Plan.outOf(word);
            for (uint256 end = target + rows; target < end; target += 32) {
                _limit(table, source, 2 * columns);
                Turn.halves(table + ROWS);
                Turn.halves(table + ROWS + 32);
                _join(table, target, rows, columns);
                source += 64 * columns;
            }
            return true;
        }
    }

    /// @dev Lays out the columns' numbers. @return possible false if there is a column without
    function _lay(uint256 word, uint256 table, uint256 columns) private pure returns (bool possible) {
        unchecked {
            uint256 before = (word >> 144) & MASK;
            uint256 step = (word >> 112) & 0xFF == 1 ? 0 : 32;
            uint256 parameters = Plan.bOf(word);
            (uint256 p, uint256 q, uint256 z) = (0, 0, 0);
            for (uint256 i = 0; i < columns; ++i) {
                int256 subtracted = 0;
                uint256 channel;
                assembly ("memory-safe") {
                    channel := mload(parameters)
                    if before {
                        subtracted := sar(224, mload(before))
                        before := add(before, 4)
                    }
                }
                uint256 limits = _column(table + COLUMNS + 64 * i, channel, subtracted);
                if (limits == 0) return false;
                uint256 shift = 112 - 16 * i;
                p |= (limits & 0xFFFF) << shift;
                q |= ((limits >> 16) & 0xFFFF) << shift;
                z |= ((limits >> 32) & 0xFFFF) << shift;
                parameters += step;
            }
            assembly ("memory-safe") {
                mstore(table, or(p, shl(128, p)))
                mstore(add(table, LEAST), or(q, shl(128, q)))
                mstore(add(table, ADDEND), or(z, shl(128, z)))
            }
            return true;
        }
    }

    /// @param place memory of the column's S and lower clamp @param word its parameters
    /// @return limits p, q and z from the low end on, 16 bits each, and 2^48; 0 if the column has none
    function _column(uint256 place, uint256 word, int256 before) private pure returns (uint256 limits) {
        unchecked {
            uint256 shift = (word >> 120) & 63;
            uint256 lower = (word >> 72) & 0xFF;
            uint256 span = ((word >> 64) & 0xFF) + 1 - lower;
            // Minus 1, a span below 1 is a huge number. What a shift brings down from the neighbour stays above the byte.
            if ((word >> 192) & 0xFFFFFFFF != 1 || span - 1 > 255 || shift > 8) return 0;
            int256 most = int256(span << shift) - 1;
            int256 least = (int256(lower) - int256((word >> 80) & 0xFF)) * int256(1 << shift)
                - int256(int64(uint64(word >> 128)));
            int256 all = least + before - Requant.bias(word);
            if (most >= HALF || least > FAR || least < -FAR || all > FAR || all < -FAR) return 0;
            all += HALF;
            int256 p = _within(all, 65_535);
            assembly ("memory-safe") {
                mstore(place, shift)
                mstore(add(place, 0x20), mul(lower, BYTES))
            }
            return uint256(p) | uint256(_within(all + most, 65_535)) << 16 | uint256(_within(p - all, most))
                << 32 | 1 << 48;
        }
    }

    function _within(int256 value, int256 most) private pure returns (int256) {
        return value < 0 ? int256(0) : value > most ? most : value;
    }

    /// @dev Limits 32 rows: word number r holds rows r and 16 + r. @param size bytes of a row
    function _limit(uint256 table, uint256 source, uint256 size) private pure {
        assembly ("memory-safe") {
            let z := mload(add(table, ADDEND))
            let q := mload(add(table, LEAST))
            let notQ := not(q)
            let qLow := and(q, not(TOPS))
            let notP := not(mload(table))
            let p := and(mload(table), not(TOPS))
            let apart := shl(4, size)
            table := add(table, ROWS)
            for { let end := add(table, 0x200) } lt(table, end) { table := add(table, 0x20) } {
                let u := xor(or(and(mload(source), HIGH_128), shr(128, mload(add(source, apart)))), TOPS)
                source := add(source, size)
                // The lesser of u and q: without its highest bit each lane cannot borrow, with it the greater is the one
                // that most of three bits say.
                let t := sub(or(u, TOPS), qLow)
                let greater := and(or(and(u, t), and(or(u, t), notQ)), TOPS)
                u := xor(u, and(xor(u, q), sub(shl(1, greater), shr(15, greater))))
                // What is left of it above p, 15 bits.
                t := sub(or(u, TOPS), p)
                greater := and(or(and(u, t), and(or(u, t), notP)), TOPS)
                mstore(table, add(and(t, sub(greater, shr(15, greater))), z))
            }
        }
    }

    /// @dev Shifts, cuts to bytes and joins 32 rows of each column, `rows` bytes apart.
    function _join(uint256 table, uint256 target, uint256 rows, uint256 columns) private pure {
        assembly ("memory-safe") {
            let column := add(table, COLUMNS)
            let words := add(table, ROWS)
            for { let end := add(words, shl(6, columns)) } lt(words, end) { words := add(words, 0x40) } {
                let shift := mload(column)
                let bytes_ := shl(8, and(shr(shift, mload(words)), PAIRS))
                bytes_ := or(bytes_, and(shr(shift, mload(add(words, 0x20))), PAIRS))
                mstore(target, add(bytes_, mload(add(column, 0x20))))
                column := add(column, 0x40)
                target := add(target, rows)
            }
        }
    }
}
