// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Values} from "../libraries/Values.sol";
import {Tensor} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";
import {Requant} from "./Requant.sol";

/// @notice DOT: dot product of an activation row with a weight row, plus bias (docs/EXACT.md, section 3).
/// A word of 32 bytes is four words of 8 lanes of 32 bits: group j holds the bytes 4i + j, one in each lane. Weight
/// words are byte-reversed, so in the product of group j of both, the top lane is the sum of a[4i + j]·w[4i + j] over
/// i: the lanes meet in reverse order, as in a multiplication of polynomials. A lane never carries into the next:
/// it sums at most 66,051 products below 2^16.
library Dot {
    uint256 private constant LANES = 0x000000FF000000FF000000FF000000FF000000FF000000FF000000FF000000FF;
    uint256 private constant PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000100000001;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        Tensor memory a = Openings.operand(t, 0);
        Tensor memory b = Openings.operand(t, 1);
        uint256 n = t.element % t.out.last;
        uint256 row = activationRow(t.element, t.out.last, ProgramReader.attribute(t.record.head));
        uint256 activations = Openings.openRow(t, openings, a, row);
        uint256 weights = Openings.openRow(t, openings, b, n);
        (int256 acc, uint256 parameters) = accumulate(activations, a.last, weights);
        return Requant.outputOf(t, acc, parameters);
    }

    /// @notice The row of a that output element [m, n] reads: `m·G + ⌊n·G/N⌋`. @param outputs N @param groups G
    function activationRow(uint256 element, uint256 outputs, uint256 groups) internal pure returns (uint256) {
        unchecked {
            return (element / outputs) * groups + ((element % outputs) * groups) / outputs;
        }
    }

    /// @notice The accumulator of one row of activations and one of weights, both in memory.
    /// @param length K, bytes of the activation row @return parameters word behind the weight row
    function accumulate(uint256 activations, uint256 length, uint256 weights)
        internal
        pure
        returns (int256 acc, uint256 parameters)
    {
        unchecked {
            uint256 words = (length + 31) >> 5;
            uint256 prepared;
            // Beyond what is allocated: nothing allocates before the row is multiplied.
            assembly ("memory-safe") {
                prepared := mload(0x40)
                parameters := mload(add(weights, shl(5, words)))
            }
            uint256 sum = prepare(activations, length, prepared);
            acc = accumulator(dot(prepared, weights, words), sum, parameters);
        }
    }

    /// @notice Splits an activation row into the lanes that `dot` multiplies. What its last word holds beyond the row
    /// counts as zero: nobody vouches for it, and a weight there may be anything.
    /// @param row memory of its bytes @param length bytes of the row, 1 to 4,096
    /// @param prepared memory for four words a word @return sum of the row's stored bytes
    function prepare(uint256 row, uint256 length, uint256 prepared) internal pure returns (uint256 sum) {
        assembly ("memory-safe") {
            // 16 lanes of 16 bits: each adds two bytes a word, of 128 words at most.
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
            sum := shr(224, mul(lanes, ONES))
        }
    }

    /// @notice Sum of the products of stored bytes.
    /// @param prepared memory of a prepared row @param weights memory of a byte-reversed weight row
    /// @param words of the weight row without its parameter word
    function dot(uint256 prepared, uint256 weights, uint256 words) internal pure returns (uint256 product) {
        assembly ("memory-safe") {
            for { let end := add(weights, shl(5, words)) } lt(weights, end) { weights := add(weights, 0x20) }
            {
                let word := mload(weights)
                // Group j of the weights is the byte 8j bits from the low end of each lane.
                product := add(
                    add(product, mul(mload(prepared), and(word, LANES))),
                    mul(mload(add(prepared, 0x20)), and(shr(8, word), LANES))
                )
                product := add(
                    add(product, mul(mload(add(prepared, 0x40)), and(shr(16, word), LANES))),
                    mul(mload(add(prepared, 0x60)), and(shr(24, word), LANES))
                )
                prepared := add(prepared, 0x80)
            }
            product := shr(224, product)
        }
    }

    /// @notice `wrap(product − o·sum + bias′)`. @param product of stored bytes @param sum of the activations
    function accumulator(uint256 product, uint256 sum, uint256 parameters) internal pure returns (int256) {
        unchecked {
            uint256 offset = (parameters >> 48) & 0xFFFF;
            return Values.wrap(int256(product) - int256(offset * sum) + Requant.bias(parameters));
        }
    }
}
