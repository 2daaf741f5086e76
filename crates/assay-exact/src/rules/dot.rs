//! The structure rules of DOT.
use super::Rules;
use crate::error::ensure;
use crate::program::{ElementType, Form, Layout, Operand};
use crate::validate::{MOST_OF_BYTES, MOST_OF_PLANES};
use crate::Result;

impl Rules<'_> {
    pub(super) fn dot(&self) -> Result<()> {
        self.variant(0..=5)?;
        let gives_numbers = self.step.form.element_type == ElementType::S32;
        let has_c = self.step.variant == 5 && gives_numbers && self.step.operands[2] != Operand::None;
        self.reads(if has_c { 3 } else { 2 })?;
        let a = self.plain(0)?;
        let is_of_planes = self.step.variant >= 4;
        self.is(a, if is_of_planes { &[ElementType::U8] } else { &[ElementType::U8, ElementType::S8] })?;
        if self.step.variant == 3 {
            return self.dot_of_activations(a);
        }
        let b = self.weights(1, Layout::Dot)?;
        let n = b.dims.as_slice()[0] as usize;
        let length = if is_of_planes { 2 * b.dims.last() } else { b.dims.last() };
        ensure!(a.dims.last() == length, "rows of {} bytes, expected {length}", a.dims.last());
        let most = if is_of_planes { MOST_OF_PLANES } else { MOST_OF_BYTES };
        ensure!(b.dims.last() <= most, "weight rows of {}, at most {most}", b.dims.last());
        let groups = self.step.k as usize;
        ensure!(groups > 0 && n % groups == 0, "{groups} groups do not divide {n} rows");
        self.gives(match self.step.variant {
            0 | 4 => &[ElementType::S32],
            5 => &[ElementType::U8, ElementType::S8, ElementType::S32],
            _ => &[ElementType::U8, ElementType::S8],
        })?;
        if has_c {
            let addends = self.plain(2)?;
            self.is(addends, &[ElementType::S32])?;
            self.has_dims(addends, &self.step.form.dims)?;
        }
        self.last_is(n)?;
        self.rows_are(a.dims.rows(), groups)
    }

    fn dot_of_activations(&self, a: &Form) -> Result<()> {
        let b = self.plain(1)?;
        self.is(b, &[ElementType::U8, ElementType::S8])?;
        self.gives(&[ElementType::S32])?;
        let k = a.dims.last();
        ensure!(k <= 1024, "rows of {k} activations, at most 1024");
        ensure!(b.dims.last() == k, "rows of {k} by rows of {}", b.dims.last());
        let dims = &self.step.form.dims;
        let (rows, share) = (dims.rows(), self.step.k as usize);
        ensure!(share > 0 && rows % share == 0, "{share} rows a matrix do not divide {rows} rows");
        ensure!(a.dims.rows() == rows, "{} rows of a for {rows} outputs", a.dims.rows());
        let expected = rows / share * dims.last();
        ensure!(b.dims.rows() == expected, "{} rows of b, expected {expected}", b.dims.rows());
        Ok(())
    }
}
