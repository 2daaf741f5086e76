//! The structure rules of REQUANT and RESCALE.
use super::{Rules, INTEGERS};
use crate::error::ensure;
use crate::program::{ElementType, Form, Layout, Operand};
use crate::Result;

impl Rules<'_> {
    pub(super) fn requant(&self) -> Result<()> {
        self.variant(1..=2)?;
        self.gives(&[ElementType::U8, ElementType::S8])?;
        self.channels_of_output()
    }

    pub(super) fn rescale(&self) -> Result<()> {
        self.variant(0..=2)?;
        match self.step.variant {
            0 => {
                self.gives(&[ElementType::S32])?;
                self.channels_of_output()
            }
            1 => self.ratio(),
            _ => self.planes(),
        }
    }

    /// Numbers of 16 bits as two bytes each: a row of high ones, and behind it the low ones.
    fn planes(&self) -> Result<()> {
        let has_c = self.step.operands[2] != Operand::None;
        self.reads(if has_c { 3 } else { 2 })?;
        self.gives(&[ElementType::U8])?;
        let form = &self.step.form.dims;
        let last = form.last();
        ensure!(last % 2 == 0, "the last dim is {last}, expected an even one");
        let count = self.channels(last / 2)?.dims.count();
        ensure!(2 * count == form.count(), "{count} numbers in {} bytes", form.count());
        match (has_c, self.step.k) {
            (false, _) => self.has_no_k(),
            (true, 0) => self.factors(count),
            (true, _) => self.divisors(2, last / 2),
        }
    }

    /// Operand c has a factor for each of so many numbers.
    fn factors(&self, numbers: usize) -> Result<()> {
        let factors = self.plain(2)?;
        self.is(factors, &[ElementType::S32])?;
        let count = factors.dims.count();
        ensure!(count == numbers, "{count} factors of {numbers} numbers: as many");
        Ok(())
    }

    fn ratio(&self) -> Result<()> {
        self.reads(2)?;
        self.gives(&INTEGERS[..3])?;
        let a = self.plain(0)?;
        self.is(a, &INTEGERS)?;
        self.has_dims(a, &self.step.form.dims)?;
        self.divisors(1, 1)
    }

    /// An operand with equally many divisors for each row of the output, and the multiplier. Their number divides
    /// `most`, which is 1 where each row has one.
    fn divisors(&self, at: usize, most: usize) -> Result<()> {
        let divisors = self.plain(at)?;
        self.is(divisors, &[ElementType::S32])?;
        let (count, rows) = (divisors.dims.count(), self.step.form.dims.rows());
        ensure!(count % rows == 0, "{count} divisors of {rows} rows: equally many for each");
        let parts = count / rows;
        ensure!(most % parts == 0, "{parts} divisors of a row, expected a divisor of {most}");
        ensure!(self.step.k > 0, "the multiplier k is 0: at least 1");
        Ok(())
    }

    /// Operand a has the output's dims, and its last axis a parameter word for each index, or one for all.
    fn channels_of_output(&self) -> Result<()> {
        self.reads(2)?;
        self.has_no_k()?;
        let dims = &self.step.form.dims;
        let a = self.channels(dims.last())?;
        self.has_dims(a, dims)
    }

    /// Operand a, read as rows of so many numbers.
    fn channels(&self, row: usize) -> Result<&Form> {
        let a = self.plain(0)?;
        self.is(a, &[ElementType::S32])?;
        let n = self.weights(1, Layout::Channel)?.dims.count();
        ensure!(n == 1 || n == row, "{n} channels for rows of {row}: as many, or 1");
        Ok(a)
    }
}
