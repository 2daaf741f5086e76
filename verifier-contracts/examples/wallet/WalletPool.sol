// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Pool} from "./Pool.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @notice A pool of one owner, which tools move tokens into and out of for him.
/// @dev Tokens come from the owner by his allowance and go back to him alone: an operator that goes astray can move
/// them between his wallet and this pool, and nowhere else. Each operator is a contract of its own, so balances are
/// the owner's and not the caller's. Ether goes in wrapped.
contract WalletPool is Pool {
    using SafeERC20 for IERC20;

    event OperatorSet(address indexed operator, bool allowed);
    event Deployed(address indexed asset, address indexed operator, uint256 amount);
    event Withdrawn(address indexed asset, address indexed operator, uint256 amount);

    /// @notice Thrown when somebody else than the owner names operators.
    error NotOwner(address sender, address owner);
    /// @notice Thrown when a caller is neither the owner nor one of his operators.
    error NotOperator(address sender);
    /// @notice Thrown when more is to be withdrawn than the pool holds.
    error BalanceTooSmall(address asset, uint256 balance, uint256 required);

    address public immutable owner;
    mapping(address => bool) public isOperator;
    mapping(address asset => uint256) private _balances;

    constructor(address owner_) {
        owner = owner_;
    }

    /// @notice Lets an address, such as a wallet agent's tool, move the owner's tokens, or not any more.
    function setOperator(address operator, bool allowed) external {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
        isOperator[operator] = allowed;
        emit OperatorSet(operator, allowed);
    }

    /// @inheritdoc Pool
    function deploy(address asset, uint256 amount) external {
        _requireOperator();
        _balances[asset] += amount;
        emit Deployed(asset, msg.sender, amount);
        IERC20(asset).safeTransferFrom(owner, address(this), amount);
    }

    /// @inheritdoc Pool
    function withdraw(address asset, uint256 amount) external {
        _requireOperator();
        uint256 held = _balances[asset];
        if (amount > held) revert BalanceTooSmall(asset, held, amount);
        _balances[asset] = held - amount;
        emit Withdrawn(asset, msg.sender, amount);
        IERC20(asset).safeTransfer(owner, amount);
    }

    /// @inheritdoc Pool
    function balance(address asset) external view returns (uint256) {
        return _balances[asset];
    }

    function _requireOperator() private view {
        if (msg.sender != owner && !isOperator[msg.sender]) revert NotOperator(msg.sender);
    }
}
