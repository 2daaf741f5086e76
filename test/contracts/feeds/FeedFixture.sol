// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {DailySeries} from "../../../verifier-contracts/feeds/DailySeries.sol";
import {ForecastFeed} from "../../../verifier-contracts/feeds/ForecastFeed.sol";
import {INPUT_PRICES, OUTPUT_WORDS} from "../../../verifier-contracts/generated/Codes.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {
    MODEL_DEPTH,
    MODEL_INPUT_CODEC,
    MODEL_INPUT_SIZE,
    MODEL_LANES,
    MODEL_OUTPUT_CODEC,
    MODEL_OUTPUT_LENGTH,
    MODEL_SELECTOR,
    ModelWord,
    newModelWord
} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {Claim, ModelId, Request} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";
import {TestSource} from "./TestSource.sol";

/// @notice A feed of the second of three numbers over a series of five days, of a model that nothing but claims judge.
abstract contract FeedFixture is AssayFixture {
    uint256 internal constant DAYS = 5;
    uint32 internal constant MAX_AGE = 2 days;
    ModelId internal constant FORECAST = ModelId.wrap(keccak256("forecast"));

    TestSource internal source;
    DailySeries internal series;
    ForecastFeed internal feed;
    uint64 private _salt;

    function setUp() public virtual override {
        super.setUp();
        registry.setModel(FORECAST, ModelWord.unwrap(_forecastWord(OUTPUT_WORDS)));
        source = new TestSource(8);
        series = new DailySeries(source, DAYS, 0, 1 hours);
        vm.warp(1_800_000_000 / 1 days * 1 days + 2 hours);
        for (uint256 i = DAYS; i != 0; --i) {
            _recordAt(1000 + int256(i), block.timestamp - i * 1 days);
        }
        feed = new ForecastFeed(_sources(), _terms(), _rules());
    }

    function _forecastWord(uint256 outputCodec) internal pure returns (ModelWord) {
        return newModelWord().with(MODEL_LANES, ALL_LANES).with(MODEL_DEPTH, DEPTH)
            .with(MODEL_SELECTOR, uint32(SELECTOR)).with(MODEL_OUTPUT_LENGTH, 96)
            .with(MODEL_INPUT_CODEC, INPUT_PRICES).with(MODEL_OUTPUT_CODEC, outputCodec)
            .with(MODEL_INPUT_SIZE, DAYS);
    }

    function _recordAt(int256 price, uint256 time) internal {
        source.push(price, time);
        series.record();
    }

    function _sources() internal view returns (ForecastFeed.Sources memory) {
        return ForecastFeed.Sources(assay, IInterpreter(address(0)), series);
    }

    function _terms() internal pure returns (ForecastFeed.Terms memory) {
        return ForecastFeed.Terms(FORECAST, ALL_LANES, 1 ether, WINDOW);
    }

    function _rules() internal pure returns (ForecastFeed.Rules memory) {
        return ForecastFeed.Rules(1, 6, -500_000, 0, MAX_AGE, "ETH 1d 10%");
    }

    function _newest() internal view returns (bytes memory input) {
        (input,) = series.newest(SELECTOR);
    }

    function _outputOf(int256 number) internal pure returns (bytes memory) {
        return abi.encode(int256(7), number, int256(9));
    }

    /// @notice A request for the newest input, filed.
    function _asked(uint96 minBond) internal returns (Request memory r) {
        r = _newRequest();
        r.modelId = FORECAST;
        bytes memory input = _newest();
        r.inputHash = keccak256(input);
        r.minBond = minBond;
        r.salt = _salt++;
        vm.prank(r.requester);
        assay.request{value: r.fee}(FORECAST, Orders.pack(r, input));
    }

    /// @notice A claim of this number about the newest input that has stood through its window.
    function _final(int256 number) internal returns (Request memory r, Claim memory c) {
        r = _asked(1 ether);
        c = _claim(r, prover, _outputOf(number));
        skip(WINDOW);
    }
}
