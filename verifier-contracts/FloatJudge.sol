// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IFloatJudge} from "./interfaces/IFloatJudge.sol";
import {Binary32} from "./libraries/Binary32.sol";
import {Parameters} from "./libraries/Parameters.sol";
import {Shapes} from "./libraries/Shapes.sol";
import {Values} from "./libraries/Values.sol";
import {Float} from "./opcodes/Float.sol";
import {Requant} from "./opcodes/Requant.sol";

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

    /// @inheritdoc IFloatJudge
    function computeAll(
        uint256 variant,
        uint256 outputType,
        uint256 aType,
        uint256 count,
        bytes calldata operands
    ) external pure returns (bytes memory stored) {
        unchecked {
            uint256 outBytes = Shapes.elementBytes(outputType);
            stored = new bytes(count * outBytes + 32);
            for (uint256 i = 0; i < count; ++i) {
                (uint256 a, uint256 b, uint256 c) = _operands(operands, Shapes.elementBytes(aType), count, i);
                uint256 element = Float.compute(variant, outputType, aType, a, b, c);
                // Ascending: what one store spills is overwritten by the next, or is beyond the length.
                assembly ("memory-safe") {
                    mstore(add(add(stored, 0x20), mul(outBytes, i)), shl(sub(256, shl(3, outBytes)), element))
                }
            }
            assembly ("memory-safe") {
                mstore(stored, mul(count, outBytes))
            }
        }
    }

    /// @inheritdoc IFloatJudge
    function requantizeAll(bytes calldata accs, bytes calldata parameters)
        external
        pure
        returns (bytes memory stored)
    {
        unchecked {
            uint256 count = accs.length / 4;
            stored = new bytes(count);
            for (uint256 i = 0; i < count; ++i) {
                Parameters word = Parameters.wrap(_load(parameters, (32 * i) % parameters.length, 32));
                int256 acc = Values.wrap(int256(_load(accs, 4 * i, 4)));
                stored[i] = bytes1(uint8(Requant.clamp(Binary32.scaledNearest(acc, word.scaleBits()), word)));
            }
        }
    }

    /// @dev Element i of the operands, 0 for those that are absent.
    function _operands(bytes calldata operands, uint256 aBytes, uint256 count, uint256 i)
        private
        pure
        returns (uint256 a, uint256 b, uint256 c)
    {
        unchecked {
            uint256 offset = aBytes * count;
            a = _load(operands, aBytes * i, aBytes);
            if (operands.length > offset) b = _load(operands, offset + 4 * i, 4);
            offset += 4 * count;
            if (operands.length > offset) c = _load(operands, offset + 4 * i, 4);
        }
    }

    /// @dev Bytes at an offset that is inside, right-aligned.
    function _load(bytes calldata data, uint256 offset, uint256 size) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := shr(sub(256, shl(3, size)), calldataload(add(data.offset, offset)))
        }
    }
}
