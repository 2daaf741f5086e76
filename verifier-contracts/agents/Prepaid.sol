// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPrepaid} from "./interfaces/IPrepaid.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @notice Balances of callers.
/// @dev INVARIANT: while a function of the contract is under way no ether comes in or goes out by these two: it would
/// stand in the books here, and in the contract's balance before or after a call as well.
abstract contract Prepaid is IPrepaid, ReentrancyGuardTransient {
    mapping(address => uint256) private _balances;

    /// @inheritdoc IPrepaid
    function depositFor(address account) external payable nonReentrant {
        _credit(account, msg.value);
        emit Deposited(account, msg.sender, msg.value);
    }

    /// @inheritdoc IPrepaid
    function withdraw(address to, uint256 amount) external nonReentrant {
        _charge(msg.sender, amount);
        emit Withdrawn(msg.sender, to, amount);
        (bool success,) = to.call{value: amount}("");
        if (!success) revert TransferFailed(to, amount);
    }

    /// @inheritdoc IPrepaid
    function balanceOf(address account) external view returns (uint256) {
        return _balances[account];
    }

    function _charge(address account, uint256 amount) internal {
        uint256 balance = _balances[account];
        if (balance < amount) revert BalanceTooSmall(account, balance, amount);
        unchecked {
            _balances[account] = balance - amount;
        }
    }

    function _credit(address account, uint256 amount) internal {
        _balances[account] += amount;
    }
}
