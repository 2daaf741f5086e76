// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

// What begins a word: an s32 or f32 element, an address, or a number of so many bits, shifted to the word's other end.
uint256 constant FIRST_U8 = 248;
uint256 constant FIRST_U16 = 240;
uint256 constant FIRST_U24 = 232;
uint256 constant FIRST_U32 = 224;
uint256 constant FIRST_ADDRESS = 96;

/// @notice Solidity's free memory, taken and given back explicitly.
library Memory {
    /// @notice New memory, not cleared, with room behind it: kernels store whole words.
    function reserve(uint256 bytes_) internal pure returns (uint256 place) {
        assembly ("memory-safe") {
            place := mload(0x40)
            mstore(0x40, add(place, and(add(bytes_, 63), not(31))))
        }
    }

    /// @notice What is free from here on; `release` gives back what was reserved since.
    function mark() internal pure returns (uint256 free) {
        assembly ("memory-safe") {
            free := mload(0x40)
        }
    }

    function release(uint256 free) internal pure {
        assembly ("memory-safe") {
            mstore(0x40, free)
        }
    }

    function load(uint256 place) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(place)
        }
    }
}
