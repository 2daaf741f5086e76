// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Eight s32 lanes in a word, each operated on alone.
library Swar {
    uint256 private constant SIGNS = 0x8000000080000000800000008000000080000000800000008000000080000000;
    uint256 private constant SIZES = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF;

    /// @notice Sums modulo 2^32: no carry passes the sign bits, which are added apart.
    function add(uint256 a, uint256 b) internal pure returns (uint256 sum) {
        assembly ("memory-safe") {
            sum := xor(add(and(a, SIZES), and(b, SIZES)), and(xor(a, b), SIGNS))
        }
    }

    /// @notice Differences modulo 2^32: a borrow stops at the sign bits, which are all set before.
    function sub(uint256 a, uint256 b) internal pure returns (uint256 difference) {
        assembly ("memory-safe") {
            difference := xor(sub(or(a, SIGNS), and(b, SIZES)), and(not(xor(a, b)), SIGNS))
        }
    }

    function max(uint256 a, uint256 b) internal pure returns (uint256 greater) {
        uint256 mask = _atLeast(a, b);
        assembly ("memory-safe") {
            greater := xor(b, and(xor(a, b), mask))
        }
    }

    function min(uint256 a, uint256 b) internal pure returns (uint256 less) {
        uint256 mask = _atLeast(a, b);
        assembly ("memory-safe") {
            less := xor(a, and(xor(a, b), mask))
        }
    }

    /// @dev All ones in each lane where a ≥ b. Where the signs differ b's says it, else the sign bit of a difference
    /// that cannot borrow.
    function _atLeast(uint256 a, uint256 b) private pure returns (uint256 mask) {
        assembly ("memory-safe") {
            let difference := sub(or(a, SIGNS), and(b, SIZES))
            let bits := and(xor(difference, and(xor(difference, b), xor(a, b))), SIGNS)
            mask := sub(shl(1, bits), shr(31, bits))
        }
    }
}
