// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {TestSource} from "./TestSource.sol";

/// @notice A proxy of price feeds: ids begin with the number of a phase, and an id that no phase has reverts.
contract TestPhasedSource is TestSource {
    error NoDataPresent(uint80 roundId);

    constructor(uint8 decimals_) TestSource(decimals_) {}

    function beginPhase(uint80 phase) external {
        latest = phase << 64;
    }

    function getRoundData(uint80 id)
        public
        view
        override
        returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredIn)
    {
        (roundId, answer, startedAt, updatedAt, answeredIn) = super.getRoundData(id);
        if (updatedAt == 0) revert NoDataPresent(id);
    }
}
