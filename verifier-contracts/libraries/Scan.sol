// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ProgramPart} from "../types/Program.sol";

/// @notice A program in memory while it is validated.
/// @param descriptors memory of the first weight descriptor @param records memory of the first record
/// @param facts of the weight tensors, then of the steps so far
/// @param index of the tensor or step at hand @param pointer memory of its record
/// @param head and shape its first two words @param own facts of its tensor
struct Scan {
    uint256 weights;
    uint256 steps;
    uint256 inputCodec;
    uint256 outputCodec;
    uint256 inputSize;
    uint256 descriptors;
    uint256 records;
    uint256[] facts;
    ProgramPart part;
    uint256 index;
    uint256 pointer;
    uint256 head;
    uint256 shape;
    uint256 own;
}

/// @notice What later steps ask of a tensor, in one word: rows u32, last dim u32, type u8, layout u8, tree height u8,
/// rank u8.
library Facts {
    function pack(
        uint256 rows_,
        uint256 last_,
        uint256 code_,
        uint256 layout_,
        uint256 height_,
        uint256 rank_
    ) internal pure returns (uint256) {
        return rows_ | (last_ << 32) | (code_ << 64) | (layout_ << 72) | (height_ << 80) | (rank_ << 88);
    }

    function rank(uint256 facts) internal pure returns (uint256) {
        return (facts >> 88) & 0xFF;
    }

    function rows(uint256 facts) internal pure returns (uint256) {
        return facts & 0xFFFFFFFF;
    }

    function last(uint256 facts) internal pure returns (uint256) {
        return (facts >> 32) & 0xFFFFFFFF;
    }

    function count(uint256 facts) internal pure returns (uint256) {
        unchecked {
            return rows(facts) * last(facts);
        }
    }

    function code(uint256 facts) internal pure returns (uint256) {
        return (facts >> 64) & 0xFF;
    }

    function rowLayout(uint256 facts) internal pure returns (uint256) {
        return (facts >> 72) & 0xFF;
    }

    function height(uint256 facts) internal pure returns (uint256) {
        return (facts >> 80) & 0xFF;
    }

    /// @notice `s.facts[index] = facts` of an index that is in it.
    function set(Scan memory s, uint256 index, uint256 facts) internal pure {
        uint256[] memory all = s.facts;
        assembly ("memory-safe") {
            mstore(add(add(all, 0x20), shl(5, index)), facts)
        }
    }

    /// @notice `s.facts[index]` of an index that is in it.
    function get(Scan memory s, uint256 index) internal pure returns (uint256 facts) {
        uint256[] memory all = s.facts;
        assembly ("memory-safe") {
            facts := mload(add(add(all, 0x20), shl(5, index)))
        }
    }
}
