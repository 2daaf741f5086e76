//! LOOKUP: elements of tables, by ids or by how far numbers are below the largest of their row.
use super::{broadcast, Element, Operands};
use crate::arithmetic::{number, saturate, stored_at};
use crate::program::{ElementType, Operand, WORD};
use crate::Result;

impl<O: Operands> Element<'_, O> {
    pub(super) fn lookup(&mut self) -> Result<u32> {
        match self.step.variant {
            0 => self.sum_of_rows(),
            3 => self.below(),
            _ => self.picked(),
        }
    }

    fn sum_of_rows(&mut self) -> Result<u32> {
        let (row, j) = self.place();
        let [ids, table, _] = self.step.operands;
        let (count, rows) = (self.dims(0).last(), self.dims(1).rows());
        let (word, place) = (j / WORD, j % WORD);
        let byte = 4 * (place % 8) + 3 - place / 8;
        let row_of_ids = self.operands.row(ids, row)?;
        let mut sum = 0i64;
        for i in 0..count {
            let id = clamp_id(stored_at(row_of_ids.as_ref(), i, ElementType::S32), rows);
            if id != 0 {
                sum += i64::from(self.operands.word(table, id, word)?[byte]) - 128;
            }
        }
        Ok(sum as u32)
    }

    fn picked(&mut self) -> Result<u32> {
        let [ids, table, _] = self.step.operands;
        let width = self.dims(1).last();
        let (row, j) = (self.index / width, self.index % width);
        let id = clamp_id(self.operands.element(ids, row)?, self.dims(1).rows());
        self.operands.element(table, id * width + j)
    }

    fn below(&mut self) -> Result<u32> {
        let (row, place) = self.place();
        let [numbers, table, mask] = self.step.operands;
        let numbers = self.operands.row(numbers, row)?;
        let mask = match mask {
            Operand::None => None,
            _ => Some(self.operands.row(mask, self.row_of_mask())?),
        };
        let counts = |i: usize| mask.as_ref().is_none_or(|bytes| bytes.as_ref()[i] != 0);
        if !counts(place) {
            return Ok(saturate(0, self.step.form.element_type));
        }
        let value = |i: usize| number(stored_at(numbers.as_ref(), i, ElementType::S32), ElementType::S32);
        let largest = (0..self.dims(0).last()).filter(|&i| counts(i)).map(value).fold(value(place), i64::max);
        // Up to 2^32 - 1, the largest not below this place's number.
        let distance = (largest - value(place)) as usize;
        self.operands.element(table, distance.min(self.dims(1).rows() - 1))
    }

    /// The row of c at the output's, under broadcast: its last axis is whole, so one row has all of its elements.
    fn row_of_mask(&self) -> usize {
        broadcast(self.index, &self.step.form.dims, self.dims(2)) / self.dims(2).last()
    }
}

/// An id as a row of a table: a negative one is 0, one behind the table its last row.
fn clamp_id(stored: u32, rows: usize) -> usize {
    (stored as i32).max(0).min(rows as i32 - 1) as usize
}
