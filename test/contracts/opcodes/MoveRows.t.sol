// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat, NO_FLAT, describeFlat} from "../../../verifier-contracts/libraries/Flat.sol";
import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {RecordHead} from "../../../verifier-contracts/libraries/RecordHead.sol";
import {Move} from "../../../verifier-contracts/opcodes/Move.sol";
import {MovePlan} from "../../../verifier-contracts/opcodes/rows/MovePlan.sol";
import {MoveRows} from "../../../verifier-contracts/opcodes/rows/MoveRows.sol";
import {Record, TYPE_S32, TYPE_U8, Tensor} from "../../../verifier-contracts/types/Program.sol";
import {Test} from "../support/Test.sol";

/// @notice Moves of whole tensors against the judge's function of one element.
contract MoveRowsTest is Test {
    uint256 private _state;

    function _random(uint256 limit) private returns (uint256) {
        _state = uint256(keccak256(abi.encode(_state)));
        return _state % limit;
    }

    /// @dev A factor that is often 0, 1 or what makes a box.
    function _factor() private returns (int256) {
        uint256 kind = _random(9);
        if (kind < 3) return 0;
        if (kind < 7) return 1;
        return int256(_random(7)) - 3;
    }

    function _coordinate(uint256 dim, uint256 rank) private returns (uint256) {
        if (dim == 1 && _random(3) != 0) return 1 << 96;
        int256 c = _random(2) == 0 ? int256(0) : int256(_random(dim + 4)) - 2;
        (int256 a, int256 b) = (_factor(), _random(3) == 0 ? _factor() : int256(0));
        uint256 p = a == 0 ? 0 : _random(rank);
        uint256 q = b == 0 ? 0 : _random(rank);
        uint256 factors = (uint256(uint24(int24(a))) << 40) | (uint256(uint24(int24(b))) << 16);
        return (dim << 96) | (uint256(uint32(int32(c))) << 64) | factors | (p << 8) | q;
    }

    function _randomRecord(uint256 code, uint256[4] memory dims)
        private
        returns (Record memory r, Tensor memory t)
    {
        t.code = code;
        t.rank = _random(4) + 1;
        for (uint256 axis = 0; axis < t.rank; ++axis) {
            // Often a dim of the source.
            uint256 dim = _random(2) == 0 ? dims[_random(4)] : _random(5) + 1;
            t.shape |= dim << (224 - 32 * axis);
            t.last = dim;
        }
        r.head = RecordHead.wrap((2 << 248) | (code << 232) | (t.rank << 224) | (_random(256) << 144));
        r.shape = t.shape;
        r.coordinates01 = (_coordinate(dims[0], t.rank) << 128) | _coordinate(dims[1], t.rank);
        r.coordinates23 = (_coordinate(dims[2], t.rank) << 128) | _coordinate(dims[3], t.rank);
    }

    /// @dev A tensor of random bytes. @param shapeAt memory of its shape
    function _tensor(uint256 code, uint256 shapeAt, uint256 rank) private returns (Flat flat) {
        flat = describeFlat(shapeAt, code, rank).allocate();
        for (uint256 i = 0; i < flat.count(); ++i) {
            flat.put(i, _random(code == TYPE_S32 ? 2 ** 32 : 256));
        }
    }

    /// @dev A box without an element, which would begin far behind output or source: it is the pad, and nothing is read
    /// there, which no gas would pay for.
    function test_move_emptyBox_succeeds() public {
        uint256 view_ = 1 << 224 | 1 << 192 | 1 << 160 | 4 << 128;
        uint256 plan = Memory.reserve(MovePlan.BYTES);
        uint256 shapeAt = Memory.reserve(32);
        for (uint256 i = 0; i < 4; ++i) {
            int32 c = i & 1 == 0 ? int32(2 ** 30) : -int32(2 ** 30);
            uint256 a = 1 + i / 2;
            Record memory r;
            r.head = RecordHead.wrap((2 << 248) | (TYPE_S32 << 232) | (1 << 224) | (77 << 144));
            r.shape = 4 << 224;
            r.coordinates01 = 1 << 224 | 1 << 96;
            r.coordinates23 = 1 << 224 | 4 << 96 | uint256(uint32(c)) << 64 | a << 40;
            uint256 record;
            assembly ("memory-safe") {
                mstore(shapeAt, view_)
                record := r
            }
            Flat source = _tensor(TYPE_S32, shapeAt, 4);
            Flat moved = MoveRows.move(plan, record, describeFlat(record + 32, TYPE_S32, 1), source, NO_FLAT);
            for (uint256 j = 0; j < 4; ++j) {
                assertEq(moved.element(j), 77);
            }
        }
    }

    /// @dev The first columns of wide matrices: rows that are a power of two apart go on by no step of the columns.
    function test_move_columnsOfWideRows_succeeds() public {
        uint256 plan = Memory.reserve(MovePlan.BYTES);
        uint256 shapeAt = Memory.reserve(32);
        for (uint256 width = 2; width < 2048; width *= 2) {
            Record memory r;
            r.head = RecordHead.wrap((2 << 248) | (2 << 224));
            r.shape = 3 << 224 | 2 << 192;
            r.coordinates01 = 1 << 224 | 1 << 96;
            r.coordinates23 = (3 << 96 | 1 << 40) << 128 | width << 96 | 1 << 40 | 1 << 8;
            uint256 record;
            assembly ("memory-safe") {
                mstore(shapeAt, or(shl(224, 3), shl(192, width)))
                record := r
            }
            Flat source = _tensor(TYPE_U8, shapeAt, 2);
            Flat moved = MoveRows.move(plan, record, describeFlat(record + 32, TYPE_U8, 2), source, NO_FLAT);
            for (uint256 i = 0; i < 6; ++i) {
                assertEq(moved.element(i), source.element(i / 2 * width + i % 2));
            }
        }
    }

    function testFuzz_move_equalsJudge_succeeds(uint256 seed) public {
        _state = seed;
        uint256[4] memory dims;
        uint256 view_ = 0;
        for (uint256 j = 0; j < 4; ++j) {
            dims[j] = _random(3) == 0 ? 1 : _random(7) + 1;
            view_ |= dims[j] << (224 - 32 * j);
        }
        uint256 code = _random(2) == 0 ? TYPE_U8 : TYPE_S32;
        (Record memory r, Tensor memory t) = _randomRecord(code, dims);
        uint256 plan = Memory.reserve(MovePlan.BYTES);
        uint256 shapeAt = Memory.reserve(32);
        uint256 record;
        assembly ("memory-safe") {
            mstore(shapeAt, view_)
            record := r
        }
        Flat a = _tensor(code, shapeAt, 4);
        Flat b = _random(2) == 0 ? NO_FLAT : _tensor(code, record + 32, t.rank);
        if (!b.isNone()) r.head = RecordHead.wrap(RecordHead.unwrap(r.head) & ~(uint256(0xFF) << 144));
        Flat moved = MoveRows.move(plan, record, describeFlat(record + 32, code, t.rank), a, b);
        for (uint256 i = 0; i < moved.count(); ++i) {
            (bool inside, uint256 index) = Move.source(r, t, i);
            uint256 pad = b.isNone() ? r.head.attribute() & 0xFF : b.element(i);
            assertEq(moved.element(i), inside ? a.element(index) : pad);
        }
    }
}
