// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../libraries/ModelWord.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {RecordHead} from "../libraries/RecordHead.sol";
import {Shapes} from "../libraries/Shapes.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";
import {CODEC_CLAIMED, LAYOUT_PLAIN, OP_CODEC, TYPE_F32, Tensor} from "../types/Program.sol";
import {SignalFields} from "./SignalFields.sol";

/// @notice The public signals of a model's PROOF, from the registered program, calldata and return data
/// (docs/PROTOCOL.md, Proofs; protocol/rules/proof/public-signals.ts is the same list).
library PublicSignals {
    /// @dev Bytes of a signal: below the order of the scalar field, whatever they hold.
    uint256 private constant PIECE_BYTES = 31;
    /// @dev Bytes of the binding that follow the output's: with three s32 they fill a signal.
    uint256 private constant BINDING_BYTES = 19;
    /// @dev What is kept of a step: the first two words of its record.
    uint256 private constant STEP_BYTES = 64;

    /// @notice A tensor among the signals. @param k the step's attribute @param fieldBytes of an element
    /// @param size bytes in all
    struct Part {
        Tensor tensor;
        uint256 k;
        uint256 fieldBytes;
        uint256 size;
    }

    /// @notice What the program says about the signals of all its proofs.
    /// @param binding of chain, model and submitter @param signals room for those of one proof
    struct Plan {
        ModelWord modelWord;
        Part[] inputs;
        Part output;
        bytes32 binding;
        uint256[] signals;
    }

    /// @notice Thrown when a tensor among the public signals is f32, or the claimed output.
    error NoPublicSignals(uint256 step);

    /// @notice What `plan` needs of a program: type, dims and attribute of each CODEC step, then of the last step.
    /// @param chunks data contracts of the program
    function stepsOf(ModelWord modelWord, address[] memory chunks)
        internal
        view
        returns (bytes memory steps)
    {
        unchecked {
            uint256 count = modelWord.steps();
            uint256 size = count * ProgramReader.RECORD_BYTES;
            uint256 records = Inputs.allocate(size);
            ProgramReader.copy(chunks, ProgramReader.recordOffset(modelWord.weights(), 0), size, records);
            steps = new bytes((count + 1) * STEP_BYTES);
            uint256 out;
            assembly ("memory-safe") {
                out := add(steps, 0x20)
            }
            uint256 start = out;
            for (uint256 step = 0; step < count; ++step) {
                uint256 record = records + step * ProgramReader.RECORD_BYTES;
                (RecordHead head,) = _words(record);
                bool codec = head.opcode() == OP_CODEC;
                bool last = step + 1 == count;
                if (!codec && !last) continue;
                bool claimed = codec && head.variant() == CODEC_CLAIMED;
                if (claimed || head.outputType() == TYPE_F32) revert NoPublicSignals(step);
                // A last step that is a CODEC is an input and the output.
                for (uint256 times = codec && last ? 2 : 1; times != 0; --times) {
                    assembly ("memory-safe") {
                        mcopy(out, record, STEP_BYTES)
                    }
                    out += STEP_BYTES;
                }
            }
            assembly ("memory-safe") {
                mstore(steps, sub(out, start))
            }
        }
    }

    /// @notice The plan, still without a binding. @param steps memory of what `stepsOf` returned, `size` bytes of it
    function plan(ModelWord modelWord, uint256 steps, uint256 size) internal pure returns (Plan memory p) {
        unchecked {
            p.modelWord = modelWord;
            uint256 inputs = size / STEP_BYTES - 1;
            p.inputs = new Part[](inputs);
            uint256 count = 0;
            for (uint256 i = 0; i < inputs; ++i) {
                Part memory part = p.inputs[i];
                _describe(part, steps);
                part.fieldBytes = SignalFields.bytesOf(modelWord, part.k, part.tensor.code);
                part.size = part.tensor.rows * part.tensor.last * part.fieldBytes;
                count += _pieces(part.size);
                steps += STEP_BYTES;
            }
            Part memory output = p.output;
            _describe(output, steps);
            output.fieldBytes = Shapes.elementBytes(output.tensor.code);
            output.size = output.tensor.rows * output.tensor.last * output.fieldBytes;
            p.signals = new uint256[](count + _pieces(output.size + BINDING_BYTES));
        }
    }

    /// @return canonical false if input or output is not the one encoding of what it holds; then the signals say
    /// nothing
    /// @return signals all of them in order, each below 2^248. The next call overwrites them
    function build(Plan memory p, bytes calldata input, bytes calldata output)
        internal
        pure
        returns (bool canonical, uint256[] memory signals)
    {
        unchecked {
            signals = p.signals;
            ModelWord word = p.modelWord;
            if (output.length != word.outputLength() || !Inputs.isCanonical(word, input)) {
                return (false, signals);
            }
            uint256 free;
            uint256 out;
            assembly ("memory-safe") {
                free := mload(0x40)
                out := add(signals, 0x20)
            }
            uint256 arguments = Inputs.load(input);
            for (uint256 i = 0; i < p.inputs.length; ++i) {
                Part memory part = p.inputs[i];
                uint256 fields = SignalFields.ofInput(word, arguments, part.tensor, part.k, part.fieldBytes);
                out = _cut(fields, part.size, out);
            }
            uint256 content;
            (canonical, content) = SignalFields.ofOutput(word, output, p.output.tensor, 32);
            (uint256 size, bytes32 binding) = (p.output.size, p.binding);
            assembly ("memory-safe") {
                mstore(add(content, size), binding)
            }
            _cut(content, size + BINDING_BYTES, out);
            // What was allocated here is not used any more, and whoever allocates makes it zero again.
            assembly ("memory-safe") {
                mstore(0x40, free)
            }
        }
    }

    function _describe(Part memory part, uint256 step) private pure {
        unchecked {
            (RecordHead head, uint256 shape) = _words(step);
            part.k = head.attribute();
            // No tree: packing needs rows and their words only.
            Tensor memory t = part.tensor;
            t.code = head.outputType();
            uint256 last = head.outputRank() - 1;
            uint256 rows = 1;
            for (uint256 axis = 0; axis < last; ++axis) {
                rows *= Shapes.dim(shape, axis);
            }
            t.rows = rows;
            t.last = Shapes.dim(shape, last);
            t.words = Shapes.rowWords(LAYOUT_PLAIN, t.code, t.last);
        }
    }

    function _words(uint256 pointer) private pure returns (RecordHead head, uint256 shape) {
        assembly ("memory-safe") {
            head := mload(pointer)
            shape := mload(add(pointer, 0x20))
        }
    }

    /// @dev Cuts bytes into signals. @return next the pointer behind the last one
    function _cut(uint256 from, uint256 length, uint256 out) private pure returns (uint256 next) {
        assembly ("memory-safe") {
            let end := add(from, length)
            // Four at a time, then one by one; the last piece may be shorter.
            for { let last := sub(end, mul(4, PIECE_BYTES)) } lt(from, last) {} {
                mstore(out, shr(8, mload(from)))
                mstore(add(out, 0x20), shr(8, mload(add(from, PIECE_BYTES))))
                mstore(add(out, 0x40), shr(8, mload(add(from, mul(2, PIECE_BYTES)))))
                mstore(add(out, 0x60), shr(8, mload(add(from, mul(3, PIECE_BYTES)))))
                from := add(from, mul(4, PIECE_BYTES))
                out := add(out, 0x80)
            }
            for { let last := sub(end, PIECE_BYTES) } lt(from, last) { from := add(from, PIECE_BYTES) } {
                mstore(out, shr(8, mload(from)))
                out := add(out, 0x20)
            }
            mstore(out, shr(sub(256, shl(3, sub(end, from))), mload(from)))
            next := add(out, 0x20)
        }
    }

    function _pieces(uint256 length) private pure returns (uint256) {
        unchecked {
            return (length + PIECE_BYTES - 1) / PIECE_BYTES;
        }
    }
}
