// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice A challenger's ticket in one storage word: bit 0 held, 8..15 demands made, 16 collected.
type TicketWord is uint256;

/// @notice A demand in one storage word: bits 0..39 deadline, 40 answered, from 48 the shape of the position's tree, so
/// that a reveal reads no program.
type DemandWord is uint256;

uint256 constant TICKET_HELD = 1;
uint256 constant TICKET_DEMANDS = 8;
uint256 constant TICKET_ONE_DEMAND = 1 << TICKET_DEMANDS;
uint256 constant TICKET_COLLECTED = 1 << 16;

uint256 constant DEMAND_ANSWERED = 1 << 40;
uint256 constant DEMAND_SHAPE = 48;

/// @dev A ticket that was just filed.
TicketWord constant NEW_TICKET = TicketWord.wrap(TICKET_HELD);

using {isNone, isHeld, demands, withDemand, isCollected, collected} for TicketWord global;
using {isMissing, deadline, isAnswered, answered, shape} for DemandWord global;

/// @notice True if there is no such ticket.
function isNone(TicketWord w) pure returns (bool) {
    return TicketWord.unwrap(w) == 0;
}

function isHeld(TicketWord w) pure returns (bool) {
    return TicketWord.unwrap(w) & TICKET_HELD != 0;
}

/// @notice Demands made.
function demands(TicketWord w) pure returns (uint8) {
    return uint8(TicketWord.unwrap(w) >> TICKET_DEMANDS);
}

/// @notice One demand more. The quota keeps their number far below 256.
function withDemand(TicketWord w) pure returns (TicketWord) {
    unchecked {
        return TicketWord.wrap(TicketWord.unwrap(w) + TICKET_ONE_DEMAND);
    }
}

function isCollected(TicketWord w) pure returns (bool) {
    return TicketWord.unwrap(w) & TICKET_COLLECTED != 0;
}

function collected(TicketWord w) pure returns (TicketWord) {
    return TicketWord.wrap(TicketWord.unwrap(w) | TICKET_COLLECTED);
}

/// @param deadline_ last second in which the answer may come @param shape_ of the position's tree (Positions)
function newDemand(uint256 deadline_, uint256 shape_) pure returns (DemandWord) {
    return DemandWord.wrap(shape_ << DEMAND_SHAPE | deadline_);
}

/// @notice True if nobody has demanded the position.
function isMissing(DemandWord w) pure returns (bool) {
    return DemandWord.unwrap(w) == 0;
}

function deadline(DemandWord w) pure returns (uint40) {
    return uint40(DemandWord.unwrap(w));
}

function isAnswered(DemandWord w) pure returns (bool) {
    return DemandWord.unwrap(w) & DEMAND_ANSWERED != 0;
}

function answered(DemandWord w) pure returns (DemandWord) {
    return DemandWord.wrap(DemandWord.unwrap(w) | DEMAND_ANSWERED);
}

function shape(DemandWord w) pure returns (uint256) {
    return DemandWord.unwrap(w) >> DEMAND_SHAPE;
}
