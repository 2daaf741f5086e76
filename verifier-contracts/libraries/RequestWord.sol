// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A request's state in one storage word (docs/PROTOCOL.md, section 2).
/// Bits: 0..7 state, 8..15 lane of the final result, 16 delivered, 17 delivery fee reclaimed, 24..55 attempt,
/// 56..95 requestedAt, 96..135 settledAt, 136..143 the model's d, 144..175 its output length.
/// @dev d and output length are copies, so that a claim needs no call to the registry.
type RequestWord is uint256;

uint8 constant REQUEST_NONE = 0;
uint8 constant REQUEST_OPEN = 1;
uint8 constant REQUEST_BUSY = 2;
uint8 constant REQUEST_DONE = 3;
uint8 constant REQUEST_REFUNDED = 4;

uint256 constant DELIVERED = 1 << 16;
uint256 constant RECLAIMED = 1 << 17;

using {
    state,
    lane,
    isClosed,
    attempt,
    requestedAt,
    settledAt,
    depth,
    outputLength,
    withState,
    reopened,
    done,
    flagged
} for RequestWord global;

/// @param model word of the model: d stands there at bit 16, the output length at bit 128
function openRequest(uint256 nowSeconds, uint256 model) pure returns (RequestWord) {
    uint256 copies = (model & 0xff << 16) << 120 | (model & 0xffffffff << 128) << 16;
    return RequestWord.wrap(REQUEST_OPEN | nowSeconds << 56 | copies);
}

function state(RequestWord w) pure returns (uint8) {
    return uint8(RequestWord.unwrap(w));
}

function lane(RequestWord w) pure returns (uint8) {
    return uint8(RequestWord.unwrap(w) >> 8);
}

/// @notice True once a delivery succeeded or its fee was reclaimed.
function isClosed(RequestWord w) pure returns (bool) {
    return RequestWord.unwrap(w) & (DELIVERED | RECLAIMED) != 0;
}

/// @notice Falls so far.
function attempt(RequestWord w) pure returns (uint32) {
    return uint32(RequestWord.unwrap(w) >> 24);
}

function requestedAt(RequestWord w) pure returns (uint40) {
    return uint40(RequestWord.unwrap(w) >> 56);
}

function settledAt(RequestWord w) pure returns (uint40) {
    return uint40(RequestWord.unwrap(w) >> 96);
}

/// @notice The most demands that one path from the trace root to a word needs.
function depth(RequestWord w) pure returns (uint8) {
    return uint8(RequestWord.unwrap(w) >> 136);
}

/// @notice Exact bytes of the model's return data.
function outputLength(RequestWord w) pure returns (uint32) {
    return uint32(RequestWord.unwrap(w) >> 144);
}

function withState(RequestWord w, uint8 s) pure returns (RequestWord) {
    return RequestWord.wrap(RequestWord.unwrap(w) & ~uint256(0xff) | s);
}

/// @notice OPEN again after a fall. An attempt costs a bond that doubles, so 2^32 of them cannot be.
function reopened(RequestWord w) pure returns (RequestWord) {
    unchecked {
        return RequestWord.wrap(RequestWord.unwrap(withState(w, REQUEST_OPEN)) + (1 << 24));
    }
}

function done(RequestWord w, uint8 finalLane, uint256 nowSeconds) pure returns (RequestWord) {
    return RequestWord.wrap(
        RequestWord.unwrap(withState(w, REQUEST_DONE)) | uint256(finalLane) << 8 | nowSeconds << 96
    );
}

function flagged(RequestWord w, uint256 flag) pure returns (RequestWord) {
    return RequestWord.wrap(RequestWord.unwrap(w) | flag);
}
