// SPDX-License-Identifier: GPL-3.0-only
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

uint256 constant ONE_TICKET = 1 << 160;
uint256 constant ONE_PENDING = 1 << 192;

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
    return ClaimWord.wrap(end | uint256(CLAIM_ACTIVE) << 224 | d << 240);
}

function windowEnd(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w));
}

/// @notice When the trace came, a demand was answered, or a ticket joined a committed trace; 0 before.
function lastEvent(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w) >> 40);
}

/// @notice No demand can be open after this second.
function hardEnd(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w) >> 80);
}

/// @notice Last second in which the trace may come, 0 if nobody challenged.
function traceDeadline(ClaimWord w) pure returns (uint256) {
    return uint40(ClaimWord.unwrap(w) >> 120);
}

function tickets(ClaimWord w) pure returns (uint256) {
    return uint32(ClaimWord.unwrap(w) >> 160);
}

/// @notice Answers that the prover owes: the trace, and every demand that is not revealed.
function pending(ClaimWord w) pure returns (uint256) {
    return uint32(ClaimWord.unwrap(w) >> 192);
}

function status(ClaimWord w) pure returns (uint8) {
    return uint8(ClaimWord.unwrap(w) >> 224);
}

function depth(ClaimWord w) pure returns (uint256) {
    return uint8(ClaimWord.unwrap(w) >> 240);
}

/// @notice How many share a fallen claim's bond: every ticket, and the submitter of a truth.
function takers(ClaimWord w) pure returns (uint256) {
    unchecked {
        return tickets(w) + (ClaimWord.unwrap(w) >> 248 & 1);
    }
}

function finalAt(ClaimWord w, uint256 answerSeconds) pure returns (uint256 time) {
    uint256 word = ClaimWord.unwrap(w);
    unchecked {
        time = uint40(word >> 40) + answerSeconds + 1;
        if (time > uint40(word >> 80)) time = uint40(word >> 80);
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
            word = word & ~(uint256(type(uint40).max) << 80) | (nowSeconds + bound) << 80;
        }
        if (traceDeadline(w) == 0) word = (word | (nowSeconds + answerSeconds) << 120) + ONE_PENDING;
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
    return ClaimWord.wrap(ClaimWord.unwrap(w) & ~(uint256(type(uint40).max) << 40) | nowSeconds << 40);
}

function finalized(ClaimWord w) pure returns (ClaimWord) {
    return ClaimWord.wrap(ClaimWord.unwrap(w) & ~(uint256(0xff) << 224) | uint256(CLAIM_FINAL) << 224);
}

function fallen(ClaimWord w, Fall reason) pure returns (ClaimWord) {
    uint256 word = ClaimWord.unwrap(w) & ~(uint256(0xffff) << 224);
    word |= uint256(CLAIM_FALLEN) << 224 | uint256(reason) << 232;
    if (reason == Fall.TRUTH) word |= 1 << 248;
    return ClaimWord.wrap(word);
}
