// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Case, Cases, Operand} from "./RecordCase.sol";

/// @notice Elements by the plainest loops, written from docs/EXACT.md, section 3, with no code of the contracts: judge
/// and kernels share some.
library Naive {
    uint256 private constant DONT_KNOW = type(uint256).max;

    /// @return stored bytes of element number i; DONT_KNOW for FLOAT and for binary32 forms
    function element(Case memory c, uint256 i) internal pure returns (uint256 stored) {
        unchecked {
            Operand memory a = c.operands[0];
            Operand memory b = c.operands[1];
            if (c.opcode == 2) return _move(c, a, b, i);
            if (c.opcode == 3) return _lookup(c, a, b, i);
            if (c.opcode == 4) return _dot(c, a, b, i);
            if (c.opcode == 5 || c.opcode == 6) return _requant(c, a, b, i);
            if (c.opcode == 7) return uint8(b.data[Cases.element(a, i)]);
            if (c.opcode == 8) return _arith(c, i);
            if (c.opcode == 10) return _reduce(c, a, i);
            if (c.opcode == 11) {
                bool condition = Cases.spread(c, a, i) != 0;
                return Cases.spread(c, c.operands[condition ? 1 : 2], i);
            }
            return DONT_KNOW;
        }
    }

    function knows(uint256 stored) internal pure returns (bool) {
        return stored != DONT_KNOW;
    }

    /// @notice What one element costs, in steps of a loop.
    function cost(Case memory c) internal pure returns (uint256) {
        bool isBelow = c.opcode == 3 && c.variant == 3;
        if (c.opcode == 4 || c.opcode == 10 || isBelow) return c.operands[0].last;
        return 1;
    }

    function _wrap(int256 x) private pure returns (int256) {
        return int256(int32(uint32(uint256(x))));
    }

    /// @dev Into the type's range; s32 modulo 2^32 already.
    function _sat(uint256 code, int256 x) private pure returns (uint256) {
        unchecked {
            if (code == 4) return x == 0 ? 0 : 1;
            if (code == 2) return uint32(uint256(x));
            if (code == 1) x += 128;
            return x < 0 ? 0 : x > 255 ? 255 : uint256(x);
        }
    }

    function _arith(Case memory c, uint256 i) private pure returns (uint256) {
        unchecked {
            uint256 v = c.variant;
            if (v == 10) return _rotate(c, i);
            int256 x = Cases.number(c.operands[0].code, Cases.spread(c, c.operands[0], i));
            if (v == 9) return _sat(c.code, x);
            int256 y = Cases.number(c.operands[1].code, Cases.spread(c, c.operands[1], i));
            if (v == 6) return x < y ? 1 : 0;
            if (v == 7) return x <= y ? 1 : 0;
            if (v == 8) return x == y ? 1 : 0;
            int256 z =
                v == 0 ? x + y : v == 1 ? x - y : v == 2 ? x * y : v == 3 ? (x < y ? x : y) : (x < y ? y : x);
            if (v == 5) z = y < 1 ? int256(0) : x / y;
            return _sat(c.code, _wrap(z));
        }
    }

    /// @dev The floor of a division by 2^(k+1), of both elements of each pair.
    function _rotate(Case memory c, uint256 i) private pure returns (uint256) {
        unchecked {
            uint256 first = i % 2 == 0 ? i : i - 1;
            int256 x = Cases.number(2, Cases.spread(c, c.operands[0], first));
            int256 y = Cases.number(2, Cases.spread(c, c.operands[0], first + 1));
            int256 re = Cases.number(2, Cases.spread(c, c.operands[1], first));
            int256 im = Cases.number(2, Cases.spread(c, c.operands[1], first + 1));
            int256 numerator = i == first ? x * re - y * im : x * im + y * re;
            int256 half = int256(2 ** uint256(c.attribute));
            numerator = 2 * numerator + half;
            int256 z = numerator >= 0 ? numerator / (2 * half) : -((2 * half - 1 - numerator) / (2 * half));
            if (z > type(int32).max) z = type(int32).max;
            if (z < type(int32).min) z = type(int32).min;
            return _sat(c.code, z);
        }
    }

    function _move(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256[6] memory index;
            uint256 rest = i;
            for (uint256 axis = c.rank; axis != 0; --axis) {
                uint256 n = Cases.dim(c.shape, axis - 1);
                index[axis - 1] = rest % n;
                rest /= n;
            }
            uint256 number = 0;
            for (uint256 j = 0; j < 4; ++j) {
                uint256 word = (j < 2 ? c.coordinates01 : c.coordinates23) >> (j % 2 == 0 ? 128 : 0);
                int256 s = int256(int32(uint32(word >> 64)));
                s += int256(int24(uint24(word >> 40))) * int256(index[uint8(word >> 8)]);
                s += int256(int24(uint24(word >> 16))) * int256(index[uint8(word)]);
                uint256 v = uint32(word >> 96);
                if (s < 0 || s >= int256(v)) return b.data.length == 0 ? c.attribute : Cases.element(b, i);
                number = number * v + uint256(s);
            }
            return Cases.element(a, number);
        }
    }

    function _lookup(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256 most = Cases.dim(b.shape, 0) - 1;
            if (c.variant == 3) return _below(c, a, b, i);
            if (c.variant == 2) {
                int256 one = Cases.number(2, Cases.element(a, i));
                return Cases.element(b, one < 0 ? 0 : uint256(one) > most ? most : uint256(one));
            }
            uint256 row = i / c.last;
            uint256 column = i % c.last;
            int256 sum = 0;
            for (uint256 j = 0; j < a.last; ++j) {
                int256 id = Cases.number(2, Cases.element(a, row * a.last + j));
                uint256 number = id < 0 ? 0 : uint256(id) > most ? most : uint256(id);
                if (c.variant == 1) return Cases.element(b, number * c.last + column);
                if (number == 0) continue;
                sum += _tableValue(b.data, number * ((c.last + 31) / 32) + column / 32, column % 32);
            }
            return uint32(uint256(sum));
        }
    }

    /// @dev The distance is the largest by which a number that counts is above this one.
    function _below(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            Operand memory mask = c.operands[2];
            bool isMasked = mask.data.length != 0;
            if (isMasked && Cases.spread(c, mask, i) == 0) return c.code == 1 ? 128 : 0;
            int256 x = Cases.number(2, Cases.element(a, i));
            int256 distance = 0;
            for (uint256 j = i / c.last * c.last; j < (i / c.last + 1) * c.last; ++j) {
                int256 over = Cases.number(2, Cases.element(a, j)) - x;
                if (over > distance && (!isMasked || Cases.spread(c, mask, j) != 0)) distance = over;
            }
            uint256 rows = Cases.dim(b.shape, 0);
            return Cases.element(b, uint256(distance) < rows ? uint256(distance) : rows - 1);
        }
    }

    /// @dev Element 8r + t of each 32 stands at byte 4t + 3 − r.
    function _tableValue(bytes memory data, uint256 word, uint256 column) private pure returns (int256) {
        unchecked {
            return int256(uint256(uint8(data[32 * word + 4 * (column % 8) + 3 - column / 8]))) - 128;
        }
    }

    function _dot(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            if (c.variant == 3) return _dotOfActivations(c, a, b, i);
            bool isPlanes = c.variant >= 4;
            uint256 length = isPlanes ? a.last / 2 : a.last;
            uint256 n = i % c.last;
            uint256 from = (i / c.last * c.attribute + n * c.attribute / c.last) * a.last;
            uint256 words = (length + 31) / 32;
            uint256 row = n * 32 * (words + 1);
            uint256 parameters = Cases.read(b.data, n * (words + 1) + words, 32);
            int256 offset = int256(uint256(uint16(parameters >> 48)));
            int256 sum = 0;
            for (uint256 j = 0; j < length; ++j) {
                // Element 32w + j of a row is byte 31 − j of word w.
                int256 w = int256(uint256(uint8(b.data[row + 32 * (j / 32) + 31 - j % 32])));
                uint256 x = uint8(a.data[from + j]);
                if (isPlanes) x = x * 256 + uint8(a.data[from + length + j]);
                sum += int256(x) * (w - offset);
            }
            sum = _wrap(sum + int256(int32(uint32(parameters >> 224))));
            if (c.variant == 0 || c.variant == 4) return uint32(uint256(sum));
            if (c.variant != 5) return _scaled(c, sum, parameters);
            uint256 stored = _rescaled(c, sum, parameters);
            if (c.operands[2].data.length == 0) return stored;
            return uint256(uint32(stored)) + Cases.element(c.operands[2], i) & 0xFFFFFFFF;
        }
    }

    /// @dev A byte as by the integer form; or kept to as many bits as the upper clamp says.
    function _rescaled(Case memory c, int256 sum, uint256 parameters) private pure returns (uint256) {
        unchecked {
            int256 shifted = _floor(sum, parameters);
            if (c.code == 2) {
                int256 limit = int256(2 ** ((parameters >> 64) % 32));
                if (shifted < -limit) shifted = -limit;
                return uint32(uint256(shifted < limit ? shifted : limit - 1));
            }
            return _byte(shifted, parameters);
        }
    }

    function _dotOfActivations(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            uint256 row = i / c.last;
            uint256 other = row / c.attribute * c.last + i % c.last;
            int256 sum = 0;
            for (uint256 j = 0; j < a.last; ++j) {
                int256 x = Cases.number(a.code, Cases.element(a, row * a.last + j));
                sum += x * Cases.number(b.code, Cases.element(b, other * b.last + j));
            }
            return uint32(uint256(sum));
        }
    }

    function _requant(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            if (c.opcode == 6 && c.variant == 1) return _ratio(c, a, b, i);
            if (c.opcode == 6 && c.variant == 2) return _plane(c, a, b, i);
            uint256 parameters = Cases.read(b.data, b.last == 1 ? 0 : i % c.last, 32);
            int256 acc =
                _wrap(Cases.number(2, Cases.element(a, i)) + int256(int32(uint32(parameters >> 224))));
            return _scaled(c, acc, parameters);
        }
    }

    /// @dev A byte of what 16 bits hold of a scaled element.
    function _plane(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            // Rows of a are of so many numbers one after the other, whatever its dims.
            uint256 length = c.last / 2;
            uint256 column = i % c.last % length;
            uint256 parameters = Cases.read(b.data, b.last == 1 ? 0 : column, 32);
            int256 x = Cases.number(2, Cases.element(a, i / c.last * length + column));
            x = _changed(c, x, i / c.last, column);
            int256 v = _floor(_wrap(x + int256(int32(uint32(parameters >> 224)))), parameters);
            v = _wrap(v);
            uint256 number = v < 0 ? 0 : v > 65_535 ? 65_535 : uint256(v);
            return i % c.last < length ? number / 256 : number % 256;
        }
    }

    /// @dev A number of planes by its factor or its divisor, if there are any. @param column of the number in its row
    function _changed(Case memory c, int256 x, uint256 row, uint256 column) private pure returns (int256) {
        unchecked {
            Operand memory by = c.operands[2];
            if (by.data.length == 0) return x;
            uint256 length = c.last / 2;
            if (c.attribute == 0) {
                return _wrap(x * Cases.number(2, Cases.element(by, row * length + column)));
            }
            uint256 parts = by.count / (c.count / c.last);
            return _quotient(c, by, x, row * parts + column / (length / parts));
        }
    }

    /// @dev x·M / d by sizes, the half that is rounded up by itself, then clamped.
    function _ratio(Case memory c, Operand memory a, Operand memory b, uint256 i)
        private
        pure
        returns (uint256)
    {
        unchecked {
            return _sat(c.code, _quotient(c, b, Cases.number(a.code, Cases.element(a, i)), i / c.last));
        }
    }

    /// @dev Within s32. @param place of the divisor
    function _quotient(Case memory c, Operand memory divisors, int256 x, uint256 place)
        private
        pure
        returns (int256 q)
    {
        unchecked {
            int256 d = Cases.number(2, Cases.element(divisors, place));
            int256 product = x * int256(c.attribute);
            if (d > 0) {
                q = product < 0 ? -((d - 1 - product) / d) : product / d;
                if (2 * (product - q * d) >= d) ++q;
            }
            if (q > type(int32).max) q = type(int32).max;
            if (q < type(int32).min) q = type(int32).min;
        }
    }

    function _scaled(Case memory c, int256 acc, uint256 parameters) private pure returns (uint256) {
        unchecked {
            if (c.variant == 2) return DONT_KNOW;
            int256 q = _floor(acc, parameters);
            if (c.opcode == 6) return uint32(uint256(q));
            return _byte(q, parameters);
        }
    }

    /// @dev Zero point, then clamps.
    function _byte(int256 q, uint256 parameters) private pure returns (uint256) {
        unchecked {
            q += int256(uint256(uint8(parameters >> 80)));
            int256 lower = int256(uint256(uint8(parameters >> 72)));
            int256 upper = int256(uint256(uint8(parameters >> 64)));
            if (q < lower) q = lower;
            if (q > upper) q = upper;
            return uint256(q);
        }
    }

    /// @dev Of acc·M + B, modulo 2^64 as signed, the floor division by 2^S.
    function _floor(int256 acc, uint256 parameters) private pure returns (int256 q) {
        unchecked {
            int256 sum =
                acc * int256(uint256(uint32(parameters >> 192))) + int256(int64(uint64(parameters >> 128)));
            q = int256(int64(uint64(uint256(sum))));
            uint256 shift = uint8(parameters >> 120) % 64;
            return q >= 0 ? q / int256(1 << shift) : -((-q + int256(1 << shift) - 1) / int256(1 << shift));
        }
    }

    function _reduce(Case memory c, Operand memory a, uint256 i) private pure returns (uint256) {
        unchecked {
            if (c.variant == 3) return _norm(c, a, i);
            uint256 stored = Cases.element(a, i * a.last);
            int256 result = Cases.number(a.code, stored);
            for (uint256 j = 1; j < a.last; ++j) {
                uint256 other = Cases.element(a, i * a.last + j);
                int256 x = Cases.number(a.code, other);
                if (c.variant == 0) result += x;
                else if (c.variant == 1 ? x < result : x > result) (result, stored) = (x, other);
            }
            return c.variant == 0 ? uint32(uint256(result)) : stored;
        }
    }

    /// @dev The root bit by bit.
    function _norm(Case memory c, Operand memory a, uint256 i) private pure returns (uint256 root) {
        unchecked {
            uint256 sum = c.attribute;
            for (uint256 j = 0; j < a.last; ++j) {
                int256 x = Cases.number(a.code, Cases.element(a, i * a.last + j));
                sum += uint256(x * x);
            }
            for (uint256 bit = 1 << 40; bit != 0; bit >>= 1) {
                if ((root + bit) ** 2 <= sum) root += bit;
            }
            return root < 1 << 31 ? root : (1 << 31) - 1;
        }
    }
}
