// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Shapes} from "../../libraries/Shapes.sol";
import {Values} from "../../libraries/Values.sol";
import {OUTPUT_LANES, OUTPUT_WORDS, Tensor} from "../../types/Program.sol";
import {Lanes} from "./Lanes.sol";
import {Raw} from "./Raw.sol";

/// @notice The output codecs: the last step's tensor as ABI return data (docs/EXACT.md, section 5).
library Outputs {
    /// @param t the last step's tensor @param from its rows in memory, of whole words; padding does not count
    function encode(uint256 codec, Tensor memory t, uint256 from) internal pure returns (bytes memory data) {
        unchecked {
            uint256 count = t.rows * t.last;
            if (codec == OUTPUT_WORDS) {
                data = new bytes(32 * count);
                _words(t, from, _content(data));
                return data;
            }
            if (codec == OUTPUT_LANES) {
                uint256 words = (count + 15) / 16;
                data = _dynamic(words, words);
                Lanes.read(from, t.rows, t.last, _content(data) + 64);
                return data;
            }
            uint256 size = Shapes.elementBytes(t.code);
            uint256 length = count * size;
            data = _dynamic(length, (length + 31) / 32);
            uint256 out = _content(data) + 64;
            // Raw.read writes behind the content: keep new memory away from there, then make the padding zero again.
            assembly ("memory-safe") {
                mstore(0x40, add(mload(0x40), 0x20))
            }
            Raw.read(from, t.code, t.rows, t.last * size, out);
            assembly ("memory-safe") {
                mstore(add(out, length), 0)
            }
        }
    }

    /// @dev One int256 an element.
    function _words(Tensor memory t, uint256 from, uint256 out) private pure {
        unchecked {
            uint256 size = Shapes.elementBytes(t.code);
            for (uint256 row = 0; row < t.rows; ++row) {
                for (uint256 pointer = from; pointer < from + t.last * size; pointer += size) {
                    uint256 stored;
                    assembly ("memory-safe") {
                        stored := shr(sub(256, shl(3, size)), mload(pointer))
                    }
                    int256 value = Values.toInteger(t.code, stored);
                    assembly ("memory-safe") {
                        mstore(out, value)
                    }
                    out += 32;
                }
                from += 32 * t.words;
            }
        }
    }

    /// @dev Return data of one dynamic value with zero content. @param length what stands before it
    function _dynamic(uint256 length, uint256 words) private pure returns (bytes memory data) {
        data = new bytes(64 + 32 * words);
        assembly ("memory-safe") {
            mstore(add(data, 0x20), 0x20)
            mstore(add(data, 0x40), length)
        }
    }

    function _content(bytes memory data) private pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := add(data, 0x20)
        }
    }
}
