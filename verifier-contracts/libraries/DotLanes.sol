// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "./Memory.sol";

/// @dev The lowest byte of each SIMD lane of 32 bits.
uint256 constant LANES = 0x000000FF000000FF000000FF000000FF000000FF000000FF000000FF000000FF;

/// @notice What DOT multiplies: a word of 32 bytes is four words of 8 SIMD lanes of 32 bits. Group j holds the bytes 4i + j,
/// one in each lane.
library DotLanes {
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;

    /// @notice Splits an activation row into the lanes that DOT multiplies. What its last word holds beyond the row
    /// counts as zero: nobody vouches for it, and a weight there may be anything.
    /// @param row memory of its bytes @param length bytes of the row, 1 to 4,096
    /// @param prepared memory for four words a word @return sum of the row's stored bytes
    function prepare(uint256 row, uint256 length, uint256 prepared) internal pure returns (uint256 sum) {
        assembly ("memory-safe") {
            // 16 SIMD lanes of 16 bits: each adds two bytes a word, of 128 words at most.
            let lanes := 0
            for { let end := add(row, length) } lt(row, end) { row := add(row, 0x20) } {
                let word := mload(row)
                let left := sub(end, row)
                if lt(left, 0x20) {
                    let unused := shl(3, sub(0x20, left))
                    word := shl(unused, shr(unused, word))
                }
                mstore(prepared, and(shr(24, word), LANES))
                mstore(add(prepared, 0x20), and(shr(16, word), LANES))
                mstore(add(prepared, 0x40), and(shr(8, word), LANES))
                mstore(add(prepared, 0x60), and(word, LANES))
                lanes := add(lanes, add(and(word, PAIRS), and(shr(8, word), PAIRS)))
                prepared := add(prepared, 0x80)
            }
            lanes := add(and(lanes, HALVES), and(shr(16, lanes), HALVES))
            sum := shr(FIRST_U32, mul(lanes, ONES))
        }
    }
}
