// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IModelRegistry} from "../interfaces/IModelRegistry.sol";
import {
    LAYOUT_PLAIN,
    NONE,
    ProgramField,
    TYPE_BOOL,
    TYPE_F32,
    TYPE_S32,
    TYPE_S8,
    TYPE_U8,
    WEIGHT
} from "../types/Program.sol";
import {DESCRIPTOR_HEAD_BITS} from "./Descriptor.sol";
import {Facts} from "./Facts.sol";
import {ProgramReader} from "./ProgramReader.sol";
import {Scan} from "./Scan.sol";
import {DIM_BITS, SHAPE_OF_ONE} from "./Shapes.sol";

/// @notice Structure rules that several opcodes share (docs/EXACT.md, section 3). Each reverts where it is broken.
/// `position` is 0 for operand a, 1 for b, 2 for c.
library StepRules {
    // Sets of types, a bit each.
    uint256 internal constant U8 = 1 << TYPE_U8;
    uint256 internal constant BYTES = (1 << TYPE_U8) | (1 << TYPE_S8);
    uint256 internal constant S32 = 1 << TYPE_S32;
    uint256 internal constant F32 = 1 << TYPE_F32;
    uint256 internal constant BOOL = 1 << TYPE_BOOL;
    uint256 internal constant INTEGER = BYTES | S32 | BOOL;

    /// @dev Where a record's coordinates begin.
    uint256 internal constant COORDINATES_AT = 64;

    // In each 32-bit field of a shape: 1, all bits but the top one, the top bit.
    uint256 private constant ONES = 0x0000000100000001000000010000000100000001000000010000000000000000;
    uint256 private constant LOW_BITS = 0x7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF7FFFFFFF0000000000000000;
    uint256 private constant TOP_BITS = 0x8000000080000000800000008000000080000000800000000000000000000000;

    function fail(Scan memory s, ProgramField field, uint256 value) internal pure {
        revert IModelRegistry.InvalidProgram(s.part, s.index, field, value);
    }

    /// @notice Only MOVE has coordinates.
    function noCoordinates(Scan memory s) internal pure {
        uint256 pointer = s.pointer;
        uint256 present;
        assembly ("memory-safe") {
            pointer := add(pointer, COORDINATES_AT)
            present := or(mload(pointer), mload(add(pointer, 0x20)))
        }
        if (present != 0) fail(s, ProgramField.COORDINATES, present);
    }

    function noAttribute(Scan memory s) internal pure {
        uint256 k = s.head.attribute();
        if (k != 0) fail(s, ProgramField.K, k);
    }

    /// @notice The opcode has one form: variant 0.
    function oneForm(Scan memory s) internal pure {
        variants(s, 0, 0);
    }

    /// @notice The variants that the opcode has. @param first of them @param last of them
    function variants(Scan memory s, uint256 first, uint256 last) internal pure {
        uint256 variant = s.head.variant();
        if (variant < first || variant > last) fail(s, ProgramField.VARIANT, variant);
    }

    /// @notice The step's own type. @param types allowed, a bit each
    function outputType(Scan memory s, uint256 types) internal pure {
        uint256 code = s.own.code();
        if ((types >> code) & 1 == 0) fail(s, ProgramField.TYPE, code);
    }

    /// @notice The opcode has no such operand.
    function none(Scan memory s, uint256 position) internal pure {
        uint256 operand = s.head.operandOf(position);
        if (operand != NONE) failOperand(s, position, operand);
    }

    /// @notice An earlier step or a PLAIN weight tensor, of one of the types.
    function plain(Scan memory s, uint256 position, uint256 types)
        internal
        pure
        returns (Facts facts, uint256 shape)
    {
        unchecked {
            uint256 operand = s.head.operandOf(position);
            if (operand < WEIGHT) {
                if (operand >= s.index) failOperand(s, position, operand);
                facts = s.kept(s.weights + operand);
                uint256 pointer = s.records + ProgramReader.RECORD_BYTES * operand + 32;
                assembly ("memory-safe") {
                    shape := mload(pointer)
                }
            } else {
                (facts, shape) = weights(s, position, LAYOUT_PLAIN);
            }
            if ((types >> facts.code()) & 1 == 0) failOperand(s, position, operand);
        }
    }

    /// @notice A weight tensor of this layout.
    function weights(Scan memory s, uint256 position, uint256 rowLayout)
        internal
        pure
        returns (Facts facts, uint256 shape)
    {
        unchecked {
            uint256 operand = s.head.operandOf(position);
            // A step's operand wraps to a huge index, and NONE is above any number of weight tensors.
            uint256 index = operand - WEIGHT;
            if (index >= s.weights) failOperand(s, position, operand);
            facts = s.kept(index);
            if (facts.rowLayout() != rowLayout) failOperand(s, position, operand);
            uint256 pointer = s.descriptors + ProgramReader.DESCRIPTOR_BYTES * index;
            assembly ("memory-safe") {
                shape := shl(DESCRIPTOR_HEAD_BITS, mload(pointer))
            }
        }
    }

    /// @notice A plain operand with the output's dims.
    function same(Scan memory s, uint256 position, uint256 types) internal pure {
        (, uint256 shape) = plain(s, position, types);
        if (shape != s.shape) failOperand(s, position, shape);
    }

    /// @notice A plain operand that broadcasts to the output: aligned at the last axis, each dim equal or 1.
    function broadcast(Scan memory s, uint256 position, uint256 types) internal pure {
        (Facts facts, uint256 shape) = plain(s, position, types);
        // The shape [1] is the most frequent one after the output's own.
        if (shape == s.shape || shape == SHAPE_OF_ONE) return;
        uint256 ownRank = s.head.outputRank();
        uint256 own = s.shape;
        uint256 rank = facts.rank();
        bool misfit;
        assembly ("memory-safe") {
            // Six dims at once, last axes aligned; where the operand has no axis its dim is 0.
            let x := shr(mul(DIM_BITS, sub(ownRank, rank)), shape)
            // The top bit of each SIMD lane of 32 bits that is not 0, in the sum of its other bits or by itself. A lane is
            // wrong if it is none of 0, the output's dim and 1.
            let y := xor(x, own)
            let z := xor(x, ONES)
            let wrong := and(or(x, add(and(x, LOW_BITS), LOW_BITS)), or(y, add(and(y, LOW_BITS), LOW_BITS)))
            wrong := and(wrong, or(z, add(and(z, LOW_BITS), LOW_BITS)))
            misfit := or(gt(rank, ownRank), iszero(iszero(and(wrong, TOP_BITS))))
        }
        if (misfit) failOperand(s, position, shape);
    }

    /// @notice The step is judged, but no interpreter runs it.
    function withoutKernel(Scan memory s) internal pure {
        if (s.unexecutable == 0) s.unexecutable = s.index + 1;
    }

    function failOperand(Scan memory s, uint256 position, uint256 value) internal pure {
        fail(s, ProgramField(uint256(ProgramField.OPERAND_A) + position), value);
    }
}
