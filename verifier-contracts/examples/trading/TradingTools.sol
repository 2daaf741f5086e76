// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TypedTool} from "../../agents/TypedTool.sol";
import {OnChainModel} from "../OnChainModel.sol";
import {PriceFeed} from "./PriceFeed.sol";
import {TradingAccount} from "./TradingAccount.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title Sentiment of a text, computed on chain
contract SentimentTool is TypedTool {
    OnChainModel private _model;

    constructor(OnChainModel memory model)
        TypedTool(
            "SentimentTool",
            "Says how good or bad news is for a price: class 0 bearish, 1 neutral, 2 bullish, and a score, more is better",
            _one(ParamDescription(ParamType.STRING, "text", "the headline or tweet"))
        )
    {
        _model = model;
    }

    function _use(bytes memory values) internal view override returns (string memory) {
        string memory text = abi.decode(values, (string));
        bytes memory out = _model.interpreter.infer(_model.id, abi.encodeWithSelector(_model.selector, text));
        (int256 class, int256 bearish,, int256 bullish) = abi.decode(out, (int256, int256, int256, int256));
        return string.concat(
            "class: ", Strings.toStringSigned(class), ", score: ", Strings.toStringSigned(bullish - bearish)
        );
    }
}

/// @title Forecast of the next day from news and live prices, computed on chain
/// @notice The model gives quantiles of the next return from the feed's last 65 days; news move all of them by the
/// score, up to a limit.
contract ForecastTool is TypedTool {
    /// @dev A score of 4,096, one nat, moves the forecast by 0.2 %; at most 1 %.
    int256 private constant PPM_PER_NAT = 2_000;
    int256 private constant NAT = 4_096;
    int256 private constant MOST_PPM = 10_000;

    OnChainModel private _model;
    PriceFeed public immutable feed;

    constructor(OnChainModel memory model, PriceFeed feed_)
        TypedTool(
            "ForecastTool",
            "Forecasts the next day's return from the score of the news and the live prices: 10, 50 and 90 % quantiles "
            "in parts per million, and the price",
            _one(ParamDescription(ParamType.INT, "score", "score of the news, from SentimentTool"))
        )
    {
        _model = model;
        feed = feed_;
    }

    function _use(bytes memory values) internal view override returns (string memory) {
        int256 score = abi.decode(values, (int256));
        (uint256[] memory closes, uint256[] memory highs, uint256[] memory lows) = feed.window();
        bytes memory out =
            _model.interpreter.infer(_model.id, abi.encodeWithSelector(_model.selector, closes, highs, lows));
        (int256 low, int256 median, int256 high) = abi.decode(out, (int256, int256, int256));
        int256 news = _clamped(score);
        return string.concat(
            string.concat("low: ", Strings.toStringSigned(low + news), ", median: "),
            string.concat(Strings.toStringSigned(median + news), ", high: "),
            string.concat(Strings.toStringSigned(high + news), ", price: "),
            string.concat(Strings.toString(closes[closes.length - 1]), ", news: "),
            Strings.toStringSigned(score)
        );
    }

    /// @dev Clamped before it is multiplied, so that no score overflows.
    function _clamped(int256 score) private pure returns (int256) {
        int256 most = MOST_PPM * NAT / PPM_PER_NAT;
        if (score > most) score = most;
        if (score < -most) score = -most;
        return score * PPM_PER_NAT / NAT;
    }
}

/// @title Decides whether to trade, from the forecast and what the account holds
/// @notice Wants a share of 50 % in the base token, more if the forecast's median is above zero by much of its
/// width, less if below. Says buy, sell or hold.
contract OptimizerTool is TypedTool {
    int256 private constant PPM = 1_000_000;

    TradingAccount public immutable account;
    /// @notice Difference between wanted and held share, in parts per million, below which it holds.
    uint256 public immutable threshold;

    constructor(TradingAccount account_, uint256 threshold_)
        TypedTool(
            "OptimizerTool",
            "Decides from the forecast and the current exposure whether to buy, sell or hold, and how much",
            _params()
        )
    {
        account = account_;
        threshold = threshold_;
    }

    function _use(bytes memory values) internal view override returns (string memory) {
        (int256 low, int256 median, int256 high) = abi.decode(values, (int256, int256, int256));
        (uint256 baseHeld, uint256 quoteHeld, uint256 share) = account.exposure();
        int256 wanted = PPM / 2 + _tilt(low, median, high);
        if (wanted < 0) wanted = 0;
        if (wanted > PPM) wanted = PPM;
        int256 change = wanted - int256(share);
        uint256 size = uint256(change < 0 ? -change : change);
        if (size < threshold) {
            return string.concat("hold, share: ", Strings.toString(share), ", wanted: ", _text(wanted));
        }
        // Buying spends quote, which is worth (1 - share) of the whole; selling spends base, worth share.
        bool isBuy = change > 0;
        uint256 amount = isBuy ? quoteHeld * size / (uint256(PPM) - share) : baseHeld * size / share;
        return string.concat(
            string.concat(isBuy ? "buy, amount: " : "sell, amount: -", Strings.toString(amount), ", share: "),
            string.concat(Strings.toString(share), ", wanted: ", _text(wanted))
        );
    }

    /// @dev Median over width, in parts per million; nothing is believed of a forecast without width.
    function _tilt(int256 low, int256 median, int256 high) private pure returns (int256) {
        if (high <= low || median > PPM || median < -PPM) return 0;
        return median * PPM / (high - low);
    }

    function _text(int256 value) private pure returns (string memory) {
        return Strings.toStringSigned(value);
    }

    function _params() private pure returns (ParamDescription[] memory params) {
        params = new ParamDescription[](3);
        params[0] =
            ParamDescription(ParamType.INT, "low", "10 % quantile of the next return, parts per million");
        params[1] = ParamDescription(ParamType.INT, "median", "50 % quantile");
        params[2] = ParamDescription(ParamType.INT, "high", "90 % quantile");
    }
}

/// @title Trades for the account, where it gets most
contract TradeTool is TypedTool {
    /// @notice Thrown when somebody else than the agent uses the tool.
    error NotAgent(address sender, address agent);
    /// @notice Thrown for an amount that is zero or cannot be negated.
    error AmountInvalid(int256 amount);

    TradingAccount public immutable account;
    address public immutable agent;

    constructor(TradingAccount account_, address agent_)
        TypedTool(
            "TradeTool",
            "Buys or sells in the pool with the best price. Use it only if the optimizer says so",
            _one(
                ParamDescription(
                    ParamType.INT, "amount", "quote units to spend; below zero: base units to sell, negated"
                )
            )
        )
    {
        account = account_;
        agent = agent_;
    }

    function _use(bytes memory values) internal override returns (string memory) {
        if (msg.sender != agent) revert NotAgent(msg.sender, agent);
        int256 amount = abi.decode(values, (int256));
        if (amount == 0 || amount == type(int256).min) revert AmountInvalid(amount);
        bool isBuy = amount > 0;
        uint256 size = uint256(isBuy ? amount : -amount);
        uint256 out = account.trade(isBuy, size);
        return string.concat(
            isBuy ? "bought, spent: " : "sold, spent: ",
            Strings.toString(size),
            ", got: ",
            Strings.toString(out)
        );
    }
}
