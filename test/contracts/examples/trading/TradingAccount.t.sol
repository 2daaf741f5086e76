// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ConstantProductPool} from "../../../../verifier-contracts/examples/trading/ConstantProductPool.sol";
import {LocalToken} from "../../../../verifier-contracts/examples/trading/LocalToken.sol";
import {PriceFeed} from "../../../../verifier-contracts/examples/trading/PriceFeed.sol";
import {TradingAccount} from "../../../../verifier-contracts/examples/trading/TradingAccount.sol";
import {Test} from "../../support/Test.sol";

contract TradingAccountTest is Test {
    address private constant OWNER = address(0x0123);
    address private constant TRADER = address(0x0456);

    LocalToken private base;
    LocalToken private quote;
    PriceFeed private feed;
    ConstantProductPool private deep;
    ConstantProductPool private shallow;
    TradingAccount private account;

    function setUp() public {
        vm.warp(100 days);
        base = new LocalToken("Base", "B", address(this), 1e30);
        quote = new LocalToken("Quote", "Q", address(this), 1e30);
        feed = new PriceFeed(address(this));
        _setPrice(20_0000);
        deep = _pool(1e24, 20e24);
        shallow = _pool(1e22, 20e22);
        ConstantProductPool[] memory pools = new ConstantProductPool[](2);
        (pools[0], pools[1]) = (shallow, deep);
        account = new TradingAccount(OWNER, feed, pools, TradingAccount.Limits(1000e18, 1500e18, 100));
        vm.prank(OWNER);
        account.setTrader(TRADER);
        base.transfer(address(account), 500e18);
        quote.transfer(address(account), 10_000e18);
    }

    function _pool(uint256 baseAmount, uint256 quoteAmount) private returns (ConstantProductPool pool) {
        pool = new ConstantProductPool(base, quote, address(this));
        base.approve(address(pool), baseAmount);
        quote.approve(address(pool), quoteAmount);
        pool.provide(baseAmount, quoteAmount);
    }

    function _setPrice(uint64 price) private {
        PriceFeed.Day[] memory day = new PriceFeed.Day[](1);
        day[0] = PriceFeed.Day(price, price, price);
        feed.add(day);
    }

    function _trade(bool isBuy, uint256 amount) private returns (uint256) {
        vm.prank(TRADER);
        return account.trade(isBuy, amount);
    }

    function test_trade_bestPool_succeeds() public {
        uint256 expected = deep.quoteOut(quote, 1000e18);
        assertGt(expected, shallow.quoteOut(quote, 1000e18));
        assertEq(_trade(true, 1000e18), expected);
        assertEq(deep.quoteReserve(), 20e24 + 1000e18);
        assertEq(quote.balanceOf(address(account)), 9000e18);
        assertEq(base.balanceOf(address(account)), 500e18 + expected);
    }

    function test_trade_limits_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.TradeTooLarge.selector, 1000e18 + 1, 1000e18));
        _trade(true, 1000e18 + 1);
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.TradeTooLarge.selector, 1020e18, 1000e18));
        _trade(false, 51e18);
        _trade(true, 900e18);
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.DayLimitExceeded.selector, 900e18, 600e18));
        _trade(true, 900e18);
        skip(1 days);
        _trade(true, 900e18);
    }

    function test_trade_price_reverts() public {
        // The feed says 24, the pools pay less than 20: 99 % of the feed's price is what it takes.
        _setPrice(24_0000);
        uint256 least = 10e18 * 24 * 99 / 100;
        uint256 offered = deep.quoteOut(base, 10e18);
        vm.expectRevert(abi.encodeWithSelector(ConstantProductPool.TooLittleOut.selector, offered, least));
        _trade(false, 10e18);
    }

    function test_trade_strangers_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.NotTrader.selector, address(this), TRADER));
        account.trade(true, 1);
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.NotOwner.selector, address(this), OWNER));
        account.withdraw(quote, 1);
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.NotOwner.selector, address(this), OWNER));
        account.setTrader(address(this));
        vm.prank(OWNER);
        vm.expectRevert(abi.encodeWithSelector(TradingAccount.TraderIsSet.selector, TRADER));
        account.setTrader(address(this));
        vm.prank(OWNER);
        account.withdraw(quote, 1);
        assertEq(quote.balanceOf(OWNER), 1);
    }

    /// @dev Whatever the trader does in a day, the account loses at most slippage of what it may trade.
    // shows: E1-098
    function testFuzz_trade_anyOrders_succeeds(uint256[12] calldata amounts, uint256 sides) public {
        uint256 before = _worth();
        for (uint256 i = 0; i < amounts.length; ++i) {
            vm.prank(TRADER);
            try account.trade(sides >> i & 1 == 1, bound(amounts[i], 0, 2000e18)) {} catch {}
        }
        assertGe(_worth(), before - 1500e18 / 100 - 12);
    }

    function _worth() private view returns (uint256) {
        return quote.balanceOf(address(account)) + 20 * base.balanceOf(address(account));
    }
}

contract ConstantProductPoolTest is Test {
    LocalToken private base;
    LocalToken private quote;
    ConstantProductPool private pool;

    function setUp() public {
        base = new LocalToken("Base", "B", address(this), 1e40);
        quote = new LocalToken("Quote", "Q", address(this), 1e40);
        pool = new ConstantProductPool(base, quote, address(this));
        base.approve(address(pool), type(uint256).max);
        quote.approve(address(pool), type(uint256).max);
    }

    function testFuzz_swap_product_succeeds(uint256 x, uint256 y, uint256 amount, bool isBase) public {
        (x, y) = (bound(x, 1, 1e30), bound(y, 1, 1e30));
        pool.provide(x, y);
        uint256 sum = base.balanceOf(address(this));
        uint256 out = pool.swap(isBase ? base : quote, bound(amount, 0, 1e30), 0);
        assertGe(pool.baseReserve() * pool.quoteReserve(), x * y);
        assertEq(base.balanceOf(address(pool)), pool.baseReserve());
        assertEq(quote.balanceOf(address(pool)), pool.quoteReserve());
        if (isBase) assertLt(out, y);
        else assertLt(out, x);
        pool.close();
        assertEq(base.balanceOf(address(this)), sum + x);
    }

    function test_swap_errors_reverts() public {
        vm.expectRevert(ConstantProductPool.NoLiquidity.selector);
        pool.swap(base, 1, 0);
        pool.provide(1000, 1000);
        vm.expectRevert(abi.encodeWithSelector(ConstantProductPool.TooLittleOut.selector, 90, 91));
        pool.swap(base, 100, 91);
        vm.expectRevert(abi.encodeWithSelector(ConstantProductPool.UnknownToken.selector, address(this)));
        pool.swap(LocalToken(address(this)), 1, 0);
        vm.prank(address(0x77));
        vm.expectRevert(
            abi.encodeWithSelector(ConstantProductPool.NotProvider.selector, address(0x77), address(this))
        );
        pool.close();
    }
}

contract PriceFeedTest is Test {
    function test_window_rolls_succeeds() public {
        PriceFeed feed = new PriceFeed(address(this));
        PriceFeed.Day[] memory added = new PriceFeed.Day[](70);
        for (uint64 i = 0; i < 70; ++i) {
            added[i] = PriceFeed.Day(100 + i, 200 + i, 1 + i);
        }
        feed.add(added);
        (uint256[] memory closes, uint256[] memory highs, uint256[] memory lows) = feed.window();
        assertEq(closes[0], 105);
        assertEq(closes[64], 169);
        assertEq(highs[64], 269);
        assertEq(lows[0], 6);
        assertEq(feed.price(), 169);
    }

    function test_add_errors_reverts() public {
        PriceFeed feed = new PriceFeed(address(this));
        vm.expectRevert(abi.encodeWithSelector(PriceFeed.TooFewDays.selector, 0, 1));
        feed.price();
        vm.expectRevert(abi.encodeWithSelector(PriceFeed.TooFewDays.selector, 0, 65));
        feed.window();
        PriceFeed.Day[] memory day = new PriceFeed.Day[](1);
        day[0] = PriceFeed.Day(10, 9, 1);
        vm.expectRevert(abi.encodeWithSelector(PriceFeed.PricesInvalid.selector, 10, 9, 1));
        feed.add(day);
        vm.prank(address(0x77));
        vm.expectRevert(abi.encodeWithSelector(PriceFeed.NotWriter.selector, address(0x77), address(this)));
        feed.add(day);
    }
}
