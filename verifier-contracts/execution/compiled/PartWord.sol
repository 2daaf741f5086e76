// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A part of a compiled step in the directory of its model: address, bytes that it makes of an output row u32,
/// their first byte in the row u32, step + 1 u32, from the lowest bit on. The zero word ends a directory.
type PartWord is uint256;

// The lowest bit of each field but the address, which is the lowest one.
uint256 constant PART_MADE = 160;
uint256 constant PART_FROM = 192;
uint256 constant PART_STEP = 224;

using {stepCode} for PartWord global;

/// @param from first byte of an output row that it makes @param made of them
function packPart(uint256 step, uint256 from, uint256 made, address part) pure returns (PartWord) {
    return
        PartWord.wrap(((step + 1) << PART_STEP) | (from << PART_FROM) | (made << PART_MADE) | uint160(part));
}

/// @notice Step + 1, 0 of the word that ends a directory.
function stepCode(PartWord word) pure returns (uint256) {
    return PartWord.unwrap(word) >> PART_STEP;
}
