// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Turn} from "../libraries/Turn.sol";
import {Values} from "../libraries/Values.sol";
import {Requant} from "../opcodes/Requant.sol";

/// @notice REQUANT in the integer form of a matrix, turned: of s32 [R, C] the bytes [C, R]. The interpreter creates it:
/// its own code has no room for this. Holds no state, computes on any bytes.
///
/// Calldata: R and C, a word each; C parameter words; C numbers s32, which are subtracted from their column before; the
/// R·C elements s32. Return data: C·R bytes.
///
/// Eight columns at a time, one a lane of 32 bits. An output is `lower + (min(max(D, 0), L − 1) >> S)` where M is 1,
/// with D = acc − X, X the least acc that gives the lower clamp, and L = (upper − lower + 1)·2^S. Where the clamps are a
/// power of two apart, S is at most 8, L at most 2^15 and X far from the ends of s32, 32 rows are made at once:
///
/// 1. e = D + 2^15, one subtraction for all lanes. If each e is below 2^16, no lane borrowed from another. Otherwise
///    each is computed again, alone, and saturated to 16 bits.
/// 2. Two rows share a word, 16 bits each, and are clamped together.
/// 3. Eight such words are turned, so that a word holds 16 elements of one column. Two of them are shifted by the
///    column's S, cut to bytes and joined to 32 bytes of an output row.
///
/// Any other eight columns go element by element.
contract TurnedRequant {
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;
    uint256 private constant SIZES = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF;
    /// @dev Every second lane, in 64 bits; the bit above each; what is above 16 bits of each.
    uint256 private constant EVEN = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF;
    uint256 private constant ABOVE = 0x0000000100000000000000010000000000000001000000000000000100000000;
    uint256 private constant LARGE = 0x00000000FFFF000000000000FFFF000000000000FFFF000000000000FFFF0000;
    uint256 private constant QUARTERS = 0x000000000000FFFF000000000000FFFF000000000000FFFF000000000000FFFF;
    /// @dev The highest bit of each 16.
    uint256 private constant TOPS = 0x8000800080008000800080008000800080008000800080008000800080008000;
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant ONES = 0x0101010101010101010101010101010101010101010101010101010101010101;

    /// @dev Rows that are made at once.
    uint256 private constant BLOCK = 32;
    /// @dev What X and U are at most in size, where U = X + the subtracted number − bias′, so that e = element − U + 2^15
    /// unless acc wrapped. So |element − U| < 2^31 + 2^30, and |acc − X| too: neither can be a small number modulo
    /// 2^32 without being that number, and a lane that borrowed, or whose acc wrapped, does not look as if it were
    /// below 2^16.
    int256 private constant FAR = 2 ** 30 - 2 ** 16;
    uint256 private constant HALF = 2 ** 15;

    /// @dev Memory of eight columns. Lanes of 32 bits: U − 2^15 plus 2^31; ones in the upper half of a lane in use; the
    /// subtracted number − bias′; X − 2^15 plus 2^31. Lanes of 16 bits: L − 1; 2^15 − L. Then S and the lower clamp in
    /// each byte of a word, for each column; and eight words of pairs of rows 4i and 4i + 2, eight of 4i + 1 and 4i + 3.
    uint256 private constant UPPER = 0x20;
    uint256 private constant BEFORE = 0x40;
    uint256 private constant LEAST = 0x60;
    uint256 private constant INSIDE = 0x80;
    uint256 private constant BEYOND = 0xA0;
    uint256 private constant COLUMNS = 0xC0;
    uint256 private constant FIRST_PAIRS = 0x2C0;
    uint256 private constant SECOND_PAIRS = 0x3C0;
    uint256 private constant TABLE_BYTES = 0x4C0;

    fallback(bytes calldata data) external returns (bytes memory out) {
        unchecked {
            uint256 rows = _word(data, 0);
            uint256 columns = _word(data, 32);
            out = new bytes(rows * columns);
            uint256 target;
            uint256 table;
            assembly ("memory-safe") {
                target := add(out, 0x20)
                table := mload(0x40)
                mstore(0x40, add(table, TABLE_BYTES))
            }
            for (uint256 first = 0; first < columns; first += 8) {
                uint256 count = columns - first < 8 ? columns - first : 8;
                if (rows >= BLOCK && _lay(data, table, columns, first, count)) {
                    _turn(data, table, target, rows, columns, first, count);
                } else {
                    _elements(data, target, rows, columns, first, count);
                }
                target += rows * count;
            }
        }
    }

    /// @dev Writes the table of eight columns. @return true if they can be made 32 rows at once
    function _lay(bytes calldata data, uint256 table, uint256 columns, uint256 first, uint256 count)
        private
        pure
        returns (bool)
    {
        assembly ("memory-safe") {
            calldatacopy(table, calldatasize(), COLUMNS)
        }
        unchecked {
            for (uint256 i = 0; i < count; ++i) {
                uint256 word = _word(data, 64 + 32 * (first + i));
                int256 before = _s32(data, 64 + 32 * columns + 4 * (first + i)) - Requant.bias(word);
                if (!_layColumn(table, i, word, before)) return false;
            }
            return true;
        }
    }

    /// @param before the subtracted number minus bias′
    function _layColumn(uint256 table, uint256 i, uint256 word, int256 before) private pure returns (bool) {
        unchecked {
            uint256 shift = (word >> 120) & 63;
            uint256 lower = (word >> 72) & 0xFF;
            uint256 span = ((word >> 64) & 0xFF) + 1 - lower;
            if ((word >> 192) & 0xFFFFFFFF != 1) return false;
            // Minus 1, a span below 1 is a huge number. What a shift brings down from the pair's other row stays above the
            // byte.
            if (span - 1 > 255 || span & (span - 1) != 0 || shift > 8 || span << shift > HALF) return false;
            int256 least = (int256(lower) - int256((word >> 80) & 0xFF)) * int256(1 << shift)
                - int256(int64(uint64(word >> 128)));
            int256 all = least + before;
            if (least > FAR || least < -FAR || all > FAR || all < -FAR) return false;
            uint256 lane = table + 4 * i;
            _put(lane, uint256(all + 2 ** 31) - HALF);
            _put(lane + UPPER, 0xFFFF0000);
            _put(lane + BEFORE, uint256(before));
            _put(lane + LEAST, uint256(least + 2 ** 31) - HALF);
            _put(lane + INSIDE, ((span << shift) - 1) * 0x10001);
            _put(lane + BEYOND, (HALF - (span << shift)) * 0x10001);
            assembly ("memory-safe") {
                let column := add(add(table, COLUMNS), shl(6, i))
                mstore(column, shift)
                mstore(add(column, 0x20), mul(lower, ONES))
            }
            return true;
        }
    }

    /// @dev Adds the number modulo 2^32 to a lane that is 0. @param place memory of it
    function _put(uint256 place, uint256 value) private pure {
        assembly ("memory-safe") {
            mstore(place, or(mload(place), shl(224, value)))
        }
    }

    /// @dev The last 32 rows may be some that are made already.
    function _turn(
        bytes calldata data,
        uint256 table,
        uint256 target,
        uint256 rows,
        uint256 columns,
        uint256 first,
        uint256 count
    ) private pure {
        unchecked {
            uint256 source;
            assembly ("memory-safe") {
                source := add(add(data.offset, 64), add(mul(36, columns), shl(2, first)))
            }
            uint256 stride = 4 * columns;
            for (uint256 row = 0; row < rows; row += BLOCK) {
                if (row + BLOCK > rows) row = rows - BLOCK;
                uint256 place = source + stride * row;
                _pairs(table, table + FIRST_PAIRS, place, stride);
                _pairs(table, table + SECOND_PAIRS, place + stride, stride);
                Turn.eight(table + FIRST_PAIRS);
                Turn.eight(table + SECOND_PAIRS);
                _join(table, target + row, rows, count);
            }
        }
    }

    /// @dev Steps 1 and 2 of 16 rows: every second one of 32, two in a word.
    /// @param target memory of eight words @param source calldata of the first row
    /// @param stride bytes from one to the next
    function _pairs(uint256 table, uint256 target, uint256 source, uint256 stride) private pure {
        assembly ("memory-safe") {
            // e, saturated to 16 bits, of each lane alone: acc first, then acc − X in lanes of 64 bits, where bit 32 says
            // that it is not negative.
            function saturated(lanes, place) -> e {
                let x := calldataload(place)
                let y := mload(add(lanes, BEFORE))
                x := xor(sub(or(x, SIGNS), and(y, SIZES)), and(xor(x, y), SIGNS))
                y := mload(add(lanes, LEAST))
                for { let shift := 0 } lt(shift, 64) { shift := add(shift, 32) } {
                    let d := sub(or(and(shr(shift, x), EVEN), ABOVE), and(shr(shift, y), EVEN))
                    let keep := and(d, ABOVE)
                    d := and(d, sub(keep, shr(32, keep)))
                    let large := and(add(d, LARGE), ABOVE)
                    d := and(or(d, sub(large, shr(32, large))), QUARTERS)
                    e := or(e, shl(shift, d))
                }
            }
            let subtrahend := mload(table)
            let upper := mload(add(table, UPPER))
            let inside := mload(add(table, INSIDE))
            let beyond := mload(add(table, BEYOND))
            for { let end := add(target, 0x100) } lt(target, end) { target := add(target, 0x20) } {
                let e := sub(xor(calldataload(source), SIGNS), subtrahend)
                let f := sub(xor(calldataload(add(source, shl(1, stride))), SIGNS), subtrahend)
                if and(or(e, f), upper) {
                    e := saturated(table, source)
                    f := saturated(table, add(source, shl(1, stride)))
                }
                source := add(source, shl(2, stride))
                // Lanes that are not in use hold anything, and must not reach the next one.
                e := or(and(shl(16, e), upper), f)
                // To min(max(e − 2^15, 0), L − 1): where the highest bit says that e − 2^15 is not negative, the others
                // are it.
                f := and(e, TOPS)
                e := and(e, sub(f, shr(15, f)))
                f := and(add(e, beyond), TOPS)
                mstore(target, and(or(e, sub(f, shr(15, f))), inside))
            }
        }
    }

    /// @dev Step 3's end: 32 bytes of each column, `rows` bytes apart. Lane i holds rows 4i to 4i + 3.
    function _join(uint256 table, uint256 target, uint256 rows, uint256 count) private pure {
        assembly ("memory-safe") {
            // A column's S and lower clamp are 2·0x20 bytes, its words 0x20.
            let column := add(table, COLUMNS)
            let words := add(table, FIRST_PAIRS)
            for { let end := add(words, shl(5, count)) } lt(words, end) { words := add(words, 0x20) } {
                let shift := mload(column)
                mstore(
                    target,
                    add(
                        or(
                            shl(8, and(shr(shift, mload(words)), PAIRS)),
                            and(shr(shift, mload(add(words, 0x100))), PAIRS)
                        ),
                        mload(add(column, 0x20))
                    )
                )
                column := add(column, 0x40)
                target := add(target, rows)
            }
        }
    }

    /// @dev As the judge computes an element.
    function _elements(
        bytes calldata data,
        uint256 target,
        uint256 rows,
        uint256 columns,
        uint256 first,
        uint256 count
    ) private pure {
        unchecked {
            for (uint256 column = first; column < first + count; ++column) {
                uint256 word = _word(data, 64 + 32 * column);
                int256 before = _s32(data, 64 + 32 * columns + 4 * column) - Requant.bias(word);
                uint256 element = 64 + 36 * columns + 4 * column;
                for (uint256 end = target + rows; target < end; ++target) {
                    int256 acc = Values.wrap(_s32(data, element) - before);
                    uint256 stored = Requant.clamp(Requant.scale(acc, word), word);
                    assembly ("memory-safe") {
                        mstore8(target, stored)
                    }
                    element += 4 * columns;
                }
            }
        }
    }

    function _word(bytes calldata data, uint256 offset) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(data.offset, offset))
        }
    }

    function _s32(bytes calldata data, uint256 offset) private pure returns (int256) {
        return int256(_word(data, offset)) >> 224;
    }
}
