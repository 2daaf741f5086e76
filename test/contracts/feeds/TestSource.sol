// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AggregatorV3Interface} from "../../../verifier-contracts/feeds/AggregatorV3Interface.sol";

/// @notice A price feed whose rounds a test writes.
contract TestSource is AggregatorV3Interface {
    uint256 public constant version = 1;
    string public constant description = "TEST / USD";
    uint8 public immutable decimals;
    uint80 public latest;
    mapping(uint80 roundId => int256) private _answers;
    mapping(uint80 roundId => uint256) private _times;

    constructor(uint8 decimals_) {
        decimals = decimals_;
    }

    function push(int256 answer, uint256 updatedAt) external returns (uint80) {
        (_answers[++latest], _times[latest]) = (answer, updatedAt);
        return latest;
    }

    function pushMany(int256[] calldata answers, uint256[] calldata times) external {
        for (uint256 i; i < answers.length; ++i) {
            (_answers[++latest], _times[latest]) = (answers[i], times[i]);
        }
    }

    /// @notice Completes a round that has begun.
    function complete(uint80 id, int256 answer, uint256 updatedAt) external {
        (_answers[id], _times[id]) = (answer, updatedAt);
    }

    function getRoundData(uint80 id) public view virtual returns (uint80, int256, uint256, uint256, uint80) {
        return (id, _answers[id], _times[id], _times[id], id);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latest);
    }
}
