// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {Claim, ModelId, Policy} from "../../../verifier-contracts/types/Types.sol";
import {HonestTruth} from "../support/assay/TestParts.sol";
import {DisputeMoves} from "./DisputeMoves.sol";
import {GameSpec} from "./GameSpec.sol";
import {RequestMoves} from "./RequestMoves.sol";

/// @notice Everything that anybody can do, at times that lie on, before and after the deadlines.
contract AssayHandler is RequestMoves, DisputeMoves {
    constructor(Assay assay_, HonestTruth truth_, ModelId modelId_, uint256 depth_, bytes memory input_)
        GameSpec(assay_, truth_, modelId_, depth_, input_)
    {
        truth_.setRight(modelId_, input_, _output(0));
    }

    function settle(uint256 seed, uint256 pick) external {
        if (requests.length == 0) return;
        Filed storage f = requests[pick % requests.length];
        address sender = actor(seed);
        uint8 lane = seed % 2 == 0 ? 1 : 2;
        bool isRight = seed % 4 < 3;
        Claim memory c;
        if (f.claim != NO_CLAIM) c = claims[f.claim].c;
        bytes memory output = _output(isRight ? 0 : 1);
        bool allowed =
            (f.state == 1 || (f.state == 2 && isOpen(claims[f.claim]))) && f.r.lanes & lane != 0 && isRight;
        bytes memory data = abi.encodeCall(assay.settle, (f.r, c, lane, input, output, abi.encode(sender)));
        if (play(Move.SETTLE, sender, 0, data, allowed)) _settled(f, sender, lane, keccak256(output));
    }

    function _settled(Filed storage f, address sender, uint8 lane, bytes32 result) private {
        if (f.state == 2) {
            Made storage m = claims[f.claim];
            if (m.c.outputHash == result) return win(m, lane);
            fall(m, true);
            credit[sender] += shareOf(m);
        }
        (f.state, f.lane, f.settledAt, f.result) = (3, lane, block.timestamp, result);
        credit[sender] += f.r.fee;
    }

    function finalize(uint256 seed, uint256 pick) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        bool allowed = m.status == 1 && isFinal(m);
        bytes memory data = abi.encodeCall(assay.finalize, (requests[m.request].r, m.c));
        if (play(Move.FINALIZE, actor(seed), 0, data, allowed)) win(m, 4);
    }

    function collect(uint256 seed, uint256 pick) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        address owner = actor(seed);
        Ticket storage t = tickets[_index(pick)][owner];
        bool allowed = m.status == 3 && t.held && !t.collected;
        bytes memory data = abi.encodeCall(assay.collect, (m.c, owner));
        if (play(Move.COLLECT, actor(seed / 8), 0, data, allowed)) {
            t.collected = true;
            m.collected++;
            credit[owner] += m.c.ticketBond + shareOf(m);
        }
    }

    function withdraw(uint256 seed) external {
        address owner = actor(seed);
        uint256 amount = credit[owner];
        address to = address(uint160(uint256(keccak256(abi.encode("wallet", seed % 3)))));
        uint256 before = to.balance;
        if (play(Move.WITHDRAW, owner, 0, abi.encodeCall(assay.withdraw, (to)), amount != 0)) {
            assertEq(to.balance - before, amount);
            credit[owner] = 0;
            paidOut += amount;
        }
    }

    function pullBurn(uint256 seed) external {
        uint256 before = address(0xdEaD).balance;
        if (play(Move.BURN, actor(seed), 0, abi.encodeCall(assay.pullBurn, ()), burned != 0)) {
            assertEq(address(0xdEaD).balance - before, burned);
            paidOut += burned;
            burned = 0;
        }
    }

    function forceEther(uint256 amount) external {
        amount = bound(amount, 0, 1 ether);
        vm.deal(address(assay), address(assay).balance + amount);
        forced += amount;
    }

    /// @notice Moves the clock, mostly onto the edge of a deadline.
    function wait(uint256 seed, uint256 pick) external {
        if (claims.length == 0 || seed % 4 < 2) return skip(seed / 4 % (T / 2));
        Made storage m = _claimOf(pick);
        uint256[6] memory edges = [
            m.windowEnd,
            m.traceDeadline,
            finalAt(m),
            m.hardEnd,
            asked[_index(pick)][seed % POSITIONS].deadline,
            m.filedAt + requests[m.request].r.window + disputeSeconds()
        ];
        uint256 time = edges[seed / 8 % 6] + seed / 64 % 3;
        if (time > block.timestamp + 1) vm.warp(time - 1);
        else skip(seed % 3);
    }

    /// @notice Remembers which claims have been final; called after every move.
    function checkFinality() external {
        for (uint256 i; i < claims.length; i++) {
            Made storage m = claims[i];
            bool final_ = assay.isFinal(assay.claimIdOf(m.c));
            assertEq(final_, isFinal(m), "isFinal");
            assertTrue(final_ || !m.wasFinal, "a final claim is not final any more");
            m.wasFinal = final_;
        }
        for (uint256 i; i < requests.length; i++) {
            _checkGate(requests[i]);
        }
    }

    /// @dev The gate opens for the final output alone, and only when there is one.
    function _checkGate(Filed storage f) private {
        (Claim memory c, bytes memory output) = _resultOf(f);
        bool open = f.state == 3 || (f.claim != NO_CLAIM && isFinal(claims[f.claim]));
        Policy memory p = Policy(modelId, f.r.inputHash, 7, 0, 0);
        for (uint256 i; i < 3; i++) {
            bytes memory candidate = _output(i);
            (bool passed,) = address(assay).call(abi.encodeCall(assay.requireFinal, (f.r, c, candidate, p)));
            assertEq(passed, open && keccak256(candidate) == keccak256(output), "requireFinal");
        }
    }

    function checkWords() external view {
        for (uint256 i; i < claims.length; i++) {
            Made storage m = claims[i];
            uint256 word = assay.claimWord(assay.claimIdOf(m.c));
            assertEq(uint40(word), m.windowEnd, "windowEnd");
            assertEq(uint40(word >> 40), m.lastEvent, "lastEvent");
            assertEq(uint40(word >> 80), m.hardEnd, "hardEnd");
            assertEq(uint40(word >> 120), m.traceDeadline, "traceDeadline");
            assertEq(uint32(word >> 160), m.tickets, "tickets");
            assertEq(uint32(word >> 192), m.owed, "pending");
            assertEq(uint8(word >> 224), m.status, "status");
        }
        for (uint256 i; i < requests.length; i++) {
            Filed storage f = requests[i];
            uint256 word = assay.requestWord(assay.requestIdOf(f.r));
            assertEq(uint8(word), f.state, "state");
            assertEq(uint8(word >> 8), f.lane, "lane");
            assertEq(uint8(word >> 16), f.delivered, "delivered");
            assertEq(uint32(word >> 24), f.attempt, "attempt");
            assertEq(uint40(word >> 96), f.settledAt, "settledAt");
        }
    }

    /// @notice No claim can be open past filing + W + L: it can be finalized, or somebody is overdue.
    function checkBound() external view {
        for (uint256 i; i < claims.length; i++) {
            Made storage m = claims[i];
            uint256 end = m.filedAt + requests[m.request].r.window + disputeSeconds();
            if (m.status != 1 || block.timestamp < end || isFinal(m)) continue;
            bool overdue = !m.hasTrace && block.timestamp > m.traceDeadline;
            for (uint256 p; p < POSITIONS; p++) {
                Asked storage a = asked[i][p];
                overdue = overdue || (a.deadline != 0 && !a.answered && block.timestamp > a.deadline);
            }
            assertTrue(overdue, "nothing can end this claim");
        }
    }

    function checkBooks() external view {
        uint256 credits;
        for (uint256 i; i < actors.length; i++) {
            assertEq(assay.credits(actors[i]), credit[actors[i]], "credit");
            credits += credit[actors[i]];
        }
        assertEq(assay.burned(), burned, "burned");
        assertEq(credits + held() + burned + paidOut, received, "books");
        assertEq(address(assay).balance, received + forced - paidOut, "balance");
    }
}
