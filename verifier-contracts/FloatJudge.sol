// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "./interfaces/IFloatJudge.sol";
import {Binary32} from "./libraries/Binary32.sol";
import {Float} from "./opcodes/Float.sol";

/// @notice Binary32 elements for the judge of single elements; holds no state.
contract FloatJudge is IFloatJudge {
    /// @inheritdoc IFloatJudge
    function compute(uint256 variant, uint256 outputType, uint256 aType, uint256 a, uint256 b, uint256 c)
        external
        pure
        returns (uint256 stored)
    {
        return Float.compute(variant, outputType, aType, a, b, c);
    }

    /// @inheritdoc IFloatJudge
    function requantize(int256 acc, uint256 scale) external pure returns (int256 q) {
        return Binary32.scaledNearest(acc, scale);
    }
}
