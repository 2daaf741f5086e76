// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TYPE_BOOL, TYPE_F32, TYPE_S8, TYPE_U8} from "../../types/Program.sol";

/// @notice Codec raw: elements one after another, little-endian, s8 as two's complement (docs/EXACT.md, section 5).
/// Works on 32 bytes at a time. Total on any bytes.
library Raw {
    /// @dev The lowest, and the highest bit of every byte.
    uint256 private constant BYTE_LOW = 0x0101010101010101010101010101010101010101010101010101010101010101;
    uint256 private constant BYTE_HIGH = 0x8080808080808080808080808080808080808080808080808080808080808080;
    uint256 private constant BYTE_REST = 0x7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F;
    /// @dev Every second byte, the lower of two.
    uint256 private constant BYTE_PAIRS = 0x00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF00FF;
    uint256 private constant HALF_PAIRS = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    /// @dev All but the sign of every f32, and what is to be added to it so that the sign bit says: not subnormal
    /// (2^31 − 2^23), above 2^20 (2^31 − 49800001).
    uint256 private constant SIZES = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF;
    uint256 private constant NORMAL = 0x7F8000007F8000007F8000007F8000007F8000007F8000007F8000007F800000;
    uint256 private constant LARGE = 0x367FFFFF367FFFFF367FFFFF367FFFFF367FFFFF367FFFFF367FFFFF367FFFFF;

    /// @notice Writes raw bytes as a tensor's rows.
    /// @param from memory of the first element; up to 31 bytes behind the last one are read, and do not count
    /// @param code type code @param rows of the tensor @param size bytes of a row
    /// @param out memory for rows of whole words
    function write(uint256 from, uint256 code, uint256 rows, uint256 size, uint256 out) internal pure {
        unchecked {
            for (; rows != 0; --rows) {
                uint256 end = from + size;
                for (; from < end; from += 32) {
                    uint256 word = _load(from);
                    if (code == TYPE_F32) word = _sanitize(_reverse(word));
                    else word = _convert(code, word);
                    // Padding is zero, whatever the conversion has made of the bytes behind the row.
                    uint256 unused = from + 32 > end ? 8 * (from + 32 - end) : 0;
                    word = (word >> unused) << unused;
                    assembly ("memory-safe") {
                        mstore(out, word)
                    }
                    out += 32;
                }
                from = end;
            }
        }
    }

    /// @notice Writes a tensor's rows as raw bytes.
    /// @param from rows of whole words; padding does not count
    /// @param out memory; up to 31 bytes behind the last element are overwritten
    function read(uint256 from, uint256 code, uint256 rows, uint256 size, uint256 out) internal pure {
        unchecked {
            for (; rows != 0; --rows) {
                uint256 end = out + size;
                for (; out < end; out += 32) {
                    uint256 word = _convert(code, _load(from));
                    // What this writes behind the row is overwritten by the next one.
                    assembly ("memory-safe") {
                        mstore(out, word)
                    }
                    from += 32;
                }
                out = end;
            }
        }
    }

    function _load(uint256 pointer) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(pointer)
        }
    }

    /// @dev Between raw and stored bytes of every type; it is its own inverse, but for bool, which becomes 0 or 1.
    function _convert(uint256 code, uint256 word) private pure returns (uint256) {
        unchecked {
            if (code == TYPE_U8) return word;
            if (code == TYPE_S8) return word ^ BYTE_HIGH;
            // The seven low bits reach the eighth if they are not all 0.
            if (code == TYPE_BOOL) return ((((word & BYTE_REST) + BYTE_REST) | word) >> 7) & BYTE_LOW;
            return _reverse(word);
        }
    }

    /// @dev Reverses the bytes of every 4.
    function _reverse(uint256 word) private pure returns (uint256) {
        word = ((word & BYTE_PAIRS) << 8) | ((word >> 8) & BYTE_PAIRS);
        return ((word & HALF_PAIRS) << 16) | ((word >> 16) & HALF_PAIRS);
    }

    /// @dev Makes +0 of every f32 that is zero, subnormal, above 2^20 in size or not finite.
    function _sanitize(uint256 word) private pure returns (uint256) {
        unchecked {
            uint256 size = word & SIZES;
            uint256 kept = ((size + NORMAL) & ~(size + LARGE) & ~SIZES) >> 31;
            // Each bit becomes 32: it is the lowest of its f32.
            return word & ((kept << 32) - kept);
        }
    }
}
