//! DOT: rows of bytes, or of numbers of 16 bits, by rows of weights; and activations by activations.
use super::{Element, Operands};
use crate::arithmetic::{number, stored_at, wrap, Parameters};
use crate::program::{ElementType, Operand, WORD};
use crate::Result;

impl<O: Operands> Element<'_, O> {
    pub(super) fn dot(&mut self) -> Result<u32> {
        match self.step.variant {
            3 => self.dot_of_activations(),
            _ => self.dot_of_weights(),
        }
    }

    fn dot_of_weights(&mut self) -> Result<u32> {
        let (m, n) = self.place();
        let [a, b, _] = self.step.operands;
        let groups = self.step.k as usize;
        let rows = self.dims(1).rows();
        let row = self.operands.row(a, m * groups + n * groups / rows)?;
        let weights = self.operands.row(b, n)?;
        let (weights, parameters) = weights.as_ref().split_at(weights.as_ref().len() - WORD);
        let row = row.as_ref();
        let (products, sum) = if self.step.variant >= 4 {
            // Sums of numbers are those of their high bytes, 256 times, and of their low ones.
            let (high, low) = row.split_at(row.len() / 2);
            let [high, low] = [high, low].map(|plane| sums(plane, weights));
            (256 * high.0 + low.0, 256 * high.1 + low.1)
        } else {
            sums(row, weights)
        };
        let parameters = Parameters(parameters);
        let acc = wrap(products - parameters.weight_offset() * sum + parameters.bias());
        Ok(match self.step.variant {
            0 | 4 => acc as u32,
            5 if self.step.form.element_type == ElementType::S32 => {
                parameters.limited(acc).wrapping_add(self.addend()?)
            }
            5 => parameters.requantized(acc, 1),
            variant => parameters.requantized(acc, variant),
        })
    }

    /// What is added to a rescaled sum: the element of c, if there is a c.
    fn addend(&mut self) -> Result<u32> {
        match self.step.operands[2] {
            Operand::None => Ok(0),
            c => self.operands.element(c, self.index),
        }
    }

    fn dot_of_activations(&mut self) -> Result<u32> {
        let (m, n) = self.place();
        let [a, b, _] = self.step.operands;
        let matrix = m / self.step.k as usize;
        let count = self.dims(0).last();
        let [left_type, right_type] = [self.form(0).element_type, self.form(1).element_type];
        let left = self.operands.row(a, m)?;
        let right = self.operands.row(b, matrix * self.step.form.dims.last() + n)?;
        let sum: i64 = (0..count)
            .map(|i| {
                number(stored_at(left.as_ref(), i, left_type), left_type)
                    * number(stored_at(right.as_ref(), i, right_type), right_type)
            })
            .sum();
        Ok(sum as u32)
    }
}

/// The sum of products of a row's bytes with those of a weight row, and the sum of the bytes.
fn sums(row: &[u8], weights: &[u8]) -> (i64, i64) {
    let (mut products, mut sum) = (0, 0);
    for (values, word) in row.chunks(WORD).zip(weights.chunks(WORD)) {
        for (&value, &weight) in values.iter().zip(word.iter().rev()) {
            products += i64::from(value) * i64::from(weight);
            sum += i64::from(value);
        }
    }
    (products, sum)
}
