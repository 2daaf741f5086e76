// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "../../libraries/Memory.sol";
import {Parts} from "./Parts.sol";

/// @notice Weight rows as polynomials with 10 SIMD lanes of 24 bits.
///
/// A slice is 30 elements; its group g (0, 1, 2) holds elements 3i + g, i = 0..9. As activations, element i stands in
/// lane i from the top of a word; as weights, minus a centre, in lane i from the bottom of 240 bits, signed. The product
/// of both, modulo 2^256, has in its top lane (bits 232..255) the sum over i of activation · weight, and lower lanes hold
/// other sums of such products, each product at most once. All are signed, so a negative one borrows from the lane above:
/// adding 2^231 first and shifting right by 232, arithmetically, gives the top lane's sum exactly as long as every
/// lane's sum is below 2^23 in size.
library Rows {
    uint256 internal constant ONES = 0x000001000001000001000001000001000001000001000001000001000001;
    /// @dev The top lane's lowest bit.
    uint256 internal constant TOP = 232;
    /// @dev Half a unit of the top lane.
    uint256 internal constant HALF = 2 ** 231;
    uint256 private constant MASK_240 = (1 << 240) - 1;
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant ONES_16 = 0x0001000100010001000100010001000100010001000100010001000100010001;
    uint256 private constant ONES_32 = 0x0000000100000001000000010000000100000001000000010000000100000001;
    uint256 private constant LANES = 0x0000FF0000FF0000FF0000FF0000FF0000FF0000FF0000FF0000FF0000FF;

    /// @dev What a lane's sum is below in size.
    uint256 private constant LANE_LIMIT = 2 ** 23;
    /// @dev Centre of a wide row: 150 elements of a block, at most 128 from it, sum to 255 · 150 · 128 < 2^23.
    uint256 internal constant WIDE_CENTRE = 128;

    /// @notice Whether one accumulator of lanes holds the whole row minus its own offset o, whatever the activations.
    /// Otherwise the row is wide: minus 128, with an accumulator a block.
    /// @param row memory of the row's words @param length K @param offset o
    /// @return room 0 if the row is wide, else 1 + the largest size of a number that may be added to the top lane
    function roomOf(uint256 row, uint256 length, uint256 offset) internal pure returns (uint256 room) {
        unchecked {
            if (offset > 255) return 0;
            (uint256 positive, uint256 sum) = _sums(row, length, offset);
            uint256 negative = positive + offset * length - sum;
            uint256 most = 255 * (positive > negative ? positive : negative);
            return most < LANE_LIMIT ? LANE_LIMIT - most : 0;
        }
    }

    /// @dev @return positive sum of the stored weights above the offset, minus it @return sum of the stored weights
    function _sums(uint256 row, uint256 length, uint256 offset)
        private
        pure
        returns (uint256 positive, uint256 sum)
    {
        assembly ("memory-safe") {
            // 16 SIMD lanes of 16 bits: each adds two bytes a word, of 31 words at most.
            let above := mul(ONES_16, sub(256, offset))
            let padding := 0
            for { let end := add(row, length) } lt(row, end) { row := add(row, 0x20) } {
                let word := mload(row)
                let left := sub(end, row)
                if lt(left, 32) {
                    // Bytes beyond the row, at the word's front, count as the offset: neither above nor below it.
                    let unused := not(sub(shl(shl(3, left), 1), 1))
                    word := or(and(word, not(unused)), and(unused, mul(offset, div(not(0), 255))))
                    padding := mul(offset, sub(32, left))
                }
                let even := and(word, PAIRS)
                let odd := and(shr(8, word), PAIRS)
                sum := add(sum, add(even, odd))
                // Bit 8 of a lane says that the weight is not below the offset; bits 0..7 are then by how much.
                even := add(even, above)
                odd := add(odd, above)
                even := and(even, mul(and(shr(8, even), ONES_16), 255))
                odd := and(odd, mul(and(shr(8, odd), ONES_16), 255))
                positive := add(positive, add(even, odd))
            }
            positive := add(and(positive, HALVES), and(shr(16, positive), HALVES))
            positive := shr(FIRST_U32, mul(positive, ONES_32))
            sum := add(and(sum, HALVES), and(shr(16, sum), HALVES))
            sum := sub(shr(FIRST_U32, mul(sum, ONES_32)), padding)
        }
    }

    /// @notice Emits `acc + Σ activation lanes · weight lanes` of one block of a row: for each lane word that is not
    /// zero DUP activations, PUSH weights, MUL, ADD.
    /// The stack then holds the block's activation lanes in order, and acc on top of them.
    /// @param code memory to write to @param row memory of the row's words
    /// @param from first element of the block @param to its end @param centre subtracted from each weight
    /// @return end memory behind what was written
    function emitProducts(uint256 code, uint256 row, uint256 from, uint256 to, uint256 centre)
        internal
        pure
        returns (uint256 end)
    {
        unchecked {
            // DUP of the first lane: DUPk is 0x7f + k, and above it are the other lanes and acc.
            end = 0x80 + Parts.lanes(to - from);
        }
        assembly ("memory-safe") {
            // 30 elements, the first at the low end.
            function sliceAt(words, element) -> slice {
                let bits := shl(3, and(element, 31))
                words := add(words, and(element, not(31)))
                slice := or(shr(bits, mload(words)), shl(sub(256, bits), mload(add(words, 0x20))))
            }
            // Lanes of a group: DUP, PUSH, the lanes, and MUL and ADD behind them. Nothing if all are zero.
            function emit(place, dupOf, lanes) -> next {
                next := place
                if lanes {
                    let size := 240
                    if iszero(shr(232, lanes)) {
                        // Fewer bytes, at least 1: halve what is left of them.
                        size := shl(7, lt(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF, lanes))
                        size := or(size, shl(6, lt(0xFFFFFFFFFFFFFFFF, shr(size, lanes))))
                        size := or(size, shl(5, lt(0xFFFFFFFF, shr(size, lanes))))
                        size := or(size, shl(4, lt(0xFFFF, shr(size, lanes))))
                        size := add(size, add(8, shl(3, lt(0xFF, shr(size, lanes)))))
                    }
                    mstore(place, or(shl(248, dupOf), shl(240, add(0x5f, shr(3, size)))))
                    mstore(add(place, 2), or(shl(sub(256, size), lanes), shr(size, shl(240, 0x0201))))
                    next := add(place, add(4, shr(3, size)))
                }
            }
            let dup := end
            centre := mul(ONES, centre)
            for {} iszero(lt(sub(to, from), 30)) { from := add(from, 30) } {
                let slice := sliceAt(row, from)
                code := emit(code, dup, and(sub(and(slice, LANES), centre), MASK_240))
                code := emit(code, sub(dup, 1), and(sub(and(shr(8, slice), LANES), centre), MASK_240))
                code := emit(code, sub(dup, 2), and(sub(and(shr(16, slice), LANES), centre), MASK_240))
                dup := sub(dup, 3)
            }
            // The last slice: only lanes with an element, those whose 3i + g is below what is left.
            let slice := sliceAt(row, from)
            let left := sub(to, from)
            for { let g := 0 } and(lt(g, left), lt(g, 3)) { g := add(g, 1) } {
                let used := sub(shl(mul(24, div(sub(add(left, 2), g), 3)), 1), 1)
                let lanes := sub(and(shr(shl(3, g), slice), and(LANES, used)), and(centre, used))
                code := emit(code, sub(dup, g), and(lanes, MASK_240))
            }
            end := code
        }
    }
}
