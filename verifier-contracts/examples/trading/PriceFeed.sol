// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @title The last days of a price, as the forecast models read them
/// @notice Whoever writes it is trusted with the prices: a local stand-in for a price oracle.
contract PriceFeed {
    event DayAdded(uint256 indexed day, uint256 close, uint256 high, uint256 low);

    /// @notice Thrown when somebody else than the writer adds a day.
    error NotWriter(address sender, address writer);
    /// @notice Thrown for a day whose low is 0 or whose prices are out of order.
    error PricesInvalid(uint256 close, uint256 high, uint256 low);
    /// @notice Thrown when there are fewer days than a forecast needs.
    error TooFewDays(uint256 known, uint256 required);

    struct Day {
        uint64 close;
        uint64 high;
        uint64 low;
    }

    /// @dev What the daily forecasts take.
    uint256 public constant DAYS = 65;

    address public immutable writer;
    uint256 public count;
    Day[DAYS] private _days;

    constructor(address writer_) {
        writer = writer_;
    }

    /// @notice Adds days, the oldest first. Prices times 10^4.
    function add(Day[] calldata added) external {
        if (msg.sender != writer) revert NotWriter(msg.sender, writer);
        for (uint256 i; i < added.length; ++i) {
            Day calldata day = added[i];
            if (day.low == 0 || day.low > day.close || day.close > day.high) {
                revert PricesInvalid(day.close, day.high, day.low);
            }
            emit DayAdded(count, day.close, day.high, day.low);
            _days[count++ % DAYS] = day;
        }
    }

    /// @notice The last close, times 10^4.
    function price() external view returns (uint256) {
        if (count == 0) revert TooFewDays(0, 1);
        return _days[(count - 1) % DAYS].close;
    }

    /// @notice The last 65 days, the oldest first.
    function window()
        external
        view
        returns (uint256[] memory closes, uint256[] memory highs, uint256[] memory lows)
    {
        if (count < DAYS) revert TooFewDays(count, DAYS);
        closes = new uint256[](DAYS);
        highs = new uint256[](DAYS);
        lows = new uint256[](DAYS);
        for (uint256 i; i < DAYS; ++i) {
            Day memory day = _days[(count + i) % DAYS];
            (closes[i], highs[i], lows[i]) = (day.close, day.high, day.low);
        }
    }
}
