// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {GameSpec} from "./GameSpec.sol";

/// @notice The interrogation, by anybody at any time.
abstract contract DisputeMoves is GameSpec {
    bytes32 private constant ROOT = keccak256("root");

    function challenge(uint256 seed, uint256 pick) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        uint256 index = _index(pick);
        address sender = actor(seed);
        Ticket storage t = tickets[index][sender];
        bool allowed = isOpen(m) && block.timestamp < m.windowEnd && !t.held;
        bytes memory data = abi.encodeCall(assay.challenge, (m.c));
        if (play(Move.CHALLENGE, sender, m.c.ticketBond, data, allowed)) {
            t.held = true;
            m.tickets++;
            m.hardEnd = max(m.hardEnd, block.timestamp + disputeSeconds());
            if (m.traceDeadline == 0) {
                m.traceDeadline = block.timestamp + T;
                m.owed++;
            }
            if (m.hasTrace) m.lastEvent = block.timestamp;
        }
    }

    function commitTrace(uint256 seed, uint256 pick) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        address sender = seed % 3 == 0 ? actor(seed / 3) : seed % 3 == 1 ? m.c.prover : m.c.operator;
        bool allowed = isOpen(m) && (sender == m.c.prover || sender == m.c.operator) && !m.hasTrace
            && m.traceDeadline != 0 && block.timestamp <= m.traceDeadline;
        if (play(Move.COMMIT, sender, 0, abi.encodeCall(assay.commitTrace, (m.c, _one(ROOT))), allowed)) {
            m.hasTrace = true;
            m.owed--;
            m.lastEvent = block.timestamp;
        }
    }

    function demand(uint256 seed, uint256 pick, uint256 position) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        uint256 index = _index(pick);
        address sender = actor(seed);
        // Mostly somebody who has a ticket.
        for (uint256 i; i < actors.length && seed % 8 != 0 && !tickets[index][sender].held; i++) {
            sender = actor(seed % 5 + i);
        }
        position = position % 8 == 7 ? 5000 : position % POSITIONS;
        Ticket storage t = tickets[index][sender];
        Asked storage a = asked[index][position];
        bool allowed = isOpen(m) && t.held && m.hasTrace && t.demands < depth && a.deadline == 0
            && position < POSITIONS && block.timestamp + 2 * T + 1 <= m.hardEnd;
        bytes memory data = abi.encodeCall(assay.demand, (m.c, ROOT, uint64(position)));
        if (play(Move.DEMAND, sender, 0, data, allowed)) {
            t.demands++;
            a.deadline = block.timestamp + T;
            m.owed++;
        }
    }

    function reveal(uint256 seed, uint256 pick, uint256 position) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        position = _owed(_index(pick), position);
        Asked storage a = asked[_index(pick)][position];
        bool valid = seed % 8 != 0;
        bool allowed = isOpen(m) && a.deadline != 0 && !a.answered && block.timestamp <= a.deadline && valid;
        bytes32[] memory content = _one(valid ? ROOT : bytes32(seed));
        bytes memory data = abi.encodeCall(assay.reveal, (m.c, uint64(position), content, new bytes32[](0)));
        if (play(Move.REVEAL, actor(seed), 0, data, allowed)) {
            a.answered = true;
            m.owed--;
            m.lastEvent = block.timestamp;
        }
    }

    function convict(uint256 seed, uint256 pick) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        bool fault = seed % 8 < 2;
        bytes memory data = seed % 2 == 0
            ? abi.encodeCall(assay.convictElement, (m.c, 1, fault ? 2 : 1, new Opening[](0)))
            : abi.encodeCall(
                assay.convictOutput,
                (
                    m.c,
                    _outputOf(m.c),
                    fault ? uint256(keccak256(abi.encode(seed))) : uint256(m.c.outputHash),
                    new Opening[](0)
                )
            );
        if (play(Move.CONVICT, actor(seed), 0, data, isOpen(m) && m.hasTrace && fault)) fall(m, false);
    }

    function timeoutTrace(uint256 seed, uint256 pick) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        bool allowed =
            m.status == 1 && !m.hasTrace && m.traceDeadline != 0 && block.timestamp > m.traceDeadline;
        bytes memory data = abi.encodeCall(assay.timeoutTrace, (m.c));
        if (play(Move.TIMEOUT_TRACE, actor(seed), 0, data, allowed)) fall(m, false);
    }

    function timeoutDemand(uint256 seed, uint256 pick, uint256 position) external {
        if (claims.length == 0) return;
        Made storage m = _claimOf(pick);
        position = _owed(_index(pick), position);
        Asked storage a = asked[_index(pick)][position];
        bool allowed = m.status == 1 && a.deadline != 0 && !a.answered && block.timestamp > a.deadline;
        bytes memory data = abi.encodeCall(assay.timeoutDemand, (m.c, uint64(position)));
        if (play(Move.TIMEOUT_DEMAND, actor(seed), 0, data, allowed)) fall(m, false);
    }

    function _claimOf(uint256 pick) internal view returns (Made storage) {
        return claims[_index(pick)];
    }

    /// @dev Mostly one of the youngest: the others have ended.
    function _index(uint256 pick) internal view returns (uint256) {
        uint256 back = pick % 8 == 0 ? claims.length : min(claims.length, 3);
        return claims.length - 1 - pick / 8 % back;
    }

    /// @dev Mostly a position that waits for its answer, if there is one.
    function _owed(uint256 index, uint256 seed) private view returns (uint256 position) {
        for (uint256 i; i < POSITIONS; i++) {
            position = (seed % POSITIONS + i) % POSITIONS;
            Asked storage a = asked[index][position];
            if (seed % 8 == 0 || (a.deadline != 0 && !a.answered)) break;
        }
    }

    function _one(bytes32 word) internal pure returns (bytes32[] memory words) {
        words = new bytes32[](1);
        words[0] = word;
    }
}
