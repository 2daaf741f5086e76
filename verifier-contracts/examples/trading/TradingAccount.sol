// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ConstantProductPool} from "./ConstantProductPool.sol";
import {PriceFeed} from "./PriceFeed.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title One person's money, and what an agent may do with it
/// @notice Whatever a model says, a trade is at most so large, so many of them fit into a day, and its price is not
/// worse than the feed's by more than a set share. The owner takes everything out at any time.
contract TradingAccount {
    using SafeERC20 for IERC20;

    event Traded(address indexed pool, bool isBuy, uint256 amountIn, uint256 amountOut);

    /// @notice Thrown when somebody else than the owner moves money out or names the trader.
    error NotOwner(address sender, address owner);
    /// @notice Thrown when somebody else than the trader trades.
    error NotTrader(address sender, address trader);
    /// @notice Thrown when the trader is named twice.
    error TraderIsSet(address trader);
    /// @notice Thrown when a trade, in the quote token, is larger than one may be.
    error TradeTooLarge(uint256 value, uint256 most);
    /// @notice Thrown when the trades of a day would exceed its limit.
    error DayLimitExceeded(uint256 value, uint256 left);

    /// @param most quote units that one trade may be worth @param perDay all trades of a day
    /// @param slippage most that a trade may be worse than the feed's price, in ten thousandths
    struct Limits {
        uint256 most;
        uint256 perDay;
        uint256 slippage;
    }

    /// @dev Prices of the feed are times 10^4, both tokens have 18 decimals.
    uint256 private constant PRICE_UNIT = 10_000;

    address public immutable owner;
    IERC20 public immutable base;
    IERC20 public immutable quote;
    PriceFeed public immutable feed;
    Limits public limits;
    ConstantProductPool[] public pools;
    address public trader;
    uint256 public day;
    uint256 public tradedToday;

    /// @param pools_ where it may trade, few
    constructor(address owner_, PriceFeed feed_, ConstantProductPool[] memory pools_, Limits memory limits_) {
        owner = owner_;
        feed = feed_;
        base = pools_[0].base();
        quote = pools_[0].quote();
        pools = pools_;
        limits = limits_;
    }

    /// @notice Names who may trade, once.
    function setTrader(address trader_) external {
        _requireOwner();
        if (trader != address(0)) revert TraderIsSet(trader);
        trader = trader_;
    }

    function withdraw(IERC20 token, uint256 amount) external {
        _requireOwner();
        token.safeTransfer(owner, amount);
    }

    /// @notice Swaps in the pool that gives most.
    /// @param isBuy true: quote for base
    /// @param amountIn of the token that goes in
    function trade(bool isBuy, uint256 amountIn) external returns (uint256 amountOut) {
        if (msg.sender != trader) revert NotTrader(msg.sender, trader);
        uint256 price = feed.price();
        uint256 value = isBuy ? amountIn : amountIn * price / PRICE_UNIT;
        _spend(value);
        IERC20 tokenIn = isBuy ? quote : base;
        ConstantProductPool pool = _best(tokenIn, amountIn);
        uint256 fair = isBuy ? amountIn * PRICE_UNIT / price : value;
        uint256 least = fair * (10_000 - limits.slippage) / 10_000;
        tokenIn.forceApprove(address(pool), amountIn);
        amountOut = pool.swap(tokenIn, amountIn, least);
        emit Traded(address(pool), isBuy, amountIn, amountOut);
    }

    /// @notice What it holds, and the base token's share of it in parts per million at the feed's price.
    function exposure() external view returns (uint256 baseHeld, uint256 quoteHeld, uint256 share) {
        baseHeld = base.balanceOf(address(this));
        quoteHeld = quote.balanceOf(address(this));
        uint256 baseValue = baseHeld * feed.price() / PRICE_UNIT;
        if (baseValue + quoteHeld != 0) share = baseValue * 1e6 / (baseValue + quoteHeld);
    }

    function _spend(uint256 value) private {
        if (value > limits.most) revert TradeTooLarge(value, limits.most);
        uint256 today = block.timestamp / 1 days;
        if (day != today) (day, tradedToday) = (today, 0);
        uint256 left = limits.perDay - tradedToday;
        if (value > left) revert DayLimitExceeded(value, left);
        tradedToday += value;
    }

    function _best(IERC20 tokenIn, uint256 amountIn) private view returns (ConstantProductPool best) {
        uint256 most;
        for (uint256 i; i < pools.length; ++i) {
            uint256 out = pools[i].quoteOut(tokenIn, amountIn);
            if (i == 0 || out > most) (best, most) = (pools[i], out);
        }
    }

    function _requireOwner() private view {
        if (msg.sender != owner) revert NotOwner(msg.sender, owner);
    }
}
