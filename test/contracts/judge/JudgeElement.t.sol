// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {JudgedStep} from "./JudgedStep.sol";

/// @dev One step of each opcode over tensors of noise: what is expected is computed here, element by element, from
/// the page's formulas. The fixture's trees give the openings, so every position is checked too.
contract JudgeElementTest is JudgedStep {
    using B for B.Draft;

    function _acc(uint256 aRow, uint256 n) private view returns (int32) {
        int256 acc = int256(int32(u32Of(DOT, n, 16)));
        int256 offset = int256((byteOf(DOT, n, 88) << 8) | byteOf(DOT, n, 89));
        for (uint256 i = 0; i < 40; ++i) {
            int256 weight = int256(byteOf(DOT, n, 32 * (i / 32) + 31 - i % 32));
            acc += int256(byteOf(LONG, aRow, i)) * (weight - offset);
        }
        return int32(uint32(uint256(acc)));
    }

    function test_judgeElement_dotGroups_succeeds() public {
        _judged(0x040002, B.dims3(2, 2, 4), LONG, DOT, N, 2);
        for (uint256 e = 0; e < 16; ++e) {
            uint256 n = e % 4;
            uint256 aRow = (e / 4) * 2 + n / 2;
            Opening[] memory list = openings(_none, rowOf(LONG, aRow), rowOf(DOT, n));
            _expect(e, e / 4, n, true, uint32(_acc(aRow, n)), list);
        }
    }

    function _requantized(int32 acc, uint16 weights, uint256 row, uint256 from)
        private
        view
        returns (uint256)
    {
        int64 sum;
        uint256 m = (byteOf(weights, row, from + 4) << 24) | (byteOf(weights, row, from + 5) << 16);
        m |= (byteOf(weights, row, from + 6) << 8) | byteOf(weights, row, from + 7);
        uint64 addend;
        for (uint256 i = 8; i < 16; ++i) {
            addend = (addend << 8) | uint64(byteOf(weights, row, from + i));
        }
        unchecked {
            sum = int64(acc) * int64(uint64(m)) + int64(addend);
        }
        int256 q =
            (int256(sum) >> (byteOf(weights, row, from + 16) % 64)) + int256(byteOf(weights, row, from + 21));
        int256 lower = int256(byteOf(weights, row, from + 22));
        int256 upper = int256(byteOf(weights, row, from + 23));
        if (q < lower) q = lower;
        return uint256(q > upper ? upper : q);
    }

    function test_judgeElement_dotInteger_succeeds() public {
        _judged(0x040101, B.dims2(8, 4), LONG, DOT, N, 1);
        for (uint256 e = 0; e < 32; ++e) {
            Opening[] memory list = openings(_none, rowOf(LONG, e / 4), rowOf(DOT, e % 4));
            _expect(e, e / 4, e % 4, false, _requantized(_acc(e / 4, e % 4), DOT, e % 4, 64), list);
        }
    }

    /// @dev Scale 0.5, zero point 10, bounds 0 and 255: acc 5 gives 2.5, to even 2, so 12.
    function test_judgeElement_dotBinary32_succeeds() public {
        for (uint256 i = 0; i < 40; ++i) {
            setByte(LONG, 0, i, i == 0 ? 5 : 0);
            setByte(DOT, 0, 32 * (i / 32) + 31 - i % 32, i == 0 ? 1 : 200);
        }
        for (uint256 i = 0; i < 32; ++i) {
            setByte(DOT, 0, 64 + i, 0);
        }
        setByte(DOT, 0, 64 + 17, 0x3f);
        setByte(DOT, 0, 64 + 21, 10);
        setByte(DOT, 0, 64 + 23, 255);
        _judged(0x040200, B.dims2(8, 4), LONG, DOT, N, 1);
        _expect(0, 0, 0, false, 12, openings(_none, rowOf(LONG, 0), rowOf(DOT, 0)));
    }

    function test_judgeElement_requant_succeeds() public {
        _judged(0x050100, B.dims3(2, 3, 4), INT, CHANNEL, N, 0);
        for (uint256 e = 0; e < 24; ++e) {
            int32 acc;
            unchecked {
                acc = int32(u32Of(INT, e / 4, e % 4)) + int32(u32Of(CHANNEL, e % 4, 0));
            }
            Opening[] memory list = openings(_none, wordOf(INT, e / 4, 0), wordOf(CHANNEL, e % 4, 0));
            _expect(e, e / 4, e % 4, false, _requantized(acc, CHANNEL, e % 4, 0), list);
        }
    }

    /// @dev (7 − 2)·3 + 1 = 16, shifted by 2.
    function test_judgeElement_rescale_succeeds() public {
        setU32(INT, 4, 1, 7);
        setU32(CHANNEL, 1, 0, uint32(int32(-2)));
        setU32(CHANNEL, 1, 1, 3);
        setU32(CHANNEL, 1, 2, 0);
        setU32(CHANNEL, 1, 3, 1);
        setByte(CHANNEL, 1, 16, 2);
        _judged(0x060002, B.dims3(2, 3, 4), INT, CHANNEL, N, 0);
        _expect(17, 4, 1, true, 4, openings(_none, wordOf(INT, 4, 0), wordOf(CHANNEL, 1, 0)));
    }

    /// @dev The divisors are one a row: some of the noise are below 1.
    function test_judgeElement_ratio_succeeds() public {
        _judged(0x060102, B.dims3(2, 3, 4), INT, IDS, N, 0x1234);
        for (uint256 e = 0; e < 24; ++e) {
            int256 x = int32(u32Of(INT, e / 4, e % 4));
            int256 d = int32(u32Of(IDS, e / 12, e / 4 % 3));
            Opening[] memory list = openings(_none, wordOf(INT, e / 4, 0), wordOf(IDS, e / 12, 0));
            _expect(e, e / 4, e % 4, true, uint32(uint256(_ratio(x, d))), list);
        }
    }

    function _ratio(int256 x, int256 d) private pure returns (int256 q) {
        if (d < 1) return 0;
        int256 n = 2 * 0x1234 * x + d;
        q = n / (2 * d);
        if (n < 0 && n % (2 * d) != 0) --q;
        if (q > type(int32).max) q = type(int32).max;
        if (q < type(int32).min) q = type(int32).min;
    }

    function _table(uint256 id, uint256 column) private view returns (int256) {
        uint256 e = column % 32;
        return int256(byteOf(LOOKUP, id, 32 * (column / 32) + 4 * (e % 8) + 3 - e / 8)) - 128;
    }

    /// @dev Ids 3 and 9 (of 12), id −1 is row 0 and is skipped.
    function test_judgeElement_lookupSum_succeeds() public {
        setU32(IDS, 1, 0, 3);
        setU32(IDS, 1, 1, type(uint32).max);
        setU32(IDS, 1, 2, 12);
        _judged(0x030002, B.dims2(2, 40), IDS, LOOKUP, N, 0);
        for (uint256 j = 0; j < 40; ++j) {
            Opening[] memory list =
                openings(_none, rowOf(IDS, 1), wordOf(LOOKUP, 3, j / 32), wordOf(LOOKUP, 9, j / 32));
            _expect(40 + j, 1, j, true, uint32(uint256(_table(3, j) + _table(9, j))), list);
        }
    }

    function test_judgeElement_lookupSumOfNothing_succeeds() public {
        for (uint256 i = 0; i < 3; ++i) {
            setU32(IDS, 0, i, i == 0 ? 0 : 0x80000000);
        }
        _judged(0x030002, B.dims2(2, 40), IDS, LOOKUP, N, 0);
        _expect(5, 0, 5, true, 0, openings(_none, rowOf(IDS, 0)));
    }

    function test_judgeElement_lookupPick_succeeds() public {
        setU32(ID, 3, 0, 0);
        setU32(ID, 4, 0, 1000);
        _judged(0x030102, B.dims2(5, 3), ID, ROWS, N, 0);
        _expect(10, 3, 1, true, u32Of(ROWS, 0, 1), openings(_none, wordOf(ID, 3, 0), wordOf(ROWS, 0, 0)));
        _expect(14, 4, 2, true, u32Of(ROWS, 9, 2), openings(_none, wordOf(ID, 4, 0), wordOf(ROWS, 9, 0)));
    }

    function test_judgeElement_lookupEach_succeeds() public {
        // Below 0, at the table's ends, behind it, at the ends of s32.
        uint32[7] memory ids = [uint32(0x80000000), 0xFFFFFFFF, 0, 3, 5, 6, 0x7FFFFFFF];
        uint8[7] memory entries = [0, 0, 0, 3, 5, 5, 5];
        for (uint256 i = 0; i < 7; ++i) {
            setU32(INT, i / 4, i % 4, ids[i]);
        }
        _judged(0x030202, B.dims3(2, 3, 4), INT, COLUMN, N, 0);
        for (uint256 e = 0; e < 7; ++e) {
            Opening[] memory list = openings(_none, wordOf(INT, e / 4, 0), wordOf(COLUMN, entries[e], 0));
            _expect(e, e / 4, e % 4, true, u32Of(COLUMN, entries[e], 0), list);
        }
    }

    /// @dev Of row 1 the places 0 and 2 count, by any byte but 0: the largest number, at place 1, does not. From the ends of
    /// s32 the distance has 33 bits.
    function test_judgeElement_lookupBelow_succeeds() public {
        uint32[4] memory row = [0x7FFFFFFE, 0x7FFFFFFF, uint32(0x80000000), 0x7FFFFFFC];
        uint8[4] memory counts = [1, 0, 0x80, 1];
        uint8[4] memory entries = [0, 0, 5, 2];
        for (uint256 i = 0; i < 4; ++i) {
            setU32(INT, 1, i, row[i]);
            setByte(BOOL, 1, i, counts[i]);
        }
        _judged(0x030302, B.dims3(2, 3, 4), INT, COLUMN, BOOL, 0);
        for (uint256 i = 0; i < 4; ++i) {
            Opening[] memory list = counts[i] == 0
                ? openings(_none, rowOf(INT, 1), rowOf(BOOL, 1))
                : openings(_none, rowOf(INT, 1), rowOf(BOOL, 1), wordOf(COLUMN, entries[i], 0));
            _expect(4 + i, 1, i, true, counts[i] == 0 ? 0 : u32Of(COLUMN, entries[i], 0), list);
        }
    }

    /// @dev Without a mask each place counts.
    function test_judgeElement_lookupBelowAll_succeeds() public {
        uint32[4] memory row = [uint32(0xFFFFFFFD), 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF];
        uint8[4] memory entries = [2, 0, 1, 0];
        for (uint256 i = 0; i < 4; ++i) {
            setU32(INT, 5, i, row[i]);
        }
        _judged(0x030302, B.dims3(2, 3, 4), INT, COLUMN, N, 0);
        for (uint256 i = 0; i < 4; ++i) {
            Opening[] memory list = openings(_none, rowOf(INT, 5), wordOf(COLUMN, entries[i], 0));
            _expect(20 + i, 5, i, true, u32Of(COLUMN, entries[i], 0), list);
        }
    }

    /// @dev Output [4, 7] at [i, j] is the source's [2, 3, 4] at [j − 2, 1, i], outside of which it is the pad.
    function _moved() private pure returns (bytes memory) {
        return bytes.concat(
            B.coordinate(1, 0, 0, 0, 0, 0),
            B.coordinate(2, 0, 0, 1, 1, -2),
            B.coordinate(3, 0, 0, 0, 0, 1),
            B.coordinate(4, 1, 0, 0, 0, 0)
        );
    }

    function test_judgeElement_movePad_succeeds() public {
        _judged(0x020002, B.dims2(4, 7), INT, N, N, 0xCAFE0001, _moved());
        for (uint256 e = 0; e < 28; ++e) {
            (uint256 i, uint256 j) = (e / 7, e % 7);
            if (j < 2 || j > 3) {
                _expect(e, i, j, true, 0xCAFE0001, openings(_none));
            } else {
                uint256 row = (j - 2) * 3 + 1;
                _expect(e, i, j, true, u32Of(INT, row, i), openings(_none, wordOf(INT, row, 0)));
            }
        }
    }

    function test_judgeElement_moveSecondOperand_succeeds() public {
        bytes memory one = B.coordinate(1, 0, 0, 0, 0, 0);
        bytes memory flat = bytes.concat(one, one, one, B.coordinate(256, 40, 0, 1, 1, 0));
        _judged(0x020000, B.dims2(8, 40), MAP, LONG, N, 0, flat);
        _expect(255, 6, 15, false, byteOf(MAP, 0, 255), openings(_none, wordOf(MAP, 0, 7)));
        _expect(256, 6, 16, false, byteOf(LONG, 6, 16), openings(_none, wordOf(LONG, 6, 0)));
        _expect(315, 7, 35, false, byteOf(LONG, 7, 35), openings(_none, wordOf(LONG, 7, 1)));
    }

    function test_judgeElement_table_succeeds() public {
        _judged(0x070001, B.dims2(8, 40), LONG, MAP, N, 0);
        for (uint256 e = 30; e < 50; ++e) {
            uint256 x = byteOf(LONG, e / 40, e % 40);
            Opening[] memory list =
                openings(_none, wordOf(LONG, e / 40, (e % 40) / 32), wordOf(MAP, 0, x / 32));
            _expect(e, e / 40, e % 40, false, byteOf(MAP, 0, x), list);
        }
    }

    /// @dev s32 [2, 3, 4] + u8 [1, 4], saturated to s8.
    function test_judgeElement_arithBroadcast_succeeds() public {
        for (uint256 i = 0; i < 4; ++i) {
            setU32(INT, 5, i, uint32(int32(int256(i) * 80 - 300)));
        }
        _judged(0x080001, B.dims3(2, 3, 4), INT, SMALL, N, 0);
        for (uint256 i = 0; i < 4; ++i) {
            int256 sum = int256(i) * 80 - 300 + int256(byteOf(SMALL, 0, i));
            uint256 expected = sum < -128 ? 0 : sum > 127 ? 255 : uint256(sum + 128);
            _expect(20 + i, 5, i, false, expected, openings(_none, wordOf(INT, 5, 0), wordOf(SMALL, 0, 0)));
        }
    }

    function test_judgeElement_select_succeeds() public {
        setByte(BOOL, 0, 0, 0);
        setByte(BOOL, 0, 1, 0x80);
        _judged(0x0b0002, B.dims3(2, 3, 4), BOOL, INT, SCALAR, 0);
        Opening[] memory list = openings(_none, wordOf(BOOL, 0, 0), wordOf(INT, 0, 0), wordOf(SCALAR, 0, 0));
        _expect(0, 0, 0, true, u32Of(SCALAR, 0, 0), list);
        _expect(1, 0, 1, true, u32Of(INT, 0, 1), list);
    }

    function test_judgeElement_reduce_succeeds() public {
        _judged(0x0a0200, B.dims2(4, 2), LONG, N, N, 0);
        for (uint256 e = 0; e < 8; ++e) {
            uint256 greatest = 0;
            for (uint256 i = 0; i < 40; ++i) {
                if (byteOf(LONG, e, i) > greatest) greatest = byteOf(LONG, e, i);
            }
            _expect(e, e / 2, e % 2, false, greatest, openings(_none, rowOf(LONG, e)));
        }
    }

    /// @dev tofloat(3) = 0x40400000.
    function test_judgeElement_floatOneOperand_succeeds() public {
        setU32(INT, 3, 2, 3);
        _judged(0x090b03, B.dims3(2, 3, 4), INT, N, N, 0);
        _expect(14, 3, 2, true, 0x40400000, openings(_none, wordOf(INT, 3, 0)));
    }
}
