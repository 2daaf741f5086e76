// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Opening} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {TraceFixture} from "./TraceFixture.sol";

/// @dev ARITH rotate over tensors of noise, the second operand under broadcast: what is expected is computed here from
/// the page's formula.
contract JudgeRotateTest is TraceFixture {
    using B for B.Draft;

    uint16 private constant N = B.NONE;
    uint16 private constant NUMBERS = 0; // step, s32 [2, 3, 10]
    uint16 private constant TURNS = 0x8000; // weights, s32 [3, 10]
    uint16 private constant TURNED = 1; // step, s32 [2, 3, 10]

    B.Draft private _draft;

    function setUp() public override {
        super.setUp();
        B.Draft memory d = B.start(3, 4096, 3);
        d.weight(1, 2, B.dims2(3, 10));
        commit(weightTensors, 3, 2);
        commitStep(d, 0x010302, B.dims3(2, 3, 10), N, N, N, 0);
        _draft = d;
    }

    /// @param code of the output's type
    function _compare(uint256 code, uint32 shift) private {
        B.Draft memory d = _draft;
        commitStep(d, bytes3(uint24(0x080a00 + code)), B.dims3(2, 3, 10), NUMBERS, TURNS, N, shift);
        registerCommitted(d);
        for (uint256 e = 0; e < 60; ++e) {
            (uint256 row, uint256 column) = (e / 10, e % 10);
            Opening[] memory list = openings(
                wordOf(TURNED, row, code == 2 ? column / 8 : 0),
                wordOf(NUMBERS, row, column / 8),
                wordOf(TURNS, row % 3, column / 8)
            );
            (uint256 computed, uint256 claimed) = judge.judgeElement(modelId, traceRoot, TURNED, e, list);
            assertEq(computed, _expected(code, row, column, shift), "expected");
            assertEq(claimed, code == 2 ? u32Of(TURNED, row, column) : byteOf(TURNED, row, column), "claimed");
        }
    }

    function _expected(uint256 code, uint256 row, uint256 column, uint32 shift)
        private
        view
        returns (uint256)
    {
        uint256 pair = column - column % 2;
        int256 x = int32(u32Of(NUMBERS, row, pair));
        int256 y = int32(u32Of(NUMBERS, row, pair + 1));
        int256 c = int32(u32Of(TURNS, row % 3, pair));
        int256 s = int32(u32Of(TURNS, row % 3, pair + 1));
        int256 n = 2 * (pair == column ? x * c - y * s : x * s + y * c) + int256(2 ** uint256(shift));
        int256 unit = int256(2 ** (uint256(shift) + 1));
        int256 q = n / unit;
        if (n < 0 && n % unit != 0) --q;
        if (code != 2) {
            if (code == 1) q += 128;
            return q < 0 ? 0 : q > 255 ? 255 : uint256(q);
        }
        if (q > type(int32).max) q = type(int32).max;
        if (q < type(int32).min) q = type(int32).min;
        return uint32(uint256(q));
    }

    function test_judgeElement_rotate_succeeds() public {
        _compare(2, 31);
    }

    /// @dev Numbers by which some of the bytes are inside, some beyond both ends.
    function test_judgeElement_rotateToBytes_succeeds() public {
        _small();
        _compare(0, 10);
    }

    function test_judgeElement_rotateToSignedBytes_succeeds() public {
        _small();
        _compare(1, 10);
    }

    function _small() private {
        for (uint256 i = 0; i < 60; ++i) {
            setU32(NUMBERS, i / 10, i % 10, uint32(int32(int256(i * 37 % 400) - 200)));
        }
        for (uint256 i = 0; i < 30; ++i) {
            setU32(TURNS, i / 10, i % 10, uint32(int32(int256(i * 311 % 2000) - 1000)));
        }
    }

    function test_judgeElement_rotateWithoutShift_succeeds() public {
        // The least numbers: sums of 65 bits, and small ones that stay in range.
        for (uint256 i = 0; i < 4; ++i) {
            setU32(NUMBERS, 0, i, 0x80000000);
            setU32(TURNS, 0, i, i < 2 ? 0x80000000 : uint32(int32(int256(2 * i) - 5)));
            setU32(NUMBERS, 1, i, uint32(int32(3 - 7 * int256(i))));
            setU32(TURNS, 1, i, uint32(11 + i));
        }
        _compare(2, 0);
    }
}
