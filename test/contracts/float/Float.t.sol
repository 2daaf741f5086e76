// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {FloatJudge} from "verifier-contracts/FloatJudge.sol";
import {Binary32} from "verifier-contracts/libraries/Binary32.sol";
import {TYPE_BOOL, TYPE_F32, TYPE_S32, TYPE_S8, TYPE_U8} from "verifier-contracts/types/Program.sol";

/// @notice Laws of binary32 arithmetic on any bits, and the types of FLOAT's operands.
contract FloatTest is Test {
    uint256 private constant NAN = 0x7FC00000;
    uint256 private constant INFINITY = 0x7F800000;
    uint256 private constant SIGN = 0x80000000;
    uint256 private constant TOFLOAT = 11;
    uint256 private constant TOINT = 12;
    uint256 private constant DEQUANT = 13;
    uint256 private constant QUANT = 14;

    FloatJudge private judge;

    function setUp() public {
        judge = new FloatJudge();
    }

    function testFuzz_add_commutes_succeeds(uint32 a, uint32 b) public pure {
        assertEq(Binary32.add(a, b), Binary32.add(b, a), "add");
        assertEq(Binary32.mul(a, b), Binary32.mul(b, a), "mul");
        assertEq(Binary32.min(a, b), Binary32.min(b, a), "min");
        assertEq(Binary32.max(a, b), Binary32.max(b, a), "max");
        assertEq(Binary32.eq(a, b), Binary32.eq(b, a), "eq");
    }

    function testFuzz_sub_signs_succeeds(uint32 a, uint32 b) public pure {
        // a − b = −(b − a), but for an exact zero, which is +0 in both.
        uint256 difference = Binary32.sub(a, b);
        uint256 opposite = Binary32.sub(b, a);
        bool signless = difference == NAN || difference == 0;
        assertEq(difference, signless ? opposite == SIGN ? 0 : opposite : opposite ^ SIGN);
        assertEq(Binary32.sub(a, a), _isFinite(a) ? 0 : NAN);
        assertEq(Binary32.mul(a, uint256(b) ^ SIGN), _negate(Binary32.mul(a, b)), "mul");
        if (!Binary32.isNaN(b)) assertEq(Binary32.div(a, b ^ SIGN), _negate(Binary32.div(a, b)), "div");
    }

    function testFuzz_compute_everyResult_succeeds(uint32 a, uint32 b, uint32 c) public view {
        for (uint256 variant = 0; variant <= QUANT; ++variant) {
            uint256 outputType = TYPE_F32;
            if (variant >= 8 && variant < TOFLOAT) outputType = TYPE_BOOL;
            if (variant == TOINT) outputType = TYPE_S32;
            if (variant == QUANT) outputType = TYPE_S8;
            uint256 aType = variant == TOFLOAT || variant == DEQUANT ? TYPE_S32 : TYPE_F32;
            uint256 stored = judge.compute(variant, outputType, aType, a, b, c);
            uint256 most = outputType == TYPE_BOOL ? 1 : outputType == TYPE_S8 ? 255 : type(uint32).max;
            assertLe(stored, most, "stored bytes");
            if (outputType == TYPE_F32 && Binary32.isNaN(stored)) assertEq(stored, NAN, "canonical NaN");
        }
    }

    function testFuzz_compute_nanOperand_succeeds(uint32 bits, uint32 b, bool second) public view {
        uint256 nan = INFINITY | (bits % 0x7FFFFF + 1) | (bits & SIGN);
        (uint256 x, uint256 y) = second ? (uint256(b), nan) : (nan, uint256(b));
        for (uint256 variant = 0; variant < TOFLOAT; ++variant) {
            if (second && (variant == 4 || variant == 5)) continue;
            uint256 outputType = variant < 8 ? TYPE_F32 : TYPE_BOOL;
            uint256 expected = variant < 8 ? NAN : 0;
            assertEq(judge.compute(variant, outputType, TYPE_F32, x, y, 0), expected, vm.toString(variant));
        }
        assertEq(judge.compute(TOINT, TYPE_S32, TYPE_F32, nan, 0, 0), 0, "toint");
        assertEq(judge.compute(QUANT, TYPE_U8, TYPE_F32, x, y, 77), 77, "quant");
        assertEq(judge.requantize(int32(b), nan), 0, "requantize");
    }

    function testFuzz_fromInteger_exactArithmetic_succeeds(int256 a, int256 b) public pure {
        // Sums, products, quotients and roots that are integers below 2^24 are exact.
        a = bound(a, -4095, 4095);
        b = bound(b, -4095, 4095);
        (uint256 x, uint256 y) = (Binary32.fromInteger(a), Binary32.fromInteger(b));
        assertEq(Binary32.add(x, y), Binary32.fromInteger(a + b), "add");
        assertEq(Binary32.sub(x, y), Binary32.fromInteger(a - b), "sub");
        uint256 product = Binary32.mul(x, y);
        assertEq(product & ~SIGN, Binary32.fromInteger(a * b) & ~SIGN, "mul");
        if (b != 0) assertEq(Binary32.div(product, y) & ~SIGN, x & ~SIGN, "div");
        assertEq(Binary32.sqrt(Binary32.mul(x, x)), x & ~SIGN, "sqrt");
        assertEq(Binary32.truncate(product), a * b, "truncate");
        assertEq(Binary32.nearest(product), a * b, "nearest");
        assertEq(Binary32.roundHalfEven(product), product, "round");
        assertEq(Binary32.lt(x, y), a < b, "lt");
        assertEq(Binary32.le(x, y), a <= b, "le");
        assertEq(Binary32.eq(x, y), a == b, "eq");
    }

    function testFuzz_lt_trichotomy_succeeds(uint32 a, uint32 b) public pure {
        uint256 holds =
            (Binary32.lt(a, b) ? 1 : 0) + (Binary32.lt(b, a) ? 1 : 0) + (Binary32.eq(a, b) ? 1 : 0);
        assertEq(holds, Binary32.isNaN(a) || Binary32.isNaN(b) ? 0 : 1);
        assertEq(Binary32.le(a, b), Binary32.lt(a, b) || Binary32.eq(a, b));
    }

    function testFuzz_roundHalfEven_integral_succeeds(uint32 a) public pure {
        uint256 rounded = Binary32.roundHalfEven(a);
        assertEq(Binary32.roundHalfEven(rounded), rounded, "idempotent");
        assertEq(Binary32.nearest(rounded), Binary32.nearest(a), "nearest");
        if (!Binary32.isNaN(a)) assertEq(rounded & SIGN, a & SIGN, "sign");
    }

    function testFuzz_scaledNearest_composition_succeeds(int32 acc, uint32 scale, uint8 shift) public pure {
        // Any scale, and one that keeps most results inside s32.
        _checkScaled(acc, scale);
        _checkScaled(acc >> (shift % 32), (scale & 0x7FFFFF) | (uint256(100 + shift % 30) << 23));
    }

    function test_compute_integerTypes_succeeds() public view {
        assertEq(judge.compute(TOFLOAT, TYPE_F32, TYPE_U8, 200, 0, 0), Binary32.fromInteger(200), "u8");
        assertEq(judge.compute(TOFLOAT, TYPE_F32, TYPE_S8, 0, 0, 0), Binary32.fromInteger(-128), "s8");
        assertEq(judge.compute(TOFLOAT, TYPE_F32, TYPE_BOOL, 7, 0, 0), Binary32.fromInteger(7), "bool");
        // 2^31 − 1 needs 31 bits.
        assertEq(judge.compute(TOFLOAT, TYPE_F32, TYPE_S32, 0x7FFFFFFF, 0, 0), 0x4F000000, "s32");
        uint256 big = Binary32.fromInteger(300);
        assertEq(judge.compute(TOINT, TYPE_U8, TYPE_F32, big, 0, 0), 255, "300 as u8");
        assertEq(judge.compute(TOINT, TYPE_S8, TYPE_F32, big, 0, 0), 255, "300 as s8");
        assertEq(judge.compute(TOINT, TYPE_S8, TYPE_F32, big | SIGN, 0, 0), 0, "-300 as s8");
        assertEq(judge.compute(TOINT, TYPE_U8, TYPE_F32, big | SIGN, 0, 0), 0, "-300 as u8");
        // 0.99 truncates to 0 before it is asked whether it is 0.
        assertEq(judge.compute(TOINT, TYPE_BOOL, TYPE_F32, 0x3F7D70A4, 0, 0), 0, "0.99 as bool");
        assertEq(judge.compute(TOINT, TYPE_BOOL, TYPE_F32, big | SIGN, 0, 0), 1, "-300 as bool");
        assertEq(judge.compute(TOINT, TYPE_S32, TYPE_F32, INFINITY | SIGN, 0, 0), 0x80000000, "-inf");
    }

    function test_compute_scaledTypes_succeeds() public view {
        uint256 half = 0x3F000000;
        // (200 − 100) · 0.5; s8 −28 − 100; −2^31 − 1 wraps to 2^31 − 1.
        assertEq(judge.compute(DEQUANT, TYPE_F32, TYPE_U8, 200, half, 100), Binary32.fromInteger(50), "u8");
        assertEq(judge.compute(DEQUANT, TYPE_F32, TYPE_S8, 100, half, 100), Binary32.fromInteger(-64), "s8");
        assertEq(judge.compute(DEQUANT, TYPE_F32, TYPE_S32, SIGN, half, 1), 0x4E800000, "s32");
        // 1.25 / 0.5 is a tie, to 2.
        assertEq(judge.compute(QUANT, TYPE_U8, TYPE_F32, 0x3FA00000, half, 10), 12, "u8");
        assertEq(judge.compute(QUANT, TYPE_S8, TYPE_F32, 0x3FA00000, half, uint32(int32(-10))), 120, "s8");
        // q saturates to s32 first: 2^31 − 1 − 2^31 = −1.
        assertEq(judge.compute(QUANT, TYPE_S8, TYPE_F32, INFINITY, half, SIGN), 127, "saturated");
        assertEq(judge.compute(QUANT, TYPE_U8, TYPE_F32, half, 0, 0), 255, "scale 0");
        assertEq(judge.compute(QUANT, TYPE_U8, TYPE_F32, 0, 0, 9), 9, "0 / 0");
    }

    function _checkScaled(int256 acc, uint256 scale) private pure {
        int256 expected = Binary32.nearest(Binary32.mul(Binary32.fromInteger(acc), scale));
        assertEq(Binary32.scaledNearest(acc, scale), expected);
    }

    function _isFinite(uint256 a) private pure returns (bool) {
        return a & ~SIGN < INFINITY;
    }

    function _negate(uint256 a) private pure returns (uint256) {
        return a == NAN ? NAN : a ^ SIGN;
    }
}
