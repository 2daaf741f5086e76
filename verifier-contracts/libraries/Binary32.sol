// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

/// @notice IEEE 754 binary32 in integers: round to nearest even, subnormals kept, every NaN result is 7FC00000.
/// A number is its 32 bits, right-aligned, all higher bits 0. Total: every pair of bit patterns has a result.
/// Source: IEEE 754-2019, sections 3 to 6; docs/EXACT.md, opcode FLOAT.
///
/// Inside, a finite number is m·2^(e − 150): its significand m < 2^24 and its exponent field e, which counts as 1 for
/// subnormal numbers. Then bits = (e − 1)·2^23 + m, whether or not m has its leading bit, and a significand that was
/// rounded up to 2^24 carries into the field by itself.
library Binary32 {
    uint256 internal constant NAN = 0x7FC00000;
    uint256 internal constant INFINITY = 0x7F800000;
    uint256 private constant SIGN = 0x80000000;
    uint256 private constant MAGNITUDE = 0x7FFFFFFF;
    /// @dev Bits of a stored fraction, and of a significand, whose leading bit is not stored.
    uint256 private constant FRACTION_BITS = 23;
    uint256 private constant SIGNIFICAND_BITS = 24;
    uint256 private constant FRACTION = 0x7FFFFF;
    uint256 private constant LEADING_BIT = 0x800000;
    /// @dev The exponent field of a significand that is its own number: 127 + FRACTION_BITS.
    uint256 private constant UNIT_EXPONENT = 150;
    /// @dev The exponent field of 1/2, the least number that may round to 1.
    uint256 private constant HALF_EXPONENT = 126;
    /// @dev The exponent field of 1/4: a significand of n bits, leading bit and all, adds n to it.
    uint256 private constant QUARTER_EXPONENT = 125;
    /// @dev Bits by which a dividend and a radicand are extended, so that what is rounded off is at least two bits.
    uint256 private constant EXTENSION_BITS = 26;
    /// @dev UNIT_EXPONENT − EXTENSION_BITS: the field of a quotient of two significands so extended, and of a root.
    uint256 private constant EXTENDED_EXPONENT = 124;
    /// @dev Bits of the product of two significands, but one.
    uint256 private constant PRODUCT_BITS = 47;
    /// @dev Beyond so many places, the smaller summand is below a quarter of the greater one's last place.
    uint256 private constant MAX_GAP = 25;
    /// @dev 3·2^24, and 0.7·2^24, for the line from which a root's approximation starts.
    uint256 private constant ROOT_SLOPE = 50331648;
    uint256 private constant ROOT_START = 11744051;

    function add(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            uint256 x = a & MAGNITUDE;
            uint256 y = b & MAGNITUDE;
            if (x < y) (a, b, x, y) = (b, a, y, x);
            if (x >= INFINITY) return x > INFINITY || (y == INFINITY && a != b) ? NAN : a;
            uint256 e;
            uint256 gap;
            (x, e) = _split(x);
            (y, gap) = _split(y);
            gap = e - gap;
            // b is below a quarter of a's last place, so below half a place of the number next to a.
            if (gap > MAX_GAP) return a;
            x <<= gap;
            e -= gap;
            if ((a ^ b) & SIGN == 0) {
                x += y;
                gap += x >> (SIGNIFICAND_BITS + gap);
            } else {
                x -= y;
                // At most the leading bit is lost, and there is one below the last place to make up for it.
                if (gap > 1) gap -= 1 - (x >> (FRACTION_BITS + gap));
                else return x == 0 ? 0 : (a & SIGN) | _packShort(x, e);
            }
            return (a & SIGN) | _pack(x, gap, e + gap);
        }
    }

    function sub(uint256 a, uint256 b) internal pure returns (uint256) {
        // A NaN stays a NaN under either sign.
        return add(a, b ^ SIGN);
    }

    function mul(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            uint256 sign = (a ^ b) & SIGN;
            a &= MAGNITUDE;
            b &= MAGNITUDE;
            if (a >= INFINITY || b >= INFINITY) {
                return a > INFINITY || b > INFINITY || a == 0 || b == 0 ? NAN : sign | INFINITY;
            }
            if (a == 0 || b == 0) return sign;
            uint256 e;
            uint256 f;
            (a, e) = _normalize(a);
            (b, f) = _normalize(b);
            a *= b;
            b = FRACTION_BITS + (a >> PRODUCT_BITS);
            return sign | _packAny(a, b, e + f + b - UNIT_EXPONENT);
        }
    }

    function div(uint256 a, uint256 b) internal pure returns (uint256) {
        unchecked {
            uint256 sign = (a ^ b) & SIGN;
            a &= MAGNITUDE;
            b &= MAGNITUDE;
            if (a >= INFINITY || b >= INFINITY) {
                if (a > INFINITY || b > INFINITY || a == b) return NAN;
                return a == INFINITY ? sign | INFINITY : sign;
            }
            if (b == 0) return a == 0 ? NAN : sign | INFINITY;
            if (a == 0) return sign;
            uint256 e;
            uint256 f;
            (a, e) = _normalize(a);
            (b, f) = _normalize(b);
            a <<= EXTENSION_BITS;
            assembly ("memory-safe") {
                // 26 or 27 bits. At least two are rounded off, so the lowest one may stand for the remainder too.
                a := or(div(a, b), iszero(iszero(mod(a, b))))
            }
            b = 2 + (a >> EXTENSION_BITS);
            return sign | _packAny(a, b, e + EXTENDED_EXPONENT + b - f);
        }
    }

    function sqrt(uint256 a) internal pure returns (uint256) {
        unchecked {
            if (a & MAGNITUDE == 0) return a;
            if (a >= INFINITY) return a == INFINITY ? a : NAN;
            (uint256 m, uint256 e) = _normalize(a);
            // Makes the exponent even: a = m·2^(e − 176) with m in [2^48, 2^50).
            m <<= EXTENSION_BITS - (e & 1);
            e += e & 1;
            assembly ("memory-safe") {
                // The line m/(3·2^24) + 0.7·2^24 is within 3.4 % of the root. Newton's step from an error of r leaves r²/2
                // above the root: after 3 of them, less than one unit.
                let root := add(div(m, ROOT_SLOPE), ROOT_START)
                root := shr(1, add(root, div(m, root)))
                root := shr(1, add(root, div(m, root)))
                root := shr(1, add(root, div(m, root)))
                root := sub(root, gt(root, div(m, root)))
                // 25 bits. No root is halfway between two numbers: the square of an odd root is too long for m.
                m := shr(1, add(root, 1))
            }
            return (((e + EXTENDED_EXPONENT) >> 1) << FRACTION_BITS) + m;
        }
    }

    /// @notice To the nearest integral number, ties to even; keeps the sign of a zero result.
    function roundHalfEven(uint256 a) internal pure returns (uint256) {
        unchecked {
            uint256 x = a & MAGNITUDE;
            if (x > INFINITY) return NAN;
            (uint256 m, uint256 e) = _split(x);
            if (e >= UNIT_EXPONENT) return a;
            if (e < HALF_EXPONENT) return a & SIGN;
            uint256 shift = UNIT_EXPONENT - e;
            m = _shiftRight(m, shift);
            // 1/2 and less have become 0, which has no leading bit to place.
            return m == 0 ? a & SIGN : (a & SIGN) | (((e - 1) << FRACTION_BITS) + (m << shift));
        }
    }

    /// @notice The smaller number; NaN if either is; a zero result is +0.
    function min(uint256 a, uint256 b) internal pure returns (uint256) {
        if (isNaN(a) || isNaN(b)) return NAN;
        a = _order(a) < _order(b) ? a : b;
        return a == SIGN ? 0 : a;
    }

    /// @notice The larger number; NaN if either is; a zero result is +0.
    function max(uint256 a, uint256 b) internal pure returns (uint256) {
        if (isNaN(a) || isNaN(b)) return NAN;
        a = _order(a) > _order(b) ? a : b;
        return a == SIGN ? 0 : a;
    }

    function lt(uint256 a, uint256 b) internal pure returns (bool) {
        return _order(a) < _order(b) && !isNaN(a) && !isNaN(b);
    }

    function le(uint256 a, uint256 b) internal pure returns (bool) {
        return _order(a) <= _order(b) && !isNaN(a) && !isNaN(b);
    }

    function eq(uint256 a, uint256 b) internal pure returns (bool) {
        return _order(a) == _order(b) && !isNaN(a);
    }

    function isNaN(uint256 a) internal pure returns (bool) {
        return a & MAGNITUDE > INFINITY;
    }

    /// @notice The nearest number to an integer. @param value within s32
    function fromInteger(int256 value) internal pure returns (uint256) {
        unchecked {
            if (value == 0) return 0;
            uint256 m = uint256(value < 0 ? -value : value);
            uint256 length = _bitLength(m);
            m = length > SIGNIFICAND_BITS
                ? _shiftRight(m, length - SIGNIFICAND_BITS)
                : m << (SIGNIFICAND_BITS - length);
            return (value < 0 ? SIGN : 0) + ((QUARTER_EXPONENT + length) << FRACTION_BITS) + m;
        }
    }

    /// @notice Truncated toward zero and saturated to s32; NaN gives 0.
    function truncate(uint256 a) internal pure returns (int256 value) {
        unchecked {
            if (isNaN(a)) return 0;
            (uint256 m, uint256 e) = _split(a & MAGNITUDE);
            return
                _saturate(a & SIGN, e < UNIT_EXPONENT ? m >> (UNIT_EXPONENT - e) : m << (e - UNIT_EXPONENT));
        }
    }

    /// @notice The nearest integer, ties to even, saturated to s32; NaN gives 0.
    function nearest(uint256 a) internal pure returns (int256 value) {
        unchecked {
            if (isNaN(a)) return 0;
            (uint256 m, uint256 e) = _split(a & MAGNITUDE);
            return _saturate(
                a & SIGN, e < UNIT_EXPONENT ? _shiftRight(m, UNIT_EXPONENT - e) : m << (e - UNIT_EXPONENT)
            );
        }
    }

    /// @notice `nearest(mul(fromInteger(value), scale))` at less gas. @param value within s32
    function scaledNearest(int256 value, uint256 scale) internal pure returns (int256) {
        unchecked {
            uint256 sign = scale & SIGN;
            uint256 e = (scale & MAGNITUDE) >> FRACTION_BITS;
            // Subnormal scales too give less than 1/2. Infinity is taken as 2^128, which saturates like it.
            if (e == 0 || value == 0 || isNaN(scale)) return 0;
            if (value < 0) {
                value = -value;
                sign ^= SIGN;
            }
            uint256 m = uint256(value);
            uint256 length = _bitLength(m);
            if (length > SIGNIFICAND_BITS) {
                m = _shiftRight(m, length - SIGNIFICAND_BITS) << (length - SIGNIFICAND_BITS);
            }
            m *= (scale & FRACTION) | LEADING_BIT;
            // The product of `length` bits and 24 bits, rounded to 24.
            uint256 shift = length - 1 + (m >> (length + FRACTION_BITS));
            m = _shiftRight(m, shift);
            e += shift;
            return
                _saturate(
                    sign, e < UNIT_EXPONENT ? _shiftRight(m, UNIT_EXPONENT - e) : m << (e - UNIT_EXPONENT)
                );
        }
    }

    /// @dev Significand and exponent field. INFINITY gives 2^23 and 255, so the number 2^128.
    function _split(uint256 magnitude) private pure returns (uint256 m, uint256 e) {
        assembly ("memory-safe") {
            e := shr(FRACTION_BITS, magnitude)
            e := add(e, iszero(e))
            m := sub(magnitude, shl(FRACTION_BITS, sub(e, 1)))
        }
    }

    /// @dev As _split, with the leading bit of a nonzero number in its place; the field goes down to −22.
    function _normalize(uint256 magnitude) private pure returns (uint256 m, uint256 e) {
        unchecked {
            if (magnitude >> FRACTION_BITS != 0) return _split(magnitude);
            e = _bitLength(magnitude);
            m = magnitude << (SIGNIFICAND_BITS - e);
            e -= FRACTION_BITS;
        }
    }

    /// @dev Magnitude of m·2^(e − shift − 150), where m >> shift is a whole significand or e is 1. e at least 1.
    function _pack(uint256 m, uint256 shift, uint256 e) private pure returns (uint256 bits) {
        unchecked {
            bits = ((e - 1) << FRACTION_BITS) + _shiftRight(m, shift);
            if (bits > INFINITY) bits = INFINITY;
        }
    }

    /// @dev As _pack, for a field that may be below 1, as a two's complement.
    function _packAny(uint256 m, uint256 shift, uint256 e) private pure returns (uint256 bits) {
        unchecked {
            if (int256(e) < 1) {
                shift += 1 - e;
                e = 1;
            }
            return _pack(m, shift, e);
        }
    }

    /// @dev Magnitude of m·2^(e − 150), where m is not 0 and below 2^25.
    function _packShort(uint256 m, uint256 e) private pure returns (uint256 bits) {
        unchecked {
            uint256 length = _bitLength(m);
            if (length > SIGNIFICAND_BITS) return _pack(m, 1, e + 1);
            uint256 room = SIGNIFICAND_BITS - length;
            if (room >= e) room = e - 1;
            return ((e - room - 1) << FRACTION_BITS) + (m << room);
        }
    }

    /// @dev m / 2^shift to the nearest integer, ties to even. Any shift; m below 2^254.
    function _shiftRight(uint256 m, uint256 shift) private pure returns (uint256 rounded) {
        assembly ("memory-safe") {
            // In half units, so that a shift of 0 needs no case of its own: half a place less a half unit, or exactly
            // half a place where the number below is odd.
            let half := add(sub(shl(shift, 1), 1), and(shr(shift, m), 1))
            rounded := shr(add(shift, 1), add(shl(1, m), half))
        }
    }

    /// @dev Two's complement that orders as the numbers do; both zeros are 0.
    function _order(uint256 a) private pure returns (int256) {
        unchecked {
            int256 magnitude = int256(a & MAGNITUDE);
            return a & SIGN == 0 ? magnitude : -magnitude;
        }
    }

    function _saturate(uint256 sign, uint256 magnitude) private pure returns (int256) {
        unchecked {
            if (sign == 0) return magnitude < SIGN ? int256(magnitude) : int256(MAGNITUDE);
            return magnitude < SIGN ? -int256(magnitude) : -int256(SIGN);
        }
    }

    /// @dev m below 2^64.
    function _bitLength(uint256 m) private pure returns (uint256 length) {
        assembly ("memory-safe") {
            length := shl(5, lt(0xFFFFFFFF, m))
            length := or(length, shl(4, lt(0xFFFF, shr(length, m))))
            length := or(length, shl(3, lt(0xFF, shr(length, m))))
            length := or(length, shl(2, lt(0xF, shr(length, m))))
            // Four bits are left: their lengths, 0 to 15, are the bytes of the constant.
            length := add(
                length,
                byte(shr(length, m), 0x0001020203030303040404040404040400000000000000000000000000000000)
            )
        }
    }
}
