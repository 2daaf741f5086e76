// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Parts} from "./Parts.sol";

/// @notice Weight rows as polynomials with 10 lanes of 24 bits.
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
            // Lanes of at most 34 slices · 3 groups · 255.
            for { let from := 0 } lt(from, length) { from := add(from, 30) } {
                let at := add(row, and(from, not(31)))
                let bits := shl(3, and(from, 31))
                let slice := or(shr(bits, mload(at)), shl(sub(256, bits), mload(add(at, 0x20))))
                let left := sub(length, from)
                if lt(left, 30) { slice := and(slice, sub(shl(shl(3, left), 1), 1)) }
                for { let g := 0 } lt(g, 24) { g := add(g, 8) } {
                    let lanes := and(shr(g, slice), mul(ONES, 255))
                    sum := add(sum, lanes)
                    // Bit 8 of a lane of this says that the weight is not below the offset; bits 0..7 are then by how much.
                    lanes := add(lanes, mul(ONES, sub(256, offset)))
                    positive := add(positive, and(lanes, mul(and(shr(8, lanes), ONES), 255)))
                }
            }
            // Lane 9 of the product with ones is the sum of all lanes.
            positive := and(shr(216, mul(positive, ONES)), 0xFFFFFF)
            sum := and(shr(216, mul(sum, ONES)), 0xFFFFFF)
        }
    }

    /// @notice Emits `acc + Σ activation lanes · weight lanes` of one block of a row: for each lane word that is not
    /// zero DUP activations, PUSH weights, MUL, ADD.
    /// The stack then holds the block's activation lanes in order, and acc on top of them.
    /// @param code memory to write to @param row memory of the row's words @param length K
    /// @param firstSlice of the block @param centre subtracted from each weight
    /// @return end memory behind what was written
    function emitProducts(uint256 code, uint256 row, uint256 length, uint256 firstSlice, uint256 centre)
        internal
        pure
        returns (uint256 end)
    {
        uint256 from;
        uint256 to;
        uint256 dup;
        unchecked {
            from = Parts.SLICE * firstSlice;
            to = from + Parts.SLICE * Parts.BLOCK_SLICES;
            if (to > length) to = length;
            // DUP of the first lane: DUPk is 0x7f + k, and above it are the other lanes and acc.
            dup = 0x80 + Parts.lanes(to - from);
        }
        assembly ("memory-safe") {
            for {} lt(from, to) { from := add(from, 30) } {
                let at := add(row, and(from, not(31)))
                let bits := shl(3, and(from, 31))
                let slice := or(shr(bits, mload(at)), shl(sub(256, bits), mload(add(at, 0x20))))
                let left := sub(to, from)
                if gt(left, 30) { left := 30 }
                for { let g := 0 } lt(g, 3) { g := add(g, 1) } {
                    if iszero(lt(g, left)) { break }
                    // Lanes with an element: those 3i + g below `left`.
                    let lanes := and(ONES, sub(shl(mul(24, div(sub(add(left, 2), g), 3)), 1), 1))
                    let weights := and(shr(shl(3, g), slice), mul(lanes, 255))
                    weights := and(sub(weights, mul(lanes, centre)), MASK_240)
                    if weights {
                        let size := 30
                        for {} iszero(shr(sub(shl(3, size), 8), weights)) {} { size := sub(size, 1) }
                        mstore8(code, dup)
                        mstore8(add(code, 1), add(0x5f, size))
                        mstore(add(code, 2), shl(sub(256, shl(3, size)), weights))
                        mstore(add(code, add(2, size)), shl(240, 0x0201))
                        code := add(code, add(4, size))
                    }
                    dup := sub(dup, 1)
                }
            }
            end := code
        }
    }
}
