// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {DailySeries} from "../../../verifier-contracts/feeds/DailySeries.sol";
import {ForecastFeed} from "../../../verifier-contracts/feeds/ForecastFeed.sol";
import {OUTPUT_RAW, OUTPUT_WORDS} from "../../../verifier-contracts/generated/Codes.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IExecutionLane} from "../../../verifier-contracts/interfaces/IExecutionLane.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {Claim, LANE_BOND, ModelId, Request} from "../../../verifier-contracts/types/Types.sol";
import {FeedFixture} from "./FeedFixture.sol";
import {TestSource} from "./TestSource.sol";

contract ForecastFeedTest is FeedFixture {
    event RoundWritten(
        uint80 indexed roundId, bytes32 indexed requestId, int256 answer, int256 output, uint40 observedAt
    );

    /// @dev The next day, recorded, and over for longer than the grace.
    function _nextDay() private {
        _recordAt(1001, block.timestamp);
        skip(1 days);
    }

    function _latest() private view returns (int256 answer, uint256 startedAt, uint256 updatedAt) {
        (, answer, startedAt, updatedAt,) = feed.latestRoundData();
    }

    function test_update_finalClaim_succeeds() public {
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.NoRound.selector, 0));
        feed.latestRoundData();
        feed.announce();
        (, uint40 observedAt) = series.newest(SELECTOR);
        (Request memory r, Claim memory c) = _final(-35_000);
        vm.expectEmit(address(feed));
        emit RoundWritten(1, _requestId(r), -35_000, -35_000, observedAt);
        vm.prank(stranger);
        feed.update(r, c, _outputOf(-35_000));
        (int256 answer, uint256 startedAt, uint256 updatedAt) = _latest();
        assertEq(answer, -35_000);
        assertEq(startedAt, observedAt);
        assertEq(updatedAt, block.timestamp);
        assertEq(feed.latestRound(), 1);
    }

    function test_update_clamped_succeeds() public {
        feed.announce();
        (Request memory r, Claim memory c) = _final(type(int256).min);
        feed.update(r, c, _outputOf(type(int256).min));
        (int256 answer,,) = _latest();
        assertEq(answer, feed.lower());
        _nextDay();
        feed.announce();
        (r, c) = _final(1);
        feed.update(r, c, _outputOf(1));
        (answer,,) = _latest();
        assertEq(answer, feed.upper());
        (, answer,,,) = feed.getRoundData(1);
        assertEq(answer, feed.lower());
    }

    /// @dev Nobody writes what is not final, not of the model, not of the series, or not new.
    function test_update_notFinal_reverts() public {
        feed.announce();
        Request memory r = _asked(1 ether);
        Claim memory c = _claim(r, prover, _outputOf(-1));
        skip(WINDOW - 1);
        vm.expectPartialRevert(IAssayErrors.ClaimNotFinal.selector);
        feed.update(r, c, _outputOf(-1));
        skip(1);
        vm.expectPartialRevert(IAssayErrors.OutputMismatch.selector);
        feed.update(r, c, _outputOf(-2));
        feed.update(r, c, _outputOf(-1));
        vm.expectPartialRevert(ForecastFeed.NotNewer.selector);
        feed.update(r, c, _outputOf(-1));
    }

    function test_update_notAnnounced_reverts() public {
        (Request memory r, Claim memory c) = _final(-1);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.NotAnnounced.selector, r.inputHash));
        feed.update(r, c, _outputOf(-1));
        // The input may be announced when its output is final, as long as the series gives it.
        feed.announce();
        feed.update(r, c, _outputOf(-1));
    }

    function test_update_weakClaim_reverts() public {
        feed.announce();
        // A bond below the feed's.
        Request memory r = _asked(1 ether - 1);
        Claim memory c = _claim(r, prover, _outputOf(-1));
        skip(WINDOW);
        vm.expectPartialRevert(IAssayErrors.BondTooSmall.selector);
        feed.update(r, c, _outputOf(-1));
    }

    function test_update_otherModel_reverts() public {
        feed.announce();
        (Request memory r, Claim memory c) = _final(-1);
        r.modelId = MODEL;
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.WrongModel.selector, MODEL, FORECAST));
        feed.update(r, c, _outputOf(-1));
    }

    /// @dev An input that somebody announced before the day was completed is overtaken by newer data only.
    function test_update_order_reverts() public {
        feed.announce();
        (Request memory old, Claim memory oldClaim) = _final(-1);
        _nextDay();
        feed.announce();
        (Request memory r, Claim memory c) = _final(-2);
        feed.update(r, c, _outputOf(-2));
        vm.expectPartialRevert(ForecastFeed.NotNewer.selector);
        feed.update(old, oldClaim, _outputOf(-1));
    }

    function test_update_stale_reverts() public {
        feed.announce();
        (, uint40 observedAt) = series.newest(SELECTOR);
        (Request memory r, Claim memory c) = _final(-1);
        vm.warp(observedAt + MAX_AGE + 1);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.Stale.selector, observedAt, MAX_AGE));
        feed.update(r, c, _outputOf(-1));
        vm.warp(observedAt + MAX_AGE);
        feed.update(r, c, _outputOf(-1));
        _latest();
        skip(1);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.Stale.selector, observedAt, MAX_AGE));
        feed.latestRoundData();
        // History stays.
        (, int256 answer,,,) = feed.getRoundData(1);
        assertEq(answer, -1);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.NoRound.selector, 2));
        feed.getRoundData(2);
    }

    /// @dev Prices that do not move make the same input: what was announced of an earlier day is no newer round, until
    /// somebody announces it again.
    function test_announce_sameInput_succeeds() public {
        source = new TestSource(8);
        series = new DailySeries(source, DAYS, 0, 1 hours);
        for (uint256 i = DAYS; i != 0; --i) {
            _recordAt(1000, block.timestamp - i * 1 days);
        }
        feed = new ForecastFeed(_sources(), _terms(), _rules());
        bytes32 inputHash = feed.announce();
        (Request memory r, Claim memory c) = _final(-1);
        feed.update(r, c, _outputOf(-1));
        _recordAt(1000, block.timestamp);
        skip(1 days);
        (, uint40 observedAt) = series.newest(SELECTOR);
        vm.expectPartialRevert(ForecastFeed.NotNewer.selector);
        feed.update(r, c, _outputOf(-1));
        assertEq(feed.announce(), inputHash);
        feed.update(r, c, _outputOf(-1));
        (, uint256 startedAt,) = _latest();
        assertEq(startedAt, observedAt);
    }

    /// @dev Who is first to record a day that has long been over, as on a series' first day, chooses among the
    /// source's rounds, and the round that he makes of them stays.
    function test_announce_lateDays_succeeds() public {
        source = new TestSource(8);
        series = new DailySeries(source, DAYS, 0, 1 hours);
        feed = new ForecastFeed(_sources(), _terms(), _rules());
        uint256 noon = block.timestamp;
        for (uint256 i = DAYS; i != 0; --i) {
            source.push(500, noon - i * 1 days - 1);
            _recordAt(1000, noon - i * 1 days);
        }
        feed.announce();
        (Request memory r, Claim memory c) = _final(-1);
        uint80[] memory lows = new uint80[](DAYS);
        for (uint80 i; i < DAYS; ++i) {
            lows[i] = 2 * i + 1;
        }
        series.recordRounds(lows);
        assertTrue(feed.announce() != r.inputHash);
        feed.update(r, c, _outputOf(-1));
        (Request memory whole, Claim memory claim) = _final(-2);
        vm.expectPartialRevert(ForecastFeed.NotNewer.selector);
        feed.update(whole, claim, _outputOf(-2));
    }

    function test_updateExecuted_noInterpreter_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.LanesInvalid.selector, ALL_LANES));
        feed.updateExecuted();
    }

    function test_constructor_errors_reverts() public {
        ForecastFeed.Sources memory sources = _sources();
        ForecastFeed.Terms memory terms = _terms();
        ForecastFeed.Rules memory rules = _rules();
        rules.element = 3;
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.NoSuchElement.selector, 3, OUTPUT_WORDS, 96));
        new ForecastFeed(sources, terms, rules);
        rules.element = 2;
        registry.setModel(FORECAST, ModelWord.unwrap(_forecastWord(OUTPUT_RAW)));
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.NoSuchElement.selector, 2, OUTPUT_RAW, 96));
        new ForecastFeed(sources, terms, rules);
        registry.setModel(FORECAST, ModelWord.unwrap(_forecastWord(OUTPUT_WORDS)));
        rules.lower = 1;
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.RulesInvalid.selector, 1, 0, MAX_AGE));
        new ForecastFeed(sources, terms, rules);
        (rules.lower, rules.maxAge) = (0, 0);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.RulesInvalid.selector, 0, 0, 0));
        new ForecastFeed(sources, terms, rules);
        rules = _rules();
        uint8[2] memory lanes = [0, 8];
        for (uint256 i; i < lanes.length; ++i) {
            terms.lanes = lanes[i];
            vm.expectRevert(abi.encodeWithSelector(ForecastFeed.LanesInvalid.selector, lanes[i]));
            new ForecastFeed(sources, terms, rules);
        }
        terms.lanes = LANE_BOND;
        sources.interpreter = IInterpreter(address(1));
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.LanesInvalid.selector, LANE_BOND));
        new ForecastFeed(sources, terms, rules);
        terms.lanes = ALL_LANES;
        vm.mockCall(
            address(assay.executionAdapter()),
            abi.encodeCall(IExecutionLane.interpreter, ()),
            abi.encode(address(2))
        );
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.InterpreterInvalid.selector, sources.interpreter));
        new ForecastFeed(sources, terms, rules);
        terms.modelId = ModelId.wrap(0);
        vm.expectRevert(abi.encodeWithSelector(ForecastFeed.UnknownModel.selector, terms.modelId));
        new ForecastFeed(sources, terms, rules);
    }

    function _requestId(Request memory r) private view returns (bytes32 id) {
        return keccak256(abi.encode(block.chainid, address(assay), r));
    }
}
