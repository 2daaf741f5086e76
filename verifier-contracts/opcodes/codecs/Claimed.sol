// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "../../libraries/Memory.sol";
import {
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS,
    TYPE_S32,
    TYPE_S8,
    Tensor,
    UnknownCodec
} from "../../types/Program.sol";
import {Int16s} from "./Int16s.sol";
import {Raw} from "./Raw.sol";

/// @notice The claimed output as a tensor: what stands in the places of its elements, whatever stands around them
/// (docs/EXACT.md, section 5). Total on any bytes of the output's length.
library Claimed {
    /// @dev The ABI words in front of the elements, but of codec words.
    uint256 private constant HEAD_BYTES = 64;
    /// @dev What makes a stored s8 of a two's complement.
    uint256 private constant S8_BIT = 0x80;

    /// @notice Writes the tensor of a CODEC step of variant claimed.
    /// @param codec the output codec @param t the step's tensor, of type u8, s8 or s32
    /// @param content memory of the output, a word behind it @param out zeroed memory: t.rows rows of t.words words
    function write(uint256 codec, Tensor memory t, uint256 content, uint256 out) internal pure {
        unchecked {
            if (codec == OUTPUT_WORDS) return _words(t, content, out);
            if (codec == OUTPUT_INT16S) return Int16s.write(content + HEAD_BYTES, t.rows, t.last, out);
            if (codec != OUTPUT_RAW) revert UnknownCodec(codec);
            uint256 size = t.code == TYPE_S32 ? 4 * t.last : t.last;
            Raw.write(content + HEAD_BYTES, t.code, t.rows, size, out);
        }
    }

    /// @dev The lowest byte or 4 bytes of each word.
    function _words(Tensor memory t, uint256 from, uint256 out) private pure {
        unchecked {
            bool isWide = t.code == TYPE_S32;
            uint256 sign = t.code == TYPE_S8 ? S8_BIT : 0;
            for (uint256 row = 0; row < t.rows; ++row) {
                uint256 place = out + 32 * t.words * row;
                for (uint256 i = 0; i < t.last; ++i) {
                    assembly ("memory-safe") {
                        let word := mload(from)
                        from := add(from, 0x20)
                        switch isWide
                        case 0 {
                            mstore8(place, xor(word, sign))
                            place := add(place, 1)
                        }
                        default {
                            // Into what is still zero.
                            let shift := shl(3, and(place, 0x1f))
                            let at := sub(place, and(place, 0x1f))
                            mstore(at, or(mload(at), shr(shift, shl(FIRST_U32, word))))
                            place := add(place, 4)
                        }
                    }
                }
            }
        }
    }
}
