// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Record} from "../../../verifier-contracts/types/Program.sol";
import {Dice} from "./Dice.sol";

/// @notice An operand of the record under test.
/// @param rowLayout 0 for an earlier step, else the layout of a weight tensor
/// @param data its bytes: elements row-major without padding, or a weight tensor's rows as the stream has them
struct Operand {
    uint256 rowLayout;
    uint256 code;
    uint256 rank;
    uint256 shape;
    uint256 count;
    uint256 last;
    bytes data;
}

/// @notice A record and its operands, before they are a program.
/// @param operands a, b and c; one without data is not there
/// @param stride of a MOVE: bit 0 a step of 0, bit 1 a positive one, bit 2 a negative one
struct Case {
    Dice dice;
    uint256 opcode;
    uint256 variant;
    uint256 code;
    uint256 rank;
    uint256 shape;
    uint256 count;
    uint256 last;
    uint256 attribute;
    uint256 coordinates01;
    uint256 coordinates23;
    uint256 stride;
    Operand[3] operands;
}

library Cases {
    uint256 internal constant STEP = 0;

    function bytesOf(uint256 code) internal pure returns (uint256) {
        return code == 2 || code == 3 ? 4 : 1;
    }

    function dim(uint256 shape, uint256 axis) internal pure returns (uint256) {
        return (shape >> (224 - 32 * axis)) & 0xFFFFFFFF;
    }

    function countOf(uint256 rank, uint256 shape) internal pure returns (uint256 count) {
        unchecked {
            count = 1;
            for (uint256 axis = 0; axis < rank; ++axis) {
                count *= dim(shape, axis);
            }
        }
    }

    /// @notice Says what the record's own tensor is.
    function output(Case memory c, uint256 code, uint256 rank, uint256 shape) internal pure {
        (c.code, c.rank, c.shape) = (code, rank, shape);
        (c.count, c.last) = (countOf(rank, shape), dim(shape, rank - 1));
    }

    function operand(
        Case memory c,
        uint256 position,
        uint256 rowLayout,
        uint256 code,
        uint256 rank,
        uint256 shape,
        bytes memory data
    ) internal pure {
        Operand memory x = c.operands[position];
        (x.rowLayout, x.code, x.rank, x.shape, x.data) = (rowLayout, code, rank, shape, data);
        (x.count, x.last) = (countOf(rank, shape), dim(shape, rank - 1));
    }

    /// @notice The stored bytes of element number i, right-aligned.
    function element(Operand memory x, uint256 i) internal pure returns (uint256 stored) {
        return read(x.data, i, bytesOf(x.code));
    }

    /// @notice `width` bytes at number i of them.
    function read(bytes memory data, uint256 i, uint256 width) internal pure returns (uint256 stored) {
        unchecked {
            assembly ("memory-safe") {
                stored := shr(sub(256, shl(3, width)), mload(add(add(data, 0x20), mul(i, width))))
            }
        }
    }

    /// @notice Puts 32 bytes at a place.
    function write(bytes memory data, uint256 place, uint256 word) internal pure {
        assembly ("memory-safe") {
            mstore(add(add(data, 0x20), place), word)
        }
    }

    /// @notice The number that a stored element says, by its type.
    function number(uint256 code, uint256 stored) internal pure returns (int256) {
        unchecked {
            if (code == 2) return int256(int32(uint32(stored)));
            return code == 1 ? int256(stored) - 128 : int256(stored);
        }
    }

    /// @notice The element of x under broadcast.
    function spread(Case memory c, Operand memory x, uint256 i) internal pure returns (uint256 stored) {
        unchecked {
            if (x.count == c.count) return element(x, i);
            uint256 place = 0;
            uint256 stride = 1;
            for (uint256 back = 0; back < x.rank; ++back) {
                uint256 own = dim(x.shape, x.rank - 1 - back);
                uint256 whole = dim(c.shape, c.rank - 1 - back);
                if (own != 1) place += i % whole * stride;
                stride *= own;
                i /= whole;
            }
            return element(x, place);
        }
    }

    /// @notice How an operand spreads over the output: 0 not at all, 1 one element, 2 repeated as a whole, 3 each element
    /// several times, 4 otherwise.
    function pattern(Case memory c, Operand memory x) internal pure returns (uint256) {
        unchecked {
            if (x.count == c.count) return 0;
            if (x.count == 1) return 1;
            uint256 trailing = 1;
            uint256 leading = 1;
            bool isTrailing = true;
            for (uint256 back = 0; back < x.rank; ++back) {
                uint256 own = dim(x.shape, x.rank - 1 - back);
                if (own != dim(c.shape, c.rank - 1 - back)) isTrailing = false;
                if (isTrailing) trailing *= own;
            }
            for (uint256 axis = 0; x.rank == c.rank && dim(x.shape, axis) == dim(c.shape, axis); ++axis) {
                leading *= dim(x.shape, axis);
            }
            if (trailing == x.count) return 2;
            return leading == x.count && x.rank == c.rank ? 3 : 4;
        }
    }
}
