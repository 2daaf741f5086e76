// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    PART_FROM,
    PART_MADE,
    PART_STEP,
    PartWord,
    packPart
} from "../../../verifier-contracts/execution/compiled/PartWord.sol";
import {ClaimWord, activeClaim} from "../../../verifier-contracts/libraries/ClaimWord.sol";
import {
    MODEL_DEPTH,
    MODEL_INPUT_CODEC,
    MODEL_INPUT_SIZE,
    MODEL_LANES,
    MODEL_MAX_CALLDATA,
    MODEL_OUTPUT_CODEC,
    MODEL_OUTPUT_LENGTH,
    MODEL_SELECTOR,
    MODEL_STEPS,
    MODEL_TRACE_HEIGHT,
    MODEL_WEIGHTS,
    ModelWord,
    newModelWord
} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {
    DELIVERED,
    RECLAIMED,
    REQUEST_BUSY,
    REQUEST_DONE,
    REQUEST_OPEN,
    RequestWord,
    openRequest
} from "../../../verifier-contracts/libraries/RequestWord.sol";
import {
    DemandWord,
    NEW_TICKET,
    TicketWord,
    newDemand
} from "../../../verifier-contracts/libraries/TicketWord.sol";
import {Test} from "../support/Test.sol";

/// @notice What a claim's word should hold, field by field.
struct ClaimFields {
    uint256 windowEnd;
    uint256 lastEvent;
    uint256 hardEnd;
    uint256 traceDeadline;
    uint256 tickets;
    uint256 pending;
    uint256 depth;
}

/// @notice Words are packed from any fields, changed by each move in any order, and read back whole: no field overlaps
/// another, spills into one or loses a bit, and no move changes what is not its own.
contract WordsTest is Test {
    struct ModelFields {
        uint8 lanes;
        uint8 depth;
        uint8 traceHeight;
        uint16 steps;
        uint16 weights;
        bytes4 selector;
        uint32 maxCalldata;
        uint32 outputLength;
        uint8 inputCodec;
        uint8 outputCodec;
        uint32 inputSize;
    }

    function testFuzz_modelWord_fields_succeeds(ModelFields memory f) public pure {
        ModelWord word = _model(f);
        assertTrue(!word.isNone(), "a model");
        assertEq(word.lanes(), f.lanes);
        assertEq(word.depth(), f.depth);
        assertEq(word.traceHeight(), f.traceHeight);
        assertEq(word.steps(), f.steps);
        assertEq(word.weights(), f.weights);
        assertEq(bytes32(word.selector()), bytes32(f.selector));
        assertEq(word.selectorCode(), uint32(f.selector));
        assertEq(word.maxCalldata(), f.maxCalldata);
        assertEq(word.outputLength(), f.outputLength);
        assertEq(word.inputCodec(), f.inputCodec);
        assertEq(word.outputCodec(), f.outputCodec);
        assertEq(word.inputSize(), f.inputSize);
    }

    /// @dev Each lane is missing or not, whatever stands above the lanes.
    function testFuzz_missing_lanes_succeeds(ModelFields memory f, uint8 asked) public pure {
        assertEq(_model(f).missing(asked), asked & ~f.lanes);
    }

    function testFuzz_requestWord_moves_succeeds(ModelFields memory f, uint40 at, uint40 end, uint8 lane)
        public
        pure
    {
        RequestWord word = openRequest(at, _model(f));
        uint32 falls = uint32(end % 40);
        for (uint256 i = 0; i < falls; ++i) {
            word = word.withState(REQUEST_BUSY).reopened();
        }
        _requireRequest(word, f, at, falls);
        assertEq(word.state(), REQUEST_OPEN);
        assertEq(word.lane(), 0);
        assertEq(word.settledAt(), 0);
        word = word.withState(REQUEST_BUSY).done(lane, end);
        for (uint256 flags = 0; flags < 4; ++flags) {
            RequestWord closed = word;
            if (flags & 1 != 0) closed = closed.flagged(DELIVERED);
            if (flags & 2 != 0) closed = closed.flagged(RECLAIMED);
            _requireRequest(closed, f, at, falls);
            assertEq(closed.state(), REQUEST_DONE);
            assertEq(closed.lane(), lane);
            assertEq(closed.settledAt(), end);
            assertTrue(closed.isClosed() == (flags != 0), "closed");
        }
    }

    /// @param moves one a byte: ticket, demand, answer, each some seconds later
    function testFuzz_claimWord_moves_succeeds(bytes memory moves, uint32 start, uint24 t, uint8 d)
        public
        pure
    {
        uint256 now_ = start;
        uint256 bound = (2 * uint256(d) + 2) * t + 1;
        ClaimFields memory f = ClaimFields(now_ + 4 * uint256(t), 0, 0, 0, 0, 0, d);
        ClaimWord word = activeClaim(f.windowEnd, d);
        for (uint256 i = 0; i < moves.length; ++i) {
            uint8 move = uint8(moves[i]);
            now_ += move >> 2;
            if (move & 3 == 0 || f.tickets == 0) {
                bool hasTrace = f.traceDeadline != 0 && move & 8 != 0;
                word = word.ticketed(now_, t, bound, hasTrace);
                f.tickets += 1;
                if (now_ + bound > f.hardEnd) f.hardEnd = now_ + bound;
                if (f.traceDeadline == 0) {
                    f.traceDeadline = now_ + t;
                    f.pending += 1;
                }
                if (hasTrace) f.lastEvent = now_;
            } else if (move & 3 == 1 || f.pending == 0) {
                word = word.owing();
                f.pending += 1;
            } else {
                word = word.answered(now_);
                f.pending -= 1;
                f.lastEvent = now_;
            }
            _requireClaim(word, f);
            // A deadline at second 0 would be no deadline.
            vm.assume(f.traceDeadline != 0);
        }
    }

    function testFuzz_ticketWord_moves_succeeds(uint8 demands) public pure {
        TicketWord word = NEW_TICKET;
        for (uint256 i = 0; i < demands; ++i) {
            word = word.withDemand();
        }
        assertTrue(!word.isNone() && word.isHeld() && !word.isCollected(), "held");
        assertEq(word.demands(), demands);
        word = word.collected();
        assertTrue(word.isHeld() && word.isCollected(), "collected");
        assertEq(word.demands(), demands);
    }

    function testFuzz_demandWord_fields_succeeds(uint40 due, uint80 tree) public pure {
        DemandWord word = newDemand(due, tree);
        for (uint256 i = 0; i < 2; ++i) {
            assertEq(word.deadline(), due);
            assertEq(word.shape(), tree);
            assertTrue(word.isAnswered() == (i == 1), "answered");
            word = word.answered();
        }
    }

    /// @dev Also of an address with bits above it.
    function testFuzz_partWord_fields_succeeds(uint32 step, uint32 from, uint32 made, uint256 dirty)
        public
        pure
    {
        vm.assume(step != type(uint32).max);
        address part;
        assembly ("memory-safe") {
            part := dirty
        }
        PartWord word = packPart(step, from, made, part);
        uint256 bits = PartWord.unwrap(word);
        assertEq(word.stepCode(), uint256(step) + 1);
        assertEq(bits >> PART_STEP, uint256(step) + 1);
        assertEq(uint32(bits >> PART_FROM), from);
        assertEq(uint32(bits >> PART_MADE), made);
        assertEq(uint160(bits), uint160(dirty));
    }

    function _model(ModelFields memory f) private pure returns (ModelWord word) {
        word = newModelWord().with(MODEL_LANES, f.lanes).with(MODEL_DEPTH, f.depth);
        word = word.with(MODEL_TRACE_HEIGHT, f.traceHeight).with(MODEL_STEPS, f.steps);
        word = word.with(MODEL_WEIGHTS, f.weights).with(MODEL_SELECTOR, uint32(f.selector));
        word = word.with(MODEL_MAX_CALLDATA, f.maxCalldata).with(MODEL_OUTPUT_LENGTH, f.outputLength);
        word = word.with(MODEL_INPUT_CODEC, f.inputCodec).with(MODEL_OUTPUT_CODEC, f.outputCodec);
        word = word.with(MODEL_INPUT_SIZE, f.inputSize);
    }

    function _requireRequest(RequestWord word, ModelFields memory f, uint40 at, uint32 falls) private pure {
        assertEq(word.requestedAt(), at);
        assertEq(word.depth(), f.depth);
        assertEq(word.outputLength(), f.outputLength);
        assertEq(word.attempt(), falls);
    }

    function _requireClaim(ClaimWord word, ClaimFields memory f) private pure {
        assertEq(word.windowEnd(), f.windowEnd);
        assertEq(word.lastEvent(), f.lastEvent);
        assertEq(word.hardEnd(), f.hardEnd);
        assertEq(word.traceDeadline(), f.traceDeadline);
        assertEq(word.tickets(), f.tickets);
        assertEq(word.takers(), f.tickets);
        assertEq(word.pending(), f.pending);
        assertEq(word.depth(), f.depth);
        assertEq(word.status(), 1);
    }
}
