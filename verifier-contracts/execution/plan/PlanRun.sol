// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "../../interfaces/IFloatJudge.sol";
import {DotLanes} from "../../libraries/DotLanes.sol";
import {Flat, NO_FLAT, flatOf} from "../../libraries/Flat.sol";
import {Memory} from "../../libraries/Memory.sol";
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
import {INPUT_PRICES, INPUT_TEXT, TYPE_S32, TYPE_U8} from "../../types/Program.sol";
import {CompiledLayer} from "../compiled/CompiledLayer.sol";
import {
    ARITH_A_STEP,
    ARITH_A_TYPE,
    ARITH_B_STEP,
    ARITH_B_TYPE,
    ARITH_SIZE,
    ARITH_TYPE,
    CODEC_K,
    CODEC_LENGTH,
    CODEC_ROWS,
    DOT_GROUPS,
    DOT_LENGTH,
    DOT_OUTPUTS,
    DOT_ROWS,
    DOT_SCRATCH,
    FILL_ELEMENT,
    FILL_ELEMENT_BYTES,
    FILL_SIZE,
    Instruction,
    LAYER_ROWS,
    LAYER_ROW_BYTES,
    LAYER_SIZE,
    LOAD_OFFSET,
    LOAD_SIZE,
    MAP_COUNT,
    OUT,
    REDUCE_LENGTH,
    REDUCE_ROWS,
    REDUCE_TYPE,
    REQUANT_CHANNELS,
    REQUANT_COUNT,
    REQUANT_LENGTH,
    SPREAD_COUNT,
    SPREAD_TIMES,
    U24,
    U32
} from "./Instruction.sol";
import {Plan, PlanHead} from "./Plan.sol";
import {PlanLookup} from "./PlanLookup.sol";
import {PlanWords} from "./PlanWords.sol";

/// @notice Runs the instructions of a plan. Free memory is behind all of its tensors; kernels that take memory for their
/// result find it where the plan says that the result belongs.
library PlanRun {
    uint256 private constant CHUNK_BYTES = 24_544;

    /// @param next memory of the first instruction
    /// @return i the last one, END
    function run(uint256 next) internal view returns (Instruction i) {
        unchecked {
            for (;; next += 32) {
                i = Instruction.wrap(Memory.load(next));
                uint256 operation = i.operation();
                if (operation < Plan.STRIDED) {
                    if (operation == Plan.INT16S) PlanWords.lanes(i);
                    else if (operation == Plan.COPY) PlanWords.copy(i);
                    else PlanWords.product(i);
                } else if (operation < Plan.FILL) {
                    if (operation == Plan.REDUCE) _reduce(i);
                    else if (operation == Plan.STRIDED) PlanWords.strided(i);
                    else _dot(i);
                } else if (operation < Plan.ELEMENTS) {
                    if (operation == Plan.FILL) _fill(i);
                    else if (operation == Plan.SPREAD) _spread(i);
                    else PlanWords.cast(i);
                } else if (operation < Plan.LOOKUP) {
                    if (operation == Plan.ELEMENTS) _elements(i);
                    else if (operation == Plan.SELECT) PlanWords.select(i);
                    else if (operation == Plan.LOAD) _load(i);
                    else _codec(i);
                } else {
                    if (operation == Plan.END) return i;
                    if (operation == Plan.LAYER) next = _layer(i, next + 32);
                    else if (operation == Plan.LOOKUP) PlanLookup.sum(i);
                    else if (operation == Plan.TABLE) _table(i);
                    else if (operation < Plan.TABLE) _requant(i, operation == Plan.RESCALE);
                    else revert Plan.UnknownInstruction(operation);
                }
            }
        }
    }

    /// @param cursor memory of the first part's word @return last memory of the zero word behind the parts'
    function _layer(Instruction i, uint256 cursor) private view returns (uint256 last) {
        uint256 size = i.u24(LAYER_SIZE);
        uint256 rows = i.u24(LAYER_ROWS);
        return CompiledLayer.run(cursor, i.a(), size, i.out(), rows, i.u24(LAYER_ROW_BYTES));
    }

    function _reduce(Instruction i) private pure {
        uint256 rows = i.u24(REDUCE_ROWS);
        uint256 count = i.u24(REDUCE_LENGTH);
        ReduceRows.reduce(i.variant(), i.u8(REDUCE_TYPE), i.out(), i.a(), count, rows);
    }

    function _dot(Instruction i) private pure {
        unchecked {
            uint256 length = i.u16(DOT_LENGTH);
            uint256 stride = i.u24(DOT_OUTPUTS);
            uint256 groupBytes = (((length + 31) & ~uint256(31)) + 32) * stride;
            if (i.variant() != Requant.INTEGER) stride *= 4;
            uint256 target = i.out();
            uint256 row = i.a();
            uint256 groups = i.u24(DOT_GROUPS);
            uint256 group = 0;
            for (uint256 rows = i.u24(DOT_ROWS); rows != 0; --rows) {
                _dotRow(i, row, i.b() + groupBytes * group, target, target + stride);
                row += length;
                target += stride;
                if (++group == groups) group = 0;
            }
        }
    }

    function _dotRow(Instruction i, uint256 row, uint256 weights, uint256 target, uint256 end) private pure {
        unchecked {
            uint256 length = i.u16(DOT_LENGTH);
            uint256 prepared = i.u24(DOT_SCRATCH);
            uint256 sum = DotLanes.prepare(row, length, prepared);
            uint256 size = (length + 31) & ~uint256(31);
            if (i.variant() == Requant.INTEGER) {
                Dot.integers(target, end, prepared, sum, weights, size);
            } else {
                Dot.sums(target, end, prepared, sum, weights, size);
            }
        }
    }

    function _fill(Instruction i) private pure {
        MoveRows.repeat(i.out(), i.u32(FILL_ELEMENT), i.u8(FILL_ELEMENT_BYTES), i.u24(FILL_SIZE));
    }

    /// @dev Each element several times.
    function _spread(Instruction i) private pure {
        unchecked {
            uint256 bytesOf = i.variant();
            uint256 size = i.u24(SPREAD_TIMES) * bytesOf;
            uint256 target = i.out();
            uint256 source = i.a();
            for (uint256 count = i.u24(SPREAD_COUNT); count != 0; --count) {
                MoveRows.repeat(target, Memory.load(source) >> (256 - 8 * bytesOf), bytesOf, size);
                target += size;
                source += bytesOf;
            }
        }
    }

    function _elements(Instruction i) private pure {
        unchecked {
            uint256 variant = i.variant();
            (uint256 a, uint256 b) = (i.a(), i.b());
            uint256 code = i.u8(ARITH_TYPE);
            uint256 bytesOf = Shapes.elementBytes(code);
            uint256 target = i.out();
            for (uint256 end = target + bytesOf * i.u24(ARITH_SIZE); target < end; target += bytesOf) {
                int256 x = _integer(i.u8(ARITH_A_TYPE), a);
                int256 y = variant == Arith.CAST ? int256(0) : _integer(i.u8(ARITH_B_TYPE), b);
                uint256 stored = Arith.compute(variant, code, x, y) << (256 - 8 * bytesOf);
                assembly ("memory-safe") {
                    mstore(target, stored)
                }
                a += i.u8(ARITH_A_STEP);
                b += i.u8(ARITH_B_STEP);
            }
        }
    }

    function _integer(uint256 code, uint256 place) private pure returns (int256) {
        unchecked {
            return Values.toInteger(code, Memory.load(place) >> (256 - 8 * Shapes.elementBytes(code)));
        }
    }

    /// @dev A part of the weights.
    function _load(Instruction i) private view {
        assembly ("memory-safe") {
            let target := and(shr(OUT, i), U24)
            let offset := and(shr(LOAD_OFFSET, i), U32)
            let left := and(shr(LOAD_SIZE, i), U24)
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

    function _codec(Instruction i) private pure {
        unchecked {
            ModelWord modelWord = ModelWord.wrap(Memory.load(Plan.AT));
            uint256 arguments = PlanHead.wrap(Memory.load(Plan.AT + 32)).arguments();
            uint256 codec = modelWord.inputCodec();
            uint256 k = i.u32(CODEC_K);
            uint256 last = i.u24(CODEC_LENGTH);
            uint256 rows = i.u24(CODEC_ROWS);
            uint256 target = i.out();
            if (codec == INPUT_TEXT || codec == INPUT_PRICES) {
                // Text wants zeros: scratch memory of a step before may have been here.
                assembly ("memory-safe") {
                    if eq(codec, INPUT_TEXT) {
                        calldatacopy(target, calldatasize(), shl(2, mul(rows, last)))
                    }
                }
                Inputs.writeRows(modelWord, k, rows, last, arguments, target, 4 * last);
            } else {
                rows *= last * Shapes.elementBytes(i.variant());
                Inputs.writeElements(codec, k, i.variant(), 1, rows, arguments, target);
            }
        }
    }

    function _table(Instruction i) private pure {
        Flat out = flatOf(i.u24(MAP_COUNT), 0, TYPE_U8);
        uint256 free = Memory.mark();
        Memory.release(i.out());
        TableRows.table(out, NO_FLAT.at(i.a()), NO_FLAT.at(i.b()));
        Memory.release(free);
    }

    function _requant(Instruction i, bool isRescale) private view {
        uint256 channels = i.u24(REQUANT_CHANNELS);
        uint256 count = i.u24(REQUANT_COUNT);
        uint256 last = i.u24(REQUANT_LENGTH);
        Flat out = flatOf(count, last, i.variant());
        Flat a = flatOf(count, last, TYPE_S32).at(i.a());
        uint256 free = Memory.mark();
        Memory.release(i.out());
        if (isRescale) {
            RescaleRows.rescale(out, a, i.b(), channels);
        } else {
            RequantRows.requantize(IFloatJudge(address(0)), Requant.INTEGER, out, a, i.b(), channels);
        }
        Memory.release(free);
    }
}
