// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TurnedRequant} from "../../../verifier-contracts/execution/TurnedRequant.sol";
import {Values} from "../../../verifier-contracts/libraries/Values.sol";
import {Requant} from "../../../verifier-contracts/opcodes/Requant.sol";
import {Test} from "../support/Test.sol";

/// @notice Against the judge's REQUANT, element by element.
contract TurnedRequantTest is Test {
    struct Matrix {
        uint256 rows;
        uint256 columns;
        uint256[] words;
        int32[] before;
        int32[] elements;
    }

    TurnedRequant private _turned = new TurnedRequant();
    uint256 private _state;

    function _random(uint256 limit) private returns (uint256) {
        _state = uint256(keccak256(abi.encode(_state)));
        return _state % limit;
    }

    function _random(int256 low, int256 high) private returns (int256) {
        return low + int256(_random(uint256(high - low + 1)));
    }

    function _word(
        int256 bias,
        uint256 multiplier,
        int256 addend,
        uint256 shift,
        uint256 zeroPoint,
        uint256 lower,
        uint256 upper
    ) private pure returns (uint256) {
        uint256 word = (uint256(uint32(int32(bias))) << 224) | (multiplier << 192);
        word |= (uint256(uint64(int64(addend))) << 128) | (shift << 120) | (zeroPoint << 80);
        return word | (lower << 72) | (upper << 64);
    }

    /// @dev Mostly words that go 32 rows at a time, at the edges of what may.
    function _randomWord() private returns (uint256) {
        uint256 kind = _random(uint256(12));
        if (kind == 0) return _random(type(uint256).max);
        uint256 bits = kind < 8 ? 8 : _random(uint256(9));
        uint256 lower = _random(257 - (uint256(1) << bits));
        int256 addend = _random(-300, 300);
        if (kind == 9) addend = _random(-2 ** 30 - 2 ** 17, -2 ** 30 + 2 ** 17);
        if (kind == 10) addend = _random(2 ** 30 - 2 ** 17, 2 ** 30 + 2 ** 17);
        int256 bias = kind == 11 ? _random(-2 ** 31, 2 ** 31 - 1) : _random(-9000, 9000);
        uint256 upper = lower + (uint256(1) << bits) - 1;
        uint256 multiplier = _random(uint256(20)) == 0 ? _random(uint256(5)) : 1;
        return _word(bias, multiplier, addend, _random(uint256(10)), _random(uint256(256)), lower, upper);
    }

    /// @dev Elements near the thresholds of their column, or anywhere.
    function _randomElement(uint256 word, int256 before, uint256 spread) private returns (int32) {
        uint256 kind = _random(uint256(40));
        if (kind < spread) return int32(uint32(_random(uint256(2 ** 32))));
        if (kind == 38) return type(int32).min + int32(int256(_random(uint256(3))));
        if (kind == 39) return type(int32).max - int32(int256(_random(uint256(3))));
        uint256 shift = (word >> 120) & 15;
        int256 value = _random(-3, 260) - int256((word >> 80) & 0xFF);
        int256 acc = value * int256(1 << shift) - int256(int64(uint64(word >> 128))) + _random(-1, 1);
        return int32(uint32(uint256(acc + before - Requant.bias(word))));
    }

    function _randomMatrix(uint256 seed) private returns (Matrix memory m) {
        _state = seed;
        m.rows = _random(uint256(8)) == 0 ? _random(uint256(32)) + 1 : _random(uint256(40)) + 32;
        m.columns = _random(uint256(11)) + 1;
        m.words = new uint256[](m.columns);
        m.before = new int32[](m.columns);
        m.elements = new int32[](m.rows * m.columns);
        bool hostile = _random(uint256(4)) == 0;
        for (uint256 c = 0; c < m.columns; ++c) {
            m.words[c] =
                hostile ? _randomWord() : _word(0, 1, _random(-200, 200), _random(uint256(8)), 0, 0, 255);
            m.before[c] = int32(_random(-70_000, 70_000));
            if (hostile && _random(uint256(9)) == 0) m.before[c] = int32(uint32(_random(uint256(2 ** 32))));
        }
        uint256 spread = _random(uint256(4)) == 0 ? 4 : 0;
        for (uint256 i = 0; i < m.elements.length; ++i) {
            m.elements[i] = _randomElement(m.words[i % m.columns], m.before[i % m.columns], spread);
        }
    }

    function _calldata(Matrix memory m) private pure returns (bytes memory) {
        bytes memory elements = _pack(m.elements);
        return bytes.concat(abi.encodePacked(m.rows, m.columns, m.words), _pack(m.before), elements);
    }

    function _pack(int32[] memory numbers) private pure returns (bytes memory packed) {
        packed = new bytes(4 * numbers.length);
        for (uint256 i = 0; i < numbers.length; ++i) {
            uint256 stored = uint256(int256(numbers[i])) << 224;
            assembly ("memory-safe") {
                let place := add(add(packed, 0x20), shl(2, i))
                mstore(place, or(stored, shr(32, shl(32, mload(place)))))
            }
        }
    }

    function _check(Matrix memory m) private {
        (bool success, bytes memory out) = address(_turned).staticcall(_calldata(m));
        assertTrue(success);
        assertEq(out.length, m.rows * m.columns);
        for (uint256 i = 0; i < m.elements.length; ++i) {
            (uint256 r, uint256 c) = (i / m.columns, i % m.columns);
            int256 acc = int256(m.elements[i]) - m.before[c] + Requant.bias(m.words[c]);
            uint256 stored = Requant.clamp(Requant.scale(Values.wrap(acc), m.words[c]), m.words[c]);
            if (uint8(out[c * m.rows + r]) != stored) assertEq(uint8(out[c * m.rows + r]), stored);
        }
    }

    function testFuzz_fallback_equalsJudge_succeeds(uint256 seed) public {
        _check(_randomMatrix(seed));
    }

    /// @dev Every S and every power of two between the clamps, each byte's thresholds in the rows.
    function test_fallback_thresholds_succeeds() public {
        for (uint256 shift = 0; shift < 10; ++shift) {
            for (uint256 bits = 0; bits < 9; ++bits) {
                uint256 lower = 256 - (uint256(1) << bits);
                Matrix memory m;
                (m.rows, m.columns) = (3 * 258, 1);
                m.words = new uint256[](1);
                m.before = new int32[](1);
                m.words[0] = _word(-5, 1, 7, shift, 9, lower, 255);
                m.before[0] = 11;
                m.elements = new int32[](m.rows);
                for (uint256 i = 0; i < m.rows; ++i) {
                    // One below, at and above what gives the value i / 3 − 1 + the zero point.
                    int256 value = (int256(i / 3) - 1 + int256(lower) - 9) * int256(1 << shift) - 7;
                    m.elements[i] = int32(value + int256(i % 3) - 1 + 5 + 11);
                }
                _check(m);
            }
        }
    }

    /// @dev A lane whose acc wraps, or that borrows from the next, beside lanes that do not.
    function test_fallback_wrappingLanes_succeeds() public {
        Matrix memory m;
        (m.rows, m.columns) = (64, 8);
        m.words = new uint256[](8);
        m.before = new int32[](8);
        m.elements = new int32[](512);
        for (uint256 c = 0; c < 8; ++c) {
            m.words[c] = _word(0, 1, 8, 4, 0, 0, 255);
            m.before[c] = c & 1 == 0 ? int32(2 ** 30 - 2 ** 17) : -int32(2 ** 30 - 2 ** 17);
        }
        int32[4] memory edges = [type(int32).min, type(int32).max, int32(2 ** 30), -int32(2 ** 30)];
        for (uint256 i = 0; i < 512; ++i) {
            m.elements[i] = i % 3 == 0 ? edges[(i / 3) & 3] : m.before[i & 7] + int32(int256(i * 8));
        }
        _check(m);
    }
}
