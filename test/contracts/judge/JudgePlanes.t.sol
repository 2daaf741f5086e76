// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {JudgedStep} from "./JudgedStep.sol";

/// @dev Numbers of 16 bits as planes of bytes: RESCALE planes, DOT planes and DOT rescaled.
contract JudgePlanesTest is JudgedStep {
    using B for B.Draft;

    /// @dev Of each row of four numbers their high bytes, then their low ones.
    function test_judgeElement_planes_succeeds() public {
        // Shifts by which some numbers are inside of 16 bits.
        for (uint256 i = 0; i < 4; ++i) {
            setByte(CHANNEL, i, 16, uint8(47 + i));
        }
        _judged(0x060200, B.dims3(2, 3, 8), INT, CHANNEL, N, 0);
        uint256 inside;
        for (uint256 e = 0; e < 48; ++e) {
            uint256 number = _number(e / 8, e % 4, CHANNEL, e % 4);
            if (number != 0 && number != 65_535) ++inside;
            Opening[] memory list = openings(_none, wordOf(INT, e / 8, 0), wordOf(CHANNEL, e % 4, 0));
            _expect(e, e / 8, e % 8, false, e % 8 < 4 ? number / 256 : number % 256, list);
        }
        assertGt(inside, 4);
    }

    /// @dev Its rows of four are read as rows of six.
    function test_judgeElement_planesOfOtherRows_succeeds() public {
        for (uint256 i = 0; i < 6; ++i) {
            setByte(SIX, i, 16, uint8(45 + i));
        }
        _judged(0x060200, B.dims2(4, 12), INT, SIX, N, 0);
        uint256 inside;
        for (uint256 e = 0; e < 48; ++e) {
            uint256 at = e / 12 * 6 + e % 6;
            uint256 number = _number(at / 4, at % 4, SIX, e % 6);
            if (number != 0 && number != 65_535) ++inside;
            Opening[] memory list = openings(_none, wordOf(INT, at / 4, 0), wordOf(SIX, e % 6, 0));
            _expect(e, e / 12, e % 12, false, e % 12 < 6 ? number / 256 : number % 256, list);
        }
        assertGt(inside, 4);
    }

    /// @dev Each row's numbers by a divisor first, of which some are below 1, and some quotients beyond s32.
    function test_judgeElement_planesOfQuotients_succeeds() public {
        for (uint256 i = 0; i < 4; ++i) {
            setByte(CHANNEL, i, 16, uint8(47 + i));
        }
        setU32(IDS, 0, 0, 3);
        setU32(IDS, 0, 1, 0);
        setU32(IDS, 1, 0, 40_000);
        _judged(0x060200, B.dims3(2, 3, 8), INT, CHANNEL, IDS, 70_000);
        uint256 inside;
        for (uint256 e = 0; e < 48; ++e) {
            int256 d = int32(u32Of(IDS, e / 24, e / 8 % 3));
            uint256 number = _scaled(_quotient(int32(u32Of(INT, e / 8, e % 4)), d), CHANNEL, e % 4);
            if (number != 0 && number != 65_535) ++inside;
            Opening[] memory list =
                openings(_none, wordOf(INT, e / 8, 0), wordOf(CHANNEL, e % 4, 0), wordOf(IDS, e / 24, 0));
            _expect(e, e / 8, e % 8, false, e % 8 < 4 ? number / 256 : number % 256, list);
        }
        assertGt(inside, 4);
    }

    /// @dev Its rows of four as rows of twelve, each with three divisors of four numbers.
    function test_judgeElement_planesOfParts_succeeds() public {
        setByte(ONE_CHANNEL, 0, 16, 47);
        setU32(IDS, 0, 0, 3);
        setU32(IDS, 1, 1, 50_000);
        _judged(0x060200, B.dims2(2, 24), INT, ONE_CHANNEL, IDS, 70_000);
        for (uint256 e = 0; e < 48; ++e) {
            (uint256 row, uint256 index) = (e / 24, e % 12);
            int256 d = int32(u32Of(IDS, row, index / 4));
            int256 x = int32(u32Of(INT, row * 3 + index / 4, index % 4));
            uint256 number = _scaled(_quotient(x, d), ONE_CHANNEL, 0);
            Opening[] memory list = openings(
                _none, wordOf(INT, row * 3 + index / 4, 0), wordOf(ONE_CHANNEL, 0, 0), wordOf(IDS, row, 0)
            );
            _expect(e, row, e % 24, false, e % 24 < 12 ? number / 256 : number % 256, list);
        }
    }

    /// @dev Each number by a factor of its own, of which most products wrap.
    function test_judgeElement_planesOfProducts_succeeds() public {
        for (uint256 i = 0; i < 4; ++i) {
            setByte(CHANNEL, i, 16, uint8(47 + i));
        }
        _judged(0x060200, B.dims3(2, 3, 8), INT, CHANNEL, INT, 0);
        uint256 inside;
        for (uint256 e = 0; e < 48; ++e) {
            int256 x = int32(u32Of(INT, e / 8, e % 4));
            uint256 number = _scaled(int32(uint32(uint256(x * x))), CHANNEL, e % 4);
            if (number != 0 && number != 65_535) ++inside;
            Opening[] memory list =
                openings(_none, wordOf(INT, e / 8, 0), wordOf(CHANNEL, e % 4, 0), wordOf(INT, e / 8, 0));
            _expect(e, e / 8, e % 8, false, e % 8 < 4 ? number / 256 : number % 256, list);
        }
        assertGt(inside, 4);
    }

    function _quotient(int256 x, int256 d) private pure returns (int256 q) {
        if (d < 1) return 0;
        int256 n = 2 * 70_000 * x + d;
        q = n / (2 * d);
        if (n < 0 && n % (2 * d) != 0) --q;
        if (q > type(int32).max) q = type(int32).max;
        if (q < type(int32).min) q = type(int32).min;
    }

    function _number(uint256 row, uint256 column, uint16 channels, uint256 channel)
        private
        view
        returns (uint256)
    {
        return _scaled(int32(u32Of(INT, row, column)), channels, channel);
    }

    function _scaled(int256 x, uint16 channels, uint256 channel) private view returns (uint256) {
        unchecked {
            int256 acc = int32(uint32(uint256(x)) + u32Of(channels, channel, 0));
            int256 sum = acc * int256(uint256(u32Of(channels, channel, 1)));
            sum += int64(uint64(u32Of(channels, channel, 2)) << 32 | u32Of(channels, channel, 3));
            int256 v = int32(int256(int64(sum)) >> (byteOf(channels, channel, 16) % 64));
            return v < 0 ? 0 : v > 65_535 ? 65_535 : uint256(v);
        }
    }

    /// @dev Rows of 40 bytes are twenty numbers of 16 bits.
    function test_judgeElement_planesDot_succeeds() public {
        _judged(0x040402, B.dims2(8, 4), LONG, HALF, N, 1);
        for (uint256 e = 0; e < 32; ++e) {
            (uint256 row, uint256 n) = (e / 4, e % 4);
            Opening[] memory list = openings(_none, rowOf(LONG, row), rowOf(HALF, n));
            _expect(e, row, n, true, uint32(uint256(_planesSum(row, n))), list);
        }
    }

    function _planesSum(uint256 row, uint256 n) private view returns (int256 acc) {
        acc = int32(u32Of(HALF, n, 8));
        int256 offset = int256(byteOf(HALF, n, 56) << 8 | byteOf(HALF, n, 57));
        for (uint256 i = 0; i < 20; ++i) {
            int256 number = int256(256 * byteOf(LONG, row, i) + byteOf(LONG, row, 20 + i));
            acc += number * (int256(byteOf(HALF, n, 31 - i)) - offset);
        }
    }

    /// @dev The same sums by the row's own parameters: bytes, and numbers of so many bits as the upper clamp says.
    function test_judgeElement_rescaledDot_succeeds() public {
        _rescaled(2);
    }

    function test_judgeElement_rescaledDotBytes_succeeds() public {
        _rescaled(0);
    }

    function test_judgeElement_rescaledDotSigned_succeeds() public {
        _rescaled(1);
    }

    /// @dev Behind them an s32 of its own for each element, with which some sums wrap.
    function test_judgeElement_rescaledDotAdded_succeeds() public {
        for (uint256 n = 0; n < 4; ++n) {
            setByte(HALF, n, 48, 24);
            setByte(HALF, n, 55, 31);
        }
        _judged(0x040502, B.dims2(8, 4), LONG, HALF, ADDED, 1);
        uint256 wrapped;
        for (uint256 e = 0; e < 32; ++e) {
            (uint256 row, uint256 n) = (e / 4, e % 4);
            (uint256 stored,) = _rescaledSum(2, row, n);
            int256 sum = int256(int32(uint32(stored))) + int32(u32Of(ADDED, row, n));
            if (sum < type(int32).min || sum > type(int32).max) ++wrapped;
            Opening[] memory list = openings(_none, rowOf(LONG, row), rowOf(HALF, n), wordOf(ADDED, row, 0));
            _expect(e, row, n, true, uint32(uint256(sum)), list);
        }
        assertGt(wrapped, 2);
    }

    /// @param code of the output's type
    function _rescaled(uint256 code) private {
        for (uint256 n = 0; n < 4; ++n) {
            setByte(HALF, n, 48, uint8((code == 2 ? 24 : 50) + 2 * n));
            setByte(HALF, n, 55, uint8(250 + n));
        }
        _judged(bytes3(uint24(0x040500 + code)), B.dims2(8, 4), LONG, HALF, N, 1);
        uint256 inside;
        for (uint256 e = 0; e < 32; ++e) {
            (uint256 row, uint256 n) = (e / 4, e % 4);
            (uint256 stored, bool isInside) = _rescaledSum(code, row, n);
            if (isInside) ++inside;
            Opening[] memory list = openings(_none, rowOf(LONG, row), rowOf(HALF, n));
            _expect(e, row, n, code == 2, stored, list);
        }
        assertGt(inside, 2);
        assertLt(inside, 32);
    }

    function _rescaledSum(uint256 code, uint256 row, uint256 n) private view returns (uint256, bool) {
        int256 sum = int32(_planesSum(row, n)) * int256(uint256(u32Of(HALF, n, 9)));
        unchecked {
            sum += int64(uint64(u32Of(HALF, n, 10)) << 32 | u32Of(HALF, n, 11));
        }
        int256 v = int256(int64(sum)) >> (byteOf(HALF, n, 48) % 64);
        int256 low = int256(byteOf(HALF, n, 54));
        int256 high = int256(byteOf(HALF, n, 55));
        if (code == 2) {
            (low, high) = (-int256(2 ** (uint256(high) % 32)), int256(2 ** (uint256(high) % 32)) - 1);
        } else {
            v += int256(byteOf(HALF, n, 53));
        }
        int256 clamped = v < low ? low : v;
        clamped = clamped > high ? high : clamped;
        return (code == 2 ? uint32(uint256(clamped)) : uint256(clamped), clamped == v);
    }
}
