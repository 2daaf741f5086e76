// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice What later steps ask of a tensor while a program is validated, in one word: rows u32, last dim u32, type u8,
/// layout u8, tree height u8, rank u8, from the lowest bit on.
type Facts is uint256;

// The lowest bit of each field but the rows, which are the lowest one.
uint256 constant FACTS_LAST = 32;
uint256 constant FACTS_TYPE = 64;
uint256 constant FACTS_LAYOUT = 72;
uint256 constant FACTS_HEIGHT = 80;
uint256 constant FACTS_RANK = 88;

using {rows, last, count, code, rowLayout, height, rank} for Facts global;

function packFacts(
    uint256 rows_,
    uint256 last_,
    uint256 code_,
    uint256 layout_,
    uint256 height_,
    uint256 rank_
) pure returns (Facts) {
    return Facts.wrap(
        rows_ | (last_ << FACTS_LAST) | (code_ << FACTS_TYPE) | (layout_ << FACTS_LAYOUT)
            | (height_ << FACTS_HEIGHT) | (rank_ << FACTS_RANK)
    );
}

function rows(Facts facts) pure returns (uint256) {
    return Facts.unwrap(facts) & 0xFFFFFFFF;
}

function last(Facts facts) pure returns (uint256) {
    return (Facts.unwrap(facts) >> FACTS_LAST) & 0xFFFFFFFF;
}

function count(Facts facts) pure returns (uint256) {
    unchecked {
        return rows(facts) * last(facts);
    }
}

function code(Facts facts) pure returns (uint256) {
    return (Facts.unwrap(facts) >> FACTS_TYPE) & 0xFF;
}

function rowLayout(Facts facts) pure returns (uint256) {
    return (Facts.unwrap(facts) >> FACTS_LAYOUT) & 0xFF;
}

function height(Facts facts) pure returns (uint256) {
    return (Facts.unwrap(facts) >> FACTS_HEIGHT) & 0xFF;
}

function rank(Facts facts) pure returns (uint256) {
    return (Facts.unwrap(facts) >> FACTS_RANK) & 0xFF;
}
