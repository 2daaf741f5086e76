// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {ClaimWord} from "../libraries/ClaimWord.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Positions} from "../libraries/Positions.sol";
import {Terms} from "../libraries/Terms.sol";
import {DemandWord, NEW_TICKET, TicketWord, newDemand} from "../libraries/TicketWord.sol";
import {Claim, ClaimId, Fall, Opening, Request, RequestId} from "../types/Types.sol";
import {AssayMoney} from "./AssayMoney.sol";

/// @notice The interrogation: tickets, the trace, demands and their answers, convictions and timeouts.
/// @dev The rules and why they are right: docs/PROTOCOL.md, section 4. Registry, trace reader and judge are fixed
/// and called as views, so no move can be re-entered.
abstract contract AssayGame is AssayMoney {
    using Terms for Request;

    /// @inheritdoc IAssay
    function challenge(Claim calldata c) external payable {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        if (block.timestamp >= word.windowEnd()) revert WindowEnded(block.timestamp, word.windowEnd());
        if (msg.value != c.ticketBond) revert ValueWrong(msg.value, c.ticketBond);
        if (!_tickets[id][msg.sender].isNone()) revert AlreadyHolding(id, msg.sender);
        _tickets[id][msg.sender] = NEW_TICKET;
        // L: a challenger and a prover who both use every second of every step need exactly this long.
        uint256 bound;
        unchecked {
            bound = (2 * word.depth() + 2) * answerSeconds + 1;
        }
        // Before the first ticket there is no trace.
        bool hasTrace = word.traceDeadline() != 0 && _traceRoots[id] != 0;
        word = word.ticketed(block.timestamp, answerSeconds, bound, hasTrace);
        _claims[id] = word;
        emit Challenged(id, msg.sender, uint40(word.traceDeadline()), uint40(word.hardEnd()));
    }

    /// @inheritdoc IAssay
    function commitTrace(Claim calldata c, bytes32[] calldata tops) external {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        if (msg.sender != c.prover && msg.sender != c.operator) {
            revert NotProver(msg.sender, c.prover, c.operator);
        }
        if (word.traceDeadline() == 0) revert NotChallenged(id);
        if (_traceRoots[id] != 0) revert TraceAlreadyCommitted(id, _traceRoots[id]);
        if (block.timestamp > word.traceDeadline()) {
            revert DeadlinePassed(block.timestamp, word.traceDeadline());
        }
        bytes32 traceRoot = traceReader.foldTops(ModelWord.unwrap(_modelWords[c.modelId]), tops);
        // Zero means "no trace yet" here; only the single hash of a one-step trace could be zero.
        if (traceRoot == 0) revert EmptyTrace();
        _traceRoots[id] = traceRoot;
        _claims[id] = word.answered(block.timestamp);
        emit TraceCommitted(id, traceRoot, tops);
    }

    /// @inheritdoc IAssay
    function demand(Claim calldata c, bytes32 traceRoot, uint64 position) external {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        TicketWord ticket = _tickets[id][msg.sender];
        if (ticket.isNone()) revert TicketMissing(id, msg.sender);
        bytes32 committed = _requireTrace(id);
        // A re-org may have brought another trace than the one that the sender has read.
        if (traceRoot != committed) revert TraceMismatch(traceRoot, committed);
        if (ticket.demands() >= word.depth()) revert QuotaUsed(word.depth());
        uint256 latest;
        // SAFETY: with a ticket hardEnd is at least L seconds after it, and L > 2T + 1.
        unchecked {
            latest = word.hardEnd() - 2 * uint256(answerSeconds) - 1;
        }
        if (block.timestamp > latest) revert DemandTooLate(block.timestamp, latest);
        DemandWord before = _demands[id][position];
        if (!before.isMissing()) revert AlreadyDemanded(position, before.deadline());
        uint256 shape = traceReader.shapeAt(c.modelId, position);
        if (shape == 0) revert PositionOutside(position);
        uint256 deadline = block.timestamp + answerSeconds;
        _tickets[id][msg.sender] = ticket.withDemand();
        _demands[id][position] = newDemand(deadline, shape);
        _claims[id] = word.owing();
        emit Demanded(id, msg.sender, position, uint40(deadline));
    }

    /// @inheritdoc IAssay
    function reveal(Claim calldata c, uint64 position, bytes32[] calldata content, bytes32[] calldata path)
        external
    {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        DemandWord demanded = _requireUnanswered(id, position);
        if (block.timestamp > demanded.deadline()) {
            revert DeadlinePassed(block.timestamp, demanded.deadline());
        }
        bytes32 folded = traceReader.checkReveal(demanded.shape(), position, content, path);
        if (folded != _traceRoots[id]) revert TraceMismatch(folded, _traceRoots[id]);
        _demands[id][position] = demanded.answered();
        _claims[id] = word.answered(block.timestamp);
        emit Revealed(id, position, content);
    }

    /// @inheritdoc IAssay
    function convictElement(Claim calldata c, uint256 step, uint256 element, Opening[] calldata openings)
        external
    {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        (uint256 expected, uint256 claimed) =
            judge.judgeElement(c.modelId, _requireTrace(id), step, element, openings);
        _convict(c, id, word, Fall.ELEMENT, step, element, expected, claimed);
    }

    /// @inheritdoc IAssay
    function convictCodec(
        Request calldata r,
        Claim calldata c,
        uint256 step,
        bytes calldata input,
        bytes32 tensorRoot,
        bytes32[] calldata path
    ) external {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        _requireClaimOf(r.idOf(), c);
        (bytes32 expected, bool isOutput) =
            judge.judgeCodec(c.modelId, _requireTrace(id), step, input, tensorRoot, path);
        bytes32 required = isOutput ? c.outputHash : r.inputHash;
        if (keccak256(input) != required) revert InputHashMismatch(keccak256(input), required);
        _convict(c, id, word, Fall.CODEC, step, 0, uint256(expected), uint256(tensorRoot));
    }

    /// @inheritdoc IAssay
    function convictOutput(
        Claim calldata c,
        bytes calldata output,
        uint256 element,
        Opening[] calldata openings
    ) external {
        (ClaimId id, ClaimWord word) = _openClaim(c);
        _requireOutput(output, c.outputHash);
        (uint256 expected, uint256 claimed) =
            judge.judgeOutput(c.modelId, _requireTrace(id), output, element, openings);
        _convict(c, id, word, Fall.OUTPUT, 0, element, expected, claimed);
    }

    /// @inheritdoc IAssay
    function timeoutTrace(Claim calldata c) external {
        (ClaimId id, ClaimWord word) = _activeClaim(c);
        if (word.traceDeadline() == 0) revert NotChallenged(id);
        if (_traceRoots[id] != 0) revert TraceAlreadyCommitted(id, _traceRoots[id]);
        _requirePassed(word.traceDeadline());
        _fall(c, id, word, Fall.TRACE_TIMEOUT, 0, 0, 0, 0);
    }

    /// @inheritdoc IAssay
    function timeoutDemand(Claim calldata c, uint64 position) external {
        (ClaimId id, ClaimWord word) = _activeClaim(c);
        _requirePassed(_requireUnanswered(id, position).deadline());
        _fall(c, id, word, Fall.DEMAND_TIMEOUT, Positions.stepOf(position), position, 0, 0);
    }

    function _convict(
        Claim calldata c,
        ClaimId id,
        ClaimWord word,
        Fall reason,
        uint256 step,
        uint256 element,
        uint256 expected,
        uint256 claimed
    ) private {
        // INVARIANT: an honest trace and output are what the judge computes, so they cannot be convicted.
        if (expected == claimed) revert NoFault(expected);
        _fall(c, id, word, reason, step, element, expected, claimed);
    }

    function _requireTrace(ClaimId id) private view returns (bytes32 traceRoot) {
        traceRoot = _traceRoots[id];
        if (traceRoot == 0) revert TraceMissing(id);
    }

    function _requireUnanswered(ClaimId id, uint64 position) private view returns (DemandWord demanded) {
        demanded = _demands[id][position];
        if (demanded.isMissing()) revert NotDemanded(position);
        if (demanded.isAnswered()) revert AlreadyAnswered(position);
    }

    function _requirePassed(uint256 deadline) private view {
        if (block.timestamp <= deadline) revert DeadlineNotPassed(block.timestamp, deadline);
    }
}
