// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    INPUT_INT16S,
    INPUT_PRICES,
    INPUT_RAW,
    INPUT_TEXT,
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS
} from "../generated/Codes.sol";
import {IPromisesErrors} from "../interfaces/IPromisesErrors.sol";
import {UnknownCodec} from "../types/Program.sol";
import {FIRST_U16, FIRST_U32} from "./Memory.sol";
import {Merkle} from "./Merkle.sol";
import {ModelWord} from "./ModelWord.sol";
import {Shapes} from "./Shapes.sol";

/// @notice Leaves of a batch: an input and an output in few bytes (docs/PROMISES.md). Any bytes of the right
/// length are the leaf of some canonical input and of some output of the right length.
///
/// Input: text u16 length and the bytes; prices closes, highs and lows, u128 each; int16s the numbers, 2 bytes each; raw
/// the bytes. Output: words s32 each; int16s the words; raw u32 length and the words.
library Leaves {
    uint256 internal constant MAX_COUNT = 1024;
    uint256 private constant TEXT_LENGTH_BYTES = 2;
    uint256 private constant RAW_LENGTH_BYTES = 4;
    uint256 private constant PRICE_BYTES = 16;
    uint256 private constant INT16S_PER_WORD = 16;
    /// @dev Offset and length, of what is dynamic.
    uint256 private constant HEAD_BYTES = 64;
    /// @dev A number of so many bits that begins a word.
    uint256 private constant FIRST_U128 = 128;

    /// @notice Bytes of every leaf of a model; of a text its content comes in addition.
    function sizeOf(ModelWord word) internal pure returns (uint256) {
        return _inputBytes(word) + _outputBytes(word);
    }

    /// @notice Root of the tree over leaves that stand one after another: one pass, on a copy of the data.
    /// @return root of ceil(log2(count)) levels, where missing leaves are zero @return count leaves, 1 to MAX_COUNT
    function rootOf(ModelWord word, bytes calldata data) internal pure returns (bytes32 root, uint256 count) {
        uint256 size = sizeOf(word);
        uint256 isText = word.inputCodec() == INPUT_TEXT ? 1 : 0;
        uint256 longest = word.inputSize();
        uint256 nodes;
        uint256 at;
        uint256 end;
        uint256 text;
        // SAFETY: works in free memory, behind which nothing else is allocated before the tree is folded.
        assembly ("memory-safe") {
            at := mload(0x40)
            calldatacopy(at, data.offset, data.length)
            end := add(at, data.length)
            // A length cut off at the end reads zeros.
            mstore(end, 0)
            nodes := add(end, 0x20)
            let node := nodes
            for {} lt(at, end) {} {
                text := mul(isText, shr(FIRST_U16, mload(at)))
                let next := add(add(at, size), text)
                if or(gt(text, longest), gt(next, end)) { break }
                mstore(node, keccak256(at, sub(next, at)))
                node := add(node, 0x20)
                at := next
            }
            count := shr(5, sub(node, nodes))
        }
        if (at != end && count < MAX_COUNT) {
            if (text > longest) revert IPromisesErrors.LeafLengthWrong(count, text, longest);
            revert IPromisesErrors.LeafLengthWrong(count, end - at, size + text);
        }
        if (at != end || count == 0 || count > MAX_COUNT) {
            revert IPromisesErrors.CountOutOfRange(count == 0 ? 0 : MAX_COUNT + 1, 1, MAX_COUNT);
        }
        root = Merkle.foldNodes(nodes, count, Shapes.ceilLog2(count), 0);
    }

    /// @notice Passes if these bytes are the leaf of this index. @param count leaves of the tree
    function requireIn(
        bytes32 root,
        uint256 count,
        uint256 index,
        bytes calldata payload,
        bytes32[] calldata path
    ) internal pure {
        if (index >= count) revert IPromisesErrors.LeafOutside(index, count);
        // INVARIANT: all leaves are equally deep, so no node passes as a leaf.
        uint256 levels = Shapes.ceilLog2(count);
        if (path.length != levels) revert IPromisesErrors.PathLengthWrong(path.length, levels);
        bytes32 folded = Merkle.foldPath(keccak256(payload), index, path);
        if (folded != root) revert IPromisesErrors.RootMismatch(folded, root);
    }

    /// @notice The calldata that a leaf stands for.
    function inputOf(ModelWord word, bytes calldata payload) internal pure returns (bytes memory input) {
        (uint256 from, uint256 length) = _content(word, payload);
        uint256 codec = word.inputCodec();
        if (codec == INPUT_PRICES) return _prices(word, payload[from:]);
        uint256 words = codec == INPUT_INT16S ? _int16Words(word) : (length + 31) / 32;
        input = new bytes(4 + HEAD_BYTES + 32 * words);
        _writeSelector(word, input);
        uint256 size = codec == INPUT_INT16S ? words : length;
        assembly ("memory-safe") {
            let arguments := add(input, 0x24)
            mstore(arguments, 0x20)
            mstore(add(arguments, 0x20), size)
            calldatacopy(add(arguments, HEAD_BYTES), add(payload.offset, from), length)
        }
    }

    /// @notice The return data that a leaf stands for.
    function outputOf(ModelWord word, bytes calldata payload) internal pure returns (bytes memory output) {
        (uint256 from, uint256 length) = _content(word, payload);
        payload = payload[from + length:];
        output = new bytes(word.outputLength());
        uint256 codec = word.outputCodec();
        if (codec == OUTPUT_WORDS) {
            assembly ("memory-safe") {
                let from_ := payload.offset
                let to := add(output, 0x20)
                for { let end := add(to, mload(output)) } lt(to, end) { to := add(to, 0x20) } {
                    mstore(to, signextend(3, shr(FIRST_U32, calldataload(from_))))
                    from_ := add(from_, 4)
                }
            }
            return output;
        }
        uint256 size = (output.length - HEAD_BYTES) / 32;
        if (codec == OUTPUT_RAW) {
            size = uint32(bytes4(payload));
            payload = payload[RAW_LENGTH_BYTES:];
        }
        assembly ("memory-safe") {
            mstore(add(output, 0x20), 0x20)
            mstore(add(output, 0x40), size)
            calldatacopy(add(output, 0x60), payload.offset, payload.length)
        }
    }

    /// @dev Where the input's content stands in a leaf of the right length, and its bytes.
    function _content(ModelWord word, bytes calldata payload)
        private
        pure
        returns (uint256 from, uint256 length)
    {
        uint256 size = sizeOf(word);
        length = _inputBytes(word);
        if (word.inputCodec() == INPUT_TEXT) {
            // Bytes that end within the length read zeros, and are too short in any case.
            length = uint16(bytes2(payload));
            if (length > word.inputSize()) {
                revert IPromisesErrors.LeafLengthWrong(0, length, word.inputSize());
            }
            size += length;
            from = TEXT_LENGTH_BYTES;
        }
        if (payload.length != size) revert IPromisesErrors.LeafLengthWrong(0, payload.length, size);
    }

    function _prices(ModelWord word, bytes calldata prices) private pure returns (bytes memory input) {
        uint256 n = word.inputSize();
        uint256 list = 32 + 32 * n;
        input = new bytes(4 + 96 + 3 * list);
        _writeSelector(word, input);
        assembly ("memory-safe") {
            let arguments := add(input, 0x24)
            let from := prices.offset
            let to := add(arguments, 0x60)
            for { let i := 0 } lt(i, 3) { i := add(i, 1) } {
                mstore(add(arguments, shl(5, i)), sub(to, arguments))
                mstore(to, n)
                for { let end := add(to, list) } 1 {} {
                    to := add(to, 0x20)
                    if eq(to, end) { break }
                    mstore(to, shr(FIRST_U128, calldataload(from)))
                    from := add(from, PRICE_BYTES)
                }
            }
        }
    }

    function _writeSelector(ModelWord word, bytes memory input) private pure {
        bytes4 selector = word.selector();
        assembly ("memory-safe") {
            mstore(add(input, 0x20), selector)
        }
    }

    /// @dev Bytes of the input in a leaf; of a text those of its length.
    function _inputBytes(ModelWord word) private pure returns (uint256) {
        uint256 codec = word.inputCodec();
        if (codec == INPUT_TEXT) return TEXT_LENGTH_BYTES;
        if (codec == INPUT_PRICES) return 3 * PRICE_BYTES * word.inputSize();
        if (codec == INPUT_INT16S) return 2 * word.inputSize();
        if (codec != INPUT_RAW) revert UnknownCodec(codec);
        return word.inputSize();
    }

    function _outputBytes(ModelWord word) private pure returns (uint256) {
        uint256 codec = word.outputCodec();
        if (codec == OUTPUT_WORDS) return word.outputLength() / 8;
        if (codec == OUTPUT_INT16S) return word.outputLength() - HEAD_BYTES;
        if (codec != OUTPUT_RAW) revert UnknownCodec(codec);
        return word.outputLength() - HEAD_BYTES + RAW_LENGTH_BYTES;
    }

    function _int16Words(ModelWord word) private pure returns (uint256) {
        return (word.inputSize() + INT16S_PER_WORD - 1) / INT16S_PER_WORD;
    }
}
