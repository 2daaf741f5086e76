// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {Values} from "../libraries/Values.sol";
import {Abi} from "../opcodes/codecs/Abi.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {Lanes} from "../opcodes/codecs/Lanes.sol";
import {Outputs} from "../opcodes/codecs/Outputs.sol";
import {Raw} from "../opcodes/codecs/Raw.sol";
import {
    INPUT_RAW,
    INPUT_TEXT,
    LAYOUT_PLAIN,
    OP_CODEC,
    OUTPUT_LANES,
    OUTPUT_WORDS,
    TYPE_F32,
    TYPE_U8,
    Tensor
} from "../types/Program.sol";

/// @notice The public signals of a model's PROOF, from the registered program, calldata and return data
/// (docs/PROTOCOL.md, Proofs; protocol/proof/public-signals.ts is the same list).
library PublicSignals {
    using ModelWord for uint256;

    /// @dev Bytes of a signal: below the order of the scalar field, whatever they hold.
    uint256 private constant PIECE_BYTES = 31;
    /// @dev The lower half of every 4 bytes, and its highest bit.
    uint256 private constant HALVES = 0x0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF0000FFFF;
    uint256 private constant HALF_HIGH = 0x0000800000008000000080000000800000008000000080000000800000008000;

    /// @notice What the program says about the signals of all its proofs.
    /// @param count of the signals @param records memory of the step records @param binding the last signal
    struct Plan {
        uint256 modelWord;
        uint256 records;
        uint256 steps;
        uint256 count;
        uint256 binding;
    }

    /// @notice Thrown when a tensor among the public signals is f32.
    error NoPublicSignals(uint256 step);

    /// @param chunks data contracts of the program @param binding the last signal
    function plan(uint256 modelWord, address[] memory chunks, uint256 binding)
        internal
        view
        returns (Plan memory p)
    {
        unchecked {
            p.modelWord = modelWord;
            p.binding = binding;
            p.steps = modelWord.steps();
            uint256 size = p.steps * ProgramReader.RECORD_BYTES;
            p.records = Inputs.allocate(size);
            ProgramReader.copy(chunks, ProgramReader.recordOffset(modelWord.weights(), 0), size, p.records);
            p.count = _count(modelWord, p.records, p.steps);
        }
    }

    /// @return canonical false if input or output is not the one encoding of what it holds; then there are no signals
    /// @return signals all of them in order, each below 2^248
    function build(Plan memory p, bytes calldata input, bytes calldata output)
        internal
        pure
        returns (bool canonical, uint256[] memory signals)
    {
        if (output.length != p.modelWord.outputLength() || !Inputs.isCanonical(p.modelWord, input)) {
            return (false, signals);
        }
        signals = new uint256[](p.count);
        uint256 next;
        assembly ("memory-safe") {
            next := add(signals, 0x20)
        }
        next = _packInputs(p, Inputs.load(input), next);
        (canonical,) = _packOutput(p, output, next);
        signals[signals.length - 1] = p.binding;
        if (!canonical) signals = new uint256[](0);
    }

    /// @dev Number of signals; refuses what has none.
    function _count(uint256 modelWord, uint256 records, uint256 steps) private pure returns (uint256 count) {
        unchecked {
            count = 1;
            for (uint256 step = 0; step < steps; ++step) {
                bool last = step + 1 == steps;
                (uint256 head, uint256 shape) = _record(records, step);
                bool codec = ProgramReader.opcode(head) == OP_CODEC;
                if (!codec && !last) continue;
                uint256 code = ProgramReader.outputType(head);
                if (code == TYPE_F32) revert NoPublicSignals(step);
                uint256 elements = _elements(ProgramReader.outputRank(head), shape);
                if (codec) count += _pieces(elements * _fieldBytes(modelWord, head, code));
                if (last) count += _pieces(elements * Shapes.elementBytes(code));
            }
        }
    }

    /// @param arguments what Inputs.load returned
    function _packInputs(Plan memory p, uint256 arguments, uint256 out) private pure returns (uint256) {
        unchecked {
            uint256 codec = p.modelWord.inputCodec();
            // Signed 16-bit numbers + 2^15: their lower half with its highest bit flipped.
            uint256 flip = codec == INPUT_TEXT || codec == INPUT_RAW ? 0 : HALF_HIGH;
            for (uint256 step = 0; step < p.steps; ++step) {
                (uint256 head, uint256 shape) = _record(p.records, step);
                if (ProgramReader.opcode(head) != OP_CODEC) continue;
                Tensor memory t = _tensor(head, shape);
                if (codec == INPUT_RAW && t.code == TYPE_U8) {
                    // Calldata holds these bytes as they are packed.
                    uint256 bytesOf = arguments + Abi.HEAD_BYTES + ProgramReader.attribute(head);
                    out = _cut(bytesOf, t.rows * t.last, out);
                    continue;
                }
                uint256 rows = Inputs.allocate(32 * t.rows * t.words);
                Inputs.write(p.modelWord, ProgramReader.attribute(head), t, arguments, rows);
                out = _pack(t, rows, _fieldBytes(p.modelWord, head, t.code), flip, out);
            }
            return out;
        }
    }

    function _packOutput(Plan memory p, bytes calldata output, uint256 out)
        private
        pure
        returns (bool canonical, uint256)
    {
        unchecked {
            (uint256 head, uint256 shape) = _record(p.records, p.steps - 1);
            Tensor memory t = _tensor(head, shape);
            uint256 codec = p.modelWord.outputCodec();
            uint256 rows = _decode(codec, t, output);
            // Several byte strings decode to one tensor; the model returns one of them.
            canonical = keccak256(Outputs.encode(codec, t, rows)) == keccak256(output);
            return (canonical, _pack(t, rows, Shapes.elementBytes(t.code), 0, out));
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
            else if (codec == OUTPUT_LANES) Lanes.write(content + 64, t.rows, t.last, rows);
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

    /// @dev Packs a tensor's rows. @param flip bits to flip in every 4 bytes before halves are cut out of them
    /// @return the pointer behind its last signal
    function _pack(Tensor memory t, uint256 rows, uint256 fieldBytes, uint256 flip, uint256 out)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256 length = t.rows * t.last * fieldBytes;
            uint256 size = Shapes.elementBytes(t.code);
            if (fieldBytes != size) {
                // The last field is written with up to 31 bytes behind it.
                uint256 fields = Inputs.allocate(length + 32);
                if (fieldBytes == 2) _halves(t, rows, flip, fields);
                else _narrow(t, rows, fieldBytes, fields);
                rows = fields;
            } else if (t.last * size != 32 * t.words && t.rows != 1) {
                rows = _joined(rows, t.rows, 32 * t.words, t.last * size);
            }
            return _cut(rows, length, out);
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

    /// @dev Joins rows without their padding.
    function _joined(uint256 rows, uint256 count, uint256 stride, uint256 size)
        private
        pure
        returns (uint256 joined)
    {
        joined = Inputs.allocate(count * size);
        assembly ("memory-safe") {
            let out := joined
            for {} count { count := sub(count, 1) } {
                mcopy(out, rows, size)
                rows := add(rows, stride)
                out := add(out, size)
            }
        }
    }

    /// @dev Cuts bytes into signals. @return next the pointer behind the last one
    function _cut(uint256 from, uint256 length, uint256 out) private pure returns (uint256 next) {
        assembly ("memory-safe") {
            for {} gt(length, PIECE_BYTES) { length := sub(length, PIECE_BYTES) } {
                mstore(out, shr(8, mload(from)))
                from := add(from, PIECE_BYTES)
                out := add(out, 0x20)
            }
            mstore(out, shr(sub(256, shl(3, length)), mload(from)))
            next := add(out, 0x20)
        }
    }

    function _pieces(uint256 length) private pure returns (uint256) {
        unchecked {
            return (length + PIECE_BYTES - 1) / PIECE_BYTES;
        }
    }

    /// @dev Bytes of a field of a CODEC step's tensor.
    function _fieldBytes(uint256 modelWord, uint256 head, uint256 code) private pure returns (uint256) {
        uint256 codec = modelWord.inputCodec();
        if (codec == INPUT_RAW) return Shapes.elementBytes(code);
        if (codec != INPUT_TEXT) return 2;
        // Ids are 0 to k - 1.
        uint256 rows = ProgramReader.attribute(head);
        return rows <= 1 << 8 ? 1 : rows <= 1 << 16 ? 2 : 3;
    }

    function _record(uint256 records, uint256 step) private pure returns (uint256 head, uint256 shape) {
        assembly ("memory-safe") {
            let record := add(records, shl(7, step))
            head := mload(record)
            shape := mload(add(record, 0x20))
        }
    }

    function _elements(uint256 rank, uint256 shape) private pure returns (uint256 elements) {
        unchecked {
            elements = 1;
            for (uint256 axis = 0; axis < rank; ++axis) {
                elements *= Shapes.dim(shape, axis);
            }
        }
    }

    function _tensor(uint256 head, uint256 shape) private pure returns (Tensor memory) {
        return
            Shapes.tensor(LAYOUT_PLAIN, ProgramReader.outputType(head), ProgramReader.outputRank(head), shape);
    }
}
