// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice An instruction of a plan (docs/PROTOCOL.md, Execution) in one word. A constant below is the lowest bit of a
/// field; how many bits it has is said beside it, 24 where nothing is said. PlanWriter sets fields by `with`, PlanRun
/// reads them by `u8` to `u32`, and kernels in assembly by the constants themselves.
type Instruction is uint256;

// What is computed, and which form of it: 8 bits each.
uint256 constant OPERATION = 248;
uint256 constant VARIANT = 240;
// Memory of the result and of the operands. A and B begin most instructions; where an operation has no operand b, its
// bits are free for another field.
uint256 constant OUT = 216;
uint256 constant A = 192;
uint256 constant B = 168;

// ARITH as INT16S, PRODUCT and ELEMENTS: bytes of the result (ELEMENTS: elements), then 8 bits each: bytes from one word
// or element of a, and of b, to the next; types of the result, of a and of b (ELEMENTS).
uint256 constant ARITH_SIZE = 144;
uint256 constant ARITH_A_STEP = 136;
uint256 constant ARITH_B_STEP = 128;
uint256 constant ARITH_TYPE = 120;
uint256 constant ARITH_A_TYPE = 112;
uint256 constant ARITH_B_TYPE = 104;

// COPY and STRIDED: runs; bytes of a run (STRIDED: elements); bytes from one run to the next in the source, two's
// complement, and in the result; bytes from one element to the next (STRIDED), two's complement. The variant of STRIDED
// is an element's bytes.
uint256 constant COPY_RUNS = B;
uint256 constant COPY_SIZE = 144;
uint256 constant COPY_STEP = 120;
uint256 constant COPY_OUT_STEP = 96;
uint256 constant COPY_ELEMENT_STEP = 72;

// REDUCE: rows of a; elements of a row; type of a, 8 bits.
uint256 constant REDUCE_ROWS = 144;
uint256 constant REDUCE_LENGTH = 120;
uint256 constant REDUCE_TYPE = 112;

// DOT: outputs of an activation row; activation rows; their length, 16 bits; groups; scratch memory.
uint256 constant DOT_OUTPUTS = 144;
uint256 constant DOT_ROWS = 120;
uint256 constant DOT_LENGTH = 104;
uint256 constant DOT_GROUPS = 80;
uint256 constant DOT_SCRATCH = 56;

// FILL: bytes; the element, 32 bits; its bytes, 8 bits.
uint256 constant FILL_SIZE = B;
uint256 constant FILL_ELEMENT = 136;
uint256 constant FILL_ELEMENT_BYTES = 128;

// SPREAD: elements of a; how often each stands in the result. The variant is an element's bytes.
uint256 constant SPREAD_COUNT = B;
uint256 constant SPREAD_TIMES = 144;

// CAST and TABLE: elements. The variant of CAST is the result's type.
uint256 constant MAP_COUNT = 144;

// SELECT: the operand where the condition a is false; elements; then 8 bits each: bytes from one element to the next of
// a, of b and of the other operand. The variant is an element's bytes.
uint256 constant SELECT_OTHER = 144;
uint256 constant SELECT_COUNT = 120;
uint256 constant SELECT_A_STEP = 112;
uint256 constant SELECT_B_STEP = 104;
uint256 constant SELECT_OTHER_STEP = 96;

// LOAD: offset in the stream of weights, 32 bits; bytes.
uint256 constant LOAD_OFFSET = 160;
uint256 constant LOAD_SIZE = 136;

// CODEC: the record's k, 32 bits; elements of a row; rows. The variant is the result's type.
uint256 constant CODEC_K = 160;
uint256 constant CODEC_LENGTH = 136;
uint256 constant CODEC_ROWS = 112;

// LOOKUP: scratch memory; offset of the table in the stream, 32 bits; bytes of its rows, 16 bits; its last row; elements
// of a row, 16 bits; rows of ids; ids of a row, 8 bits.
uint256 constant LOOKUP_SCRATCH = B;
uint256 constant LOOKUP_TABLE = 136;
uint256 constant LOOKUP_ROW_BYTES = 120;
uint256 constant LOOKUP_LAST_ROW = 96;
uint256 constant LOOKUP_COLUMNS = 80;
uint256 constant LOOKUP_ROWS = 56;
uint256 constant LOOKUP_IDS = 48;

// REQUANT and RESCALE: elements; elements of a row; parameter words. The variant is the result's type.
uint256 constant REQUANT_COUNT = 144;
uint256 constant REQUANT_LENGTH = 120;
uint256 constant REQUANT_CHANNELS = 96;

// END: elements of the last step's tensor, which is a. The variant is its type.
uint256 constant END_COUNT = 144;

// LAYER: bytes of a; rows of the result; bytes of one.
uint256 constant LAYER_SIZE = 144;
uint256 constant LAYER_ROWS = 120;
uint256 constant LAYER_ROW_BYTES = 96;

// What a field of so many bits holds.
uint256 constant U8 = 0xFF;
uint256 constant U16 = 0xFFFF;
uint256 constant U24 = 0xFFFFFF;
uint256 constant U32 = 0xFFFFFFFF;

using {operation, variant, out, a, b, u8, u16, u24, u32, s24, with} for Instruction global;

/// @notice The fields that all instructions begin with. @param b_ 0 where other fields are in its place
function instruction(uint256 operation_, uint256 variant_, uint256 out_, uint256 a_, uint256 b_)
    pure
    returns (Instruction)
{
    return Instruction.wrap(
        (operation_ << OPERATION) | (variant_ << VARIANT) | (out_ << OUT) | (a_ << A) | (b_ << B)
    );
}

/// @notice The same instruction with one more field. @param at its lowest bit; the field is 0 so far
/// @param value fits into the field
function with(Instruction i, uint256 at, uint256 value) pure returns (Instruction) {
    return Instruction.wrap(Instruction.unwrap(i) | (value << at));
}

function operation(Instruction i) pure returns (uint256) {
    return Instruction.unwrap(i) >> OPERATION;
}

function variant(Instruction i) pure returns (uint256) {
    return (Instruction.unwrap(i) >> VARIANT) & U8;
}

function out(Instruction i) pure returns (uint256) {
    return (Instruction.unwrap(i) >> OUT) & U24;
}

function a(Instruction i) pure returns (uint256) {
    return (Instruction.unwrap(i) >> A) & U24;
}

function b(Instruction i) pure returns (uint256) {
    return (Instruction.unwrap(i) >> B) & U24;
}

/// @notice A field of 8 bits. @param at its lowest one
function u8(Instruction i, uint256 at) pure returns (uint256) {
    return (Instruction.unwrap(i) >> at) & U8;
}

function u16(Instruction i, uint256 at) pure returns (uint256) {
    return (Instruction.unwrap(i) >> at) & U16;
}

function u24(Instruction i, uint256 at) pure returns (uint256) {
    return (Instruction.unwrap(i) >> at) & U24;
}

function u32(Instruction i, uint256 at) pure returns (uint256) {
    return (Instruction.unwrap(i) >> at) & U32;
}

/// @notice A two's complement of 24 bits, in 256.
function s24(Instruction i, uint256 at) pure returns (uint256 value) {
    assembly ("memory-safe") {
        value := signextend(2, shr(at, i))
    }
}
