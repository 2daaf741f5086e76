// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A weight descriptor (docs/EXACT.md, section 2): layout u8, type u8, rank u8, a zero byte, then the six dims u32
/// of a shape and four zero bytes, from the highest bit on.
type Descriptor is uint256;

// The lowest bit of each field.
uint256 constant DESCRIPTOR_LAYOUT = 248;
uint256 constant DESCRIPTOR_TYPE = 240;
uint256 constant DESCRIPTOR_RANK = 232;
/// @dev The bits before the shape, and the bytes.
uint256 constant DESCRIPTOR_HEAD_BITS = 32;
uint256 constant DESCRIPTOR_SHAPE_AT = 4;
/// @dev The byte before the shape and the four behind it.
uint256 constant DESCRIPTOR_UNUSED = (0xFF << 224) | 0xFFFFFFFF;

using {rowLayout, code, rank, shape, unused} for Descriptor global;

function rowLayout(Descriptor d) pure returns (uint256) {
    return Descriptor.unwrap(d) >> DESCRIPTOR_LAYOUT;
}

function code(Descriptor d) pure returns (uint256) {
    return (Descriptor.unwrap(d) >> DESCRIPTOR_TYPE) & 0xFF;
}

function rank(Descriptor d) pure returns (uint256) {
    return (Descriptor.unwrap(d) >> DESCRIPTOR_RANK) & 0xFF;
}

/// @notice Six dims u32 from the most significant bits down, zeros behind them where nothing unused is set.
function shape(Descriptor d) pure returns (uint256) {
    return Descriptor.unwrap(d) << DESCRIPTOR_HEAD_BITS;
}

/// @notice What stands where no field is.
function unused(Descriptor d) pure returns (uint256) {
    return Descriptor.unwrap(d) & DESCRIPTOR_UNUSED;
}
