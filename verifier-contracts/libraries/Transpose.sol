// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Matrices that are transposed: rows become columns.
library Transpose {
    uint256 private constant EVEN = 0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF;
    uint256 private constant LOW_128 = 0x00000000000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF;
    uint256 private constant LOW_64 = 0x0000000000000000FFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF;

    /// @notice Transposes a block of eight by eight SIMD lanes of 32 bits: lane j of the source's word k becomes lane k of the
    /// result's word j. Blocks of 4 by 4 change places, then those of 2 by 2, then lanes.
    /// @param source memory of the first word @param step bytes from one to the next, two's complement
    /// @param target memory of the first word of the result, not the source's @param outStep bytes from one to the next
    function eight(uint256 source, uint256 step, uint256 target, uint256 outStep) internal pure {
        assembly ("memory-safe") {
            let a := mload(source)
            source := add(source, step)
            let b := mload(source)
            source := add(source, step)
            let c := mload(source)
            source := add(source, step)
            let d := mload(source)
            source := add(source, step)
            let e := mload(source)
            source := add(source, step)
            let f := mload(source)
            source := add(source, step)
            let g := mload(source)
            let h := mload(add(source, step))
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
            mstore(target, xor(a, t))
            target := add(target, outStep)
            mstore(target, xor(b, shl(32, t)))
            target := add(target, outStep)
            t := and(xor(c, shr(32, d)), EVEN)
            mstore(target, xor(c, t))
            target := add(target, outStep)
            mstore(target, xor(d, shl(32, t)))
            target := add(target, outStep)
            t := and(xor(e, shr(32, f)), EVEN)
            mstore(target, xor(e, t))
            target := add(target, outStep)
            mstore(target, xor(f, shl(32, t)))
            target := add(target, outStep)
            t := and(xor(g, shr(32, h)), EVEN)
            mstore(target, xor(g, t))
            mstore(add(target, outStep), xor(h, shl(32, t)))
        }
    }
}
