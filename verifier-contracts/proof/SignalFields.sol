// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {Values} from "../libraries/Values.sol";
import {Abi} from "../opcodes/codecs/Abi.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {Int16s} from "../opcodes/codecs/Int16s.sol";
import {Outputs} from "../opcodes/codecs/Outputs.sol";
import {Raw} from "../opcodes/codecs/Raw.sol";
import {
    INPUT_RAW,
    INPUT_TEXT,
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS,
    TYPE_BOOL,
    TYPE_U8,
    Tensor
} from "../types/Program.sol";

/// @notice Tensors of calldata and return data as the fields that public signals are cut from
/// (docs/PROTOCOL.md, Proofs).
library SignalFields {
    /// @dev The lower half of every 4 bytes, and its highest bit.
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant HALF_HIGH = 0x0000800000008000000080000000800000008000000080000000800000008000;

    /// @notice Bytes of a field of a CODEC step's tensor. @param k the step's attribute @param code its type
    function bytesOf(ModelWord modelWord, uint256 k, uint256 code) internal pure returns (uint256) {
        uint256 codec = modelWord.inputCodec();
        if (codec == INPUT_RAW) return Shapes.elementBytes(code);
        if (codec != INPUT_TEXT) return 2;
        // Ids are 0 to k - 1.
        return k <= 1 << 8 ? 1 : k <= 1 << 16 ? 2 : 3;
    }

    /// @notice The fields of a CODEC step's tensor.
    /// @param arguments what Inputs.load returned @param k the step's attribute
    /// @return pointer memory of the fields, which up to 31 bytes follow that do not count
    function ofInput(ModelWord modelWord, uint256 arguments, Tensor memory t, uint256 k, uint256 fieldBytes)
        internal
        pure
        returns (uint256 pointer)
    {
        unchecked {
            uint256 codec = modelWord.inputCodec();
            // Calldata holds these bytes as they are packed.
            if (codec == INPUT_RAW && t.code == TYPE_U8) return arguments + Abi.HEAD_BYTES + k;
            uint256 rows = Inputs.allocate(32 * (t.rows * t.words + 1));
            Inputs.write(modelWord, k, t, arguments, rows);
            if (fieldBytes == Shapes.elementBytes(t.code)) return _joined(t, rows, 0);
            pointer = Inputs.allocate(t.rows * t.last * fieldBytes + 32);
            // Signed 16-bit numbers + 2^15: their lower half with its highest bit flipped.
            if (fieldBytes == 2) _halves(t, rows, codec == INPUT_TEXT ? 0 : HALF_HIGH, pointer);
            else _narrow(t, rows, fieldBytes, pointer);
        }
    }

    /// @notice The fields of the last step's tensor. @param room bytes that the caller appends
    /// @return canonical false if return data of the right length is not the one encoding of its tensor
    /// @return pointer memory of the fields
    function ofOutput(ModelWord modelWord, bytes calldata output, Tensor memory t, uint256 room)
        internal
        pure
        returns (bool canonical, uint256 pointer)
    {
        uint256 codec = modelWord.outputCodec();
        // A bool has two stored forms of 256 raw ones.
        if (codec == OUTPUT_RAW && t.code != TYPE_BOOL) return _ofRaw(t, output, room);
        uint256 rows = _decode(codec, t, output);
        // Several byte strings decode to one tensor; the model returns one of them.
        canonical = keccak256(Outputs.encode(codec, t, rows)) == keccak256(output);
        pointer = _joined(t, rows, room);
    }

    /// @dev Fields of raw return data: its elements one after another, as stored. What their bytes are, each is another
    /// element's; so only what stands around them must be checked.
    function _ofRaw(Tensor memory t, bytes calldata output, uint256 room)
        private
        pure
        returns (bool canonical, uint256 pointer)
    {
        unchecked {
            uint256 size = t.rows * t.last * Shapes.elementBytes(t.code);
            bytes calldata selected;
            // Return data has no selector: as if one stood before it, which is not read.
            assembly ("memory-safe") {
                selected.offset := sub(output.offset, 4)
                selected.length := add(output.length, 4)
            }
            canonical = Abi.bytesLength(selected) == size;
            pointer = Inputs.allocate(size + room);
            // Behind what is allocated: read once, here.
            uint256 content;
            assembly ("memory-safe") {
                content := mload(0x40)
                calldatacopy(content, add(output.offset, 64), size)
            }
            Raw.write(content, t.code, 1, size, pointer);
        }
    }

    /// @dev The tensor that return data of the right length holds, whatever stands beside its elements.
    function _decode(uint256 codec, Tensor memory t, bytes calldata output)
        private
        pure
        returns (uint256 rows)
    {
        unchecked {
            // Codecs read ahead.
            uint256 content = Inputs.allocate(output.length + 32);
            rows = Inputs.allocate(32 * t.rows * t.words);
            assembly ("memory-safe") {
                calldatacopy(content, output.offset, output.length)
            }
            if (codec == OUTPUT_WORDS) _decodeWords(t, content, rows);
            else if (codec == OUTPUT_INT16S) Int16s.write(content + 64, t.rows, t.last, rows);
            else Raw.write(content + 64, t.code, t.rows, t.last * Shapes.elementBytes(t.code), rows);
        }
    }

    function _decodeWords(Tensor memory t, uint256 from, uint256 rows) private pure {
        unchecked {
            uint256 size = Shapes.elementBytes(t.code);
            // s8 is stored as value + 128.
            uint256 offset = uint256(-Values.toInteger(t.code, 0));
            for (uint256 row = 0; row < t.rows; ++row) {
                for (uint256 i = 0; i < t.last; ++i) {
                    assembly ("memory-safe") {
                        // The element's last byte is the last of a word that starts 32 bytes before its end.
                        let pointer := sub(add(rows, mul(add(i, 1), size)), 32)
                        let unused := sub(256, shl(3, size))
                        let stored := shr(unused, shl(unused, add(mload(from), offset)))
                        mstore(pointer, or(mload(pointer), stored))
                    }
                    from += 32;
                }
                rows += 32 * t.words;
            }
        }
    }

    /// @dev Writes the lower half of every s32.
    function _halves(Tensor memory t, uint256 rows, uint256 flip, uint256 out) private pure {
        unchecked {
            for (uint256 row = 0; row < t.rows; ++row) {
                for (uint256 left = t.last; left != 0;) {
                    assembly ("memory-safe") {
                        // Eight halves move together: pairs, fours, eights.
                        let x := and(xor(mload(rows), flip), HALVES)
                        x := and(
                            or(x, shr(16, x)),
                            0x00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF00000000FFFFFFFF
                        )
                        x := and(
                            or(x, shr(32, x)),
                            0x0000000000000000FFFFFFFFFFFFFFFF0000000000000000FFFFFFFFFFFFFFFF
                        )
                        x := or(x, shr(64, x))
                        // What stands behind the row's last half is overwritten by the next row, or cut off.
                        mstore(out, shl(128, x))
                    }
                    rows += 32;
                    uint256 taken = left < 8 ? left : 8;
                    out += 2 * taken;
                    left -= taken;
                }
            }
        }
    }

    /// @dev Writes the lowest `fieldBytes` bytes of every s32.
    function _narrow(Tensor memory t, uint256 rows, uint256 fieldBytes, uint256 out) private pure {
        unchecked {
            uint256 size = 4 * t.last;
            for (uint256 row = 0; row < t.rows; ++row) {
                assembly ("memory-safe") {
                    let skipped := shl(3, sub(4, fieldBytes))
                    for { let pointer := rows } lt(pointer, add(rows, size)) { pointer := add(pointer, 4) } {
                        mstore(out, shl(skipped, mload(pointer)))
                        out := add(out, fieldBytes)
                    }
                }
                rows += 32 * t.words;
            }
        }
    }

    /// @dev Copies rows without their padding. @param room bytes behind them
    function _joined(Tensor memory t, uint256 rows, uint256 room) private pure returns (uint256 joined) {
        unchecked {
            uint256 size = t.last * Shapes.elementBytes(t.code);
            uint256 count = t.rows;
            uint256 stride = 32 * t.words;
            joined = Inputs.allocate(count * size + room);
            assembly ("memory-safe") {
                let out := joined
                for {} count { count := sub(count, 1) } {
                    mcopy(out, rows, size)
                    rows := add(rows, stride)
                    out := add(out, size)
                }
            }
        }
    }
}
