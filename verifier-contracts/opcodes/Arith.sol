// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Swar} from "../libraries/Swar.sol";
import {Values} from "../libraries/Values.sol";
import {TYPE_S32} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice ARITH: integer arithmetic, comparison and cast (docs/EXACT.md, section 3).
library Arith {
    uint256 internal constant ADD = 0;
    uint256 internal constant SUB = 1;
    uint256 internal constant MUL = 2;
    uint256 internal constant MIN = 3;
    uint256 internal constant MAX = 4;
    uint256 internal constant DIV = 5;
    uint256 private constant LT = 6;
    uint256 private constant LE = 7;
    uint256 private constant EQ = 8;
    uint256 internal constant CAST = 9;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        uint256 variant = ProgramReader.variant(t.record.head);
        int256 a = _open(t, openings, 0);
        int256 b = variant == CAST ? int256(0) : _open(t, openings, 1);
        return compute(variant, t.out.code, a, b);
    }

    function _open(Trial memory t, Opening[] calldata openings, uint256 position)
        private
        view
        returns (int256)
    {
        (uint256 stored, uint256 code) = Openings.openBroadcast(t, openings, position);
        return Values.toInteger(code, stored);
    }

    /// @param variant 0 to 9 @param outputCode type of the output @param a within s32 @param b likewise, 0 for CAST
    /// @return stored bytes of the result
    function compute(uint256 variant, uint256 outputCode, int256 a, int256 b)
        internal
        pure
        returns (uint256)
    {
        if (variant >= LT && variant <= EQ) return compare(variant, a, b) ? 1 : 0;
        if (outputCode == TYPE_S32 && (variant < MUL || variant == MIN || variant == MAX)) {
            return _lane(variant, a, b);
        }
        return Values.saturate(outputCode, Values.wrap(combine(variant, a, b)));
    }

    /// @notice s32 results, eight at a time. @param variant ADD, SUB, MIN or MAX
    /// @param out memory of them @param end of them @param a memory of the first operand @param b of the second
    function lanes(uint256 variant, uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        if (variant == ADD) Swar.add(out, end, a, b);
        else if (variant == SUB) Swar.sub(out, end, a, b);
        else Swar.extreme(variant == MAX, out, end, a, b);
    }

    /// @notice Eight s32 results, each of a whole column. @param variant ADD, MIN or MAX @param out memory of them
    /// @param source memory of the first row's elements @param rows how many @param stride bytes from one to the next
    function column(uint256 variant, uint256 out, uint256 source, uint256 rows, uint256 stride)
        internal
        pure
    {
        if (variant == ADD) Swar.addColumn(out, source, rows, stride);
        else Swar.extremeColumn(variant == MAX, out, source, rows, stride);
    }

    /// @dev One result in scratch space.
    function _lane(uint256 variant, int256 a, int256 b) private pure returns (uint256 stored) {
        assembly ("memory-safe") {
            mstore(0, shl(224, a))
            mstore(0x20, shl(224, b))
        }
        lanes(variant, 0, 0x20, 0, 0x20);
        assembly ("memory-safe") {
            stored := shr(224, mload(0))
        }
    }

    /// @notice The exact value before it wraps.
    function combine(uint256 variant, int256 a, int256 b) internal pure returns (int256) {
        unchecked {
            if (variant == ADD) return a + b;
            if (variant == SUB) return a - b;
            if (variant == MUL) return a * b;
            if (variant == MIN) return a < b ? a : b;
            if (variant == MAX) return a > b ? a : b;
            if (variant == DIV) return b < 1 ? int256(0) : a / b;
            return a;
        }
    }

    function compare(uint256 variant, int256 a, int256 b) internal pure returns (bool) {
        if (variant == LT) return a < b;
        return variant == LE ? a <= b : a == b;
    }
}
