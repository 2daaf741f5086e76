// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromises} from "../interfaces/IPromises.sol";
import {PromisesState} from "./PromisesState.sol";

/// @notice Credits and what is burned. The books never look at this contract's balance, so ether forced upon it changes
/// nothing.
abstract contract PromisesMoney is PromisesState {
    /// @inheritdoc IPromises
    mapping(address account => uint256) public credits;
    /// @inheritdoc IPromises
    uint256 public burned;

    address private constant DEAD = 0x000000000000000000000000000000000000dEaD;

    receive() external payable {
        if (msg.sender != address(assay)) revert NotAssay(msg.sender);
    }

    /// @inheritdoc IPromises
    function withdraw(address to) external {
        uint256 amount = credits[msg.sender];
        if (amount == 0) revert NoCredit(msg.sender);
        credits[msg.sender] = 0;
        emit Withdrawn(msg.sender, to, amount);
        _send(to, amount);
    }

    /// @inheritdoc IPromises
    function pullBurn() external {
        uint256 amount = burned;
        if (amount == 0) revert NoCredit(DEAD);
        burned = 0;
        emit Burned(amount);
        _send(DEAD, amount);
    }

    /// @dev After each claim that ended well: what is booked as stake must be here when a bond or an exit needs it.
    function _pullCredit() internal {
        if (assay.credits(address(this)) != 0) assay.withdraw(address(this));
    }

    function _credit(address account, uint256 amount) internal {
        if (amount == 0) return;
        credits[account] += amount;
        emit Credited(account, amount);
    }

    /// @dev Takes the deposit out of the value sent; the rest is the sender's. @return deposit as 96 bits
    function _takeDeposit(uint256 required) internal returns (uint96 deposit_) {
        if (msg.value < required) revert DepositTooLow(msg.value, required);
        if (required > type(uint96).max) revert AmountTooLarge(required, type(uint96).max);
        _credit(msg.sender, msg.value - required);
        return uint96(required);
    }

    /// @dev Copies no return data. The books are closed before: a receiver that calls back finds nothing more.
    function _send(address to, uint256 amount) internal {
        bool sent;
        if (to != address(0)) {
            assembly ("memory-safe") {
                sent := call(gas(), to, amount, 0, 0, 0, 0)
            }
        }
        if (!sent) revert TransferFailed(to, amount);
    }
}
