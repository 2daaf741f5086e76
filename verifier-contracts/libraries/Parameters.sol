// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice The parameter word of a channel, which DOT, REQUANT and RESCALE share (docs/EXACT.md, section 2): bias′ s32,
/// multiplier M u32, addend B s64, shift S u8, binary32 scale u32, zero point u8, lower and upper clamp u8, weight offset
/// o u16, from the highest bit on. Any bits are parameters: nobody has validated them.
type Parameters is uint256;

// The lowest bit of each field.
uint256 constant PARAMETER_BIAS = 224;
uint256 constant PARAMETER_MULTIPLIER = 192;
uint256 constant PARAMETER_ADDEND = 128;
uint256 constant PARAMETER_SHIFT = 120;
uint256 constant PARAMETER_SCALE = 88;
uint256 constant PARAMETER_ZERO_POINT = 80;
uint256 constant PARAMETER_LOWER = 72;
uint256 constant PARAMETER_UPPER = 64;
uint256 constant PARAMETER_OFFSET = 48;
/// @dev S counts modulo 64.
uint256 constant PARAMETER_SHIFT_BITS = 63;

using {
    bias,
    biasBits,
    multiplier,
    addend,
    shift,
    scaleBits,
    zeroPoint,
    lower,
    upper,
    offset
} for Parameters global;

/// @notice bias′, s32.
function bias(Parameters p) pure returns (int256) {
    return int256(Parameters.unwrap(p)) >> PARAMETER_BIAS;
}

/// @notice bias′ as it is stored.
function biasBits(Parameters p) pure returns (uint256) {
    return Parameters.unwrap(p) >> PARAMETER_BIAS;
}

/// @notice M.
function multiplier(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_MULTIPLIER) & 0xFFFFFFFF;
}

/// @notice B, s64.
function addend(Parameters p) pure returns (int256) {
    return int64(uint64(Parameters.unwrap(p) >> PARAMETER_ADDEND));
}

/// @notice S modulo 64.
function shift(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_SHIFT) & 63;
}

/// @notice The binary32 scale.
function scaleBits(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_SCALE) & 0xFFFFFFFF;
}

function zeroPoint(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_ZERO_POINT) & 0xFF;
}

function lower(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_LOWER) & 0xFF;
}

function upper(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_UPPER) & 0xFF;
}

/// @notice The weight offset o.
function offset(Parameters p) pure returns (uint256) {
    return (Parameters.unwrap(p) >> PARAMETER_OFFSET) & 0xFFFF;
}
