// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {ToolResultConverter} from "../../../../verifier-contracts/agents/interfaces/ToolResultConverter.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @notice Words of return data as signed numbers, with a space between.
contract WordsConverter is ToolResultConverter {
    function convertToString(bytes memory result) external pure returns (string memory text) {
        for (uint256 i = 32; i <= result.length; i += 32) {
            int256 word;
            assembly ("memory-safe") {
                word := mload(add(result, i))
            }
            text = string.concat(text, i == 32 ? "" : " ", Strings.toStringSigned(word));
        }
    }
}

/// @notice Fails, or takes all the gas that it gets, or tries to change something.
contract BadConverter is ToolResultConverter {
    enum Mood {
        REVERT,
        BURN,
        WRITE
    }

    error NoWords();

    Mood public immutable mood;
    uint256 public written;

    constructor(Mood mood_) {
        mood = mood_;
    }

    function convertToString(bytes memory) external returns (string memory) {
        if (mood == Mood.REVERT) revert NoWords();
        if (mood == Mood.BURN) {
            while (true) {}
        }
        ++written;
        return "written";
    }
}
