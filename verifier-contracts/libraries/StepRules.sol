// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {
    INPUT_INT16S,
    INPUT_PRICES,
    INPUT_TEXT,
    LAYOUT_CHANNEL,
    LAYOUT_DOT,
    LAYOUT_LOOKUP,
    LAYOUT_PLAIN,
    NONE,
    OP_ARITH,
    OP_CODEC,
    OP_DOT,
    OP_FLOAT,
    OP_LOOKUP,
    OP_MOVE,
    OP_REDUCE,
    OP_REQUANT,
    OP_RESCALE,
    OP_SELECT,
    OP_TABLE,
    ProgramField,
    TYPE_BOOL,
    TYPE_F32,
    TYPE_S32,
    TYPE_S8,
    TYPE_U8,
    WEIGHT
} from "../types/Program.sol";
import {ProgramReader} from "./ProgramReader.sol";
import {Facts, Scan} from "./Scan.sol";
import {Shapes} from "./Shapes.sol";

/// @notice Structure rules of each opcode (docs/EXACT.md, section 3).
library StepRules {
    /// @dev A tensor that is judged whole has at most 2^12 leaves.
    uint256 internal constant MAX_WHOLE_HEIGHT = 12;
    uint256 private constant MAX_TABLE_ROWS = 2 ** 24;
    uint256 private constant MAX_REDUCED_BYTES = 1024;

    // In each 32-bit lane of a shape: 1, all bits but the top one, the top bit.
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000000000000;
    uint256 private constant LOW_BITS = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF0000000000000000;
    uint256 private constant TOP_BITS = 0x8000000080000000800000008000000080000000800000000000000000000000;

    // Sets of types, a bit each.
    uint256 private constant BYTES = (1 << TYPE_U8) | (1 << TYPE_S8);
    uint256 private constant S32 = 1 << TYPE_S32;
    uint256 private constant F32 = 1 << TYPE_F32;
    uint256 private constant BOOL = 1 << TYPE_BOOL;
    uint256 private constant INTEGER = BYTES | S32 | BOOL;
    uint256 private constant ANY = INTEGER | F32;

    function fail(Scan memory s, ProgramField field, uint256 value) internal pure {
        revert IModelRegistry.InvalidProgram(s.part, s.index, field, value);
    }

    /// @notice Checks the scan's record, whose own tensor is already checked.
    function check(Scan memory s) internal pure {
        uint256 opcode = ProgramReader.opcode(s.head);
        if (opcode != OP_MOVE) _noCoordinates(s);
        if (opcode == OP_DOT) _dot(s);
        else if (opcode == OP_ARITH) _arith(s);
        else if (opcode == OP_FLOAT) _float(s);
        else if (opcode == OP_MOVE) _move(s);
        else if (opcode == OP_REQUANT || opcode == OP_RESCALE) _channelwise(s, opcode);
        else if (opcode == OP_TABLE) _table(s);
        else if (opcode == OP_CODEC) _codec(s);
        else if (opcode == OP_LOOKUP) _lookup(s);
        else if (opcode == OP_REDUCE) _reduce(s);
        else if (opcode == OP_SELECT) _select(s);
        else fail(s, ProgramField.OPCODE, opcode);
    }

    function _codec(Scan memory s) private pure {
        unchecked {
            _none(s, 0);
            _none(s, 1);
            _none(s, 2);
            if (ProgramReader.variant(s.head) != s.inputCodec) {
                fail(s, ProgramField.VARIANT, ProgramReader.variant(s.head));
            }
            uint256 height = Facts.height(s.own);
            if (height > MAX_WHOLE_HEIGHT) fail(s, ProgramField.SIZE, 1 << height);
            uint256 k = ProgramReader.attribute(s.head);
            uint256 rank = ProgramReader.outputRank(s.head);
            uint256 rows = Facts.rows(s.own);
            uint256 last = Facts.last(s.own);
            if (s.inputCodec == INPUT_TEXT) {
                _type(s, S32);
                if (rank != 2 || rows > 64 || last > 16) fail(s, ProgramField.DIMS, s.shape);
                if (k < 2 || k > MAX_TABLE_ROWS) fail(s, ProgramField.K, k);
            } else if (s.inputCodec == INPUT_PRICES) {
                _type(s, S32);
                if (rank != 2 || rows != 3 || last != s.inputSize - 1) fail(s, ProgramField.DIMS, s.shape);
                _noAttribute(s);
            } else if (s.inputCodec == INPUT_INT16S) {
                _type(s, S32);
                if (k + rows * last > s.inputSize) fail(s, ProgramField.K, k);
            } else if (k + rows * last * Shapes.elementBytes(Facts.code(s.own)) > s.inputSize) {
                fail(s, ProgramField.K, k);
            }
        }
    }

    function _move(Scan memory s) private pure {
        unchecked {
            _variants(s, 1);
            uint256 code = Facts.code(s.own);
            (uint256 source,) = _plain(s, 0, 1 << code);
            uint256 k = ProgramReader.attribute(s.head);
            if (ProgramReader.operandOf(s.head, 1) == NONE) {
                if (k > 255 && Shapes.elementBytes(code) == 1) fail(s, ProgramField.K, k);
            } else {
                _same(s, 1, 1 << code);
                _noAttribute(s);
            }
            _none(s, 2);
            (uint256 product, uint256 misfit) = _coordinates(s.pointer + 64, ProgramReader.outputRank(s.head));
            if (misfit != 0) fail(s, ProgramField.COORDINATES, misfit);
            // A view dim of 0 makes the product 0, which no tensor's element count is.
            if (product != Facts.count(source)) fail(s, ProgramField.COORDINATES, product);
        }
    }

    /// @dev Four coordinates of v u32, c s32, a s24, b s24, p u8, q u8.
    /// @return product of the view dims @return misfit the last coordinate with an axis that is not below the rank, or
    /// is not 0 though its factor is; 0 if there is none (an axis of 0 fits, so a misfit is not 0)
    function _coordinates(uint256 pointer, uint256 rank)
        private
        pure
        returns (uint256 product, uint256 misfit)
    {
        assembly ("memory-safe") {
            product := 1
            for { let end := add(pointer, 0x40) } lt(pointer, end) { pointer := add(pointer, 0x10) } {
                let coordinate := shr(128, mload(pointer))
                product := mul(product, shr(96, coordinate))
                let p := byte(30, coordinate)
                let q := byte(31, coordinate)
                if p {
                    if iszero(and(lt(p, rank), lt(0, and(shr(40, coordinate), 0xFFFFFF)))) {
                        misfit := coordinate
                    }
                }
                if q {
                    if iszero(and(lt(q, rank), lt(0, and(shr(16, coordinate), 0xFFFFFF)))) {
                        misfit := coordinate
                    }
                }
            }
        }
    }

    function _lookup(Scan memory s) private pure {
        _variants(s, 2);
        bool sum = ProgramReader.variant(s.head) == 0;
        (uint256 ids,) = _plain(s, 0, S32);
        if (Facts.last(ids) > (sum ? 16 : 1)) fail(s, ProgramField.OPERAND_A, Facts.last(ids));
        if (Facts.rows(ids) != Facts.rows(s.own)) fail(s, ProgramField.OPERAND_A, Facts.rows(ids));
        (uint256 table, uint256 shape) = _weights(s, 1, sum ? LAYOUT_LOOKUP : LAYOUT_PLAIN);
        // Rank 2: the second dim is there, the third is not.
        if (Shapes.dim(shape, 1) == 0 || Shapes.dim(shape, 2) != 0) fail(s, ProgramField.OPERAND_B, shape);
        if (Facts.last(table) != Facts.last(s.own)) fail(s, ProgramField.OPERAND_B, Facts.last(table));
        _type(s, sum ? S32 : 1 << Facts.code(table));
        _none(s, 2);
        _noAttribute(s);
    }

    function _dot(Scan memory s) private pure {
        unchecked {
            _variants(s, 3);
            _type(s, ProgramReader.variant(s.head) == 0 ? S32 : BYTES);
            (uint256 input,) = _plain(s, 0, BYTES);
            (uint256 table,) = _weights(s, 1, LAYOUT_DOT);
            _none(s, 2);
            uint256 groups = ProgramReader.attribute(s.head);
            uint256 outputs = Facts.last(s.own);
            if (groups == 0 || outputs % groups != 0) fail(s, ProgramField.K, groups);
            if (outputs != Facts.rows(table)) fail(s, ProgramField.OPERAND_B, Facts.rows(table));
            if (Facts.last(input) != Facts.last(table)) fail(s, ProgramField.OPERAND_A, Facts.last(input));
            if (Facts.rows(input) != Facts.rows(s.own) * groups) {
                fail(s, ProgramField.OPERAND_A, Facts.rows(input));
            }
        }
    }

    function _channelwise(Scan memory s, uint256 opcode) private pure {
        uint256 variant = ProgramReader.variant(s.head);
        if (opcode == OP_RESCALE ? variant != 0 : variant != 1 && variant != 2) {
            fail(s, ProgramField.VARIANT, variant);
        }
        _type(s, opcode == OP_RESCALE ? S32 : BYTES);
        _same(s, 0, S32);
        (uint256 channels,) = _weights(s, 1, LAYOUT_CHANNEL);
        if (Facts.rows(channels) != 1 && Facts.rows(channels) != Facts.last(s.own)) {
            fail(s, ProgramField.OPERAND_B, Facts.rows(channels));
        }
        _none(s, 2);
        _noAttribute(s);
    }

    function _table(Scan memory s) private pure {
        _variants(s, 1);
        _type(s, BYTES | BOOL);
        _same(s, 0, BYTES | BOOL);
        (uint256 map, uint256 shape) = _weights(s, 1, LAYOUT_PLAIN);
        if (shape != 256 << 224 || Facts.code(map) != TYPE_U8) fail(s, ProgramField.OPERAND_B, shape);
        _none(s, 2);
        _noAttribute(s);
    }

    function _arith(Scan memory s) private pure {
        _variants(s, 10);
        uint256 variant = ProgramReader.variant(s.head);
        _broadcast(s, 0, INTEGER);
        if (variant == 9) {
            _none(s, 1);
            _type(s, INTEGER);
        } else {
            _broadcast(s, 1, INTEGER);
            _type(s, variant < 6 ? BYTES | S32 : BOOL);
        }
        _none(s, 2);
        _noAttribute(s);
    }

    function _float(Scan memory s) private pure {
        _variants(s, 15);
        uint256 variant = ProgramReader.variant(s.head);
        bool quantized = variant == 13 || variant == 14;
        _broadcast(s, 0, variant == 11 || variant == 13 ? INTEGER : F32);
        if (variant == 4 || variant == 5 || variant == 11 || variant == 12) _none(s, 1);
        else _broadcast(s, 1, F32);
        if (quantized) _broadcast(s, 2, S32);
        else _none(s, 2);
        if (variant >= 8 && variant <= 10) _type(s, BOOL);
        else if (variant == 12) _type(s, INTEGER);
        else if (variant == 14) _type(s, BYTES);
        else _type(s, F32);
        _noAttribute(s);
    }

    function _reduce(Scan memory s) private pure {
        unchecked {
            _variants(s, 3);
            (uint256 input,) = _plain(s, 0, INTEGER);
            uint256 rowBytes = Facts.last(input) * Shapes.elementBytes(Facts.code(input));
            if (rowBytes > MAX_REDUCED_BYTES) fail(s, ProgramField.OPERAND_A, rowBytes);
            if (Facts.rows(input) != Facts.count(s.own)) fail(s, ProgramField.OPERAND_A, Facts.rows(input));
            _type(s, ProgramReader.variant(s.head) == 0 ? S32 : 1 << Facts.code(input));
            _none(s, 1);
            _none(s, 2);
            _noAttribute(s);
        }
    }

    function _select(Scan memory s) private pure {
        uint256 types = 1 << Facts.code(s.own);
        _variants(s, 1);
        _broadcast(s, 0, BOOL);
        _broadcast(s, 1, types);
        _broadcast(s, 2, types);
        _noAttribute(s);
    }

    // Rules that several opcodes share. `position` is 0 for operand a, 1 for b, 2 for c.

    function _noCoordinates(Scan memory s) private pure {
        uint256 pointer = s.pointer;
        uint256 present;
        assembly ("memory-safe") {
            present := or(mload(add(pointer, 0x40)), mload(add(pointer, 0x60)))
        }
        if (present != 0) fail(s, ProgramField.COORDINATES, present);
    }

    function _noAttribute(Scan memory s) private pure {
        uint256 k = ProgramReader.attribute(s.head);
        if (k != 0) fail(s, ProgramField.K, k);
    }

    /// @param count variants that the opcode has, from 0
    function _variants(Scan memory s, uint256 count) private pure {
        uint256 variant = ProgramReader.variant(s.head);
        if (variant >= count) fail(s, ProgramField.VARIANT, variant);
    }

    /// @param types allowed for the output, a bit each
    function _type(Scan memory s, uint256 types) private pure {
        uint256 code = Facts.code(s.own);
        if ((types >> code) & 1 == 0) fail(s, ProgramField.TYPE, code);
    }

    function _none(Scan memory s, uint256 position) private pure {
        uint256 operand = ProgramReader.operandOf(s.head, position);
        if (operand != NONE) _failOperand(s, position, operand);
    }

    /// @dev An earlier step or a PLAIN weight tensor, of one of the types.
    function _plain(Scan memory s, uint256 position, uint256 types)
        private
        pure
        returns (uint256 facts, uint256 shape)
    {
        unchecked {
            uint256 operand = ProgramReader.operandOf(s.head, position);
            if (operand < WEIGHT) {
                if (operand >= s.index) _failOperand(s, position, operand);
                facts = Facts.get(s, s.weights + operand);
                uint256 pointer = s.records + ProgramReader.RECORD_BYTES * operand + 32;
                assembly ("memory-safe") {
                    shape := mload(pointer)
                }
            } else {
                (facts, shape) = _weights(s, position, LAYOUT_PLAIN);
            }
            if ((types >> Facts.code(facts)) & 1 == 0) _failOperand(s, position, operand);
        }
    }

    function _weights(Scan memory s, uint256 position, uint256 rowLayout)
        private
        pure
        returns (uint256 facts, uint256 shape)
    {
        unchecked {
            uint256 operand = ProgramReader.operandOf(s.head, position);
            // A step's operand wraps to a huge index, and NONE is above any number of weight tensors.
            uint256 index = operand - WEIGHT;
            if (index >= s.weights) _failOperand(s, position, operand);
            facts = Facts.get(s, index);
            if (Facts.rowLayout(facts) != rowLayout) _failOperand(s, position, operand);
            uint256 pointer = s.descriptors + ProgramReader.DESCRIPTOR_BYTES * index;
            assembly ("memory-safe") {
                shape := shl(32, mload(pointer))
            }
        }
    }

    /// @dev A plain operand with the output's dims.
    function _same(Scan memory s, uint256 position, uint256 types) private pure {
        (, uint256 shape) = _plain(s, position, types);
        if (shape != s.shape) _failOperand(s, position, shape);
    }

    /// @dev A plain operand that broadcasts to the output: aligned at the last axis, each dim equal or 1.
    function _broadcast(Scan memory s, uint256 position, uint256 types) private pure {
        (uint256 facts, uint256 shape) = _plain(s, position, types);
        // The shape [1] is the most frequent one after the output's own.
        if (shape == s.shape || shape == 1 << 224) return;
        uint256 ownRank = ProgramReader.outputRank(s.head);
        uint256 own = s.shape;
        uint256 rank = Facts.rank(facts);
        bool misfit;
        assembly ("memory-safe") {
            // Six dims at once, last axes aligned; where the operand has no axis its dim is 0.
            let x := shr(shl(5, sub(ownRank, rank)), shape)
            // The top bit of each lane of 32 bits that is not 0, in the sum of its other bits or by itself. A lane is
            // wrong if it is none of 0, the output's dim and 1.
            let y := xor(x, own)
            let z := xor(x, ONES)
            let wrong := and(or(x, add(and(x, LOW_BITS), LOW_BITS)), or(y, add(and(y, LOW_BITS), LOW_BITS)))
            wrong := and(wrong, or(z, add(and(z, LOW_BITS), LOW_BITS)))
            misfit := or(gt(rank, ownRank), iszero(iszero(and(wrong, TOP_BITS))))
        }
        if (misfit) _failOperand(s, position, shape);
    }

    function _failOperand(Scan memory s, uint256 position, uint256 value) private pure {
        fail(s, ProgramField(uint256(ProgramField.OPERAND_A) + position), value);
    }
}
