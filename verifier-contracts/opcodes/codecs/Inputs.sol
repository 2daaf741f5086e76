// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U32} from "../../libraries/Memory.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {
    INPUT_INT16S,
    INPUT_PRICES,
    INPUT_RAW,
    INPUT_TEXT,
    Tensor,
    UnknownCodec
} from "../../types/Program.sol";
import {Abi} from "./Abi.sol";
import {Int16s} from "./Int16s.sol";
import {Prices} from "./Prices.sol";
import {Raw} from "./Raw.sol";
import {Text} from "./Text.sol";

/// @notice The input codecs: which calldata a model takes, and the tensors that CODEC steps make of it
/// (docs/EXACT.md, section 5 and opcode 1).
library Inputs {
    uint256 private constant INT16S_PER_WORD = 16;

    /// @notice True if calldata is the one encoding of some input of the model. Total on any bytes.
    function isCanonical(ModelWord modelWord, bytes calldata input) internal pure returns (bool) {
        unchecked {
            // Calldata shorter than its selector reads as zeros, and has none of the lengths below.
            uint256 selector;
            assembly ("memory-safe") {
                selector := shr(FIRST_U32, calldataload(input.offset))
            }
            if (selector != modelWord.selectorCode()) return false;
            uint256 codec = modelWord.inputCodec();
            uint256 size = modelWord.inputSize();
            if (codec == INPUT_PRICES) return Abi.isArrays(input, 3, size);
            if (codec == INPUT_INT16S) {
                uint256 words = (size + INT16S_PER_WORD - 1) / INT16S_PER_WORD;
                return Abi.isArrays(input, 1, words) && _unusedInt16s(input, size) == 0;
            }
            uint256 length = Abi.bytesLength(input);
            if (codec == INPUT_TEXT) return length <= size;
            if (codec != INPUT_RAW) revert UnknownCodec(codec);
            return length == size;
        }
    }

    /// @notice Copies the arguments of canonical calldata into new memory, a zero word behind them: codecs read ahead.
    function load(bytes calldata input) internal pure returns (uint256 arguments) {
        unchecked {
            uint256 size = input.length - Abi.SELECTOR_BYTES;
            arguments = allocate(size + 32);
            assembly ("memory-safe") {
                calldatacopy(arguments, add(input.offset, 4), size)
            }
        }
    }

    /// @notice Writes the tensor of a CODEC step.
    /// @param k the record's attribute @param t the step's tensor
    /// @param arguments what `load` returned @param out zeroed memory: t.rows rows of t.words words, and one word more
    function write(ModelWord modelWord, uint256 k, Tensor memory t, uint256 arguments, uint256 out)
        internal
        pure
    {
        unchecked {
            uint256 codec = modelWord.inputCodec();
            uint256 size = t.last * Shapes.elementBytes(t.code);
            if (codec == INPUT_TEXT || codec == INPUT_PRICES) {
                writeRows(modelWord, k, t.rows, t.last, arguments, out, 32 * t.words);
            } else {
                writeElements(codec, k, t.code, t.rows, size, arguments, out);
            }
        }
    }

    /// @notice The same without padding: elements row-major, one after another. @param out zeroed memory of them and one
    /// word more
    function writePacked(ModelWord modelWord, uint256 k, Tensor memory t, uint256 arguments, uint256 out)
        internal
        pure
    {
        unchecked {
            uint256 codec = modelWord.inputCodec();
            if (codec == INPUT_TEXT || codec == INPUT_PRICES) {
                writeRows(modelWord, k, t.rows, t.last, arguments, out, 4 * t.last);
            } else {
                uint256 size = t.rows * t.last * Shapes.elementBytes(t.code);
                writeElements(codec, k, t.code, 1, size, arguments, out);
            }
        }
    }

    /// @notice Writes the ids of a text, or returns of prices. @param out zeroed memory, a word more than the rows
    /// @param stride bytes from one row to the next
    function writeRows(
        ModelWord modelWord,
        uint256 k,
        uint256 rows,
        uint256 last,
        uint256 arguments,
        uint256 out,
        uint256 stride
    ) internal pure {
        unchecked {
            if (modelWord.inputCodec() == INPUT_TEXT) {
                uint256 content = arguments + Abi.HEAD_BYTES;
                uint256 length;
                assembly ("memory-safe") {
                    length := mload(sub(content, 0x20))
                }
                Text.write(content, length, rows, last, k, out, stride);
            } else {
                uint256 n = modelWord.inputSize();
                // Three offsets, then each list behind its length.
                uint256 closes = arguments + 128;
                Prices.write(closes, closes + 32 * (n + 1), closes + 64 * (n + 1), n, out, stride);
            }
        }
    }

    /// @notice Writes 16-bit numbers or raw elements, rows of whole words. @param size bytes of a row
    function writeElements(
        uint256 codec,
        uint256 k,
        uint256 code,
        uint256 rows,
        uint256 size,
        uint256 arguments,
        uint256 out
    ) internal pure {
        unchecked {
            uint256 content = arguments + Abi.HEAD_BYTES;
            if (codec == INPUT_INT16S) return Int16s.write(content + 2 * k, rows, size >> 2, out);
            if (codec != INPUT_RAW) revert UnknownCodec(codec);
            Raw.write(content + k, code, rows, size, out);
        }
    }

    /// @notice New memory of whole words, all zero.
    function allocate(uint256 size) internal pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            size := and(add(size, 31), not(31))
            pointer := mload(0x40)
            calldatacopy(pointer, calldatasize(), size)
            mstore(0x40, add(pointer, size))
        }
    }

    /// @dev Numbers of the last word beyond `size`, shifted to the top.
    function _unusedInt16s(bytes calldata input, uint256 size) private pure returns (uint256) {
        unchecked {
            // The remainder is at least 1: 16 numbers a word leave none unused, and a shift by 256 gives 0.
            uint256 used = (size + INT16S_PER_WORD - 1) % INT16S_PER_WORD + 1;
            return uint256(bytes32(input[input.length - 32:])) << (16 * used);
        }
    }
}
