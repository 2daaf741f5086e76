// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice The first word of a record (docs/EXACT.md, section 2): opcode u8, variant u8, output type u8, output rank u8,
/// operands a, b, c u16, attribute k u32, from the highest bit on; the rest is 0.
type RecordHead is uint256;

// The lowest bit of each field.
uint256 constant HEAD_OPCODE = 248;
uint256 constant HEAD_VARIANT = 240;
uint256 constant HEAD_TYPE = 232;
uint256 constant HEAD_RANK = 224;
uint256 constant HEAD_OPERAND_A = 208;
uint256 constant HEAD_ATTRIBUTE = 144;
/// @dev From one operand to the next.
uint256 constant HEAD_OPERAND_BITS = 16;
/// @dev The bits below the attribute, which no field has.
uint256 constant HEAD_UNUSED = 2 ** 144 - 1;

using {isNone, opcode, variant, outputType, outputRank, operandOf, attribute, unused} for RecordHead global;

/// @notice True of the head of no record: opcodes begin at 1.
function isNone(RecordHead head) pure returns (bool) {
    return RecordHead.unwrap(head) == 0;
}

function opcode(RecordHead head) pure returns (uint256) {
    return RecordHead.unwrap(head) >> HEAD_OPCODE;
}

function variant(RecordHead head) pure returns (uint256) {
    return (RecordHead.unwrap(head) >> HEAD_VARIANT) & 0xFF;
}

function outputType(RecordHead head) pure returns (uint256) {
    return (RecordHead.unwrap(head) >> HEAD_TYPE) & 0xFF;
}

function outputRank(RecordHead head) pure returns (uint256) {
    return (RecordHead.unwrap(head) >> HEAD_RANK) & 0xFF;
}

/// @param position 0 for a, 1 for b, 2 for c
function operandOf(RecordHead head, uint256 position) pure returns (uint256) {
    unchecked {
        return (RecordHead.unwrap(head) >> (HEAD_OPERAND_A - HEAD_OPERAND_BITS * position)) & 0xFFFF;
    }
}

/// @notice The attribute k.
function attribute(RecordHead head) pure returns (uint256) {
    return (RecordHead.unwrap(head) >> HEAD_ATTRIBUTE) & 0xFFFFFFFF;
}

/// @notice What stands where no field is.
function unused(RecordHead head) pure returns (uint256) {
    return RecordHead.unwrap(head) & HEAD_UNUSED;
}
