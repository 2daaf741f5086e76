// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {DailySeries} from "../../../verifier-contracts/feeds/DailySeries.sol";
import {ISeries} from "../../../verifier-contracts/feeds/ISeries.sol";
import {Test} from "../support/Test.sol";
import {TestSource} from "./TestSource.sol";

contract DailySeriesTest is Test {
    uint256 private constant TODAY = 20_000;
    uint256 private constant GRACE = 1 hours;
    uint256 private constant LENGTH = 5;
    uint256 private constant MAX_GAP = 2;
    bytes4 private constant SELECTOR = 0x12345678;

    TestSource private source;
    DailySeries private series;

    function setUp() public {
        source = new TestSource(8);
        series = new DailySeries(source, LENGTH, MAX_GAP, GRACE);
        vm.warp(TODAY * 1 days + GRACE);
    }

    function _record(uint80 id) private {
        uint80[] memory ids = new uint80[](1);
        ids[0] = id;
        series.recordRounds(ids);
    }

    function _push(int256 answer, uint256 time) private returns (uint80) {
        return source.push(answer, time);
    }

    /// @dev One round a day, the price the day's number behind TODAY - 200.
    function _days(uint256 first, uint256 last) private {
        for (uint256 day = first; day <= last; ++day) {
            _record(_push(int256(day + 200 - TODAY), day * 1 days + 7));
        }
    }

    function _refused(bytes memory why) private {
        vm.expectRevert(why);
        series.newest(SELECTOR);
    }

    function _tooFew(uint256 known) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISeries.TooFewDays.selector, known, LENGTH);
    }

    function test_newest_days_succeeds() public {
        _days(TODAY - LENGTH, TODAY - 1);
        (bytes memory input, uint40 observedAt) = series.newest(SELECTOR);
        uint256[] memory prices = new uint256[](LENGTH);
        for (uint256 i; i < LENGTH; ++i) {
            prices[i] = 195 + i;
        }
        assertEq(input, abi.encodeWithSelector(SELECTOR, prices, prices, prices));
        assertEq(observedAt, (TODAY - 1) * 1 days + 7);
    }

    /// @dev A day counts when everybody had time to record what somebody left out.
    function test_newest_grace_succeeds() public {
        _days(TODAY - LENGTH - 1, TODAY - 1);
        vm.warp(TODAY * 1 days + GRACE - 1);
        (, uint40 before) = series.newest(SELECTOR);
        assertEq(before, (TODAY - 2) * 1 days + 7);
        skip(1);
        (, uint40 observedAt) = series.newest(SELECTOR);
        assertEq(observedAt, (TODAY - 1) * 1 days + 7);
        // Today's rounds do not count at all.
        vm.warp(TODAY * 1 days + 20 hours);
        _record(_push(1e8, block.timestamp));
        (, observedAt) = series.newest(SELECTOR);
        assertEq(observedAt, (TODAY - 1) * 1 days + 7);
    }

    function test_newest_gaps_reverts() public {
        _refused(_tooFew(0));
        _days(TODAY - 4, TODAY - 1);
        _refused(_tooFew(4));
        _days(TODAY - 7, TODAY - 7);
        series.newest(SELECTOR);
        // The same with a day more between them.
        series = new DailySeries(source, LENGTH, MAX_GAP, GRACE);
        _days(TODAY - 4, TODAY - 1);
        _days(TODAY - 8, TODAY - 8);
        _refused(_tooFew(4));
        // Nothing new for longer than a gap.
        _days(TODAY - 5, TODAY - 5);
        skip(MAX_GAP * 1 days);
        series.newest(SELECTOR);
        skip(1 days);
        _refused(_tooFew(0));
    }

    /// @dev Of rounds of one second the first that is recorded is the close: none comes after it.
    function test_record_sameSecond_succeeds() public {
        uint256 time = (TODAY - 1) * 1 days + 7;
        (uint80 first, uint80 second) = (_push(5, time), _push(9, time));
        _record(second);
        _record(first);
        DailySeries.Bar memory bar = series.barOf(TODAY - 1);
        assertEq(bar.close, 9);
        assertEq(bar.low, 5);
    }

    function test_record_errors_reverts() public {
        int256[3] memory answers = [int256(0), -1, int256(uint256(type(uint72).max)) + 1];
        for (uint256 i; i < answers.length; ++i) {
            uint80 id = _push(answers[i], block.timestamp);
            vm.expectRevert(abi.encodeWithSelector(DailySeries.PriceInvalid.selector, id, answers[i]));
            series.record();
        }
        uint256[3] memory times = [uint256(0), block.timestamp + 1, type(uint256).max];
        for (uint256 i; i < times.length; ++i) {
            uint80 id = _push(1, times[i]);
            vm.expectRevert(abi.encodeWithSelector(DailySeries.TimeInvalid.selector, id, times[i]));
            series.record();
        }
        uint256 oldest = TODAY + 1 - series.KEPT_DAYS();
        _push(1, oldest * 1 days);
        series.record();
        _push(1, oldest * 1 days - 1);
        vm.expectRevert(abi.encodeWithSelector(DailySeries.TooOld.selector, oldest - 1, oldest));
        series.record();
    }

    function test_record_decimals_succeeds() public {
        source = new TestSource(18);
        series = new DailySeries(source, LENGTH, MAX_GAP, GRACE);
        _push(3_000e18 + 1, block.timestamp);
        series.record();
        assertEq(series.barOf(TODAY).close, 3_000e8);
        uint80 id = _push(1e10 - 1, block.timestamp);
        vm.expectRevert(abi.encodeWithSelector(DailySeries.PriceInvalid.selector, id, 1e10 - 1));
        series.record();
    }

    function test_constructor_limits_reverts() public {
        uint256 most = series.KEPT_DAYS() - 2;
        vm.expectRevert(abi.encodeWithSelector(DailySeries.DaysInvalid.selector, 1, most));
        new DailySeries(source, 1, 0, 1);
        vm.expectRevert(abi.encodeWithSelector(DailySeries.DaysInvalid.selector, most + 1, most));
        new DailySeries(source, most + 1, 0, 1);
        vm.expectRevert(abi.encodeWithSelector(DailySeries.GraceInvalid.selector, 0, 1 days - 1));
        new DailySeries(source, 2, 0, 0);
        vm.expectRevert(abi.encodeWithSelector(DailySeries.GraceInvalid.selector, 1 days, 1 days - 1));
        new DailySeries(source, 2, 0, 1 days);
        // The longest one can be filled and read at the day's last second before grace ends.
        series = new DailySeries(source, most, 0, 1 hours);
        vm.warp(TODAY * 1 days + 1 hours - 1);
        _days(TODAY - 1 - most, TODAY - 2);
        (, uint40 observedAt) = series.newest(SELECTOR);
        assertEq(observedAt, (TODAY - 2) * 1 days + 7);
    }

    /// @dev Bars are over the recorded rounds, whatever their order, and however often one comes.
    function testFuzz_record_anyOrder_succeeds(uint256[24] memory seeds) public {
        for (uint256 i; i < seeds.length; ++i) {
            _push(int256(1 + seeds[i] % 1000), block.timestamp - (seeds[i] >> 64) % (4 days));
        }
        uint256 recorded;
        for (uint256 i; i < seeds.length; ++i) {
            uint80 id = uint80(1 + (seeds[i] >> 128) % seeds.length);
            _record(id);
            recorded |= 1 << id;
        }
        for (uint256 day = TODAY - 4; day <= TODAY; ++day) {
            (uint256 close, uint256 high, uint256 low, uint256 closeAt) = _naive(recorded, day);
            DailySeries.Bar memory bar = series.barOf(day);
            assertEq(abi.encode(high, low, closeAt), abi.encode(bar.high, bar.low, bar.closeAt));
            // Of rounds of one second the first that was recorded stays.
            if (closeAt != 0) assertTrue(_isOf(recorded, bar.close, closeAt));
            else assertEq(close, bar.close);
        }
    }

    function _naive(uint256 recorded, uint256 day)
        private
        view
        returns (uint256 close, uint256 high, uint256 low, uint256 closeAt)
    {
        for (uint80 id = 1; id <= source.latest(); ++id) {
            (, int256 answer,, uint256 time,) = source.getRoundData(id);
            if (recorded >> id & 1 == 0 || time / 1 days != day) continue;
            uint256 price = uint256(answer);
            if (price > high) high = price;
            if (closeAt == 0 || price < low) low = price;
            if (time > closeAt) (close, closeAt) = (price, time);
        }
    }

    function _isOf(uint256 recorded, uint256 price, uint256 time) private view returns (bool) {
        for (uint80 id = 1; id <= source.latest(); ++id) {
            (, int256 answer,, uint256 time,) = source.getRoundData(id);
            if (recorded >> id & 1 == 1 && uint256(answer) == price && time == time) return true;
        }
        return false;
    }
}
