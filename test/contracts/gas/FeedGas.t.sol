// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ExecutionLane} from "../../../verifier-contracts/execution/ExecutionLane.sol";
import {DailySeries} from "../../../verifier-contracts/feeds/DailySeries.sol";
import {ForecastFeed} from "../../../verifier-contracts/feeds/ForecastFeed.sol";
import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {Claim, LANE_EXECUTION, ModelId, Request} from "../../../verifier-contracts/types/Types.sol";
import {ExecutionFixture} from "../execution/ExecutionFixture.sol";
import {FeedFixture} from "../feeds/FeedFixture.sol";
import {TestSource} from "../feeds/TestSource.sol";

/// @notice Where a feed finds the registry.
contract RegistryHolder {
    IModelRegistry public immutable registry;
    ExecutionLane public immutable executionAdapter;

    constructor(IModelRegistry registry_, IInterpreter interpreter) {
        registry = registry_;
        executionAdapter = new ExecutionLane(interpreter);
    }
}

/// @notice Rounds of forecast-btc over 65 recorded days, run by the chain. With --isolate whole transactions.
contract ExecutedFeedGasTest is ExecutionFixture {
    uint256 private constant DAYS = 65;
    uint256 private constant TODAY = 20_000;

    TestSource private _source;
    DailySeries private _series;

    function _btc() private view returns (ModelRun memory v) {
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        while (true) {
            v = readModelRun(vm.parseBytes(this.unquoted(bytes(vm.readLine(path)))));
            if (keccak256(bytes(v.name)) == keccak256("forecast-btc")) return v;
        }
    }

    function arguments(bytes calldata input)
        external
        pure
        returns (uint256[] memory, uint256[] memory, uint256[] memory)
    {
        return abi.decode(input[4:], (uint256[], uint256[], uint256[]));
    }

    function _record(uint256 price, uint256 time) private {
        // forge-lint: disable-next-line(unsafe-typecast)
        _source.push(int256(price), time);
        _series.record();
    }

    /// @dev Each day's high, low and close, as somebody records them who has looked at all rounds of the day.
    function _recordDays(bytes memory input) private {
        (uint256[] memory closes, uint256[] memory highs, uint256[] memory lows) = this.arguments(input);
        for (uint256 i; i < DAYS; ++i) {
            uint256 start = (TODAY - DAYS + i) * 1 days;
            _record(highs[i], start);
            _record(lows[i], start + 1);
            _record(closes[i], start + 2);
        }
    }

    function test_updateExecuted_gas_succeeds() public {
        ModelRun memory v = _btc();
        ModelId modelId = publishRun(v);
        _source = new TestSource(8);
        _series = new DailySeries(_source, DAYS, 3, 1 hours);
        vm.warp(TODAY * 1 days + 1 hours);
        _recordDays(v.inputs[0]);
        vm.snapshotGasLastCall("feeds", "record a round of a day that has one");
        (bytes memory input,) = _series.newest(v.selector);
        assertEq(input, v.inputs[0]);
        ForecastFeed feed = new ForecastFeed(
            ForecastFeed.Sources(
                IAssay(address(new RegistryHolder(registry, interpreter))), interpreter, _series
            ),
            ForecastFeed.Terms(modelId, LANE_EXECUTION, 0, 0),
            ForecastFeed.Rules(0, 6, -1e6, 1e6, 2 days, "BTC, next day's return, 10 % quantile")
        );
        feed.updateExecuted();
        vm.snapshotGasLastCall("feeds", "round, executed: forecast-btc over 65 days");
        (, int256 answer,,,) = feed.latestRoundData();
        vm.snapshotGasLastCall("feeds", "read: latestRoundData");
        assertEq(abi.encode(answer), this.slice(v.outputs[0], 0, 32));
        assertTrue(answer < 0);
    }
}

/// @notice Rounds that come from claims. The input has five days; `announce` of 65 reads sixty slots more.
contract ClaimedFeedGasTest is FeedFixture {
    function test_update_gas_succeeds() public {
        (Request memory r, Claim memory c) = _final(-35_000);
        feed.announce();
        vm.snapshotGasLastCall("feeds", "announce an input of five days");
        feed.update(r, c, _outputOf(-35_000));
        vm.snapshotGasLastCall("feeds", "round, claimed, first");
        _recordAt(1001, block.timestamp);
        skip(1 days);
        feed.announce();
        (r, c) = _final(-30_000);
        feed.update(r, c, _outputOf(-30_000));
        vm.snapshotGasLastCall("feeds", "round, claimed");
    }
}
