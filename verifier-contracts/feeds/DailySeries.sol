// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {AggregatorV3Interface} from "./AggregatorV3Interface.sol";
import {ISeries} from "./ISeries.sol";

/// @title Daily close, high and low of a price feed, as the models of the codec prices read them
/// @notice Anybody records rounds of the feed, in any order, late ones too: a day's bar is over those that were
/// recorded, so a record can only make it more complete. A day counts when it has been over for `grace`, so that one who
/// records only what suits him can be completed by anybody before it is used. The source alone is trusted, with its
/// prices and times.
contract DailySeries is ISeries {
    /// @param closeAt second of the day's last recorded round, 0 for a day without one
    struct Bar {
        uint72 close;
        uint72 high;
        uint72 low;
        uint40 closeAt;
    }

    event Recorded(uint256 indexed day, uint80 indexed roundId, Bar bar);

    /// @notice Thrown for a price that is not positive, or does not fit 72 bits at eight decimals.
    error PriceInvalid(uint80 roundId, int256 answer);
    /// @notice Thrown for a round that is not over, or of the future.
    error TimeInvalid(uint80 roundId, uint256 updatedAt);
    /// @notice Thrown for a round of a day that no input reads any more.
    error TooOld(uint256 day, uint256 oldest);
    error DaysInvalid(uint256 length, uint256 most);
    error GraceInvalid(uint256 grace, uint256 most);

    /// @notice Days that are kept, those without a price among them.
    uint256 public constant KEPT_DAYS = 128;
    uint256 private constant DECIMALS = 8;

    AggregatorV3Interface public immutable source;
    /// @notice Days of an input.
    uint256 public immutable length;
    /// @notice Days without a price that may lie between two days of an input, and behind the last.
    uint256 public immutable maxGap;
    /// @notice Seconds from a day's end until it counts.
    uint256 public immutable grace;
    uint256 private immutable _unit;

    mapping(uint256 slot => Bar) private _bars;

    constructor(AggregatorV3Interface source_, uint256 length_, uint256 maxGap_, uint256 grace_) {
        if (length_ < 2 || length_ > KEPT_DAYS - 2) revert DaysInvalid(length_, KEPT_DAYS - 2);
        if (grace_ == 0 || grace_ >= 1 days) revert GraceInvalid(grace_, 1 days - 1);
        source = source_;
        length = length_;
        maxGap = maxGap_;
        grace = grace_;
        uint256 decimals = source_.decimals();
        _unit = decimals > DECIMALS ? 10 ** (decimals - DECIMALS) : 1;
    }

    /// @notice Records the source's latest round.
    function record() external {
        (uint80 roundId, int256 answer,, uint256 updatedAt,) = source.latestRoundData();
        _record(roundId, answer, updatedAt);
    }

    /// @notice Records earlier rounds of the source.
    function recordRounds(uint80[] calldata roundIds) external {
        for (uint256 i; i < roundIds.length; ++i) {
            (, int256 answer,, uint256 updatedAt,) = source.getRoundData(roundIds[i]);
            _record(roundIds[i], answer, updatedAt);
        }
    }

    /// @notice What was recorded of a day, zeros if nothing was or it is kept no more.
    /// @param day days since 1970
    function barOf(uint256 day) public view returns (Bar memory bar) {
        bar = _bars[day % KEPT_DAYS];
        if (bar.closeAt / 1 days != day) delete bar;
    }

    /// @inheritdoc ISeries
    function newest(bytes4 selector) external view returns (bytes memory input, uint40 observedAt) {
        uint256[] memory closes = new uint256[](length);
        uint256[] memory highs = new uint256[](length);
        uint256[] memory lows = new uint256[](length);
        uint256 day = (block.timestamp - grace) / 1 days - 1;
        uint256 missing = length;
        uint256 gap;
        for (uint256 i; missing != 0; ++i) {
            // The last day that counts may be the day before yesterday: that many days are surely kept.
            if (i == KEPT_DAYS - 2 || gap > maxGap) revert TooFewDays(length - missing, length);
            Bar memory bar = barOf(day - i);
            if (bar.closeAt == 0) {
                ++gap;
                continue;
            }
            gap = 0;
            if (observedAt == 0) observedAt = bar.closeAt;
            --missing;
            (closes[missing], highs[missing], lows[missing]) = (bar.close, bar.high, bar.low);
        }
        input = bytes.concat(selector, abi.encode(closes, highs, lows));
    }

    function _record(uint80 roundId, int256 answer, uint256 updatedAt) private {
        uint256 price = answer > 0 ? uint256(answer) / _unit : 0;
        if (price == 0 || price > type(uint72).max) revert PriceInvalid(roundId, answer);
        if (updatedAt == 0 || updatedAt > block.timestamp) revert TimeInvalid(roundId, updatedAt);
        uint256 day = updatedAt / 1 days;
        uint256 oldest = block.timestamp / 1 days + 1 - KEPT_DAYS;
        if (day < oldest) revert TooOld(day, oldest);
        Bar memory bar = barOf(day);
        // SAFETY: both were compared with their types' limits.
        (uint72 p, uint40 time) = (uint72(price), uint40(updatedAt));
        if (bar.closeAt == 0) {
            bar = Bar(p, p, p, time);
        } else {
            if (p > bar.high) bar.high = p;
            if (p < bar.low) bar.low = p;
            if (time > bar.closeAt) (bar.close, bar.closeAt) = (p, time);
        }
        _bars[day % KEPT_DAYS] = bar;
        emit Recorded(day, roundId, bar);
    }
}
