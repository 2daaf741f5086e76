// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Fields of the model word (docs/PROTOCOL.md, section 1).
library ModelWord {
    function lanes(uint256 word) internal pure returns (uint8) {
        return uint8(word >> 8);
    }

    /// @notice d: the most demands that one path from the trace root to a word needs.
    function depth(uint256 word) internal pure returns (uint8) {
        return uint8(word >> 16);
    }

    /// @notice h_trace: height of the trace tree above the tensor roots.
    function traceHeight(uint256 word) internal pure returns (uint256) {
        return uint8(word >> 24);
    }

    function steps(uint256 word) internal pure returns (uint256) {
        return uint16(word >> 32);
    }

    /// @notice Number of weight tensors.
    function weights(uint256 word) internal pure returns (uint256) {
        return uint16(word >> 48);
    }

    function selector(uint256 word) internal pure returns (bytes4) {
        return bytes4(uint32(word >> 64));
    }

    /// @notice The selector as a number.
    function selectorCode(uint256 word) internal pure returns (uint256) {
        return uint32(word >> 64);
    }

    function maxCalldata(uint256 word) internal pure returns (uint256) {
        return uint32(word >> 96);
    }

    function outputLength(uint256 word) internal pure returns (uint256) {
        return uint32(word >> 128);
    }

    function inputCodec(uint256 word) internal pure returns (uint256) {
        return uint8(word >> 160);
    }

    function outputCodec(uint256 word) internal pure returns (uint256) {
        return uint8(word >> 168);
    }

    function inputSize(uint256 word) internal pure returns (uint256) {
        return uint32(word >> 176);
    }
}
