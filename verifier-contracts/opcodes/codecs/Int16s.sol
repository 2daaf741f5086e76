// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Codec int16s: signed 16-bit numbers, big-endian, one after another (docs/EXACT.md, section 5). Eight at a time,
/// in SIMD lanes of 32 bits.
library Int16s {
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;
    /// @dev −2^15 in each SIMD lane, its sign bit turned; what is above 16 bits.
    uint256 private constant LEAST = 0x7FFF80007FFF80007FFF80007FFF80007FFF80007FFF80007FFF80007FFF8000;
    uint256 private constant UPPER = 0xFFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000;
    uint256 private constant PAIRS = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF;
    uint256 private constant FOURS = 0x0000000000000000FFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF;

    /// @notice Writes 16-bit numbers as s32 rows.
    /// @param from memory of the first number; up to 30 bytes behind the last one are read, and do not count
    /// @param rows of the tensor @param last numbers a row @param out zeroed memory: rows of whole words
    function write(uint256 from, uint256 rows, uint256 last, uint256 out) internal pure {
        assembly ("memory-safe") {
            for {} rows { rows := sub(rows, 1) } {
                let end := add(from, shl(1, last))
                for {} lt(from, end) { from := add(from, 16) } {
                    // Spread to 32 bits each: halves, quarters and eighths move apart.
                    let x := shr(128, mload(from))
                    x := and(or(x, shl(64, x)), 0xFFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF)
                    x := and(or(x, shl(32, x)), 0xFFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF)
                    x := and(
                        or(x, shl(16, x)),
                        0xFFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF
                    )
                    // The sign bit, 2^15 · (2^17 − 2), fills the upper half.
                    let signs := and(x, 0x800000008000000080000000800000008000000080000000800000008000)
                    mstore(out, or(x, mul(signs, 0x1FFFE)))
                    out := add(out, 0x20)
                }
                // What does not count in the row's last word.
                let unused := shl(4, sub(from, end))
                from := end
                end := sub(out, 0x20)
                mstore(end, shl(unused, shr(unused, mload(end))))
            }
        }
    }

    /// @notice Writes s32 rows as numbers saturated to 16 bits.
    /// @param from rows of whole words @param out zeroed memory
    function read(uint256 from, uint256 rows, uint256 last, uint256 out) internal pure {
        assembly ("memory-safe") {
            for {} rows { rows := sub(rows, 1) } {
                let end := add(out, shl(1, last))
                for {} lt(out, end) { out := add(out, 16) } {
                    let x := mload(from)
                    from := add(from, 0x20)
                    // Numbers behind the row are 0.
                    let left := sub(end, out)
                    if lt(left, 16) {
                        left := shl(4, sub(16, left))
                        x := shl(left, shr(left, x))
                    }
                    // x + 2^15, if that is below 2^16 in every SIMD lane: then none borrowed from another.
                    let numbers := sub(xor(x, SIGNS), LEAST)
                    if and(numbers, UPPER) {
                        numbers := 0
                        for { let shift := 224 } lt(shift, 256) { shift := sub(shift, 32) } {
                            let value := signextend(3, shr(shift, x))
                            if sgt(value, 32767) { value := 32767 }
                            if slt(value, sub(0, 32768)) { value := sub(0, 32768) }
                            numbers := or(numbers, shl(shift, add(value, 32768)))
                        }
                    }
                    numbers := and(or(numbers, shr(16, numbers)), PAIRS)
                    numbers := and(or(numbers, shr(32, numbers)), FOURS)
                    numbers := shr(128, shl(128, or(numbers, shr(64, numbers))))
                    let place := sub(out, 16)
                    mstore(place, or(mload(place), xor(numbers, 0x80008000800080008000800080008000)))
                }
                out := end
            }
        }
    }
}
