// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

// Codes of a program's bytes (docs/EXACT.md, sections 1 to 3).

uint256 constant TYPE_U8 = 0;
uint256 constant TYPE_S8 = 1;
uint256 constant TYPE_S32 = 2;
uint256 constant TYPE_F32 = 3;
uint256 constant TYPE_BOOL = 4;

uint256 constant LAYOUT_PLAIN = 1;
uint256 constant LAYOUT_DOT = 2;
uint256 constant LAYOUT_LOOKUP = 3;
uint256 constant LAYOUT_CHANNEL = 4;

uint256 constant OP_CODEC = 1;
uint256 constant OP_MOVE = 2;
uint256 constant OP_LOOKUP = 3;
uint256 constant OP_DOT = 4;
uint256 constant OP_REQUANT = 5;
uint256 constant OP_RESCALE = 6;
uint256 constant OP_TABLE = 7;
uint256 constant OP_ARITH = 8;
uint256 constant OP_FLOAT = 9;
uint256 constant OP_REDUCE = 10;
uint256 constant OP_SELECT = 11;

uint256 constant INPUT_TEXT = 1;
uint256 constant INPUT_PRICES = 2;
uint256 constant INPUT_INT16S = 3;
uint256 constant INPUT_RAW = 4;

uint256 constant OUTPUT_WORDS = 1;
uint256 constant OUTPUT_INT16S = 2;
uint256 constant OUTPUT_RAW = 3;

/// @notice Thrown for a step whose opcode no implementation knows: nothing falls through to another one.
error UnknownOpcode(uint256 opcode);
/// @notice Thrown for a codec that no implementation knows.
error UnknownCodec(uint256 codec);
/// @notice Thrown for a variant that its opcode does not have.
error UnknownVariant(uint256 opcode, uint256 variant);

/// @dev An operand below WEIGHT is a step, NONE is absent, else WEIGHT + index of a weight tensor.
uint256 constant WEIGHT = 0x8000;
uint256 constant NONE = 0xFFFF;

/// @notice A record as its four words (docs/EXACT.md, section 2): word 0 holds opcode to k, word 1 the dims,
/// words 2 and 3 MOVE's coordinates.
struct Record {
    uint256 head;
    uint256 shape;
    uint256 coordinates01;
    uint256 coordinates23;
}

/// @notice A step's tensor or a weight tensor, and the shape of its tree (docs/PROTOCOL.md, section 1).
/// @param code type code
/// @param rank number of dims, 1 to 6
/// @param shape six dims u32, the first at the most significant bits, unused ones 0
/// @param last elements of a row
/// @param rows real rows
/// @param words real words of a row, a DOT row's parameter word included
/// @param wordBits log2 of the words of a padded row
/// @param height of the tensor's tree
/// @param index of the step or of the weight tensor
/// @param isWeight true if its root is under the weights root, false if under the trace root
/// @param place 0 if its words are opened by a sender; else where its bytes are (HeldTensors)
/// @param rowBytes of a held tensor, from one row to the next
struct Tensor {
    uint256 code;
    uint256 rank;
    uint256 shape;
    uint256 last;
    uint256 rows;
    uint256 words;
    uint256 wordBits;
    uint256 height;
    uint256 index;
    bool isWeight;
    uint256 place;
    uint256 rowBytes;
}

/// @notice The part of a program that a structure rule is about.
enum ProgramPart {
    HEADER,
    WEIGHT,
    STEP
}

/// @notice What is wrong with a program.
/// LENGTH: bytes in all. ZERO: an unused byte is not 0. SIZE: elements or leaves. OPERAND_A, _B, _C: the operand is
/// missing, unwanted, not earlier, or of another layout, type or shape than the opcode names. COORDINATES: MOVE's.
enum ProgramField {
    LENGTH,
    MAGIC,
    WEIGHTS,
    STEPS,
    INPUT_CODEC,
    OUTPUT_CODEC,
    INPUT_SIZE,
    ZERO,
    LAYOUT,
    TYPE,
    RANK,
    DIMS,
    SIZE,
    OPCODE,
    VARIANT,
    OPERAND_A,
    OPERAND_B,
    OPERAND_C,
    K,
    COORDINATES
}
