// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "../../libraries/Memory.sol";

/// @notice Codec text: bytes to the ids of their tokens and n-grams (docs/EXACT.md, section 5). Total on any bytes.
library Text {
    /// @dev Bit b is set if byte b is of the class: word 0-9 A-Z a-z 80..FF, space 00..20 7F.
    uint256 private constant WORD = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF07FFFFFE07FFFFFE03FF000000000000;
    uint256 private constant SPACE = 0x00000000000000000000000000000000800000000000000000000001FFFFFFFF;
    /// @dev "http://" and "https://".
    uint256 private constant HTTP = 0x687474703A2F2F;
    uint256 private constant HTTPS = 0x68747470733A2F2F;
    /// @dev The first three, and four bytes of a word.
    uint256 private constant GRAM_3 = 0xFFFFFF0000000000000000000000000000000000000000000000000000000000;
    uint256 private constant GRAM_4 = 0xFFFFFFFF00000000000000000000000000000000000000000000000000000000;
    /// @dev Only so many bytes of a token count.
    uint256 private constant TOKEN_BYTES = 31;

    /// @notice Writes the ids, s32 [tokens, width].
    /// @param text memory of the first byte; 32 zero bytes behind the last one end every scan
    /// @param length in bytes @param tokens most tokens, at least 1 @param width ids a token, 1 to 16
    /// @param rows of the table that the ids point into, at least 2
    /// @param out zeroed memory: tokens rows, and 28 bytes behind them @param stride bytes from one to the next, at least
    /// 4 · width
    function write(
        uint256 text,
        uint256 length,
        uint256 tokens,
        uint256 width,
        uint256 rows,
        uint256 out,
        uint256 stride
    ) internal pure {
        unchecked {
            uint256 end = text + length;
            uint256 stop = out + stride * tokens;
            while (text < end && out != stop) {
                uint256 word;
                (word, text, length) = _token(text);
                if (length == 0) continue;
                _ids(word, length, width, rows - 1, out);
                out += stride;
            }
        }
    }

    /// @dev Reads from a byte on.
    /// @return word the token's first bytes, in lower case, and what follows them
    /// @return next where to read on
    /// @return length of the token in bytes, 0 if there was a space or a URL
    function _token(uint256 text) private pure returns (uint256 word, uint256 next, uint256 length) {
        assembly ("memory-safe") {
            word := mload(text)
            let first := byte(0, word)
            next := add(text, 1)
            switch and(shr(first, WORD), 1)
            case 0 { length := iszero(and(shr(first, SPACE), 1)) }
            default {
                // Sets bit 5 of each byte A to Z: the seven low bits reach 80 when 3F is added, and not when 25 is.
                let low := and(word, 0x7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F)
                let upper := add(low, 0x3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F3F)
                low := add(low, 0x2525252525252525252525252525252525252525252525252525252525252525)
                upper := and(upper, not(or(low, word)))
                upper := and(upper, 0x8080808080808080808080808080808080808080808080808080808080808080)
                word := or(word, shr(2, upper))
                // The colon is no word byte, so a run with this prefix is http or https and nothing else.
                switch or(eq(shr(200, word), HTTP), eq(shr(192, word), HTTPS))
                case 0 {
                    for {} and(shr(byte(0, mload(next)), WORD), 1) {} { next := add(next, 1) }
                    length := sub(next, text)
                    // The space that mostly follows.
                    next := add(next, eq(byte(0, mload(next)), 0x20))
                }
                default {
                    for {} gt(byte(0, mload(next)), 0x20) {} { next := add(next, 1) }
                }
            }
        }
    }

    /// @dev Writes a token's row: its own id, those of its 3-grams, those of its 4-grams, `width` in all. The id of
    /// bytes is a hash of them and a tag in the last byte.
    function _ids(uint256 word, uint256 length, uint256 width, uint256 modulus, uint256 out) private pure {
        assembly ("memory-safe") {
            if gt(length, TOKEN_BYTES) { length := TOKEN_BYTES }
            // What an element's store spills is overwritten by the next, or zero anyway.
            let end := add(out, shl(2, width))
            let unused := sub(256, shl(3, length))
            mstore(0, or(shl(unused, shr(unused, word)), length))
            mstore(out, shl(FIRST_U32, add(mod(keccak256(0, 0x20), modulus), 1)))
            out := add(out, 4)
            let bytesOf := 3
            let mask := GRAM_3
            for {} 1 {} {
                // Grams start at each byte that has as many behind it: shifted out, they leave fewer elements.
                let grams := add(out, shl(2, sub(add(length, 1), bytesOf)))
                if slt(grams, out) { break }
                if gt(grams, end) { grams := end }
                let tag := or(0x80, bytesOf)
                for { let gram := word } lt(out, grams) { out := add(out, 4) } {
                    mstore(0, or(and(gram, mask), tag))
                    mstore(out, shl(FIRST_U32, add(mod(keccak256(0, 0x20), modulus), 1)))
                    gram := shl(8, gram)
                }
                if eq(bytesOf, 4) { break }
                bytesOf := 4
                mask := GRAM_4
            }
        }
    }
}
