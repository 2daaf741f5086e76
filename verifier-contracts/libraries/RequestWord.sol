// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MODEL_DEPTH, MODEL_OUTPUT_LENGTH, ModelWord} from "./ModelWord.sol";
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

// The lowest bit of each field but the state, which is the lowest one.
uint256 constant REQUEST_LANE = 8;
uint256 constant DELIVERED = 1 << 16;
uint256 constant RECLAIMED = 1 << 17;
uint256 constant REQUEST_ATTEMPT = 24;
uint256 constant REQUESTED_AT = 56;
uint256 constant SETTLED_AT = 96;
uint256 constant REQUEST_DEPTH = 136;
uint256 constant REQUEST_OUTPUT_LENGTH = 144;
/// @dev The word's fields in docs/PROTOCOL.md; what stands above is for Assay alone.
uint256 constant REQUEST_PUBLIC = 2 ** 136 - 1;

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

/// @param model word of the model, whose d and output length are copied
function openRequest(uint256 nowSeconds, ModelWord model) pure returns (RequestWord) {
    uint256 word = ModelWord.unwrap(model);
    unchecked {
        uint256 d = (word & (0xff << MODEL_DEPTH)) << (REQUEST_DEPTH - MODEL_DEPTH);
        uint256 length =
            (word & (0xffffffff << MODEL_OUTPUT_LENGTH)) << (REQUEST_OUTPUT_LENGTH - MODEL_OUTPUT_LENGTH);
        return RequestWord.wrap(REQUEST_OPEN | nowSeconds << REQUESTED_AT | d | length);
    }
}

function state(RequestWord w) pure returns (uint8) {
    return uint8(RequestWord.unwrap(w));
}

function lane(RequestWord w) pure returns (uint8) {
    return uint8(RequestWord.unwrap(w) >> REQUEST_LANE);
}

/// @notice True once a delivery succeeded or its fee was reclaimed.
function isClosed(RequestWord w) pure returns (bool) {
    return RequestWord.unwrap(w) & (DELIVERED | RECLAIMED) != 0;
}

/// @notice Falls so far.
function attempt(RequestWord w) pure returns (uint32) {
    return uint32(RequestWord.unwrap(w) >> REQUEST_ATTEMPT);
}

function requestedAt(RequestWord w) pure returns (uint40) {
    return uint40(RequestWord.unwrap(w) >> REQUESTED_AT);
}

function settledAt(RequestWord w) pure returns (uint40) {
    return uint40(RequestWord.unwrap(w) >> SETTLED_AT);
}

/// @notice The most demands that one path from the trace root to a word needs.
function depth(RequestWord w) pure returns (uint8) {
    return uint8(RequestWord.unwrap(w) >> REQUEST_DEPTH);
}

/// @notice Exact bytes of the model's return data.
function outputLength(RequestWord w) pure returns (uint32) {
    return uint32(RequestWord.unwrap(w) >> REQUEST_OUTPUT_LENGTH);
}

function withState(RequestWord w, uint8 s) pure returns (RequestWord) {
    return RequestWord.wrap(RequestWord.unwrap(w) & ~uint256(0xff) | s);
}

/// @notice OPEN again after a fall. An attempt costs a bond that doubles, so 2^32 of them cannot be.
function reopened(RequestWord w) pure returns (RequestWord) {
    unchecked {
        return RequestWord.wrap(RequestWord.unwrap(withState(w, REQUEST_OPEN)) + (1 << REQUEST_ATTEMPT));
    }
}

function done(RequestWord w, uint8 finalLane, uint256 nowSeconds) pure returns (RequestWord) {
    return RequestWord.wrap(
        RequestWord.unwrap(withState(w, REQUEST_DONE)) | uint256(finalLane) << REQUEST_LANE | nowSeconds
            << SETTLED_AT
    );
}

function flagged(RequestWord w, uint256 flag) pure returns (RequestWord) {
    return RequestWord.wrap(RequestWord.unwrap(w) | flag);
}
