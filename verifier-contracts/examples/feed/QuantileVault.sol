// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {AggregatorV3Interface} from "../../feeds/AggregatorV3Interface.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Loans against ether that shrink when a bad day is forecast
/// @notice How much may be lent on ether is what it is worth after tomorrow's 10 % quantile, less a buffer. What was
/// lent before stays: only at a fixed share of the price is a position sold. Where the forecast is stale, nothing new is
/// lent and no ether that secures a loan goes out; paying back always works.
contract QuantileVault {
    using SafeERC20 for IERC20;

    struct Position {
        uint128 ether_;
        uint128 debt;
    }

    event Deposited(address indexed owner, uint256 amount);
    event Withdrawn(address indexed owner, uint256 amount);
    event Borrowed(address indexed owner, uint256 amount, uint256 ltv);
    event Repaid(address indexed owner, address indexed payer, uint256 amount);
    event Liquidated(address indexed owner, address indexed buyer, uint256 debt, uint256 ether_);

    error PriceStale(uint256 updatedAt, uint256 maxAge);
    error PriceInvalid(int256 answer);
    error LentTooMuch(uint256 debt, uint256 limit);
    error Healthy(uint256 debt, uint256 limit);
    error TransferFailed(address to);
    error FeedInvalid(address feed);

    /// @dev Shares in parts per million, as the forecast's decimals have it.
    uint256 public constant ONE = 1e6;
    uint256 public constant MAX_LTV = 800_000;
    uint256 public constant BUFFER = 100_000;
    /// @notice A position whose debt is above this share of its price is sold for its debt.
    uint256 public constant LIQUIDATION = 900_000;

    IERC20 public immutable cash;
    /// @notice Cash of an ether.
    AggregatorV3Interface public immutable price;
    uint256 public immutable priceMaxAge;
    /// @notice 10 % quantile of the next day's return, six decimals; refuses itself when it is stale.
    AggregatorV3Interface public immutable tail;
    uint256 private immutable _etherUnit;

    mapping(address owner => Position) public positions;

    constructor(
        IERC20Metadata cash_,
        AggregatorV3Interface price_,
        uint256 priceMaxAge_,
        AggregatorV3Interface tail_
    ) {
        if (tail_.decimals() != 6) revert FeedInvalid(address(tail_));
        cash = cash_;
        price = price_;
        priceMaxAge = priceMaxAge_;
        tail = tail_;
        _etherUnit = 10 ** (18 + price_.decimals() - cash_.decimals());
    }

    /// @notice Share of the ether's price that is lent now, parts per million.
    function ltv() public view returns (uint256) {
        (, int256 quantile,,,) = tail.latestRoundData();
        int256 share = int256(ONE) + quantile - int256(BUFFER);
        if (share <= 0) return 0;
        return uint256(share) > MAX_LTV ? MAX_LTV : uint256(share);
    }

    /// @notice Cash that an amount of ether is worth.
    function worth(uint256 amount) public view returns (uint256) {
        (, int256 answer,, uint256 updatedAt,) = price.latestRoundData();
        if (answer <= 0) revert PriceInvalid(answer);
        if (block.timestamp > updatedAt + priceMaxAge) revert PriceStale(updatedAt, priceMaxAge);
        return amount * uint256(answer) / _etherUnit;
    }

    function deposit() external payable {
        positions[msg.sender].ether_ += uint128(msg.value);
        emit Deposited(msg.sender, msg.value);
    }

    function withdraw(uint128 amount) external {
        Position storage p = positions[msg.sender];
        p.ether_ -= amount;
        if (p.debt != 0) _requireCovered(p.debt, worth(p.ether_) * ltv() / ONE);
        emit Withdrawn(msg.sender, amount);
        _send(msg.sender, amount);
    }

    function borrow(uint128 amount) external {
        Position storage p = positions[msg.sender];
        p.debt += amount;
        uint256 share = ltv();
        _requireCovered(p.debt, worth(p.ether_) * share / ONE);
        emit Borrowed(msg.sender, amount, share);
        cash.safeTransfer(msg.sender, amount);
    }

    /// @notice Pays somebody's debt back. @param most of which no more than the debt is taken: nobody can make a payment
    /// fail by paying a part of the debt before it
    function repay(address owner, uint128 most) external {
        uint128 debt = positions[owner].debt;
        uint128 amount = most < debt ? most : debt;
        positions[owner].debt = debt - amount;
        emit Repaid(owner, msg.sender, amount);
        cash.safeTransferFrom(msg.sender, address(this), amount);
    }

    /// @notice Sells a position whose debt is above LIQUIDATION of its worth, for the debt. It asks no forecast.
    function liquidate(address owner) external {
        Position memory p = positions[owner];
        uint256 limit = worth(p.ether_) * LIQUIDATION / ONE;
        if (p.debt <= limit) revert Healthy(p.debt, limit);
        delete positions[owner];
        emit Liquidated(owner, msg.sender, p.debt, p.ether_);
        cash.safeTransferFrom(msg.sender, address(this), p.debt);
        _send(msg.sender, p.ether_);
    }

    function _requireCovered(uint256 debt, uint256 limit) private pure {
        if (debt > limit) revert LentTooMuch(debt, limit);
    }

    function _send(address to, uint256 amount) private {
        (bool sent,) = to.call{value: amount}("");
        if (!sent) revert TransferFailed(to);
    }
}
