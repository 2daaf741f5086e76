// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Plan} from "../../../verifier-contracts/execution/plan/Plan.sol";
import {PlanLanes} from "../../../verifier-contracts/execution/plan/PlanLanes.sol";
import {Values} from "../../../verifier-contracts/libraries/Values.sol";
import {Requant} from "../../../verifier-contracts/opcodes/Requant.sol";
import {Test} from "../support/Test.sol";

/// @dev Instructions on lanes against the judge's functions, element by element.
contract PlanLanesTest is Test {
    uint256 private constant BLOCK = 32;

    /// @dev Random numbers, among them the ends of their range.
    function _lane(uint256 seed, uint256 i) private pure returns (int256) {
        uint256 random = uint256(keccak256(abi.encode(seed, i)));
        if (random % 8 == 0) return random & 256 == 0 ? type(int16).max : type(int16).min;
        return int256(int16(uint16(random >> 16)));
    }

    /// @return lanes with bytes behind them that do not count
    function _lanes(uint256 seed, uint256 count) private pure returns (bytes memory lanes) {
        lanes = new bytes(2 * count + 32);
        for (uint256 i = 0; i < count + 16; ++i) {
            uint16 lane = uint16(int16(_lane(seed, i)));
            lanes[2 * i] = bytes1(uint8(lane >> 8));
            lanes[2 * i + 1] = bytes1(uint8(lane));
        }
    }

    /// @dev Parameters of an integer form, half of them such that they can be made 32 rows at once.
    function _parameters(uint256 random) private pure returns (uint256 word) {
        bool usual = random & 1 == 0;
        uint256 multiplier = usual || random & 2 == 0 ? 1 : (random >> 8) & 0xFFFFFFFF;
        uint256 lower = usual ? 0 : (random >> 40) & 0xFF;
        uint256 upper = usual ? 255 : (random >> 48) & 0xFF;
        uint256 shift = usual ? (random >> 56) % 8 : (random >> 56) % 256;
        int256 addend = int256((random >> 64) % 2 ** 18) - 2 ** 17;
        if (!usual && random & 12 == 0) addend = int64(uint64(random >> 64));
        int256 bias =
            random & 48 == 0 ? int256(int32(uint32(random >> 128))) : int256((random >> 128) % 64) - 32;
        word = uint256(uint32(int32(bias))) << 224 | multiplier << 192;
        word |= uint256(uint64(int64(addend))) << 128 | shift << 120 | ((random >> 160) & 0xFF) << 80;
        return word | lower << 72 | upper << 64;
    }

    function _stored(int256 lane, int256 subtracted, uint256 word) private pure returns (uint8) {
        int256 acc = Values.wrap(Values.wrap(lane - subtracted) + Requant.bias(word));
        return uint8(Requant.clamp(Requant.scale(acc, word), word));
    }

    function _pointer(bytes memory data) private pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := add(data, 0x20)
        }
    }

    /// @dev What is subtracted: mostly numbers as lanes have them, at times any.
    function _subtracted(uint256 seed, uint256 column) private pure returns (int32) {
        uint256 random = uint256(keccak256(abi.encode(seed, "before", column)));
        return random % 6 == 0 ? int32(uint32(random >> 8)) : int32(_lane(seed >> 1, column));
    }

    /// @param one parameter word for all columns @param subtracts numbers from the columns first
    struct Case {
        uint256 seed;
        uint256 rows;
        uint256 columns;
        bool one;
        bool subtracts;
        uint256[] words;
        bytes out;
    }

    /// @return done what the instruction said
    function _turn(Case memory c) private pure returns (bool done) {
        bytes memory lanes = _lanes(c.seed, c.rows * c.columns);
        bytes memory before;
        bytes memory parameters;
        c.words = new uint256[](c.columns);
        for (uint256 i = 0; i < c.columns; ++i) {
            c.words[i] = _parameters(uint256(keccak256(abi.encode(c.seed, "p", c.one ? 0 : i))));
            if (!c.one || i == 0) parameters = bytes.concat(parameters, bytes32(c.words[i]));
            before = bytes.concat(before, bytes4(uint32(_subtracted(c.seed, i))));
        }
        c.out = new bytes(c.rows * c.columns + 32);
        uint256 word =
            Plan.instruction(Plan.LANE_TURN, 0, _pointer(c.out), _pointer(lanes), _pointer(parameters));
        word |= (c.subtracts ? _pointer(before) << 144 : 0) | c.rows << 128 | c.columns << 120;
        word |= (c.one ? 1 : c.columns) << 112 | _pointer(new bytes(0x460)) << 88;
        done = PlanLanes.turn(word);
        if (done) _check(c);
    }

    function _check(Case memory c) private pure {
        for (uint256 i = 0; i < c.rows * c.columns; ++i) {
            uint256 column = i % c.columns;
            int256 subtracted = c.subtracts ? int256(_subtracted(c.seed, column)) : int256(0);
            uint8 expected = _stored(_lane(c.seed, i), subtracted, c.words[column]);
            assertEq(uint8(c.out[i / c.columns + c.rows * column]), expected);
        }
        // Nothing behind the tensor is written.
        for (uint256 i = c.rows * c.columns; i < c.out.length; ++i) {
            assertEq(uint8(c.out[i]), 0);
        }
    }

    function testFuzz_turn_anyParameters_succeeds(uint256 seed) public pure {
        Case memory c;
        (c.seed, c.rows, c.columns) = (seed, BLOCK * (1 + seed % 2), 1 + (seed >> 8) % 8);
        (c.one, c.subtracts) = (seed & 0x10000 == 0, seed & 0x20000 == 0);
        _turn(c);
    }

    /// @dev A single column with usual parameters is made at once, whatever the numbers.
    function test_turn_usualParameters_succeeds() public pure {
        uint256 done = 0;
        for (uint256 seed = 0; seed < 32; ++seed) {
            Case memory c;
            (c.seed, c.rows, c.columns, c.one, c.subtracts) = (seed, BLOCK, 7, true, true);
            if (_turn(c)) ++done;
        }
        assertGe(done, 4);
        assertLe(done, 28);
    }

    function testFuzz_sums_anyLanes_succeeds(uint256 seed) public pure {
        uint256 columns = 1 + seed % 8;
        uint256 rows = 1 + (seed >> 8) % 70;
        bytes memory lanes = _lanes(seed, rows * columns);
        bytes memory out = new bytes(64);
        uint256 word = Plan.instruction(Plan.LANE_SUMS, 0, _pointer(out), _pointer(lanes), 0);
        PlanLanes.sums(word | columns << 144 | rows << 120 | (2 * columns) << 96);
        for (uint256 column = 0; column < columns; ++column) {
            int256 sum = 0;
            for (uint256 row = 0; row < rows; ++row) {
                sum += _lane(seed, row * columns + column);
            }
            uint256 stored;
            assembly ("memory-safe") {
                stored := mload(add(add(out, 0x20), shl(2, column)))
            }
            assertEq(int256(stored) >> 224, sum);
        }
    }

    /// @dev 4,096 rows of the least, and of the greatest number: no lane reaches the next.
    function test_sums_mostRows_succeeds() public pure {
        for (uint256 i = 0; i < 2; ++i) {
            bytes memory lanes = new bytes(8192 + 32);
            for (uint256 j = 0; j < 8192; j += 2) {
                (lanes[j], lanes[j + 1]) = i == 0 ? (bytes1(0x80), bytes1(0)) : (bytes1(0x7F), bytes1(0xFF));
            }
            bytes memory out = new bytes(64);
            uint256 word = Plan.instruction(Plan.LANE_SUMS, 0, _pointer(out), _pointer(lanes), 0);
            PlanLanes.sums(word | 1 << 144 | 4096 << 120 | 2 << 96);
            uint256 stored;
            assembly ("memory-safe") {
                stored := mload(add(out, 0x20))
            }
            int256 each = i == 0 ? type(int16).min : type(int16).max;
            assertEq(int256(stored) >> 224, 4096 * each);
        }
    }
}
