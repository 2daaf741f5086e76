//! What the rules of opcodes are made of: operands, types and dims (docs/EXACT.md, section 2).
use crate::error::{ensure, refuse};
use crate::program::{Dims, ElementType, Form, Layout, Operand};
use crate::rules::Rules;
use crate::Result;

/// What rules are made of.
impl<'p> Rules<'p> {
    pub(crate) fn variant(&self, allowed: core::ops::RangeInclusive<u8>) -> Result<()> {
        let variant = self.step.variant;
        ensure!(allowed.contains(&variant), "variant {variant}: {} to {}", allowed.start(), allowed.end());
        Ok(())
    }

    /// The first `count` operands are named, the others not.
    pub(crate) fn reads(&self, count: usize) -> Result<()> {
        for (at, &operand) in self.step.operands.iter().enumerate() {
            let is_named = operand != Operand::None;
            ensure!(is_named == (at < count), "operand {at} is {operand:?} in a step of {count} operands");
        }
        Ok(())
    }

    pub(crate) fn has_no_k(&self) -> Result<()> {
        ensure!(self.step.k == 0, "k is {}: it has no meaning here, so it is 0", self.step.k);
        Ok(())
    }

    /// A step's tensor or a plain weight tensor.
    pub(crate) fn plain(&self, at: usize) -> Result<&'p Form> {
        if let Operand::Step(step) = self.step.operands[at] {
            ensure!(step < self.index, "operand {at} is step {step}, which is not before this one");
            return Ok(&self.program.steps[step].form);
        }
        self.weights(at, Layout::Plain)
    }

    pub(crate) fn weights(&self, at: usize, layout: Layout) -> Result<&'p Form> {
        let Operand::Weight(weight) = self.step.operands[at] else {
            refuse!("operand {at} is {:?}, expected a weight tensor", self.step.operands[at]);
        };
        let Some(form) = self.program.weights.get(weight) else {
            refuse!("operand {at} is weight tensor {weight} of {}", self.program.weights.len());
        };
        ensure!(form.layout == layout, "operand {at} has layout {:?}, expected {layout:?}", form.layout);
        Ok(form)
    }

    /// A plain tensor that is aligned with the output at the last axis.
    pub(crate) fn broadcast(&self, at: usize) -> Result<&'p Form> {
        let form = self.plain(at)?;
        let (dims, output) = (form.dims.as_slice(), self.step.form.dims.as_slice());
        let pairs = || dims.iter().rev().zip(output.iter().rev());
        let fits = dims.len() <= output.len() && pairs().all(|(&dim, &out)| dim == out || dim == 1);
        ensure!(fits, "operand {at} has dims {dims:?}, which do not broadcast to {output:?}");
        Ok(form)
    }

    pub(crate) fn is(&self, form: &Form, types: &[ElementType]) -> Result<()> {
        let is_allowed = types.contains(&form.element_type);
        ensure!(is_allowed, "an operand of type {:?}, expected one of {types:?}", form.element_type);
        Ok(())
    }

    pub(crate) fn gives(&self, types: &[ElementType]) -> Result<()> {
        let found = self.step.form.element_type;
        ensure!(types.contains(&found), "an output of type {found:?}, expected one of {types:?}");
        Ok(())
    }

    pub(crate) fn has_dims(&self, form: &Form, dims: &Dims) -> Result<()> {
        let is_equal = form.dims == *dims;
        ensure!(is_equal, "an operand of dims {:?}, expected {:?}", form.dims.as_slice(), dims.as_slice());
        Ok(())
    }

    pub(crate) fn last_is(&self, expected: usize) -> Result<()> {
        let last = self.step.form.dims.last();
        ensure!(last == expected, "the last dim is {last}, expected {expected}");
        Ok(())
    }

    /// `rows` rows make the output's, in groups.
    pub(crate) fn rows_are(&self, rows: usize, groups: usize) -> Result<()> {
        let found = self.step.form.dims.rows();
        ensure!(found.saturating_mul(groups) == rows, "{found} rows in {groups} groups, expected {rows}");
        Ok(())
    }
}
