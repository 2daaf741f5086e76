// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {Swar} from "../../../verifier-contracts/libraries/Swar.sol";
import {Test} from "../support/Test.sol";

contract SwarTest is Test {
    function _checkQuotients(uint256 x, uint256 y) private pure {
        uint256 place;
        assembly ("memory-safe") {
            place := mload(0x40)
            mstore(place, x)
            mstore(add(place, 0x20), y)
            mstore(0x40, add(place, 0x60))
        }
        Swar.divide(place + 64, place + 96, place, place + 32);
        for (uint256 i = 0; i < 8; ++i) {
            uint256 shift = 32 * i;
            int256 a = int32(uint32(x >> shift));
            int256 b = int32(uint32(y >> shift));
            uint256 q;
            assembly ("memory-safe") {
                q := and(shr(shift, mload(add(place, 64))), 0xFFFFFFFF)
            }
            assertEq(q, uint32(int32(b < 1 ? int256(0) : a / b)));
        }
    }

    function testFuzz_divide_equalsInt32_succeeds(uint256 x, uint256 y) public pure {
        _checkQuotients(x, y);
    }

    /// @dev One power of two in every lane, 0 and −2^31 too, and it in all lanes but one.
    function testFuzz_divide_powersOfTwo_succeeds(uint256 x, uint8 lane) public pure {
        uint256 ones = type(uint256).max / 0xFFFFFFFF;
        for (uint256 power = 0; power <= 32; ++power) {
            uint256 d = (uint256(1) << power) & 0xFFFFFFFF;
            _checkQuotients(x, d * ones);
            _checkQuotients(x, (d * ones) ^ (uint256(1) << lane));
            // Dividends around multiples of the divisor.
            _checkQuotients((d * ones) ^ (x & (3 * ones)), d * ones);
            _checkQuotients(~((d * ones) ^ (x & (3 * ones))), d * ones);
        }
        _checkQuotients(ones << 31, ones);
        _checkQuotients(ones << 31, ones << 30);
    }

    function _words(uint256 seed, uint256 count) private pure returns (uint256 place) {
        place = Memory.reserve(32 * count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 word = uint256(keccak256(abi.encode(seed, i)));
            // Lanes that are alike, or at an end of their range, are where signs and carries go wrong.
            if (word % 3 == 1) word |= type(uint256).max / 0xFFFFFFFF * 0x7FFFFFFF;
            if (word % 3 == 2) word &= type(uint256).max / 0xFFFFFFFF * 0x80000001;
            assembly ("memory-safe") {
                mstore(add(place, shl(5, i)), word)
            }
        }
    }

    function _lane(uint256 place, uint256 i) private pure returns (int32) {
        return int32(uint32(Memory.load(place + 4 * i) >> 224));
    }

    function _expected(uint256 kind, int32 x, int32 y) private pure returns (int32) {
        unchecked {
            if (kind == 0) return x + y;
            if (kind == 1) return x - y;
            if (kind == 2) return x < y ? x : y;
            if (kind == 3) return x > y ? x : y;
            return y < 1 ? int32(0) : x / y;
        }
    }

    /// @dev Several words one after another; the one behind stays.
    function testFuzz_words_equalInt32_succeeds(uint256 seed, uint8 kind, uint8 count) public pure {
        kind %= 5;
        uint256 words = count % 5;
        uint256 a = _words(seed, words + 1);
        uint256 b = _words(~seed, words + 1);
        uint256 out = _words(seed ^ 1, words + 1);
        uint256 behind = Memory.load(out + 32 * words);
        if (kind == 0) Swar.add(out, out + 32 * words, a, b);
        else if (kind == 1) Swar.sub(out, out + 32 * words, a, b);
        else if (kind == 4) Swar.divide(out, out + 32 * words, a, b);
        else Swar.extreme(kind == 3, out, out + 32 * words, a, b);
        for (uint256 i = 0; i < 8 * words; ++i) {
            assertEq(_lane(out, i), _expected(kind, _lane(a, i), _lane(b, i)));
        }
        assertEq(Memory.load(out + 32 * words), behind);
    }

    /// @dev Rows of 8 to 40 elements; the rows stay, and no more than a store's 32 bytes changes behind the results.
    function testFuzz_extremes_equalInt32_succeeds(uint256 seed, uint8 length, uint8 rows, bool greatest)
        public
        pure
    {
        uint256 count = 8 + length % 33;
        uint256 height = 1 + rows % 5;
        uint256 row = _words(seed, count * height / 8 + 2);
        uint256 size = 32 * (count * height / 8 + 2);
        bytes32 before = _hash(row, size);
        uint256 out = _words(~seed, 4);
        uint256 behind = Memory.load(out + 4 * height + 28);
        Swar.extremes(greatest, out, row, 4 * count, height);
        for (uint256 i = 0; i < height; ++i) {
            int32 found = _lane(row, i * count);
            for (uint256 j = 1; j < count; ++j) {
                found = _expected(greatest ? 3 : 2, found, _lane(row, i * count + j));
            }
            assertEq(_lane(out, i), found);
        }
        assertEq(_hash(row, size), before);
        assertEq(Memory.load(out + 4 * height + 28), behind);
    }

    function _hash(uint256 place, uint256 size) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            hash := keccak256(place, size)
        }
    }
}
