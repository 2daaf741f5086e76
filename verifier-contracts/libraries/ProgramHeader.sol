// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A program's first word (docs/EXACT.md, section 2): magic u32, weight tensors u16, steps u16, input codec u8,
/// output codec u8, input size u32, from the highest bit on; the rest is 0.
type ProgramHeader is uint256;

// The lowest bit of each field.
uint256 constant HEADER_MAGIC = 224;
uint256 constant HEADER_WEIGHTS = 208;
uint256 constant HEADER_STEPS = 192;
uint256 constant HEADER_INPUT_CODEC = 184;
uint256 constant HEADER_OUTPUT_CODEC = 176;
uint256 constant HEADER_INPUT_SIZE = 144;
/// @dev The bits below it, which no field has.
uint256 constant HEADER_UNUSED = 2 ** 144 - 1;

using {magic, weights, steps, inputCodec, outputCodec, inputSize, unused} for ProgramHeader global;

function magic(ProgramHeader h) pure returns (uint256) {
    return ProgramHeader.unwrap(h) >> HEADER_MAGIC;
}

/// @notice Number of weight tensors.
function weights(ProgramHeader h) pure returns (uint256) {
    return uint16(ProgramHeader.unwrap(h) >> HEADER_WEIGHTS);
}

function steps(ProgramHeader h) pure returns (uint256) {
    return uint16(ProgramHeader.unwrap(h) >> HEADER_STEPS);
}

function inputCodec(ProgramHeader h) pure returns (uint256) {
    return uint8(ProgramHeader.unwrap(h) >> HEADER_INPUT_CODEC);
}

function outputCodec(ProgramHeader h) pure returns (uint256) {
    return uint8(ProgramHeader.unwrap(h) >> HEADER_OUTPUT_CODEC);
}

function inputSize(ProgramHeader h) pure returns (uint256) {
    return uint32(ProgramHeader.unwrap(h) >> HEADER_INPUT_SIZE);
}

/// @notice What stands where no field is.
function unused(ProgramHeader h) pure returns (uint256) {
    return ProgramHeader.unwrap(h) & HEADER_UNUSED;
}
