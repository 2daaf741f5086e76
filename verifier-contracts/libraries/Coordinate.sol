// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

// A coordinate of a MOVE (docs/EXACT.md, section 3), in a word's upper 16 bytes: view dim v u32, c s32, factors a and b
// s24, axes p and q u8. A record has two in each of its last two words. What reads coordinates is assembly: these are the
// lowest bits of the fields, and the bytes of the axes.
uint256 constant COORDINATE_VIEW = 224;
uint256 constant COORDINATE_C = 192;
uint256 constant COORDINATE_A = 168;
uint256 constant COORDINATE_B = 144;
uint256 constant COORDINATE_P = 136;
uint256 constant COORDINATE_Q = 128;
uint256 constant COORDINATE_P_BYTE = 14;
uint256 constant COORDINATE_Q_BYTE = 15;
/// @dev Below a word's first coordinate.
uint256 constant COORDINATE_BITS = 128;
uint256 constant COORDINATE_BYTES = 16;
/// @dev Of a record.
uint256 constant COORDINATES = 4;
/// @dev View dim 1 and nothing else: always inside, and no part of the source's number.
uint256 constant COORDINATE_OF_ONE = 0x0000000100000000000000000000000000000000000000000000000000000000;
