// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Binary32} from "../libraries/Binary32.sol";
import {Values} from "../libraries/Values.sol";
import {OP_FLOAT, UnknownVariant} from "../types/Program.sol";

/// @notice One element of a FLOAT step (docs/EXACT.md, section 3). Values are stored bytes, right-aligned.
library Float {
    /// @param variant 0 to 14
    /// @param outputType type code of the output @param aType type code of the first operand
    /// @param a first operand @param b second, unused where the variant names none @param c third, likewise
    /// @return stored the output element; total on any bytes
    function compute(uint256 variant, uint256 outputType, uint256 aType, uint256 a, uint256 b, uint256 c)
        internal
        pure
        returns (uint256 stored)
    {
        if (variant < 4) {
            if (variant < 2) return variant == 0 ? Binary32.add(a, b) : Binary32.sub(a, b);
            return variant == 2 ? Binary32.mul(a, b) : Binary32.div(a, b);
        }
        if (variant < 8) {
            if (variant < 6) return variant == 4 ? Binary32.sqrt(a) : Binary32.roundHalfEven(a);
            return variant == 6 ? Binary32.min(a, b) : Binary32.max(a, b);
        }
        if (variant < 11) {
            if (variant == 8) return _bool(Binary32.lt(a, b));
            return _bool(variant == 9 ? Binary32.le(a, b) : Binary32.eq(a, b));
        }
        if (variant == 11) return Binary32.fromInteger(Values.toInteger(aType, a));
        if (variant == 12) return Values.saturate(outputType, Binary32.truncate(a));
        int256 zeroPoint = Values.wrap(int256(c));
        unchecked {
            if (variant == 13) {
                int256 difference = Values.wrap(Values.toInteger(aType, a) - zeroPoint);
                return Binary32.mul(Binary32.fromInteger(difference), b);
            }
            if (variant != 14) revert UnknownVariant(OP_FLOAT, variant);
            return Values.saturate(outputType, Binary32.nearest(Binary32.div(a, b)) + zeroPoint);
        }
    }

    function _bool(bool condition) private pure returns (uint256 stored) {
        assembly ("memory-safe") {
            stored := condition
        }
    }
}
