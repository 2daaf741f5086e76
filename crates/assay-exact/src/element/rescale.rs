//! REQUANT and RESCALE: numbers by the parameters of their channels, by factors, or by the divisors of rows or of their parts.
use super::{Element, Operands};
use crate::arithmetic::{number, saturate, wrap, Parameters};
use crate::program::{ElementType, Operand};
use crate::Result;

impl<O: Operands> Element<'_, O> {
    pub(super) fn requant(&mut self) -> Result<u32> {
        let (x, word) = self.channel()?;
        let parameters = Parameters(word.as_ref());
        Ok(parameters.requantized(parameters.biased(x), self.step.variant))
    }

    pub(super) fn rescale(&mut self) -> Result<u32> {
        match self.step.variant {
            0 => {
                let (x, word) = self.channel()?;
                Ok(Parameters(word.as_ref()).rescaled(x) as u32)
            }
            1 => self.ratio(),
            _ => self.planes(),
        }
    }

    /// The element of a at the output's index, and the parameter word of its channel.
    fn channel(&mut self) -> Result<(i64, O::Row)> {
        self.channel_at(self.index, self.index % self.dims(0).last())
    }

    /// An element of a, and the parameter word that this row holds, where there is more than one.
    fn channel_at(&mut self, index: usize, row: usize) -> Result<(i64, O::Row)> {
        let [a, b, _] = self.step.operands;
        let x = number(self.operands.element(a, index)?, ElementType::S32);
        let row = if self.dims(1).count() == 1 { 0 } else { row };
        Ok((x, self.operands.row(b, row)?))
    }

    /// A byte of a rescaled number of 16 bits: in the first half of a row the high one, in the second the low one.
    fn planes(&mut self) -> Result<u32> {
        let (row, place) = self.place();
        let count = self.step.form.dims.last() / 2;
        let index = row * count + place % count;
        let (x, word) = self.channel_at(index, place % count)?;
        let x = match (self.step.operands[2], self.step.k) {
            (Operand::None, _) => x,
            (factors, 0) => wrap(x * number(self.operands.element(factors, index)?, ElementType::S32)),
            (divisors, _) => {
                let parts = self.dims(2).count() / self.step.form.dims.rows();
                let quotient = self.quotient(x, divisors, row * parts + place % count * parts / count)?;
                number(saturate(quotient, ElementType::S32), ElementType::S32)
            }
        };
        let number = Parameters(word.as_ref()).rescaled(x).clamp(0, 65_535) as u32;
        Ok(if place < count { number / 256 } else { number % 256 })
    }

    fn ratio(&mut self) -> Result<u32> {
        let [a, b, _] = self.step.operands;
        let x = number(self.operands.element(a, self.index)?, self.form(0).element_type);
        let row = self.place().0;
        Ok(saturate(self.quotient(x, b, row)?, self.step.form.element_type))
    }

    /// k times a number by a divisor, rounded, halves up; 0 of a divisor below 1.
    fn quotient(&mut self, x: i64, divisors: Operand, index: usize) -> Result<i64> {
        let divisor = number(self.operands.element(divisors, index)?, ElementType::S32);
        if divisor < 1 {
            return Ok(0);
        }
        // Up to 65 bits; the quotient has at most 64.
        let numerator = 2 * i128::from(x) * i128::from(self.step.k) + i128::from(divisor);
        let quotient = numerator.div_euclid(2 * i128::from(divisor));
        Ok(quotient as i64)
    }
}
