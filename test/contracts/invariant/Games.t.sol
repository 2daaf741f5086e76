// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Claim, Opening, Request} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

/// @notice Whole games, second by second, of one honest side against everything that the other side and its sybil
/// tickets may do: invariants 2 and 3. The answer time is a few seconds, so that games dwell on their deadlines.
///
/// A fault hides below a path of d positions: 1 is the node that the trace shows, k + 1 is known once k is revealed,
/// and what d reveals convicts. Positions above d are chaff.
contract GamesTest is AssayFixture {
    uint256 private constant CHAFF = 12;

    struct Game {
        uint256 random;
        uint256 answer;
        uint256 depth;
        uint256 end;
        uint256 hold;
        uint256 due;
        uint256 since;
        uint256 known;
        bool holds;
        bool armed;
        bool stalling;
    }

    Request private r;
    Claim private c;
    address[] private sybils;
    uint256 private committedAt;
    mapping(uint256 position => uint256) private revealedAt;
    uint256 private demandsMade;
    uint256 private reveals;

    function _start(uint256 seed, bytes memory output) private returns (Game memory g) {
        g.random = seed;
        g.answer = 2 + _roll(g, 4);
        g.depth = 1 + _roll(g, 3);
        registry.setModel(MODEL, _modelWord(ALL_LANES, g.depth));
        assay = _deployAssay(uint40(g.answer));
        r = _newRequest();
        r.window = uint32(4 * g.answer + _roll(g, g.answer));
        _file(r);
        c = _claim(r, prover, output);
        g.stalling = _roll(g, 2) == 0;
        g.end = block.timestamp + r.window + (2 * g.depth + 2) * g.answer + 1;
        for (uint256 i; i < 4; i++) {
            sybils.push(makeAddr(string.concat("sybil", vm.toString(i))));
            vm.deal(sybils[i], 100 ether);
        }
    }

    /// @notice INVARIANTS.md 3: a wrong claim with one ticket, whose owner moves within T of each event, falls.
    /// forge-config: default.fuzz.runs = 300
    /// forge-config: change.fuzz.runs = 1000
    /// forge-config: nightly.fuzz.runs = 20000
    function testFuzz_game_wrongClaim_succeeds(uint256 seed) public {
        Game memory g = _start(seed, _wrong());
        // Any second of the window will do.
        g.hold = block.timestamp + (_roll(g, 3) == 0 ? r.window - 1 : _roll(g, r.window));
        // How much of its answer time each side takes: all, nothing, or any.
        uint256 proverStyle = _roll(g, 3);
        uint256 ownerStyle = _roll(g, 3);
        bool ownerFirst = _roll(g, 2) == 0;
        while (block.timestamp <= g.end) {
            _tryFinalize();
            if (ownerFirst) _ownerMoves(g, ownerStyle);
            _cheatMoves(g, proverStyle);
            if (!ownerFirst) _ownerMoves(g, ownerStyle);
            if (_claimState(c) == 3) break;
            skip(1);
        }
        assertEq(_claimState(c), 3, "a wrong claim stands");
        uint256 before = assay.credits(alice);
        assay.collect(c, alice);
        assertGt(assay.credits(alice) - before, c.ticketBond, "its challenger gains");
    }

    /// @notice INVARIANTS.md 2: an honest claim, answered within T, is final by filing + W + L and costs nothing.
    /// forge-config: default.fuzz.runs = 300
    /// forge-config: change.fuzz.runs = 1000
    /// forge-config: nightly.fuzz.runs = 20000
    function testFuzz_game_honestClaim_succeeds(uint256 seed) public {
        Game memory g = _start(seed, _right());
        uint256 proverStyle = _roll(g, 3);
        uint256 fork;
        uint256 forkAt = block.timestamp + _roll(g, r.window);
        while (block.timestamp < g.end) {
            _sybilMoves(g);
            _honestAnswers(g, proverStyle);
            _attackHonest();
            // A re-org: some seconds never happened, and happen otherwise.
            if (block.timestamp == forkAt && fork == 0) fork = vm.snapshotState();
            if (fork != 0 && fork != type(uint256).max && _roll(g, 8) == 0) {
                vm.revertToState(fork);
                fork = type(uint256).max;
            }
            skip(1);
        }
        assertTrue(assay.isFinal(_id(c)), "an honest claim is not final");
        uint256 tickets = _field(c, 160, 32);
        assay.finalize(r, c);
        assertEq(assay.credits(prover), uint256(c.bond) + FEE + tickets * (c.ticketBond / 2));
    }

    /// @dev The games above say something only if their adversaries act.
    function test_game_adversariesAct_succeeds() public {
        uint256 start = block.timestamp;
        uint256 state = vm.snapshotState();
        uint256[3] memory seen;
        for (uint256 seed; seed < 20; seed++) {
            this.testFuzz_game_honestClaim_succeeds(seed);
            seen[0] += _field(c, 160, 32);
            seen[1] += demandsMade;
            seen[2] += reveals;
            vm.revertToState(state);
            state = vm.snapshotState();
            assertEq(block.timestamp, start);
        }
        assertGt(seen[0], 20, "tickets");
        assertGt(seen[1], 20, "demands");
        assertGt(seen[2], 20, "reveals");
    }

    // The honest challenger: buys a ticket, follows the path down, convicts; enforces deadlines.

    function _ownerMoves(Game memory g, uint256 style) private {
        if (_claimState(c) != 1) return;
        if (!g.holds && block.timestamp >= g.hold) {
            _challenge(c, alice);
            g.holds = true;
            g.since = block.timestamp;
        }
        if (!g.holds) return;
        _enforce(g.depth);
        if (_claimState(c) != 1 || assay.traceRootOf(_id(c)) == 0) return;
        // What it knows grows by itself: others may have demanded what it needs.
        (uint40 deadline, bool answered) = assay.demandOf(_id(c), uint64(g.known + 1));
        if (answered && g.known < g.depth) {
            g.known++;
            g.armed = false;
            g.since = _later(g.since, revealedAt[g.known]);
            return _ownerMoves(g, style);
        }
        if (deadline != 0 && g.known < g.depth) return;
        if (!g.armed) {
            g.armed = true;
            g.due = _later(g.since, committedAt) + _delay(g, g.answer, style);
        }
        if (block.timestamp < g.due) return;
        g.armed = false;
        if (g.known == g.depth) return _convict(c);
        _demand(c, alice, uint64(g.known + 1));
    }

    function _enforce(uint256 depth) private {
        if (assay.traceRootOf(_id(c)) == 0 && block.timestamp > _field(c, 120, 40)) {
            return assay.timeoutTrace(c);
        }
        for (uint64 p = 1; p <= CHAFF && _claimState(c) == 1; p++) {
            (uint40 deadline, bool answered) = assay.demandOf(_id(c), p);
            if (deadline != 0 && !answered && block.timestamp > deadline) assay.timeoutDemand(c, p);
        }
        assertLe(depth, CHAFF);
    }

    // The cheat: files sybil tickets that demand what the honest one needs or chaff, answers late, never, or at once.

    function _cheatMoves(Game memory g, uint256 style) private {
        _sybilMoves(g);
        if (_claimState(c) != 1) return;
        _answer(g, style, _roll(g, 40) == 0);
        _tryFinalize();
    }

    function _sybilMoves(Game memory g) private {
        if (_claimState(c) != 1 || assay.isFinal(_id(c))) return;
        address sybil = sybils[_roll(g, sybils.length)];
        for (uint256 i; g.stalling && i < sybils.length && _spent(g, sybil); i++) {
            sybil = sybils[i];
        }
        (bool holds, uint8 used,) = assay.ticketOf(_id(c), sybil);
        if (!holds) {
            bool last = block.timestamp + 1 == _field(c, 0, 40);
            if (block.timestamp < _field(c, 0, 40) && (last || _roll(g, 6) == 0)) _challenge(c, sybil);
            return;
        }
        if (assay.traceRootOf(_id(c)) == 0 || used >= g.depth) return;
        // Some spend their demands at random, some one by one, each in the last second that finality leaves them.
        bool now_ = g.stalling
            ? _field(c, 192, 32) == 0 && block.timestamp >= _field(c, 40, 40) + g.answer
                && block.timestamp + 1 >= _field(c, 0, 40)
            : _roll(g, 3) == 0;
        if (now_) _sybilDemand(g, sybil);
    }

    function _spent(Game memory g, address sybil) private view returns (bool) {
        (, uint8 used,) = assay.ticketOf(_id(c), sybil);
        return used >= g.depth;
    }

    /// @dev What the honest challenger needs next, or chaff. The clock alone may refuse it: the sybil tries.
    function _sybilDemand(Game memory g, address sybil) private {
        uint64 position = uint64(_roll(g, 2) == 0 ? g.known + 1 : 1 + _roll(g, CHAFF));
        for (uint256 i; i < CHAFF; i++) {
            (uint40 deadline,) = assay.demandOf(_id(c), position);
            if (deadline == 0) break;
            position = position % uint64(CHAFF) + 1;
        }
        vm.prank(sybil);
        (bool demanded, bytes memory why) =
            address(assay).call(abi.encodeCall(assay.demand, (c, ROOT, position)));
        if (demanded) demandsMade++;
        else if (bytes4(why) != IAssayErrors.DemandTooLate.selector) revert(vm.toString(why));
    }

    // The honest prover: answers everything within T, as late as its style says.

    function _honestAnswers(Game memory g, uint256 style) private {
        if (_claimState(c) == 1) _answer(g, style, false);
    }

    function _answer(Game memory g, uint256 style, bool stall) private {
        if (stall || assay.isFinal(_id(c))) return;
        uint256 deadline = _field(c, 120, 40);
        if (deadline == 0) return;
        if (assay.traceRootOf(_id(c)) == 0) {
            if (_ready(g, deadline, style)) {
                _commit(c);
                committedAt = block.timestamp;
            }
            return;
        }
        for (uint64 p = 1; p <= CHAFF; p++) {
            (uint40 by, bool answered) = assay.demandOf(_id(c), p);
            if (by == 0 || answered || !_ready(g, by, style)) continue;
            _reveal(c, p);
            revealedAt[p] = block.timestamp;
            reveals++;
        }
    }

    /// @dev Style 0 waits for the last second, 1 answers at once, 2 some time; nobody answers after the deadline.
    function _ready(Game memory g, uint256 deadline, uint256 style) private view returns (bool) {
        if (block.timestamp > deadline) return false;
        return block.timestamp == deadline || style == 1 || (style == 2 && _roll(g, 3) == 0);
    }

    /// @dev Everything that could end an honest claim before its time fails.
    function _attackHonest() private {
        if (_claimState(c) != 1) return;
        (bool fell,) = address(assay).call(abi.encodeCall(assay.timeoutTrace, (c)));
        for (uint64 p = 1; p <= CHAFF; p++) {
            (bool late,) = address(assay).call(abi.encodeCall(assay.timeoutDemand, (c, p)));
            fell = fell || late;
        }
        bytes memory move = abi.encodeCall(
            assay.convictOutput, (c, _right(), uint256(keccak256(_right())), new Opening[](0))
        );
        (bool convicted,) = address(assay).call(move);
        assertFalse(fell || convicted, "an honest claim fell");
    }

    function _tryFinalize() private {
        if (_claimState(c) == 1 && assay.isFinal(_id(c))) assay.finalize(r, c);
    }

    function _later(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a : b;
    }

    function _delay(Game memory g, uint256 answer, uint256 style) private pure returns (uint256) {
        return style == 0 ? answer : style == 1 ? 0 : _roll(g, answer + 1);
    }

    function _roll(Game memory g, uint256 sides) private pure returns (uint256) {
        g.random = uint256(keccak256(abi.encode(g.random)));
        return g.random % sides;
    }
}
