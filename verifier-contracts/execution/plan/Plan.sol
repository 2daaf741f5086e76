// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice Form of a plan (docs/PROTOCOL.md, Execution): what a program comes to once every shape, broadcast and place in
/// memory is known. It is a head of two words, a word for each chunk of the weights, then instructions of one word.
///
/// Head: the model word; then bits 0..23 memory of the arguments, 24..47 memory that is free behind all tensors, 48..63
/// number of chunks. A plan is read to AT, and all addresses in it are memory addresses.
///
/// Instruction: bits 248..255 the operation, 240..247 its variant, 216..239 memory of the result, 192..215 and 168..191
/// of the operands a and b; the rest by operation, as PlanWriter writes and PlanRun reads it. Words that follow LAYER are
/// its own. Every instruction is part of one step: nothing of a plan looks across steps.
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

    uint256 private constant MASK = 0xFFFFFF;

    /// @notice The first 88 bits of an instruction.
    function instruction(uint256 operation, uint256 variant, uint256 out, uint256 a, uint256 b)
        internal
        pure
        returns (uint256)
    {
        return (operation << 248) | (variant << 240) | (out << 216) | (a << 192) | (b << 168);
    }

    function variantOf(uint256 word) internal pure returns (uint256) {
        return (word >> 240) & 0xFF;
    }

    function outOf(uint256 word) internal pure returns (uint256) {
        return (word >> 216) & MASK;
    }

    function aOf(uint256 word) internal pure returns (uint256) {
        return (word >> 192) & MASK;
    }

    function bOf(uint256 word) internal pure returns (uint256) {
        return (word >> 168) & MASK;
    }
}
