// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ToolResultConverter} from "../interfaces/ToolResultConverter.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Puts the output of a sentiment model in words: (label, bearish, neutral, bullish), scores in 2^-12 nat.
contract SentimentResultConverter is ToolResultConverter {
    /// @notice Thrown when a label is none of 0 bearish, 1 neutral, 2 bullish.
    error UnknownLabel(int256 label);

    /// @inheritdoc ToolResultConverter
    function convertToString(bytes memory result) external pure returns (string memory) {
        (int256 label, int256 bearish, int256 neutral, int256 bullish) =
            abi.decode(result, (int256, int256, int256, int256));
        return string.concat(
            "The sentiment is ",
            _name(label),
            " (scores: bearish ",
            Strings.toStringSigned(bearish),
            ", neutral ",
            Strings.toStringSigned(neutral),
            ", bullish ",
            Strings.toStringSigned(bullish),
            ")"
        );
    }

    function _name(int256 label) private pure returns (string memory) {
        if (label == 0) return "bearish";
        if (label == 1) return "neutral";
        if (label == 2) return "bullish";
        revert UnknownLabel(label);
    }
}
