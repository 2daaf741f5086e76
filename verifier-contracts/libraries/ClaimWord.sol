// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Fall} from "../types/Types.sol";

/// @notice A claim's state in one storage word (docs/PROTOCOL.md, section 2).
/// Bits: 0..39 windowEnd, 40..79 lastEvent, 80..119 hardEnd, 120..159 traceDeadline, 160..191 tickets,
/// 192..223 pending, 224..231 state, 232..239 fall reason, 240..247 d, 248 a truth's submitter takes a share.
/// @dev SAFETY: sums are unchecked. Times have 40 bits and answer times 23; a ticket and an owed answer each cost a
/// transaction, so their 32 bits last; an answer is booked only while one is owed.
type ClaimWord is uint256;

uint8 constant CLAIM_NONE = 0;
uint8 constant CLAIM_ACTIVE = 1;
uint8 constant CLAIM_FINAL = 2;
uint8 constant CLAIM_FALLEN = 3;

// The lowest bit of each field but windowEnd, which is the lowest one.
uint256 constant CLAIM_LAST_EVENT = 40;
uint256 constant CLAIM_HARD_END = 80;
uint256 constant CLAIM_TRACE_DEADLINE = 120;
uint256 constant CLAIM_TICKETS = 160;
uint256 constant CLAIM_PENDING = 192;
uint256 constant CLAIM_STATE = 224;
uint256 constant CLAIM_FALL = 232;
uint256 constant CLAIM_DEPTH = 240;
uint256 constant CLAIM_TRUTH_SHARE = 248;

uint256 constant ONE_TICKET = 1 << CLAIM_TICKETS;
uint256 constant ONE_PENDING = 1 << CLAIM_PENDING;

using {
    windowEnd,
    lastEvent,
    hardEnd,
    traceDeadline,
    tickets,
    pending,
    status,
    depth,
    takers,
    finalAt,
    isFinal,
    ticketed,
    owing,
    answered,
    touched,
    finalized,
    fallen
} for ClaimWord global;

function activeClaim(uint256 end, uint256 d) pure returns (ClaimWord) {
    return ClaimWord.wrap(end | uint256(CLAIM_ACTIVE) << CLAIM_STATE | d << CLAIM_DEPTH);
}

function windowEnd(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w));
}

/// @notice When the trace came, a demand was answered, or a ticket joined a committed trace; 0 before.
function lastEvent(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w) >> CLAIM_LAST_EVENT);
}

/// @notice No demand can be open after this second.
function hardEnd(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w) >> CLAIM_HARD_END);
}

/// @notice Last second in which the trace may come, 0 if nobody challenged.
function traceDeadline(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w) >> CLAIM_TRACE_DEADLINE);
}

function tickets(ClaimWord w) pure returns (uint256) {
    return uint32(ClaimWord.unwrap(w) >> CLAIM_TICKETS);
}

/// @notice Answers that the prover owes: the trace, and every demand that is not revealed.
function pending(ClaimWord w) pure returns (uint256) {
    return uint32(ClaimWord.unwrap(w) >> CLAIM_PENDING);
}

function status(ClaimWord w) pure returns (uint8) {
    return uint8(ClaimWord.unwrap(w) >> CLAIM_STATE);
}

function depth(ClaimWord w) pure returns (uint256) {
    return uint8(ClaimWord.unwrap(w) >> CLAIM_DEPTH);
}

/// @notice How many share a fallen claim's bond: every ticket, and the submitter of a truth.
function takers(ClaimWord w) pure returns (uint256) {
    unchecked {
        return tickets(w) + (ClaimWord.unwrap(w) >> CLAIM_TRUTH_SHARE & 1);
    }
}

function finalAt(ClaimWord w, uint256 answerSeconds) pure returns (uint256 time) {
    uint256 word = ClaimWord.unwrap(w);
    unchecked {
        time = uint40(word >> CLAIM_LAST_EVENT) + answerSeconds + 1;
        if (time > uint40(word >> CLAIM_HARD_END)) time = uint40(word >> CLAIM_HARD_END);
        if (time < uint40(word)) time = uint40(word);
    }
}

/// @notice FINAL, or ACTIVE with nothing owed and nobody's time to move left.
function isFinal(ClaimWord w, uint256 answerSeconds, uint256 nowSeconds) pure returns (bool) {
    uint8 s = status(w);
    if (s != CLAIM_ACTIVE) return s == CLAIM_FINAL;
    return pending(w) == 0 && nowSeconds >= finalAt(w, answerSeconds);
}

/// @notice One more ticket, filed now.
/// @param bound seconds L that an interrogation from this ticket can take
/// @param hasTrace true if the trace is committed: the ticket's owner then gets its own time to look at it
function ticketed(ClaimWord w, uint256 nowSeconds, uint256 answerSeconds, uint256 bound, bool hasTrace)
    pure
    returns (ClaimWord)
{
    unchecked {
        uint256 word = ClaimWord.unwrap(w) + ONE_TICKET;
        if (nowSeconds + bound > hardEnd(w)) {
            word = word & ~(uint256(type(uint40).max) << CLAIM_HARD_END) | (nowSeconds + bound)
                << CLAIM_HARD_END;
        }
        if (traceDeadline(w) == 0) {
            word = (word | (nowSeconds + answerSeconds) << CLAIM_TRACE_DEADLINE) + ONE_PENDING;
        }
        w = ClaimWord.wrap(word);
    }
    return hasTrace ? touched(w, nowSeconds) : w;
}

/// @notice The prover owes one more answer.
function owing(ClaimWord w) pure returns (ClaimWord) {
    unchecked {
        return ClaimWord.wrap(ClaimWord.unwrap(w) + ONE_PENDING);
    }
}

/// @notice The prover gave one of the answers that it owed.
function answered(ClaimWord w, uint256 nowSeconds) pure returns (ClaimWord) {
    unchecked {
        return ClaimWord.wrap(ClaimWord.unwrap(touched(w, nowSeconds)) - ONE_PENDING);
    }
}

function touched(ClaimWord w, uint256 nowSeconds) pure returns (ClaimWord) {
    return ClaimWord.wrap(
        ClaimWord.unwrap(w) & ~(uint256(type(uint40).max) << CLAIM_LAST_EVENT) | nowSeconds
            << CLAIM_LAST_EVENT
    );
}

function finalized(ClaimWord w) pure returns (ClaimWord) {
    return ClaimWord.wrap(
        ClaimWord.unwrap(w) & ~(uint256(0xff) << CLAIM_STATE) | uint256(CLAIM_FINAL) << CLAIM_STATE
    );
}

function fallen(ClaimWord w, Fall reason) pure returns (ClaimWord) {
    uint256 word = ClaimWord.unwrap(w) & ~(uint256(0xffff) << CLAIM_STATE);
    word |= uint256(CLAIM_FALLEN) << CLAIM_STATE | uint256(reason) << CLAIM_FALL;
    if (reason == Fall.TRUTH) word |= 1 << CLAIM_TRUTH_SHARE;
    return ClaimWord.wrap(word);
}
