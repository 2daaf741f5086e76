// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/// @title Two tokens, traded along x·y = k
/// @notice A place to trade on a local chain: whoever provides owns all of it, there are no shares. Its tokens must
/// move exactly what they are told to.
contract ConstantProductPool is ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    event Swapped(address indexed sender, address indexed tokenIn, uint256 amountIn, uint256 amountOut);

    /// @notice Thrown when somebody else than the provider adds or takes liquidity.
    error NotProvider(address sender, address provider);
    /// @notice Thrown for a token that is not one of the two.
    error UnknownToken(address token);
    /// @notice Thrown when a swap would give less than the caller asked for.
    error TooLittleOut(uint256 amountOut, uint256 leastOut);
    /// @notice Thrown when there is nothing to trade with.
    error NoLiquidity();

    /// @dev Of an amount that comes in, in ten thousandths.
    uint256 public constant FEE = 30;

    IERC20 public immutable base;
    IERC20 public immutable quote;
    address public immutable provider;
    uint256 public baseReserve;
    uint256 public quoteReserve;

    constructor(IERC20 base_, IERC20 quote_, address provider_) {
        base = base_;
        quote = quote_;
        provider = provider_;
    }

    function provide(uint256 baseAmount, uint256 quoteAmount) external nonReentrant {
        _requireProvider();
        baseReserve += baseAmount;
        quoteReserve += quoteAmount;
        base.safeTransferFrom(msg.sender, address(this), baseAmount);
        quote.safeTransferFrom(msg.sender, address(this), quoteAmount);
    }

    /// @notice Takes everything out.
    function close() external nonReentrant {
        _requireProvider();
        (uint256 baseAmount, uint256 quoteAmount) = (baseReserve, quoteReserve);
        (baseReserve, quoteReserve) = (0, 0);
        base.safeTransfer(msg.sender, baseAmount);
        quote.safeTransfer(msg.sender, quoteAmount);
    }

    /// @notice What a swap gives now.
    function quoteOut(IERC20 tokenIn, uint256 amountIn) public view returns (uint256) {
        (uint256 reserveIn, uint256 reserveOut) = _reserves(tokenIn);
        if (reserveIn == 0 || reserveOut == 0) revert NoLiquidity();
        uint256 net = amountIn * (10_000 - FEE);
        // Rounded down: the pool never gives more than k allows.
        return net * reserveOut / (reserveIn * 10_000 + net);
    }

    /// @notice Swaps one token of the caller for the other.
    function swap(IERC20 tokenIn, uint256 amountIn, uint256 leastOut)
        external
        nonReentrant
        returns (uint256 amountOut)
    {
        amountOut = quoteOut(tokenIn, amountIn);
        if (amountOut < leastOut) revert TooLittleOut(amountOut, leastOut);
        bool isBase = tokenIn == base;
        if (isBase) {
            baseReserve += amountIn;
            quoteReserve -= amountOut;
        } else {
            quoteReserve += amountIn;
            baseReserve -= amountOut;
        }
        emit Swapped(msg.sender, address(tokenIn), amountIn, amountOut);
        tokenIn.safeTransferFrom(msg.sender, address(this), amountIn);
        (isBase ? quote : base).safeTransfer(msg.sender, amountOut);
    }

    function _reserves(IERC20 tokenIn) private view returns (uint256, uint256) {
        if (tokenIn == base) return (baseReserve, quoteReserve);
        if (tokenIn == quote) return (quoteReserve, baseReserve);
        revert UnknownToken(address(tokenIn));
    }

    function _requireProvider() private view {
        if (msg.sender != provider) revert NotProvider(msg.sender, provider);
    }
}
