// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A plan's places: memory of the arguments u24, memory that is free behind all tensors u24, number of chunks u16,
/// from the lowest bit on.
type PlanHead is uint256;

uint256 constant PLAN_FREE = 24;
uint256 constant PLAN_CHUNKS = 48;

using {arguments, free, chunks} for PlanHead global;

function planHead(uint256 arguments_, uint256 free_, uint256 chunks_) pure returns (PlanHead) {
    return PlanHead.wrap(arguments_ | (free_ << PLAN_FREE) | (chunks_ << PLAN_CHUNKS));
}

function arguments(PlanHead head) pure returns (uint256) {
    return PlanHead.unwrap(head) & 0xFFFFFF;
}

function free(PlanHead head) pure returns (uint256) {
    return (PlanHead.unwrap(head) >> PLAN_FREE) & 0xFFFFFF;
}

function chunks(PlanHead head) pure returns (uint256) {
    return PlanHead.unwrap(head) >> PLAN_CHUNKS;
}

/// @notice Form of a plan (docs/PROTOCOL.md, Execution): what a program comes to once every shape, broadcast and place in
/// memory is known. It is a head of two words, a word for each chunk of the weights, then instructions of one word.
///
/// Head: the model word, then PlanHead. A plan is read to AT, and all addresses in it are memory addresses. Words that
/// follow the instruction LAYER are its own. Every instruction is part of one step: nothing of a plan looks across steps.
library Plan {
    /// @dev Where Solidity's memory begins: a reader has allocated nothing before.
    uint256 internal constant AT = 0x80;
    uint256 internal constant HEAD_BYTES = 64;
    /// @dev Most bytes of a plan: a contract's code behind its STOP byte, in whole words.
    uint256 internal constant MAX_BYTES = 24_544;
    /// @dev Most chunks of weights: some 3 MB.
    uint256 internal constant MAX_CHUNKS = 128;
    /// @dev Addresses have 24 bits.
    uint256 internal constant MEMORY_BYTES = 1 << 24;

    uint256 internal constant INT16S = 0;
    uint256 internal constant COPY = 1;
    uint256 internal constant PRODUCT = 2;
    uint256 internal constant STRIDED = 3;
    uint256 internal constant REDUCE = 4;
    uint256 internal constant DOT = 5;
    uint256 internal constant FILL = 6;
    uint256 internal constant SPREAD = 7;
    uint256 internal constant CAST = 8;
    uint256 internal constant ELEMENTS = 9;
    uint256 internal constant SELECT = 10;
    uint256 internal constant LOAD = 11;
    uint256 internal constant CODEC = 12;
    uint256 internal constant LOOKUP = 13;
    uint256 internal constant REQUANT = 14;
    uint256 internal constant RESCALE = 15;
    uint256 internal constant TABLE = 16;
    uint256 internal constant END = 17;
    uint256 internal constant LAYER = 18;

    /// @notice Thrown for an instruction that no reader knows.
    error UnknownInstruction(uint256 operation);
}
