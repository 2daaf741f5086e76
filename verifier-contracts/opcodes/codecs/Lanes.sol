// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Codec lanes: signed 16-bit numbers, big-endian, one after another (docs/EXACT.md, section 5).
library Lanes {
    /// @notice Writes lanes as s32 rows.
    /// @param from memory of the first lane; up to 30 bytes behind the last one are read, and do not count
    /// @param rows of the tensor @param last lanes a row @param out zeroed memory: rows of whole words
    function write(uint256 from, uint256 rows, uint256 last, uint256 out) internal pure {
        assembly ("memory-safe") {
            for {} rows { rows := sub(rows, 1) } {
                for { let left := last } left {} {
                    // Eight lanes, spread to 32 bits each: halves, quarters and eighths move apart.
                    let x := shr(128, mload(from))
                    x := and(or(x, shl(64, x)), 0xFFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF)
                    x := and(or(x, shl(32, x)), 0xFFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF)
                    x := and(
                        or(x, shl(16, x)),
                        0xFFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF
                    )
                    // The sign bit, 2^15 · (2^17 − 2), fills the upper half.
                    let signs := and(x, 0x800000008000000080000000800000008000000080000000800000008000)
                    x := or(x, mul(signs, 0x1FFFE))
                    switch lt(left, 8)
                    case 0 {
                        from := add(from, 16)
                        left := sub(left, 8)
                    }
                    default {
                        let unused := shl(5, sub(8, left))
                        x := shl(unused, shr(unused, x))
                        from := add(from, shl(1, left))
                        left := 0
                    }
                    mstore(out, x)
                    out := add(out, 0x20)
                }
            }
        }
    }

    /// @notice Writes s32 rows as lanes, saturated to 16 bits.
    /// @param from rows of whole words @param out zeroed memory
    function read(uint256 from, uint256 rows, uint256 last, uint256 out) internal pure {
        assembly ("memory-safe") {
            let size := shl(2, last)
            for {} rows { rows := sub(rows, 1) } {
                for { let pointer := from } lt(pointer, add(from, size)) { pointer := add(pointer, 4) } {
                    let lane := sar(224, mload(pointer))
                    if sgt(lane, 32767) { lane := 32767 }
                    if slt(lane, sub(0, 32768)) { lane := sub(0, 32768) }
                    let word := sub(out, 30)
                    mstore(word, or(mload(word), and(lane, 0xFFFF)))
                    out := add(out, 2)
                }
                from := add(from, and(add(size, 31), not(31)))
            }
        }
    }
}
