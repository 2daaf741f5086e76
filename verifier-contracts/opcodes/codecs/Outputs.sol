// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {SHAPE_OF_ONE, Shapes} from "../../libraries/Shapes.sol";
import {Values} from "../../libraries/Values.sol";
import {
    LAYOUT_PLAIN,
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS,
    Tensor,
    UnknownCodec
} from "../../types/Program.sol";
import {Int16s} from "./Int16s.sol";
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
            if (codec == OUTPUT_INT16S) {
                uint256 words = (count + 15) / 16;
                data = _dynamic(words, words);
                Int16s.read(from, t.rows, t.last, _content(data) + 64);
                return data;
            }
            if (codec != OUTPUT_RAW) revert UnknownCodec(codec);
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

    /// @notice True if return data have the form that `encode` gives them: length, ABI words, zeros behind the last
    /// element. What the elements are does not count.
    /// @param t the last step's tensor
    function isCanonical(uint256 codec, Tensor memory t, bytes calldata data) internal pure returns (bool) {
        unchecked {
            (uint256 start, uint256 size) = _places(codec, t.code);
            uint256 count = t.rows * t.last;
            uint256 end = start + count * size;
            uint256 padding = (32 - (end & 31)) & 31;
            if (data.length != end + padding) return false;
            if (_tail(data) << (256 - 8 * padding) != 0) return false;
            if (start == 0) return true;
            uint256 length = codec == OUTPUT_INT16S ? (end + padding - start) / 32 : count * size;
            return uint256(bytes32(data)) == 0x20 && uint256(bytes32(data[32:])) == length;
        }
    }

    /// @notice An element in return data. @param data canonical @param index below the tensor's elements
    /// @return item its bytes, right-aligned
    function elementAt(uint256 codec, uint256 code, bytes calldata data, uint256 index)
        internal
        pure
        returns (uint256 item)
    {
        unchecked {
            (uint256 start, uint256 size) = _places(codec, code);
            return uint256(bytes32(data[start + index * size:])) >> (256 - 8 * size);
        }
    }

    /// @notice What elementAt finds in the return data of a tensor whose element this is.
    /// @param stored bytes of the element, right-aligned
    function encodeElement(uint256 codec, uint256 code, uint256 stored) internal pure returns (uint256 item) {
        unchecked {
            (uint256 start, uint256 size) = _places(codec, code);
            uint256 word = stored << (256 - 8 * Shapes.elementBytes(code));
            uint256 from;
            assembly ("memory-safe") {
                from := mload(0x40)
                mstore(from, word)
                mstore(0x40, add(from, 0x20))
            }
            // The tensor of this element alone.
            bytes memory data = encode(codec, Shapes.tensor(LAYOUT_PLAIN, code, 1, SHAPE_OF_ONE), from);
            uint256 pointer = _content(data) + start;
            assembly ("memory-safe") {
                item := shr(sub(256, shl(3, size)), mload(pointer))
            }
        }
    }

    /// @dev Where the elements are in return data, one after another. @return start of the first @return size bytes of each
    function _places(uint256 codec, uint256 code) private pure returns (uint256 start, uint256 size) {
        if (codec == OUTPUT_WORDS) return (0, 32);
        if (codec == OUTPUT_INT16S) return (64, 2);
        if (codec == OUTPUT_RAW) return (64, Shapes.elementBytes(code));
        revert UnknownCodec(codec);
    }

    /// @dev The last word. @param data of whole words, at least one
    function _tail(bytes calldata data) private pure returns (uint256) {
        return uint256(bytes32(data[data.length - 32:]));
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
