// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Rules} from "../generated/Rules.sol";
import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {
    INPUT_INT16S,
    INPUT_PRICES,
    INPUT_RAW,
    INPUT_TEXT,
    LAYOUT_CHANNEL,
    LAYOUT_DOT,
    LAYOUT_LOOKUP,
    LAYOUT_PLAIN,
    OP_MOVE,
    OUTPUT_INT16S,
    OUTPUT_RAW,
    OUTPUT_WORDS,
    ProgramField,
    ProgramPart,
    TYPE_BOOL,
    TYPE_F32,
    TYPE_S32,
    TYPE_S8,
    TYPE_U8
} from "../types/Program.sol";
import {Descriptor} from "./Descriptor.sol";
import {Facts, packFacts} from "./Facts.sol";
import {
    MODEL_DEPTH,
    MODEL_INPUT_CODEC,
    MODEL_INPUT_SIZE,
    MODEL_MAX_CALLDATA,
    MODEL_OUTPUT_CODEC,
    MODEL_OUTPUT_LENGTH,
    MODEL_STEPS,
    MODEL_TRACE_HEIGHT,
    MODEL_WEIGHTS,
    ModelWord,
    newModelWord
} from "./ModelWord.sol";
import {ProgramHeader} from "./ProgramHeader.sol";
import {ProgramReader} from "./ProgramReader.sol";
import {RecordHead} from "./RecordHead.sol";
import {Scan} from "./Scan.sol";
import {DIM_BITS, DIM_TOP, SHAPE_MASK, Shapes} from "./Shapes.sol";
import {StepRules} from "./StepRules.sol";

/// @notice The structure rules of docs/EXACT.md, sections 2, 3 and 5: accepts a program if and only if the validator
/// of inference/program does. Reverts with IModelRegistry.InvalidProgram at the first rule that is broken.
library ProgramValidator {
    uint256 private constant MAGIC = 0x41535931;
    /// @dev As many as can be checked in one transaction of 2^24 gas (EIP-7825), whatever they are.
    uint256 private constant MAX_WEIGHTS = 2048;
    uint256 private constant MAX_STEPS = 2048;
    uint256 private constant MAX_ELEMENTS = 2 ** 24 - 1;
    /// @dev 2^22 leaves.
    uint256 private constant MAX_HEIGHT = 22;
    /// @dev Bytes of input and output that a move carries: with 6,000 bytes for its other arguments, hashes and the
    /// transaction around them, every move of a model fits a transaction of 90,000 bytes (docs/EXACT.md, section 5).
    uint256 internal constant MAX_MOVE_BYTES = 84_000;
    uint256 private constant MAX_DOT_LENGTH = 2016;
    uint256 private constant MAX_LOOKUP_LENGTH = 1024;

    /// @return word the model word without lanes and selector (docs/PROTOCOL.md, section 1)
    /// @return judgeVersion that the program needs @return unexecutable 1 + the first step that no interpreter runs, or 0
    function validate(bytes memory program)
        internal
        pure
        returns (ModelWord word, uint256 judgeVersion, uint256 unexecutable)
    {
        unchecked {
            Scan memory s = _header(program);
            s.judgeVersion = 1;
            uint256 depth = 1;
            for (uint256 i = 0; i < s.weights; ++i) {
                _descriptor(s, i);
            }
            for (uint256 i = 0; i < s.steps; ++i) {
                _record(s, i);
                Rules.check(s);
                // A path through the tensor needs a demand for each six levels, at least one.
                uint256 levels = (s.own.height() + 5) / 6;
                if (levels > depth) depth = levels;
            }
            _output(s);
            uint256 traceHeight = Shapes.ceilLog2(s.steps);
            if (traceHeight > 6) depth += (traceHeight + 5) / 6 - 1;
            word = newModelWord().with(MODEL_DEPTH, depth).with(MODEL_TRACE_HEIGHT, traceHeight);
            word = word.with(MODEL_STEPS, s.steps).with(MODEL_WEIGHTS, s.weights);
            word = word.with(MODEL_MAX_CALLDATA, _maxCalldata(s)).with(MODEL_OUTPUT_LENGTH, _outputLength(s));
            word = word.with(MODEL_INPUT_CODEC, s.inputCodec).with(MODEL_OUTPUT_CODEC, s.outputCodec);
            word = word.with(MODEL_INPUT_SIZE, s.inputSize);
            return (word, s.judgeVersion, s.unexecutable);
        }
    }

    function _header(bytes memory program) private pure returns (Scan memory s) {
        unchecked {
            ProgramHeader head;
            uint256 base;
            assembly ("memory-safe") {
                base := add(program, 0x20)
                head := mload(base)
            }
            if (program.length < ProgramReader.HEADER_BYTES) {
                _failHeader(ProgramField.LENGTH, program.length);
            }
            if (head.magic() != MAGIC) _failHeader(ProgramField.MAGIC, head.magic());
            s.weights = head.weights();
            s.steps = head.steps();
            s.inputCodec = head.inputCodec();
            s.outputCodec = head.outputCodec();
            s.inputSize = head.inputSize();
            if (s.weights > MAX_WEIGHTS) _failHeader(ProgramField.WEIGHTS, s.weights);
            if (s.steps == 0 || s.steps > MAX_STEPS) _failHeader(ProgramField.STEPS, s.steps);
            if (program.length != ProgramReader.recordOffset(s.weights, s.steps)) {
                _failHeader(ProgramField.LENGTH, program.length);
            }
            if (head.unused() != 0) _failHeader(ProgramField.ZERO, head.unused());
            _inputSize(s.inputCodec, s.inputSize);
            if (s.outputCodec < OUTPUT_WORDS || s.outputCodec > OUTPUT_RAW) {
                _failHeader(ProgramField.OUTPUT_CODEC, s.outputCodec);
            }
            s.descriptors = base + ProgramReader.HEADER_BYTES;
            s.records = base + ProgramReader.recordOffset(s.weights, 0);
            s.facts = new Facts[](s.weights + s.steps);
        }
    }

    function _inputSize(uint256 codec, uint256 size) private pure {
        uint256 most;
        if (codec == INPUT_TEXT || codec == INPUT_INT16S) most = 4096;
        else if (codec == INPUT_PRICES) most = 256;
        else if (codec == INPUT_RAW) most = 65_536;
        else _failHeader(ProgramField.INPUT_CODEC, codec);
        if (size < (codec == INPUT_PRICES ? 2 : 1) || size > most) {
            _failHeader(ProgramField.INPUT_SIZE, size);
        }
    }

    function _descriptor(Scan memory s, uint256 index) private pure {
        unchecked {
            s.part = ProgramPart.WEIGHT;
            s.index = index;
            Descriptor word;
            uint256 pointer = s.descriptors + ProgramReader.DESCRIPTOR_BYTES * index;
            assembly ("memory-safe") {
                word := mload(pointer)
            }
            uint256 rowLayout = word.rowLayout();
            uint256 code = word.code();
            uint256 rank = word.rank();
            if (rowLayout < LAYOUT_PLAIN || rowLayout > LAYOUT_CHANNEL) {
                StepRules.fail(s, ProgramField.LAYOUT, rowLayout);
            }
            if (word.unused() != 0) StepRules.fail(s, ProgramField.ZERO, Descriptor.unwrap(word));
            if (rowLayout != LAYOUT_PLAIN) {
                if (code != (rowLayout == LAYOUT_LOOKUP ? TYPE_S8 : TYPE_U8)) {
                    StepRules.fail(s, ProgramField.TYPE, code);
                }
                if (rank != (rowLayout == LAYOUT_CHANNEL ? 1 : 2)) {
                    StepRules.fail(s, ProgramField.RANK, rank);
                }
            }
            Facts facts = _tensor(s, rowLayout, code, rank, word.shape());
            uint256 last = facts.last();
            if (rowLayout == LAYOUT_DOT && last > MAX_DOT_LENGTH) StepRules.fail(s, ProgramField.DIMS, last);
            if (rowLayout == LAYOUT_LOOKUP && last > MAX_LOOKUP_LENGTH) {
                StepRules.fail(s, ProgramField.DIMS, last);
            }
            s.keep(index, facts);
        }
    }

    /// @dev Rules that hold for every record; loads it into the scan.
    function _record(Scan memory s, uint256 index) private pure {
        unchecked {
            s.part = ProgramPart.STEP;
            s.index = index;
            uint256 pointer = s.records + ProgramReader.RECORD_BYTES * index;
            RecordHead head;
            uint256 shape;
            assembly ("memory-safe") {
                head := mload(pointer)
                shape := mload(add(pointer, 0x20))
            }
            s.pointer = pointer;
            s.head = head;
            s.shape = shape;
            if (head.unused() != 0) StepRules.fail(s, ProgramField.ZERO, head.unused());
            if (shape & ~SHAPE_MASK != 0) {
                StepRules.fail(s, ProgramField.ZERO, shape & ~SHAPE_MASK);
            }
            s.own = _tensor(s, LAYOUT_PLAIN, head.outputType(), head.outputRank(), shape);
            s.keep(s.weights + index, s.own);
            if (head.opcode() != OP_MOVE) StepRules.noCoordinates(s);
        }
    }

    /// @dev Type, rank, dims and limits of any tensor. @return facts of it
    function _tensor(Scan memory s, uint256 rowLayout, uint256 code, uint256 rank, uint256 shape)
        private
        pure
        returns (Facts facts)
    {
        unchecked {
            if (code > TYPE_BOOL) StepRules.fail(s, ProgramField.TYPE, code);
            if (rank == 0 || rank > 6) StepRules.fail(s, ProgramField.RANK, rank);
            uint256 rows = 1;
            uint256 last = 1;
            uint256 rest = shape;
            assembly ("memory-safe") {
                for { let axes := rank } axes { axes := sub(axes, 1) } {
                    rows := mul(rows, last)
                    last := shr(DIM_TOP, rest)
                    rest := shl(DIM_BITS, rest)
                }
            }
            // 192 bits at most: it does not wrap, and is 0 only if a dim is. What is left of the shape is unused.
            uint256 count = rows * last;
            if (count == 0 || rest != 0) StepRules.fail(s, ProgramField.DIMS, shape);
            if (count > MAX_ELEMENTS) StepRules.fail(s, ProgramField.SIZE, count);
            if (rowLayout == LAYOUT_CHANNEL) (rows, last) = (last, 1);
            uint256 height = Shapes.ceilLog2(rows) + Shapes.ceilLog2(Shapes.rowWords(rowLayout, code, last));
            if (height > MAX_HEIGHT) StepRules.fail(s, ProgramField.SIZE, 1 << height);
            return packFacts(rows, last, code, rowLayout, height, rank);
        }
    }

    /// @dev The last step's tensor must be one that the output codec encodes.
    function _output(Scan memory s) private pure {
        unchecked {
            uint256 code = s.own.code();
            uint256 count = s.own.count();
            if (s.outputCodec == OUTPUT_WORDS) {
                if (code == TYPE_F32) StepRules.fail(s, ProgramField.TYPE, code);
                if (count > 256) StepRules.fail(s, ProgramField.SIZE, count);
            } else if (s.outputCodec == OUTPUT_INT16S) {
                if (code != TYPE_S32) StepRules.fail(s, ProgramField.TYPE, code);
                if (count > 4096) StepRules.fail(s, ProgramField.SIZE, count);
            } else if (count * Shapes.elementBytes(code) > 65_536) {
                StepRules.fail(s, ProgramField.SIZE, count * Shapes.elementBytes(code));
            }
            // A settlement carries both.
            uint256 size = _maxCalldata(s) + _outputLength(s);
            if (size > MAX_MOVE_BYTES) StepRules.fail(s, ProgramField.SIZE, size);
        }
    }

    function _maxCalldata(Scan memory s) private pure returns (uint256) {
        unchecked {
            if (s.inputCodec == INPUT_PRICES) return 4 + 96 + 3 * (32 + 32 * s.inputSize);
            uint256 wordItems = s.inputCodec == INPUT_INT16S ? 16 : 32;
            return 4 + 64 + 32 * ((s.inputSize + wordItems - 1) / wordItems);
        }
    }

    function _outputLength(Scan memory s) private pure returns (uint256) {
        unchecked {
            uint256 count = s.own.count();
            if (s.outputCodec == OUTPUT_WORDS) return 32 * count;
            if (s.outputCodec == OUTPUT_INT16S) return 64 + 32 * ((count + 15) / 16);
            return 64 + 32 * ((count * Shapes.elementBytes(s.own.code()) + 31) / 32);
        }
    }

    function _failHeader(ProgramField field, uint256 value) private pure {
        revert IModelRegistry.InvalidProgram(ProgramPart.HEADER, 0, field, value);
    }
}
