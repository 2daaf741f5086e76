// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../interfaces/IAssay.sol";
import {CLAIM_FALLEN, ClaimWord} from "../libraries/ClaimWord.sol";
import {Terms} from "../libraries/Terms.sol";
import {TicketWord} from "../libraries/TicketWord.sol";
import {Claim, ClaimId, Fall, RequestId} from "../types/Types.sol";
import {AssayState} from "./AssayState.sol";

/// @notice Credits, and how the two ends of a claim pay (docs/PROTOCOL.md, section 5).
/// @dev The books never look at this contract's balance, so ether forced upon it changes nothing.
abstract contract AssayMoney is AssayState {
    using Terms for Claim;

    /// @inheritdoc IAssay
    mapping(address account => uint256) public credits;
    /// @inheritdoc IAssay
    uint256 public burned;

    address private constant DEAD = 0x000000000000000000000000000000000000dEaD;

    /// @inheritdoc IAssay
    function withdraw(address to) external {
        uint256 amount = credits[msg.sender];
        if (amount == 0) revert NoCredit(msg.sender);
        credits[msg.sender] = 0;
        emit Withdrawn(msg.sender, to, amount);
        _send(to, amount);
    }

    /// @inheritdoc IAssay
    function pullBurn() external {
        uint256 amount = burned;
        if (amount == 0) revert NoCredit(DEAD);
        burned = 0;
        emit Burned(amount);
        _send(DEAD, amount);
    }

    /// @inheritdoc IAssay
    function collect(Claim calldata c, address owner) external {
        ClaimId id = c.idOf();
        ClaimWord word = _claims[id];
        if (word.status() != CLAIM_FALLEN) revert ClaimNotFallen(id, word.status());
        TicketWord ticket = _tickets[id][owner];
        if (ticket.isNone()) revert TicketMissing(id, owner);
        if (ticket.isCollected()) revert AlreadyCollected(id, owner);
        _tickets[id][owner] = ticket.collected();
        uint256 amount = c.ticketBond + Terms.share(c.bond, word.takers());
        emit Collected(id, owner, amount);
        _credit(owner, amount);
    }

    /// @dev The claim is right: its prover gets bond and fee, and half of what was staked against it.
    function _win(Claim calldata c, ClaimId id, ClaimWord word, uint256 fee) internal {
        _claims[id] = word.finalized();
        // SAFETY: amounts have 96 bits and tickets 32.
        unchecked {
            uint256 half = c.ticketBond / 2;
            uint256 tickets = word.tickets();
            _burn((c.ticketBond - half) * tickets);
            _credit(c.prover, c.bond + half * tickets + fee);
        }
    }

    /// @dev The claim is wrong: half of its bond waits for the takers, who collect one by one; the rest burns.
    /// @return share of each taker
    function _lose(Claim calldata c, ClaimId id, ClaimWord word, Fall reason)
        internal
        returns (uint256 share)
    {
        word = word.fallen(reason);
        _claims[id] = word;
        uint256 takers = word.takers();
        share = Terms.share(c.bond, takers);
        _burn(c.bond - share * takers);
    }

    /// @dev Ends a claim by conviction or timeout: the request is open again, with its fee, for a higher bond.
    function _fall(
        Claim calldata c,
        ClaimId id,
        ClaimWord word,
        Fall reason,
        uint256 step,
        uint256 element,
        uint256 expected,
        uint256 claimed
    ) internal {
        _lose(c, id, word, reason);
        _requests[c.requestId] = _requests[c.requestId].reopened();
        emit Fell(id, c.requestId, reason, step, element, expected, claimed);
    }

    function _credit(address account, uint256 amount) internal {
        if (amount == 0) return;
        credits[account] += amount;
        emit Credited(account, amount);
    }

    function _burn(uint256 amount) private {
        if (amount != 0) burned += amount;
    }

    /// @dev Copies no return data. The books are closed before: a receiver that calls back finds nothing more.
    function _send(address to, uint256 amount) private {
        bool sent;
        if (to != address(0)) {
            assembly ("memory-safe") {
                sent := call(gas(), to, amount, 0, 0, 0, 0)
            }
        }
        if (!sent) revert TransferFailed(to, amount);
    }
}
