// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Shapes} from "../../../verifier-contracts/libraries/Shapes.sol";
import {Arith} from "../../../verifier-contracts/opcodes/Arith.sol";
import {Lookup} from "../../../verifier-contracts/opcodes/Lookup.sol";
import {Move} from "../../../verifier-contracts/opcodes/Move.sol";
import {Reduce} from "../../../verifier-contracts/opcodes/Reduce.sol";
import {Rescale} from "../../../verifier-contracts/opcodes/Rescale.sol";
import {Record} from "../../../verifier-contracts/types/Program.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {Test} from "../support/Test.sol";

contract KernelsTest is Test {
    int256 private constant MIN32 = -2 ** 31;
    int256 private constant MAX32 = 2 ** 31 - 1;

    function test_arith_byHand_succeeds() public pure {
        assertEq(Arith.compute(0, 2, MAX32, 1), 0x80000000);
        assertEq(Arith.compute(0, 0, MAX32, 1), 0);
        assertEq(Arith.compute(0, 0, 200, 100), 255);
        assertEq(Arith.compute(1, 2, MIN32, 1), 0x7FFFFFFF);
        assertEq(Arith.compute(1, 1, 3, 5), 126);
        assertEq(Arith.compute(2, 2, 65_536, 65_536), 0);
        assertEq(Arith.compute(2, 2, MIN32, -1), 0x80000000);
        assertEq(Arith.compute(2, 2, 3, -5), 0xFFFFFFF1);
        assertEq(Arith.compute(3, 1, -7, 4), 121);
        assertEq(Arith.compute(4, 1, -7, 4), 132);
        assertEq(Arith.compute(5, 2, -7, 2), 0xFFFFFFFD);
        assertEq(Arith.compute(5, 2, 7, 0), 0);
        assertEq(Arith.compute(5, 2, MIN32, -1), 0);
        assertEq(Arith.compute(5, 2, MIN32, 1), 0x80000000);
        assertEq(Arith.compute(6, 4, -1, 0), 1);
        assertEq(Arith.compute(6, 4, 0, 0), 0);
        assertEq(Arith.compute(7, 4, 0, 0), 1);
        assertEq(Arith.compute(7, 4, 1, 0), 0);
        assertEq(Arith.compute(8, 4, 5, 5), 1);
        assertEq(Arith.compute(8, 4, 5, -5), 0);
        assertEq(Arith.compute(9, 4, -3, 0), 1);
        assertEq(Arith.compute(9, 0, -3, 0), 0);
        assertEq(Arith.compute(9, 1, 1000, 0), 255);
        assertEq(Arith.compute(9, 2, -3, 0), 0xFFFFFFFD);
    }

    function testFuzz_arith_equalsInt32_succeeds(int32 a, int32 b) public pure {
        unchecked {
            assertEq(Arith.compute(0, 2, a, b), uint32(a + b));
            assertEq(Arith.compute(1, 2, a, b), uint32(a - b));
            assertEq(Arith.compute(2, 2, a, b), uint32(a * b));
            assertEq(Arith.compute(5, 2, a, b), b < 1 ? uint32(0) : uint32(a / b));
        }
    }

    /// @dev 0x00 0x01 … 0x1f in stored form: element 8r + t at byte 4t + 3 − r.
    function test_lookupValue_byHand_succeeds() public pure {
        uint256 word = 0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f;
        assertEq(Lookup.value(word, 0), 3 - 128);
        assertEq(Lookup.value(word, 1), 7 - 128);
        assertEq(Lookup.value(word, 7), 31 - 128);
        assertEq(Lookup.value(word, 8), 2 - 128);
        assertEq(Lookup.value(word, 24), 0 - 128);
        assertEq(Lookup.value(word, 31), 28 - 128);
    }

    function test_clampId_byHand_succeeds() public pure {
        assertEq(Lookup.clampId(0xFFFFFFFF, 10), 0);
        assertEq(Lookup.clampId(0x80000000, 10), 0);
        assertEq(Lookup.clampId(9, 10), 9);
        assertEq(Lookup.clampId(10, 10), 9);
        assertEq(Lookup.clampId(0x7FFFFFFF, 10), 9);
        assertEq(Lookup.clampId(5, 1), 0);
    }

    function test_reduce_byHand_succeeds() public pure {
        bytes memory row = hex"800000007fffffffffffffff00000005";
        assertEq(_reduce(0, 2, row, 4), 3);
        assertEq(_reduce(1, 2, row, 4), 0x80000000);
        assertEq(_reduce(2, 2, row, 4), 0x7fffffff);
        assertEq(_reduce(2, 2, row, 1), 0x80000000);
        row = hex"00ff7f80";
        assertEq(_reduce(0, 0, row, 4), 0x1fe);
        assertEq(_reduce(0, 1, row, 4), 0xFFFFFFFE);
        assertEq(_reduce(1, 1, row, 4), 0);
        assertEq(_reduce(2, 1, row, 4), 255);
        assertEq(_reduce(1, 0, hex"0700", 1), 7);
        assertEq(_reduce(2, 4, hex"000000", 3), 0);
        assertEq(_reduce(1, 4, hex"ffffff", 3), 255);
    }

    /// @dev The longest rows of the largest bytes: no lane may run over.
    function test_reduce_longestRow_succeeds() public pure {
        bytes memory row = new bytes(4096);
        for (uint256 i = 0; i < row.length; ++i) {
            row[i] = 0xff;
        }
        assertEq(_reduce(0, 0, row, 1024), 1024 * 255);
        assertEq(_reduce(0, 1, row, 1024), 1024 * 127);
        assertEq(_reduce(0, 2, row, 1024), uint32(int32(-1024)));
        assertEq(_reduce(1, 2, row, 1024), 0xFFFFFFFF);
        assertEq(_reduce(2, 2, row, 1024), 0xFFFFFFFF);
    }

    function test_numberOf_byHand_succeeds() public pure {
        assertEq(Rescale.numberOf(0), 0);
        assertEq(Rescale.numberOf(0x1234), 0x1234);
        assertEq(Rescale.numberOf(65_535), 65_535);
        assertEq(Rescale.numberOf(65_536), 65_535);
        assertEq(Rescale.numberOf(0x7FFFFFFF), 65_535);
        assertEq(Rescale.numberOf(0xFFFFFFFF), 0);
        assertEq(Rescale.numberOf(0x80000000), 0);
    }

    function test_ratio_byHand_succeeds() public pure {
        assertEq(Rescale.ratio(7, 1, 2), 4);
        assertEq(Rescale.ratio(-7, 1, 2), -3);
        assertEq(Rescale.ratio(-8, 1, 2), -4);
        assertEq(Rescale.ratio(-5, 3, 4), -4);
        assertEq(Rescale.ratio(5, 3, 4), 4);
        assertEq(Rescale.ratio(1, 1, 3), 0);
        assertEq(Rescale.ratio(-1, 1, 3), 0);
        assertEq(Rescale.ratio(5, 3, 0), 0);
        assertEq(Rescale.ratio(5, 3, -4), 0);
        int256 least = type(int32).min;
        assertEq(Rescale.ratio(least, type(uint32).max, 1), least * int256(uint256(type(uint32).max)));
        assertEq(Rescale.ratio(least, type(uint32).max, type(int32).max), -4294967297);
    }

    function _rotated(int256 x, int256 y, int256 c, int256 s, uint256 shift)
        private
        pure
        returns (int256, int256)
    {
        uint256 a = uint256(uint32(uint256(x))) << 32 | uint32(uint256(y));
        uint256 b = uint256(uint32(uint256(c))) << 32 | uint32(uint256(s));
        return (Arith.rotate(a, b, shift, true), Arith.rotate(a, b, shift, false));
    }

    function _expectRotated(int256[4] memory numbers, uint256 shift, int256 first, int256 second)
        private
        pure
    {
        (int256 one, int256 other) = _rotated(numbers[0], numbers[1], numbers[2], numbers[3], shift);
        assertEq(one, first);
        assertEq(other, second);
    }

    /// @dev (3 + 2i)·(5 + 7i) = 1 + 31i.
    function test_rotate_byHand_succeeds() public pure {
        _expectRotated([int256(3), 2, 5, 7], 0, 1, 31);
        _expectRotated([int256(3), 2, 5, 7], 1, 1, 16);
        _expectRotated([int256(-1), -3, 1, 0], 1, 0, -1);
        _expectRotated([int256(-5), -7, 1, 0], 2, -1, -2);
        _expectRotated([MIN32, MIN32, MIN32, MIN32], 0, 0, 2 ** 63);
        _expectRotated([MIN32, MIN32, MIN32, MAX32], 31, 2 ** 32 - 1, 1);
    }

    function test_norm_byHand_succeeds() public pure {
        assertEq(_norm(0, 0, hex"0304", 2), 5);
        assertEq(_norm(10, 0, hex"0304", 2), 5);
        assertEq(_norm(11, 0, hex"0304", 2), 6);
        assertEq(_norm(0, 1, hex"7d84", 2), 5);
        assertEq(_norm(0, 4, hex"ff", 1), 255);
        assertEq(_norm(0, 2, hex"fffffffd00000004", 2), 5);
        assertEq(_norm(0, 2, hex"80000001", 1), 0x7fffffff);
        // Each of these is above 2^31 − 1, which is what it becomes.
        assertEq(_norm(0, 2, hex"80000000", 1), 0x7fffffff);
        assertEq(_norm(0xffffffff, 2, hex"7fffffff", 1), 0x7fffffff);
        assertEq(_norm(0, 0, hex"00", 1), 0);
        assertEq(_norm(0xffffffff, 0, hex"00", 1), 0xffff);
    }

    function _norm(uint256 k, uint256 code, bytes memory row, uint256 count) private pure returns (uint256) {
        uint256 pointer;
        assembly {
            pointer := add(row, 32)
        }
        return Reduce.norm(k, code, pointer, count);
    }

    function _reduce(uint256 variant, uint256 code, bytes memory row, uint256 count)
        private
        pure
        returns (uint256)
    {
        uint256 pointer;
        assembly {
            pointer := add(row, 32)
        }
        return Reduce.reduce(variant, code, pointer, count);
    }

    function testFuzz_reduce_equalsLoop_succeeds(uint256 seed, uint256 count, uint256 code) public pure {
        code = [uint256(0), 1, 2, 4][bound(code, 0, 3)];
        uint256 size = code == 2 ? 4 : 1;
        count = bound(count, 1, 1024);
        bytes memory row = new bytes(count * size + 64);
        for (uint256 i = 0; i < row.length; ++i) {
            row[i] = keccak256(abi.encode(seed, i))[0];
        }
        int256 sum = 0;
        int256 least = MAX32;
        int256 greatest = MIN32;
        for (uint256 i = 0; i < count; ++i) {
            int256 value = int256(uint256(uint8(row[i])));
            if (code == 1) value -= 128;
            if (code == 2) {
                value = int32(
                    uint32(
                        bytes4(abi.encodePacked(row[4 * i], row[4 * i + 1], row[4 * i + 2], row[4 * i + 3]))
                    )
                );
            }
            sum += value;
            if (value < least) least = value;
            if (value > greatest) greatest = value;
        }
        int256 stored = code == 1 ? int256(128) : int256(0);
        assertEq(_reduce(0, code, row, count), uint32(uint256(sum)));
        assertEq(_reduce(1, code, row, count), uint32(uint256(least + stored)));
        assertEq(_reduce(2, code, row, count), uint32(uint256(greatest + stored)));
    }

    /// @dev The transpose of [2, 3]: output [3, 2] at [i, j] is source [j, i].
    function test_moveSource_transpose_succeeds() public pure {
        bytes memory one = B.coordinate(1, 0, 0, 0, 0, 0);
        Record memory r =
            _record(bytes.concat(one, one, B.coordinate(2, 1, 1, 0, 0, 0), B.coordinate(3, 1, 0, 0, 0, 0)));
        uint8[6] memory expected = [0, 3, 1, 4, 2, 5];
        for (uint256 e = 0; e < 6; ++e) {
            (bool inside, uint256 index) =
                Move.source(r, Shapes.tensor(1, 0, 2, uint256(0x3_00000002) << 192), e);
            assertTrue(inside);
            assertEq(index, expected[e]);
        }
    }

    function _record(bytes memory coordinates) private pure returns (Record memory r) {
        (r.coordinates01, r.coordinates23) = abi.decode(coordinates, (uint256, uint256));
    }

    struct Coordinate {
        uint32 view_;
        int24 a;
        uint8 p;
        int24 b;
        uint8 q;
        int32 c;
    }

    function testFuzz_moveSource_equalsFormula_succeeds(
        Coordinate[4] memory cs,
        uint32[3] memory dims,
        uint256 element
    ) public pure {
        bytes memory coordinates;
        int256[3] memory i;
        uint256 shape;
        uint256 count = 1;
        for (uint256 axis = 0; axis < 3; ++axis) {
            dims[axis] = uint32(bound(dims[axis], 1, 200));
            shape |= uint256(dims[axis]) << (224 - 32 * axis);
            count *= dims[axis];
        }
        element = bound(element, 0, count - 1);
        i[2] = int256(element % dims[2]);
        i[1] = int256((element / dims[2]) % dims[1]);
        i[0] = int256(element / dims[2] / dims[1]);
        bool inside = true;
        uint256 index = 0;
        for (uint256 j = 0; j < 4; ++j) {
            Coordinate memory c = cs[j];
            // Half of the coordinates small, so that many fall inside.
            if (c.q % 2 == 0) (c.a, c.b, c.c) = (c.a % 2, c.b % 2, c.c % 100);
            (c.p, c.q) = (c.p % 3, c.q % 3);
            coordinates = bytes.concat(coordinates, B.coordinate(c.view_, c.a, c.p, c.b, c.q, c.c));
            int256 s = int256(c.a) * i[c.p] + int256(c.b) * i[c.q] + int256(c.c);
            if (s < 0 || s >= int256(uint256(c.view_))) inside = false;
            unchecked {
                index = index * c.view_ + uint256(s);
            }
        }
        (bool found, uint256 at_) = Move.source(_record(coordinates), Shapes.tensor(1, 0, 3, shape), element);
        assertEq(found, inside);
        if (inside) assertEq(at_, index);
    }
}
