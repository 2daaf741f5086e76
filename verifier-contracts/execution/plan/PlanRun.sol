// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {Flat} from "../../libraries/Flat.sol";
import {ModelWord} from "../../libraries/ModelWord.sol";
import {Shapes} from "../../libraries/Shapes.sol";
import {Values} from "../../libraries/Values.sol";
import {Arith} from "../../opcodes/Arith.sol";
import {Dot} from "../../opcodes/Dot.sol";
import {Requant} from "../../opcodes/Requant.sol";
import {Inputs} from "../../opcodes/codecs/Inputs.sol";
import {MoveRows} from "../../opcodes/rows/MoveRows.sol";
import {ReduceRows} from "../../opcodes/rows/ReduceRows.sol";
import {RequantRows} from "../../opcodes/rows/RequantRows.sol";
import {RescaleRows} from "../../opcodes/rows/RescaleRows.sol";
import {TableRows} from "../../opcodes/rows/TableRows.sol";
import {INPUT_PRICES, INPUT_TEXT} from "../../types/Program.sol";
import {CompiledLayer} from "../compiled/CompiledLayer.sol";
import {Plan} from "./Plan.sol";
import {PlanLookup} from "./PlanLookup.sol";
import {PlanWords} from "./PlanWords.sol";

/// @notice Runs the instructions of a plan. Free memory is behind all of its tensors; kernels that take memory for their
/// result find it where the plan says that the result belongs.
library PlanRun {
    uint256 private constant CHUNK_BYTES = 24_544;
    uint256 private constant MASK = 0xFFFFFF;

    /// @param next memory of the first instruction
    /// @return word the last one, END
    function run(uint256 next) internal view returns (uint256 word) {
        unchecked {
            for (;; next += 32) {
                word = Flat.load(next);
                uint256 operation = word >> 248;
                if (operation < Plan.STRIDED) {
                    if (operation == Plan.INT16S) PlanWords.lanes(word);
                    else if (operation == Plan.COPY) PlanWords.copy(word);
                    else PlanWords.product(word);
                } else if (operation < Plan.FILL) {
                    if (operation == Plan.REDUCE) _reduce(word);
                    else if (operation == Plan.STRIDED) PlanWords.strided(word);
                    else _dot(word);
                } else if (operation < Plan.ELEMENTS) {
                    if (operation == Plan.FILL) _fill(word);
                    else if (operation == Plan.SPREAD) _spread(word);
                    else PlanWords.cast(word);
                } else if (operation < Plan.LOOKUP) {
                    if (operation == Plan.ELEMENTS) _elements(word);
                    else if (operation == Plan.SELECT) PlanWords.select(word);
                    else if (operation == Plan.LOAD) _load(word);
                    else _codec(word);
                } else {
                    if (operation == Plan.END) return word;
                    if (operation == Plan.LAYER) next = _layer(word, next + 32);
                    else if (operation == Plan.LOOKUP) PlanLookup.sum(word);
                    else if (operation == Plan.TABLE) _table(word);
                    else if (operation < Plan.TABLE) _requant(word, operation == Plan.RESCALE);
                    else revert Plan.UnknownInstruction(operation);
                }
            }
        }
    }

    /// @dev 144..167 bytes of the operand, 120..143 rows of the result, 96..119 bytes of one.
    /// @param cursor memory of the first part's word @return last memory of the zero word behind the parts'
    function _layer(uint256 word, uint256 cursor) private view returns (uint256 last) {
        uint256 size = (word >> 144) & MASK;
        uint256 rows = (word >> 120) & MASK;
        return CompiledLayer.run(cursor, Plan.aOf(word), size, Plan.outOf(word), rows, (word >> 96) & MASK);
    }

    /// @dev 144..167 rows, 120..143 elements of a row, 112..119 type.
    function _reduce(uint256 word) private pure {
        uint256 rows = (word >> 144) & MASK;
        uint256 count = (word >> 120) & MASK;
        ReduceRows.reduce(
            Plan.variantOf(word), (word >> 112) & 0xFF, Plan.outOf(word), Plan.aOf(word), count, rows
        );
    }

    /// @dev 144..167 outputs of an activation row, 120..143 activation rows, 104..119 their length, 80..103 groups,
    /// 56..79 scratch memory.
    function _dot(uint256 word) private pure {
        unchecked {
            uint256 length = (word >> 104) & 0xFFFF;
            uint256 stride = (word >> 144) & MASK;
            uint256 groupBytes = (((length + 31) & ~uint256(31)) + 32) * stride;
            if (Plan.variantOf(word) != Requant.INTEGER) stride *= 4;
            uint256 target = Plan.outOf(word);
            uint256 row = Plan.aOf(word);
            uint256 groups = (word >> 80) & MASK;
            uint256 group = 0;
            for (uint256 rows = (word >> 120) & MASK; rows != 0; --rows) {
                _dotRow(word, row, Plan.bOf(word) + groupBytes * group, target, target + stride);
                row += length;
                target += stride;
                if (++group == groups) group = 0;
            }
        }
    }

    function _dotRow(uint256 word, uint256 row, uint256 weights, uint256 target, uint256 end) private pure {
        unchecked {
            uint256 length = (word >> 104) & 0xFFFF;
            uint256 prepared = (word >> 56) & MASK;
            uint256 sum = Dot.prepare(row, length, prepared);
            uint256 size = (length + 31) & ~uint256(31);
            if (Plan.variantOf(word) == Requant.INTEGER) {
                Dot.integers(target, end, prepared, sum, weights, size);
            } else {
                Dot.sums(target, end, prepared, sum, weights, size);
            }
        }
    }

    /// @dev 168..191 bytes, 136..167 the element, 128..135 its bytes.
    function _fill(uint256 word) private pure {
        MoveRows.repeat(Plan.outOf(word), (word >> 136) & 0xFFFFFFFF, (word >> 128) & 0xFF, Plan.bOf(word));
    }

    /// @dev Each element several times. 168..191 elements, 144..167 times; the variant is an element's bytes.
    function _spread(uint256 word) private pure {
        unchecked {
            uint256 bytesOf = Plan.variantOf(word);
            uint256 size = ((word >> 144) & MASK) * bytesOf;
            uint256 target = Plan.outOf(word);
            uint256 source = Plan.aOf(word);
            for (uint256 count = Plan.bOf(word); count != 0; --count) {
                MoveRows.repeat(target, Flat.load(source) >> (256 - 8 * bytesOf), bytesOf, size);
                target += size;
                source += bytesOf;
            }
        }
    }

    /// @dev 144..167 elements, 136..143 and 128..135 bytes from one element of a, and of b, to the next, 120..127,
    /// 112..119 and 104..111 types of the result, of a and of b.
    function _elements(uint256 word) private pure {
        unchecked {
            uint256 variant = Plan.variantOf(word);
            (uint256 a, uint256 b) = (Plan.aOf(word), Plan.bOf(word));
            uint256 code = (word >> 120) & 0xFF;
            uint256 bytesOf = Shapes.elementBytes(code);
            uint256 target = Plan.outOf(word);
            for (uint256 end = target + bytesOf * ((word >> 144) & MASK); target < end; target += bytesOf) {
                uint256 stored = Arith.compute(
                    variant,
                    code,
                    _integer((word >> 112) & 0xFF, a),
                    variant == Arith.CAST ? int256(0) : _integer((word >> 104) & 0xFF, b)
                ) << (256 - 8 * bytesOf);
                assembly ("memory-safe") {
                    mstore(target, stored)
                }
                a += (word >> 136) & 0xFF;
                b += (word >> 128) & 0xFF;
            }
        }
    }

    function _integer(uint256 code, uint256 place) private pure returns (int256) {
        unchecked {
            return Values.toInteger(code, Flat.load(place) >> (256 - 8 * Shapes.elementBytes(code)));
        }
    }

    /// @dev A part of the weights: 160..191 its offset in the stream, 136..159 its bytes.
    function _load(uint256 word) private view {
        assembly ("memory-safe") {
            let target := and(shr(216, word), 0xFFFFFF)
            let offset := and(shr(160, word), 0xFFFFFFFF)
            let left := and(shr(136, word), 0xFFFFFF)
            let chunk := div(offset, CHUNK_BYTES)
            offset := sub(offset, mul(chunk, CHUNK_BYTES))
            chunk := add(0xC0, shl(5, chunk)) // Plan.AT + Plan.HEAD_BYTES
            for {} left {} {
                let size := sub(CHUNK_BYTES, offset)
                if gt(size, left) { size := left }
                extcodecopy(mload(chunk), target, add(offset, 1), size)
                target := add(target, size)
                left := sub(left, size)
                chunk := add(chunk, 0x20)
                offset := 0
            }
        }
    }

    /// @dev 160..191 the record's k, 136..159 elements of a row, 112..135 rows; the variant is the type.
    function _codec(uint256 word) private pure {
        unchecked {
            uint256 modelWord = Flat.load(Plan.AT);
            uint256 arguments = Flat.load(Plan.AT + 32) & MASK;
            uint256 codec = ModelWord.inputCodec(modelWord);
            uint256 k = (word >> 160) & 0xFFFFFFFF;
            uint256 last = (word >> 136) & MASK;
            uint256 rows = (word >> 112) & MASK;
            uint256 target = Plan.outOf(word);
            if (codec == INPUT_TEXT || codec == INPUT_PRICES) {
                // Text wants zeros: scratch memory of a step before may have been here.
                assembly ("memory-safe") {
                    if eq(codec, INPUT_TEXT) {
                        calldatacopy(target, calldatasize(), shl(2, mul(rows, last)))
                    }
                }
                Inputs.writeRows(modelWord, k, rows, last, arguments, target, 4 * last);
            } else {
                rows *= last * Shapes.elementBytes(Plan.variantOf(word));
                Inputs.writeElements(codec, k, Plan.variantOf(word), 1, rows, arguments, target);
            }
        }
    }

    /// @dev 144..167 elements.
    function _table(uint256 word) private pure {
        uint256 count = ((word >> 144) & MASK) << 32;
        uint256 free = Flat.mark();
        Flat.release(Plan.outOf(word));
        TableRows.table(count, Plan.aOf(word), Plan.bOf(word));
        Flat.release(free);
    }

    /// @dev 144..167 elements, 120..143 of a row, 96..119 parameter words; the variant is the result's type.
    function _requant(uint256 word, bool isRescale) private view {
        uint256 channels = (word >> 96) & MASK;
        uint256 shape = ((word >> 144) & MASK) << 32 | ((word >> 120) & MASK) << 64;
        uint256 out = shape | Plan.variantOf(word) << 96;
        uint256 a = shape | 2 << 96 | Plan.aOf(word);
        uint256 free = Flat.mark();
        Flat.release(Plan.outOf(word));
        if (isRescale) {
            RescaleRows.rescale(out, a, Plan.bOf(word), channels);
        } else {
            RequantRows.requantize(IFloatJudge(address(0)), Requant.INTEGER, out, a, Plan.bOf(word), channels);
        }
        Flat.release(free);
    }
}
