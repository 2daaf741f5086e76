// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TYPE_BOOL, TYPE_S32, TYPE_S8} from "../types/Program.sol";

/// @notice Stored bytes of integer elements (docs/EXACT.md, section 1), right-aligned.
library Values {
    /// @notice The number that stored bytes say. A bool byte counts as its value.
    /// @param code u8, s8, s32 or bool @param stored below 2^32 for s32, else below 256
    function toInteger(uint256 code, uint256 stored) internal pure returns (int256 value) {
        if (code == TYPE_S32) return wrap(int256(stored));
        unchecked {
            return code == TYPE_S8 ? int256(stored) - 128 : int256(stored);
        }
    }

    /// @notice Modulo 2^32, signed.
    function wrap(int256 value) internal pure returns (int256 wrapped) {
        assembly ("memory-safe") {
            wrapped := signextend(3, value)
        }
    }

    /// @notice Stored s32: the value modulo 2^32.
    function storeS32(int256 value) internal pure returns (uint256) {
        return uint256(uint32(uint256(value)));
    }

    /// @notice Stored bytes of the value clamped to the type's range; bool: 1 if it is not 0.
    /// @param code u8, s8, s32 or bool
    function saturate(uint256 code, int256 value) internal pure returns (uint256 stored) {
        if (code == TYPE_BOOL) return value == 0 ? 0 : 1;
        if (code == TYPE_S32) {
            return storeS32(clamp(value, type(int32).min, type(int32).max));
        }
        unchecked {
            return uint256(clamp(code == TYPE_S8 ? value + 128 : value, 0, 255));
        }
    }

    /// @dev min(max(value, lower), upper), in this order: the bounds of a hostile parameter word may cross.
    function clamp(int256 value, int256 lower, int256 upper) internal pure returns (int256) {
        if (value < lower) value = lower;
        return value > upper ? upper : value;
    }
}
