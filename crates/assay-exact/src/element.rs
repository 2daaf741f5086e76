//! The element function: one element of a step's tensor from elements of its operands (docs/EXACT.md, section 3).
//! What it reads, and in which order, is what a conviction opens (docs/PROTOCOL.md, section 4).
use crate::arithmetic::{number, saturate, stored_at, wrap};
use crate::binary32 as float;
use crate::error::refuse;
use crate::program::{Dims, ElementType, Opcode, Operand, Program, Step, WORD};
use crate::Result;

mod dot;
mod lookup;
mod rescale;

/// Where operands come from: a run's memory, or openings.
pub trait Operands {
    /// The bytes of a row.
    type Row: AsRef<[u8]>;
    /// A plain tensor's stored element, by its number in row-major order.
    fn element(&mut self, operand: Operand, index: usize) -> Result<u32>;
    /// A row's bytes.
    fn row(&mut self, operand: Operand, row: usize) -> Result<Self::Row>;
    /// A word of a row, padded with zeros.
    fn word(&mut self, operand: Operand, row: usize, word: usize) -> Result<[u8; WORD]>;
}

/// The stored element number `index` of a step's tensor. A CODEC step has no elements: it is judged whole.
pub fn compute<O: Operands>(program: &Program, step: usize, index: usize, operands: &mut O) -> Result<u32> {
    Element { program, step: &program.steps[step], index, operands }.compute()
}

struct Element<'p, O> {
    program: &'p Program,
    step: &'p Step,
    index: usize,
    operands: &'p mut O,
}

impl<O: Operands> Element<'_, O> {
    fn compute(&mut self) -> Result<u32> {
        match self.step.opcode {
            Opcode::Codec => refuse!("a CODEC step is computed whole, from the calldata"),
            Opcode::Move => self.moved(),
            Opcode::Lookup => self.lookup(),
            Opcode::Dot => self.dot(),
            Opcode::Requant => self.requant(),
            Opcode::Rescale => self.rescale(),
            Opcode::Table => {
                let byte = self.operands.element(self.step.operands[0], self.index)?;
                self.operands.element(self.step.operands[1], byte as usize)
            }
            Opcode::Arith if self.step.is_rotation() => self.rotated(),
            Opcode::Arith => self.arith(),
            Opcode::Float => self.float(),
            Opcode::Reduce => self.reduce(),
            Opcode::Select => {
                let [condition, yes, no] = [self.read(0)?, self.read(1)?, self.read(2)?];
                Ok(if condition != 0 { yes } else { no })
            }
        }
    }

    fn dims(&self, at: usize) -> &Dims {
        &self.form(at).dims
    }

    fn form(&self, at: usize) -> &crate::program::Form {
        self.program.form(self.step.operands[at]).expect("a validated program names the operand")
    }

    /// The operand's stored element at the output's index, under broadcast.
    fn read(&mut self, at: usize) -> Result<u32> {
        let index = broadcast(self.index, &self.step.form.dims, self.dims(at));
        self.operands.element(self.step.operands[at], index)
    }

    fn integer(&mut self, at: usize) -> Result<i64> {
        let element_type = self.form(at).element_type;
        Ok(number(self.read(at)?, element_type))
    }

    fn binary32(&mut self, at: usize) -> Result<f32> {
        self.read(at).map(f32::from_bits)
    }

    fn moved(&mut self) -> Result<u32> {
        let [source, fill, _] = self.step.operands;
        let index = unravel(self.index, &self.step.form.dims);
        let mut at = 0u64;
        for axis in &self.step.coordinates {
            // Two products of 24 by 24 bits and an s32 fit.
            let s = i64::from(axis.a) * index[usize::from(axis.p)]
                + i64::from(axis.b) * index[usize::from(axis.q)]
                + i64::from(axis.c);
            if s < 0 || s >= i64::from(axis.size) {
                return match fill {
                    Operand::None => Ok(self.step.k),
                    _ => self.operands.element(fill, self.index),
                };
            }
            at = at * u64::from(axis.size) + s as u64;
        }
        self.operands.element(source, at as usize)
    }

    fn arith(&mut self) -> Result<u32> {
        let output = self.step.form.element_type;
        let a = self.integer(0)?;
        let b = if self.step.variant == 9 { 0 } else { self.integer(1)? };
        let value = match self.step.variant {
            0 => a + b,
            1 => a - b,
            2 => a * b,
            3 => a.min(b),
            4 => a.max(b),
            5 if b < 1 => 0,
            5 => a / b,
            6 => return Ok(u32::from(a < b)),
            7 => return Ok(u32::from(a <= b)),
            8 => return Ok(u32::from(a == b)),
            _ => a,
        };
        Ok(saturate(wrap(value), output))
    }

    /// An element of a pair of neighbours, times a pair of the other operand as complex numbers.
    fn rotated(&mut self) -> Result<u32> {
        let is_first = self.index % 2 == 0;
        let [x, y] = self.pair(0)?;
        let [c, s] = self.pair(1)?;
        // Up to 65 bits.
        let value = if is_first { x * c - y * s } else { x * s + y * c };
        let rounded = (2 * value + (1 << self.step.k)) >> (self.step.k + 1);
        // Without shift it has up to 65 bits too, and no type holds more than 32.
        let narrow = rounded.clamp(i32::MIN.into(), i32::MAX.into()) as i64;
        Ok(saturate(narrow, self.step.form.element_type))
    }

    /// The pair of an operand that the output's element is in, under broadcast: rows are even, so one word holds it.
    fn pair(&mut self, at: usize) -> Result<[i128; 2]> {
        let first = broadcast(self.index & !1, &self.step.form.dims, self.dims(at));
        let (row, place) = (first / self.dims(at).last(), first % self.dims(at).last());
        let word = self.operands.word(self.step.operands[at], row, 4 * place / WORD)?;
        let side = |i| number(stored_at(&word, i, ElementType::S32), ElementType::S32).into();
        Ok([side(place % 8), side(place % 8 + 1)])
    }

    fn float(&mut self) -> Result<u32> {
        let output = self.step.form.element_type;
        let variant = self.step.variant;
        if variant == 11 {
            return Ok((self.integer(0)? as f32).to_bits());
        }
        if variant == 13 {
            let [a, scale] = [self.integer(0)?, i64::from(self.read(1)?)];
            let zero_point = self.integer(2)?;
            return Ok(float::bits(wrap(a - zero_point) as f32 * f32::from_bits(scale as u32)));
        }
        let a = self.binary32(0)?;
        let b = if matches!(variant, 4 | 5 | 12) { 0.0 } else { self.binary32(1)? };
        Ok(match variant {
            0 => float::bits(a + b),
            1 => float::bits(a - b),
            2 => float::bits(a * b),
            3 => float::bits(a / b),
            4 => float::bits(float::sqrt(a)),
            5 => float::bits(float::round(a)),
            6 | 7 => float::bits(float::extreme(a, b, variant == 7)),
            8 => u32::from(a < b),
            9 => u32::from(a <= b),
            10 => u32::from(a == b),
            // Truncates, saturates, and takes NaN for 0.
            12 => saturate(a as i64, output),
            _ => saturate(float::to_s32(a / b) + self.integer(2)?, output),
        })
    }

    fn reduce(&mut self) -> Result<u32> {
        let (element_type, count) = (self.form(0).element_type, self.dims(0).last());
        let row = self.operands.row(self.step.operands[0], self.index)?;
        let stored = (0..count).map(|i| stored_at(row.as_ref(), i, element_type));
        let by_number = |&x: &u32| number(x, element_type);
        Ok(match self.step.variant {
            0 => stored.map(|x| number(x, element_type)).sum::<i64>() as u32,
            1 => stored.min_by_key(by_number).unwrap_or(0),
            3 => {
                let squares = stored.map(|x| number(x, element_type).unsigned_abs().pow(2));
                let sum: u128 = squares.map(u128::from).sum();
                (sum + u128::from(self.step.k)).isqrt().min(i32::MAX as u128) as u32
            }
            _ => stored.max_by_key(by_number).unwrap_or(0),
        })
    }

    /// The output's row, and the place in it.
    fn place(&self) -> (usize, usize) {
        let last = self.step.form.dims.last();
        (self.index / last, self.index % last)
    }
}

/// The index on each axis.
fn unravel(index: usize, dims: &Dims) -> [i64; 6] {
    let mut rest = index;
    let mut found = [0; 6];
    for (axis, &dim) in dims.as_slice().iter().enumerate().rev() {
        found[axis] = (rest % dim as usize) as i64;
        rest /= dim as usize;
    }
    found
}

/// The number of an operand's element at an index of the output.
fn broadcast(index: usize, output: &Dims, operand: &Dims) -> usize {
    if operand == output {
        return index;
    }
    let (mut rest, mut stride, mut found) = (index, 1, 0);
    for (&dim, &out) in operand.as_slice().iter().rev().zip(output.as_slice().iter().rev()) {
        if dim > 1 {
            found += rest % out as usize * stride;
            stride *= dim as usize;
        }
        rest /= out as usize;
    }
    found
}
