// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromises} from "../interfaces/IPromises.sol";
import {Account} from "../types/PromiseTypes.sol";
import {PromisesMoney} from "./PromisesMoney.sol";

/// @notice A prover's stake and the keys that bind it.
abstract contract PromisesStake is PromisesMoney {
    /// @inheritdoc IPromises
    function deposit(address prover) external payable {
        if (msg.value > type(uint96).max) revert AmountTooLarge(msg.value, type(uint96).max);
        _accounts[prover].free += uint96(msg.value);
        emit Deposited(prover, msg.sender, msg.value);
    }

    /// @inheritdoc IPromises
    function announceExit(uint256 amount) external {
        Account storage a = _accounts[msg.sender];
        if (amount > a.free) revert ExitTooLarge(amount, a.free);
        uint40 exitAt = uint40(block.timestamp + EXIT_SECONDS);
        a.free -= uint96(amount);
        a.leaving += uint96(amount);
        a.exitAt = exitAt;
        emit ExitAnnounced(msg.sender, amount, exitAt);
    }

    /// @inheritdoc IPromises
    function exit(address to) external {
        Account storage a = _accounts[msg.sender];
        uint256 amount = a.leaving;
        if (block.timestamp < a.exitAt) revert ExitTooEarly(block.timestamp, a.exitAt);
        _requireQueueEmpty(msg.sender);
        a.leaving = 0;
        emit Exited(msg.sender, to, amount);
        _send(to, amount);
    }

    /// @inheritdoc IPromises
    function setSigner(address key, uint40 until) external {
        if (key == address(0)) revert SignerIsZero();
        // INVARIANT: whoever holds a promise of now holds one that is bound: a key is never unbound backwards.
        uint256 first = block.timestamp + _answerSeconds;
        if (until < first) revert SignerNoticeTooShort(until, first);
        boundUntil[msg.sender][key] = until;
        emit SignerSet(msg.sender, key, until);
    }
}
