// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromises} from "../interfaces/IPromises.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Signatures} from "../libraries/Signatures.sol";
import {Account, PromiseStatus, SignedClaim, SignedState} from "../types/PromiseTypes.sol";
import {ClaimId} from "../types/Types.sol";
import {PromisesFiling} from "./PromisesFiling.sol";

/// @notice Signed claims, and the queue of those that wait for stake.
abstract contract PromisesSigned is PromisesFiling {
    /// @notice Neighbours of a signed claim in its prover's queue, 0 at the ends.
    struct Links {
        bytes32 previous;
        bytes32 next;
    }

    /// @notice What is found of a signed claim.
    struct Found {
        bytes32 digest;
        ModelWord word;
        uint256 end;
        uint256 bond;
    }

    mapping(bytes32 digest => Links) private _links;

    /// @inheritdoc IPromises
    function check(
        SignedClaim calldata signed,
        bytes calldata signature,
        bytes calldata input,
        bytes calldata output
    ) external view returns (bytes32 digest, uint256 end, uint256 bond, uint256 required) {
        Found memory f = _find(signed, signature, input, output);
        return (f.digest, f.end, f.bond, _ticketBond(f.bond));
    }

    /// @inheritdoc IPromises
    function open(
        SignedClaim calldata signed,
        bytes calldata signature,
        bytes calldata input,
        bytes calldata output
    ) external payable {
        Found memory f = _find(signed, signature, input, output);
        uint96 amount = _takeDeposit(_ticketBond(f.bond));
        SignedState storage state = _signed[f.digest];
        (state.shown, state.opener, state.deposit) = (true, msg.sender, amount);
        Account storage a = _accounts[signed.prover];
        if (a.head == 0 && _home(a) >= f.bond) {
            _openSigned(signed, f, input, output);
            return;
        }
        (state.status, state.depth, state.queuedAt) =
        (PromiseStatus.QUEUED, f.word.depth(), uint40(block.timestamp));
        state.prover = signed.prover;
        _push(a, f.digest);
        emit Queued(f.digest, signed.prover, msg.sender, amount, signed, input, output);
    }

    /// @inheritdoc IPromises
    function openNext(SignedClaim calldata signed, bytes calldata input, bytes calldata output) external {
        Found memory f;
        (f.digest, f.end, f.word) = reader.readSigned(signed, input, output);
        Account storage a = _accounts[signed.prover];
        if (a.head != f.digest) revert NotHead(f.digest, a.head);
        f.bond = _bondOf(signed, f.word);
        if (_home(a) < f.bond) revert StakeTooLow(_home(a), f.bond);
        _remove(a, f.digest);
        _openSigned(signed, f, input, output);
    }

    /// @inheritdoc IPromises
    function passNext(address prover, bytes32 behind) external {
        Account storage a = _accounts[prover];
        bytes32 head = a.head;
        if (head == 0) revert QueueEmpty(prover);
        if (a.away != 0 || a.slots != 0) revert StakeNotHome(a.away, a.slots);
        _requireTooDear(a, _signed[head].depth);
        if (a.hotSince == 0) {
            a.hotSince = uint40(block.timestamp);
            emit HeadTooDear(prover, head);
            return;
        }
        uint256 first = a.hotSince + baseWindow;
        if (block.timestamp < first) revert TooSoon(block.timestamp, first);
        SignedState storage other = _signed[behind];
        if (other.status != PromiseStatus.QUEUED || other.prover != prover) {
            revert BehindNotQueued(behind, prover);
        }
        uint256 bond = _bond(other.depth, 0);
        if (bond > _home(a)) revert BehindTooDear(bond, _home(a));
        _remove(a, head);
        _push(a, head);
        emit Passed(prover, head);
    }

    /// @inheritdoc IPromises
    function takeBack(bytes32 digest) external {
        SignedState storage state = _signed[digest];
        if (msg.sender != state.opener) revert NotOpener(msg.sender, state.opener);
        if (state.status != PromiseStatus.QUEUED) revert NotQueued(digest, state.status);
        Account storage a = _accounts[state.prover];
        _requireTooDear(a, state.depth);
        _remove(a, digest);
        uint256 amount = state.deposit;
        (state.status, state.deposit) = (PromiseStatus.NONE, 0);
        // Time for others to open it again: else its prover, as its opener, would keep them away until its stake is gone.
        uint256 notice = block.timestamp + baseWindow;
        if (a.exitAt < notice) a.exitAt = uint40(notice);
        emit TakenBack(state.prover, digest);
        _credit(msg.sender, amount);
    }

    function _find(
        SignedClaim calldata signed,
        bytes calldata signature,
        bytes calldata input,
        bytes calldata output
    ) private view returns (Found memory f) {
        (f.digest, f.end, f.word) = reader.readSigned(signed, input, output);
        SignedState storage state = _signed[f.digest];
        if (state.status != PromiseStatus.NONE) revert AlreadyOpened(f.digest, state.status);
        address key = Signatures.recover(f.digest, signature);
        uint256 until = boundUntil[signed.prover][key];
        if (until == 0 || signed.issuedAt > until) {
            revert SignerNotBound(key, signed.prover, until, signed.issuedAt);
        }
        if (block.timestamp < signed.issuedAt) revert NotYetIssued(block.timestamp, signed.issuedAt);
        if (block.timestamp > f.end && !state.shown) revert PromiseExpired(block.timestamp, f.end);
        f.bond = _bondOf(signed, f.word);
    }

    function _openSigned(
        SignedClaim calldata signed,
        Found memory f,
        bytes calldata input,
        bytes calldata output
    ) private {
        SignedState storage state = _signed[f.digest];
        state.status = PromiseStatus.OPEN;
        // The claim can be disputed for as long as the promise could be shown, and for W0 more.
        uint256 left = f.end > block.timestamp ? f.end - block.timestamp : 0;
        Draft memory d;
        (d.prover, d.modelId, d.word, d.origin) = (signed.prover, signed.modelId, f.word, f.digest);
        (d.bond, d.window) = (f.bond, left + baseWindow);
        ClaimId id = _file(d, input, output);
        emit Opened(f.digest, signed.prover, id, state.opener, state.deposit, signed);
    }

    function _push(Account storage a, bytes32 digest) private {
        bytes32 tail = a.tail;
        if (tail == 0) a.head = digest;
        else _links[tail].next = digest;
        _links[digest] = Links(tail, 0);
        a.tail = digest;
    }

    /// @dev Another head has its own patience.
    function _remove(Account storage a, bytes32 digest) private {
        Links memory links = _links[digest];
        delete _links[digest];
        if (links.previous == 0) (a.head, a.hotSince) = (links.next, 0);
        else _links[links.previous].next = links.next;
        if (links.next == 0) a.tail = links.previous;
        else _links[links.next].previous = links.previous;
    }

    /// @dev Passes if a claim's bond is above all stake, which is so exactly if the least bond is: what a promise names
    /// counts as far as the stake goes.
    function _requireTooDear(Account storage a, uint256 depth) private view {
        uint256 bond = _bond(depth, 0);
        if (bond <= _stake(a)) revert HeadAffordable(bond, _stake(a));
    }

    /// @dev A promise holds for what it names as far as its prover's stake goes.
    function _bondOf(SignedClaim calldata signed, ModelWord word) private view returns (uint256) {
        uint256 stake = _stake(_accounts[signed.prover]);
        return _bond(word.depth(), signed.minBond < stake ? signed.minBond : stake);
    }
}
