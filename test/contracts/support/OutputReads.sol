// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {OutputReader} from "verifier-contracts/agents/libraries/OutputReader.sol";

/// @notice The functions of OutputReader as calls, with the gas that each takes inside a contract.
contract OutputReads {
    function number(bytes memory output, uint256 place) external pure returns (int256) {
        return OutputReader.number(output, place);
    }

    function int16Number(bytes memory output, uint256 place) external pure returns (int256) {
        return OutputReader.int16Number(output, place);
    }

    function fixedPoint(int256 value, uint256 scale) external pure returns (int256) {
        return OutputReader.fixedPoint(value, scale);
    }

    function label(bytes memory output, uint256 place, uint256 classes) external pure returns (uint256) {
        return OutputReader.label(output, place, classes);
    }

    function top(bytes memory output, uint256 first, uint256 classes)
        external
        pure
        returns (uint256 class, uint256 margin)
    {
        return OutputReader.top(output, first, classes);
    }

    function probability(bytes memory output, uint256 first, uint256 classes, uint256 class, uint256 scale)
        external
        pure
        returns (uint256)
    {
        return OutputReader.probability(output, first, classes, class, scale);
    }

    /// @return values of the classes in order
    function probabilities(bytes memory output, uint256 first, uint256 classes, uint256 scale)
        external
        pure
        returns (uint256[] memory values)
    {
        values = new uint256[](classes);
        for (uint256 i; i < classes; ++i) {
            values[i] = OutputReader.probability(output, first, classes, i, scale);
        }
    }

    /// @return values of all words
    function numbers(bytes memory output) external pure returns (int256[] memory values) {
        values = new int256[](output.length / 32);
        for (uint256 i; i < values.length; ++i) {
            values[i] = OutputReader.number(output, i);
        }
    }

    /// @return values of `count` 16-bit numbers
    function int16Numbers(bytes memory output, uint256 count) external pure returns (int256[] memory values) {
        values = new int256[](count);
        for (uint256 i; i < count; ++i) {
            values[i] = OutputReader.int16Number(output, i);
        }
    }
}
