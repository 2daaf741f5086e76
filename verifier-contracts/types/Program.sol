// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

// The codes of a program's bytes, for whoever imports this file.
import "../generated/Codes.sol";
import {COORDINATES} from "../libraries/Coordinate.sol";
import {RecordHead} from "../libraries/RecordHead.sol";

/// @notice Thrown for a step whose opcode no implementation knows: nothing falls through to another one.
error UnknownOpcode(uint256 opcode);
/// @notice Thrown for a codec that no implementation knows.
error UnknownCodec(uint256 codec);
/// @notice Thrown for a variant that its opcode does not have.
error UnknownVariant(uint256 opcode, uint256 variant);

/// @notice A record as its four words (docs/EXACT.md, section 2): word 0 holds opcode to k, word 1 the dims,
/// words 2 and 3 MOVE's coordinates.
struct Record {
    RecordHead head;
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
