// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Matrices that turn: rows become columns.
library Turn {
    uint256 private constant EVEN = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF;
    uint256 private constant LOW_128 = 0x00000000000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF;
    uint256 private constant LOW_64 = 0x0000000000000000FFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF;

    /// @notice Turns eight words of eight lanes of 32 bits, in place: blocks of 4 by 4, then 2 by 2, then lanes change
    /// places. @param words memory of them
    function eight(uint256 words) internal pure {
        assembly ("memory-safe") {
            let a := mload(words)
            let b := mload(add(words, 0x20))
            let c := mload(add(words, 0x40))
            let d := mload(add(words, 0x60))
            let e := mload(add(words, 0x80))
            let f := mload(add(words, 0xA0))
            let g := mload(add(words, 0xC0))
            let h := mload(add(words, 0xE0))
            let t := and(xor(a, shr(128, e)), LOW_128)
            a := xor(a, t)
            e := xor(e, shl(128, t))
            t := and(xor(b, shr(128, f)), LOW_128)
            b := xor(b, t)
            f := xor(f, shl(128, t))
            t := and(xor(c, shr(128, g)), LOW_128)
            c := xor(c, t)
            g := xor(g, shl(128, t))
            t := and(xor(d, shr(128, h)), LOW_128)
            d := xor(d, t)
            h := xor(h, shl(128, t))
            t := and(xor(a, shr(64, c)), LOW_64)
            a := xor(a, t)
            c := xor(c, shl(64, t))
            t := and(xor(b, shr(64, d)), LOW_64)
            b := xor(b, t)
            d := xor(d, shl(64, t))
            t := and(xor(e, shr(64, g)), LOW_64)
            e := xor(e, t)
            g := xor(g, shl(64, t))
            t := and(xor(f, shr(64, h)), LOW_64)
            f := xor(f, t)
            h := xor(h, shl(64, t))
            t := and(xor(a, shr(32, b)), EVEN)
            mstore(words, xor(a, t))
            mstore(add(words, 0x20), xor(b, shl(32, t)))
            t := and(xor(c, shr(32, d)), EVEN)
            mstore(add(words, 0x40), xor(c, t))
            mstore(add(words, 0x60), xor(d, shl(32, t)))
            t := and(xor(e, shr(32, f)), EVEN)
            mstore(add(words, 0x80), xor(e, t))
            mstore(add(words, 0xA0), xor(f, shl(32, t)))
            t := and(xor(g, shr(32, h)), EVEN)
            mstore(add(words, 0xC0), xor(g, t))
            mstore(add(words, 0xE0), xor(h, shl(32, t)))
        }
    }
}
