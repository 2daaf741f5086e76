// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice What the registry knows of a model, in one storage word (docs/PROTOCOL.md, section 1): 1, then the fields
/// below from the lowest bit on.
type ModelWord is uint256;

// The lowest bit of each field: u8, u8, u8, u16, u16, u32, u32, u32, u8, u8, u32.
uint256 constant MODEL_LANES = 8;
uint256 constant MODEL_DEPTH = 16;
uint256 constant MODEL_TRACE_HEIGHT = 24;
uint256 constant MODEL_STEPS = 32;
uint256 constant MODEL_WEIGHTS = 48;
uint256 constant MODEL_SELECTOR = 64;
uint256 constant MODEL_MAX_CALLDATA = 96;
uint256 constant MODEL_OUTPUT_LENGTH = 128;
uint256 constant MODEL_INPUT_CODEC = 160;
uint256 constant MODEL_OUTPUT_CODEC = 168;
uint256 constant MODEL_INPUT_SIZE = 176;

using {
    isNone,
    lanes,
    missing,
    depth,
    traceHeight,
    steps,
    weights,
    selector,
    selectorCode,
    maxCalldata,
    outputLength,
    inputCodec,
    outputCodec,
    inputSize,
    with
} for ModelWord global;

/// @notice The word of a model with nothing known of it yet.
function newModelWord() pure returns (ModelWord) {
    return ModelWord.wrap(1);
}

/// @notice The word with one more field. @param at its lowest bit; the field is 0 so far @param value fits into the field
function with(ModelWord word, uint256 at, uint256 value) pure returns (ModelWord) {
    return ModelWord.wrap(ModelWord.unwrap(word) | (value << at));
}

/// @notice True if there is no such model.
function isNone(ModelWord word) pure returns (bool) {
    return ModelWord.unwrap(word) == 0;
}

function lanes(ModelWord word) pure returns (uint8) {
    return uint8(ModelWord.unwrap(word) >> MODEL_LANES);
}

/// @notice Those of some lanes that the model does not have. @param lanes_ eight bits, so that the word above its lanes
/// does not count
function missing(ModelWord word, uint256 lanes_) pure returns (uint256) {
    return lanes_ & ~(ModelWord.unwrap(word) >> MODEL_LANES);
}

/// @notice d: the most demands that one path from the trace root to a word needs.
function depth(ModelWord word) pure returns (uint8) {
    return uint8(ModelWord.unwrap(word) >> MODEL_DEPTH);
}

/// @notice h_trace: height of the trace tree above the tensor roots.
function traceHeight(ModelWord word) pure returns (uint256) {
    return uint8(ModelWord.unwrap(word) >> MODEL_TRACE_HEIGHT);
}

function steps(ModelWord word) pure returns (uint256) {
    return uint16(ModelWord.unwrap(word) >> MODEL_STEPS);
}

/// @notice Number of weight tensors.
function weights(ModelWord word) pure returns (uint256) {
    return uint16(ModelWord.unwrap(word) >> MODEL_WEIGHTS);
}

function selector(ModelWord word) pure returns (bytes4) {
    return bytes4(uint32(ModelWord.unwrap(word) >> MODEL_SELECTOR));
}

/// @notice The selector as a number.
function selectorCode(ModelWord word) pure returns (uint256) {
    return uint32(ModelWord.unwrap(word) >> MODEL_SELECTOR);
}

function maxCalldata(ModelWord word) pure returns (uint256) {
    return uint32(ModelWord.unwrap(word) >> MODEL_MAX_CALLDATA);
}

function outputLength(ModelWord word) pure returns (uint256) {
    return uint32(ModelWord.unwrap(word) >> MODEL_OUTPUT_LENGTH);
}

function inputCodec(ModelWord word) pure returns (uint256) {
    return uint8(ModelWord.unwrap(word) >> MODEL_INPUT_CODEC);
}

function outputCodec(ModelWord word) pure returns (uint256) {
    return uint8(ModelWord.unwrap(word) >> MODEL_OUTPUT_CODEC);
}

function inputSize(ModelWord word) pure returns (uint256) {
    return uint32(ModelWord.unwrap(word) >> MODEL_INPUT_SIZE);
}
