// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {QuantileVault} from "../../../verifier-contracts/examples/feed/QuantileVault.sol";
import {LocalToken} from "../../../verifier-contracts/examples/trading/LocalToken.sol";
import {ForecastFeed} from "../../../verifier-contracts/feeds/ForecastFeed.sol";
import {Claim, Request} from "../../../verifier-contracts/types/Types.sol";
import {FeedFixture} from "./FeedFixture.sol";
import {TestSource} from "./TestSource.sol";

/// @notice Its forecast comes from claims that stood; its price from a source that the test writes.
contract QuantileVaultTest is FeedFixture {
    uint256 private constant PRICE_AGE = 1 hours;

    TestSource private price;
    LocalToken private cash;
    QuantileVault private vault;

    function setUp() public override {
        super.setUp();
        price = new TestSource(8);
        cash = new LocalToken("Cash", "C", address(this), 1e30);
        vault = new QuantileVault(cash, price, PRICE_AGE, feed);
        cash.transfer(address(vault), 1e24);
        cash.transfer(bob, 1e24);
        vm.prank(bob);
        cash.approve(address(vault), type(uint256).max);
    }

    function _forecast(int256 quantile) private {
        feed.announce();
        (Request memory r, Claim memory c) = _final(quantile);
        feed.update(r, c, _outputOf(quantile));
        _priced(3_000e8);
    }

    function _priced(int256 answer) private {
        price.push(answer, block.timestamp);
    }

    function _deposit(uint256 amount) private {
        vm.prank(alice);
        vault.deposit{value: amount}();
    }

    function _borrow(uint128 amount) private {
        vm.prank(alice);
        vault.borrow(amount);
    }

    function test_borrow_quantile_succeeds() public {
        _deposit(2 ether);
        _forecast(-150_000);
        assertEq(vault.ltv(), 750_000);
        vm.expectRevert(abi.encodeWithSelector(QuantileVault.LentTooMuch.selector, 4_500e18 + 1, 4_500e18));
        _borrow(4_500e18 + 1);
        _borrow(4_500e18);
        assertEq(cash.balanceOf(alice), 4_500e18);
        // Nothing is left to lend, and no ether may go.
        vm.expectPartialRevert(QuantileVault.LentTooMuch.selector);
        _borrow(1);
        vm.expectPartialRevert(QuantileVault.LentTooMuch.selector);
        vm.prank(alice);
        vault.withdraw(1);
        vm.prank(bob);
        vault.repay(alice, 4_500e18);
        vm.prank(alice);
        vault.withdraw(2 ether);
        assertEq(address(vault).balance, 0);
    }

    function test_ltv_limits_succeeds() public {
        _forecast(0);
        assertEq(vault.ltv(), vault.MAX_LTV());
        // The feed clamps at -50 %.
        _recordAt(1, block.timestamp);
        skip(1 days);
        _forecast(-999_999);
        assertEq(vault.ltv(), 400_000);
    }

    /// @dev Without a forecast, or with an old one, what is owed can be paid and what is free can go.
    function test_borrow_stale_reverts() public {
        _deposit(2 ether);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.NoRound.selector, 0));
        _borrow(1);
        _forecast(-150_000);
        _borrow(1_000e18);
        skip(PRICE_AGE + 1);
        vm.expectPartialRevert(QuantileVault.PriceStale.selector);
        _borrow(1);
        skip(MAX_AGE);
        _priced(3_000e8);
        vm.expectPartialRevert(ForecastFeed.Stale.selector);
        _borrow(1);
        vm.expectPartialRevert(ForecastFeed.Stale.selector);
        vm.prank(alice);
        vault.withdraw(1);
        vm.prank(bob);
        vault.repay(alice, 1_000e18);
        vm.prank(alice);
        vault.withdraw(2 ether);
    }

    function test_liquidate_price_succeeds() public {
        _deposit(1 ether);
        _forecast(0);
        _borrow(2_400e18);
        vm.prank(bob);
        vm.expectRevert(abi.encodeWithSelector(QuantileVault.Healthy.selector, 2_400e18, 2_700e18));
        vault.liquidate(alice);
        _priced(2_600e8);
        uint256 before = bob.balance;
        vm.prank(bob);
        vault.liquidate(alice);
        assertEq(bob.balance, before + 1 ether);
        (uint128 held, uint128 debt) = vault.positions(alice);
        assertEq(uint256(held) + debt, 0);
    }

    /// @dev A wei that somebody pays first does not make a payment of all fail.
    function test_repay_paidInPart_succeeds() public {
        _deposit(1 ether);
        _forecast(0);
        _borrow(1_000e18);
        uint256 before = cash.balanceOf(bob);
        vm.startPrank(bob);
        vault.repay(alice, 1);
        vault.repay(alice, 1_000e18);
        vault.repay(alice, 1_000e18);
        vm.stopPrank();
        assertEq(before - cash.balanceOf(bob), 1_000e18);
        (, uint128 debt) = vault.positions(alice);
        assertEq(debt, 0);
    }

    /// @dev A debt of just the share is healthy, whatever less than it is not.
    function test_liquidate_exactLimit_reverts() public {
        _deposit(1 ether);
        _forecast(0);
        _borrow(2_340e18);
        _priced(2_600e8);
        vm.startPrank(bob);
        vm.expectRevert(abi.encodeWithSelector(QuantileVault.Healthy.selector, 2_340e18, 2_340e18));
        vault.liquidate(alice);
        _priced(2_600e8 - 1);
        vault.liquidate(alice);
        vm.stopPrank();
    }

    function test_worth_price_reverts() public {
        int256[2] memory answers = [int256(0), -1];
        for (uint256 i; i < answers.length; ++i) {
            _priced(answers[i]);
            vm.expectRevert(abi.encodeWithSelector(QuantileVault.PriceInvalid.selector, answers[i]));
            vault.worth(1);
        }
    }

    function test_constructor_decimals_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(QuantileVault.FeedInvalid.selector, address(price)));
        new QuantileVault(cash, price, PRICE_AGE, price);
    }

    /// @dev The vault holds what its positions say, and nobody owes more than was lent on at the time.
    function testFuzz_moves_money_succeeds(uint256[16] calldata dice) public {
        _forecast(-100_000);
        uint256 start = cash.balanceOf(address(vault));
        for (uint256 i; i < dice.length; ++i) {
            address who = dice[i] & 1 == 0 ? alice : bob;
            uint128 amount = uint128(dice[i] >> 8) % (dice[i] & 2 == 0 ? 10 ether : 20_000e18);
            uint256 move = (dice[i] >> 4) % 5;
            vm.startPrank(who);
            cash.approve(address(vault), type(uint256).max);
            if (move == 0) {
                vault.deposit{value: amount % 10 ether}();
            } else if (move == 1) {
                try vault.withdraw(amount) {} catch {}
            } else if (move == 2) {
                try vault.borrow(amount) {} catch {}
            } else if (move == 3) {
                try vault.repay(who == alice ? bob : alice, amount) {} catch {}
            }
            vm.stopPrank();
            if (move == 4) _priced(int256(2_000e8 + (dice[i] >> 160) % 2_000e8));
        }
        (uint128 a, uint128 owedByAlice) = vault.positions(alice);
        (uint128 b, uint128 owedByBob) = vault.positions(bob);
        assertEq(address(vault).balance, uint256(a) + b);
        assertEq(cash.balanceOf(address(vault)) + owedByAlice + owedByBob, start);
    }
}
