// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Parameters} from "../../libraries/Parameters.sol";
import "./Emit.sol";
import {Finish, Row} from "./Finish.sol";
import {Layer, Parts} from "./Parts.sol";
import {Rows} from "./Rows.sol";

/// @notice A part being assembled.
/// @param start memory of its code @param words memory of its rows' words @param first row of the layer @param count of rows
/// @param needsSum true if a row needs the sum of its activations
/// @param spill memory, when the code runs, of the first row's accumulator between blocks, a word each
/// @param results memory, when the code runs, of the part's outputs of one output row
/// @param returned memory, when the code runs, of the return data
/// @param rows the weight rows
struct Part {
    uint256 start;
    uint256 words;
    uint256 first;
    uint256 count;
    bool needsSum;
    uint256 spill;
    uint256 results;
    uint256 returned;
    Row[] rows;
}

/// @notice Writes the code of a part. What it emits, in order:
///
/// | once | REVERT unless the size of the calldata is right; 2^231 and the lane mask to memory; stack: return pointer,
///   activation pointer |
/// | each output row | JUMPDEST; all groups; copy the results behind the others; move both pointers; jump back |
/// | each group of activations | its blocks, for the rows that read it |
/// | each block of 5 slices | its activations split into at most 15 lane words on the stack, which DUP reaches; its
///   sum if a row needs it; its part of each row; POP them |
/// | each row of a block | 2^231, or the accumulator of the block before; a product sum for each lane word of weights
///   that is not zero; keep the accumulator, or in the last block finish: requantize and store |
/// | once | RETURN |
///
/// Memory of the running code: 0x00 2^231, 0x20 lane mask, 0x40 sum of the activations, then Part's three places.
library Assembler {
    uint256 private constant MASK = 0x20;
    uint256 private constant SUM = 0x40;
    uint256 private constant SPILL = 0x60;

    /// @dev Byte 3i + 2 of a word: where a group's activations stand after a shift by 16, 8 or 0 bits.
    uint256 private constant LANE_BYTES = (Rows.ONES * 255) << 16;
    /// @dev MSTORE of the last s32 writes 28 bytes beyond it.
    uint256 private constant OVERHANG = 28;

    /// @notice Assembles the part's code. @param words memory of its rows' words
    /// @return start memory of the code @return length of it, at most Parts.MAX_CODE
    function assemble(Layer memory layer, uint256 words, uint256 first, uint256 count)
        internal
        pure
        returns (uint256 start, uint256 length)
    {
        unchecked {
            Part memory part;
            (part.words, part.first, part.count) = (words, first, count);
            part.spill = SPILL;
            part.results = SPILL + (layer.blocks > 1 ? 32 * count : 0);
            part.returned = part.results + ((count * layer.width + OVERHANG + 31) & ~uint256(31));
            _classify(layer, part);
            uint256 most = Parts.MAX_CODE;
            assembly ("memory-safe") {
                // Room for ten bytes of creation code before it, and for the last PUSH's padding behind it.
                start := add(mload(0x40), 0x20)
                mstore(0x40, add(start, add(most, 0x20)))
            }
            part.start = start;
            length = _emitAll(start, layer, part) - start;
            assert(length <= most);
        }
    }

    /// @dev Finds out which rows are narrow, and whether a row needs the sum of its activations.
    function _classify(Layer memory layer, Part memory part) private pure {
        unchecked {
            part.rows = new Row[](part.count);
            uint256 words = layer.weights.words;
            uint256 place = part.words;
            for (uint256 i = 0; i < part.count; ++i) {
                Row memory row = part.rows[i];
                row.words = place;
                place += 32 * words;
                Parameters parameters;
                assembly ("memory-safe") {
                    parameters := mload(sub(place, 0x20))
                }
                row.parameters = parameters;
                row.kept = part.spill + 32 * i;
                row.to = part.results + layer.width * i;
                uint256 offset = parameters.offset();
                row.room = Rows.roomOf(row.words, layer.length, offset);
                if (row.room == 0 && offset != Rows.WIDE_CENTRE) part.needsSum = true;
                Finish.setAddend(row, layer.width);
            }
        }
    }

    function _emitAll(uint256 code, Layer memory layer, Part memory part) private pure returns (uint256) {
        unchecked {
            uint256 stride = layer.groups * layer.length;
            uint256 made = part.count * layer.width;
            // calldatasize == 0 < (calldatasize % stride == 0), or REVERT
            code = Emit.op(Emit.op(Emit.pushOp(code, stride, CALLDATASIZE), MOD), ISZERO);
            code = Emit.op(Emit.op(Emit.op(code, CALLDATASIZE), ISZERO), LT);
            // Behind PUSH2, JUMPI, PUSH0, PUSH0, REVERT.
            code = Emit.op(Emit.pushBytes(code, code + 7 - part.start, 2), JUMPI);
            code = Emit.op(Emit.op(Emit.op(code, PUSH0), PUSH0), REVERT);
            code = Emit.op(code, JUMPDEST);
            code = Emit.op(Emit.pushOp(Emit.push(code, 1), 231, SHL), PUSH0);
            code = Emit.op(code, MSTORE);
            code = Emit.pushOp(Emit.pushBytes(code, LANE_BYTES, 32), MASK, MSTORE);
            code = Emit.op(Emit.push(code, part.returned), PUSH0);
            uint256 loop = code - part.start;
            code = _emitGroups(Emit.op(code, JUMPDEST), layer, part);
            code = Emit.op(Emit.push(Emit.push(code, made), part.results), DUP1 + 3);
            code = Emit.op(Emit.op(code, MCOPY), SWAP1);
            code = Emit.op(Emit.pushOp(code, made, ADD), SWAP1);
            code = Emit.pushOp(code, stride, ADD);
            code = Emit.op(Emit.op(Emit.op(code, CALLDATASIZE), DUP1 + 1), LT);
            code = Emit.op(Emit.pushOp(code, loop, JUMPI), POP);
            code = Emit.op(Emit.pushOp(code, part.returned, SWAP1), SUB);
            return Emit.pushOp(code, part.returned, RETURN);
        }
    }

    function _emitGroups(uint256 code, Layer memory layer, Part memory part) private pure returns (uint256) {
        unchecked {
            uint256 perGroup = layer.rows / layer.groups;
            for (uint256 row = 0; row < part.count;) {
                uint256 group = (part.first + row) / perGroup;
                uint256 end = (group + 1) * perGroup - part.first;
                if (end > part.count) end = part.count;
                for (uint256 b = 0; b < layer.blocks; ++b) {
                    uint256 lanes;
                    (code, lanes) = _emitActivations(code, layer, group, b);
                    if (part.needsSum) code = _emitSum(code, lanes, b);
                    for (uint256 i = row; i < end; ++i) {
                        code = _emitRow(code, layer, part, part.rows[i], b);
                    }
                    for (; lanes != 0; --lanes) {
                        code = Emit.op(code, POP);
                    }
                }
                row = end;
            }
            return code;
        }
    }

    /// @dev Splits the activations of a block: three lane words a slice, the first activation in the top lane.
    function _emitActivations(uint256 code, Layer memory layer, uint256 group, uint256 b)
        private
        pure
        returns (uint256, uint256 lanes)
    {
        unchecked {
            (uint256 from, uint256 to) = Parts.blockOf(layer, b);
            for (; from < to; from += Parts.SLICE) {
                // The activation pointer is below the lanes, under the offset.
                code = Emit.op(Emit.push(code, group * layer.length + from), DUP1 + 1 + lanes);
                code = Emit.op(Emit.op(code, ADD), CALLDATALOAD);
                uint256 left = to - from;
                uint256 last = left < 3 ? left - 1 : 2;
                for (uint256 g = 0; g <= last; ++g) {
                    if (g != last) code = Emit.op(code, DUP1);
                    if (g != 2) code = Emit.pushOp(code, 16 - 8 * g, SHR);
                    if (left < Parts.SLICE) {
                        // Only lanes with an element: what follows belongs to another row.
                        uint256 empty = 10 - (left + 2 - g) / 3;
                        code = Emit.pushBytes(code, (LANE_BYTES >> (24 * empty)) << (24 * empty), 32);
                    } else {
                        code = Emit.put(code, 0x602051, 3);
                    }
                    code = Emit.op(code, AND);
                    if (g != last) code = Emit.op(code, SWAP1);
                }
                lanes += last + 1;
            }
            return (code, lanes);
        }
    }

    /// @dev Adds the block's activations to their sum: lanes added up, then all lanes by a product with ones.
    function _emitSum(uint256 code, uint256 lanes, uint256 b) private pure returns (uint256) {
        unchecked {
            code = Emit.op(code, PUSH0);
            for (uint256 i = 0; i < lanes; ++i) {
                code = Emit.op(Emit.op(code, DUP1 + lanes - i), ADD);
            }
            code = Emit.pushOp(Emit.pushOp(code, Rows.ONES, MUL), Rows.TOP, SHR);
            if (b != 0) code = Emit.op(Emit.load(code, SUM), ADD);
            return Emit.store(code, SUM);
        }
    }

    function _emitRow(uint256 code, Layer memory layer, Part memory part, Row memory row, uint256 b)
        private
        pure
        returns (uint256)
    {
        unchecked {
            bool isLast = b + 1 == layer.blocks;
            if (layer.width == 1 && Finish.isConstant(row.parameters)) {
                return isLast ? Finish.emitConstant(code, row) : code;
            }
            bool narrow = row.room != 0;
            // A narrow row's accumulator goes on, a wide row's starts anew and is added up as a number.
            if (narrow && b != 0) code = Emit.load(code, row.kept);
            else if (!row.added) code = Emit.put(code, 0x5f51, 2);
            else code = Emit.pushBytes(code, Rows.HALF + (uint256(row.addend) << Rows.TOP), 32);
            uint256 centre = narrow ? row.parameters.offset() : Rows.WIDE_CENTRE;
            (uint256 from, uint256 to) = Parts.blockOf(layer, b);
            code = Rows.emitProducts(code, row.words, from, to, centre);
            if (!narrow) {
                code = Finish.emitShift(code);
                if (b != 0) code = Emit.op(Emit.load(code, row.kept), ADD);
            }
            if (!isLast) return Emit.store(code, row.kept);
            return layer.width == 4 ? Finish.emitS32(code, row) : Finish.emitByte(code, part.start, row);
        }
    }
}
