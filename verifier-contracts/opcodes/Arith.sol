// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {ProgramReader} from "../libraries/ProgramReader.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Swar} from "../libraries/Swar.sol";
import {Values} from "../libraries/Values.sol";
import {ARITH_ADD, ARITH_CAST, ARITH_DIV, OP_ARITH, UnknownVariant} from "../types/Program.sol";
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
        uint256 variant = t.record.head.variant();
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
        return Values.saturate(outputCode, Values.wrap(combine(variant, a, b)));
    }

    /// @notice s32 results, eight at a time. @param variant ADD, SUB, MIN or MAX
    /// @param out memory of them @param end of them @param a memory of the first operand @param b of the second
    function lanes(uint256 variant, uint256 out, uint256 end, uint256 a, uint256 b) internal pure {
        if (variant == ADD) return Swar.add(out, end, a, b);
        if (variant == SUB) return Swar.sub(out, end, a, b);
        if (variant != MIN && variant != MAX) revert UnknownVariant(OP_ARITH, variant);
        Swar.extreme(variant == MAX, out, end, a, b);
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
            if (variant == CAST) return a;
        }
        revert UnknownVariant(OP_ARITH, variant);
    }

    function compare(uint256 variant, int256 a, int256 b) internal pure returns (bool) {
        if (variant == LT) return a < b;
        return variant == LE ? a <= b : a == b;
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.variants(s, ARITH_ADD, ARITH_CAST);
        uint256 variant = s.head.variant();
        StepRules.broadcast(s, 0, StepRules.INTEGER);
        if (variant == ARITH_CAST) {
            StepRules.none(s, 1);
            StepRules.outputType(s, StepRules.INTEGER);
        } else {
            StepRules.broadcast(s, 1, StepRules.INTEGER);
            StepRules.outputType(s, variant <= ARITH_DIV ? StepRules.BYTES | StepRules.S32 : StepRules.BOOL);
        }
        StepRules.none(s, 2);
        StepRules.noAttribute(s);
    }
}
