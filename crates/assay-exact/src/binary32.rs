//! FLOAT's operations: binary32, round to nearest even, subnormals kept, one NaN (docs/EXACT.md, section 3).

/// The only NaN that a result is.
const NAN: u32 = 0x7fc0_0000;

/// The stored bits of a result.
pub(crate) fn bits(value: f32) -> u32 {
    if value.is_nan() {
        NAN
    } else {
        value.to_bits()
    }
}

/// To integral, half to even; the sign of zero is kept.
pub(crate) fn round(x: f32) -> f32 {
    /// From here on every number is integral, and below it the sum has no place for a fraction.
    const INTEGRAL: f32 = 8_388_608.0;
    let size = x.abs();
    if size < INTEGRAL {
        ((size + INTEGRAL) - INTEGRAL).copysign(x)
    } else {
        x
    }
}

/// `roundHalfEven(x)` as an s32: saturated, NaN gives 0.
pub(crate) fn to_s32(x: f32) -> i64 {
    i64::from(round(x) as i32)
}

/// The root, by the whole root of a number with more than twice its digits.
pub(crate) fn sqrt(x: f32) -> f32 {
    if x == 0.0 || x == f32::INFINITY {
        return x;
    }
    if x.is_nan() || x < 0.0 {
        return f32::NAN;
    }
    let bits = x.to_bits();
    let (mut mantissa, mut exponent) = match bits >> 23 {
        0 => (bits, -149),
        biased => (bits & 0x7f_ffff | 0x80_0000, biased as i32 - 150),
    };
    let shift = mantissa.leading_zeros() - 8;
    mantissa <<= shift;
    exponent -= shift as i32;
    if exponent % 2 != 0 {
        mantissa <<= 1;
        exponent -= 1;
    }
    // x = n·2^(exponent − 26): the root has 25 or 26 digits, and one more bit says whether something is left.
    let n = u64::from(mantissa) << 26;
    let root = n.isqrt();
    let is_inexact = root * root != n;
    let rounded = ((root << 1) | u64::from(is_inexact)) as f32;
    let power = (exponent - 26) / 2 - 1;
    rounded * f32::from_bits(((power + 127) as u32) << 23)
}

/// The lesser (or greater) number; NaN if either is, and a zero is +0.
pub(crate) fn extreme(a: f32, b: f32, is_max: bool) -> f32 {
    if a.is_nan() || b.is_nan() {
        return f32::NAN;
    }
    let found = if (a < b) == is_max { b } else { a };
    if found == 0.0 {
        0.0
    } else {
        found
    }
}
