//! Stored elements as numbers, and the two fixed-point forms (docs/EXACT.md, sections 1 to 3).
use crate::binary32;
use crate::decode::{u16_at, u32_at};
use crate::program::ElementType;

/// The number that a stored integer reads as; a bool is its byte.
pub(crate) fn number(stored: u32, element_type: ElementType) -> i64 {
    match element_type {
        ElementType::S8 => i64::from(stored) - 128,
        ElementType::S32 => i64::from(stored as i32),
        _ => i64::from(stored),
    }
}

/// Modulo 2^32 as signed.
pub(crate) fn wrap(x: i64) -> i64 {
    i64::from(x as i32)
}

/// Clamps to the range of an integer type, as it is stored.
pub(crate) fn saturate(x: i64, element_type: ElementType) -> u32 {
    match element_type {
        ElementType::U8 => x.clamp(0, 255) as u32,
        ElementType::S8 => (x.clamp(-128, 127) + 128) as u32,
        ElementType::Bool => u32::from(x != 0),
        _ => x.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32,
    }
}

/// One stored element of a row's bytes.
pub(crate) fn stored_at(row: &[u8], index: usize, element_type: ElementType) -> u32 {
    match element_type.size() {
        4 => u32_at(row, 4 * index),
        _ => u32::from(row[index]),
    }
}

/// A parameter word.
pub(crate) struct Parameters<'w>(pub(crate) &'w [u8]);

impl Parameters<'_> {
    pub(crate) fn bias(&self) -> i64 {
        i64::from(u32_at(self.0, 0) as i32)
    }

    pub(crate) fn weight_offset(&self) -> i64 {
        u16_at(self.0, 24).into()
    }

    /// `(acc·M + B) >> S`: wraps modulo 2^64, S modulo 64.
    pub(crate) fn scaled(&self, acc: i64) -> i64 {
        let b = (i64::from(u32_at(self.0, 8)) << 32) | i64::from(u32_at(self.0, 12));
        acc.wrapping_mul(u32_at(self.0, 4).into()).wrapping_add(b) >> (self.0[16] & 63)
    }

    /// `wrap(x + bias′)`.
    pub(crate) fn biased(&self, x: i64) -> i64 {
        wrap(x + self.bias())
    }

    /// Of RESCALE: with the bias, scaled, and the low 32 bits of that.
    pub(crate) fn rescaled(&self, x: i64) -> i64 {
        wrap(self.scaled(self.biased(x)))
    }

    /// Scaled, and clamped to -2^u to 2^u - 1, u being the upper clamp modulo 32.
    pub(crate) fn limited(&self, acc: i64) -> u32 {
        let limit = 1i64 << (self.0[23] % 32);
        self.scaled(acc).max(-limit).min(limit - 1) as u32
    }

    /// The stored byte of variant 1 (integer form) or 2 (binary32 form).
    pub(crate) fn requantized(&self, acc: i64, variant: u8) -> u32 {
        let q = if variant == 1 {
            self.scaled(acc)
        } else {
            binary32::to_s32(acc as f32 * f32::from_bits(u32_at(self.0, 17)))
        };
        let [zero_point, lower, upper] = [self.0[21], self.0[22], self.0[23]].map(i64::from);
        // Whatever the sum leaves of 64 bits is beyond any clamp.
        q.saturating_add(zero_point).max(lower).min(upper) as u32
    }
}
