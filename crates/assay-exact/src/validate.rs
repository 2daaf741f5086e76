//! The structure rules (docs/EXACT.md, sections 2, 3 and 5).
use crate::error::{ensure, refuse};
use crate::program::{
    Dims, ElementType, Form, InputCodec, Layout, Opcode, Operand, OutputCodec, Program, Step,
};
use crate::{Error, Result};
use alloc::format;

const MOST_LEAVES: u128 = 1 << 22;
const MOST_ELEMENTS: u128 = 1 << 24;
const CODEC_LEAVES: u32 = 4096;
/// The longest calldata and the return data together fit a transaction.
const MOVE_BYTES: usize = 84_000;

pub(crate) fn program(program: &Program) -> Result<()> {
    let sizes = match program.input_codec {
        InputCodec::Text | InputCodec::Int16s => 1..=4096,
        InputCodec::Prices => 2..=256,
        InputCodec::Raw => 1..=65_536,
    };
    ensure!(
        sizes.contains(&program.input_size),
        "input size {}: {} to {}",
        program.input_size,
        sizes.start(),
        sizes.end()
    );
    for (index, form) in program.weights.iter().enumerate() {
        weight(form).map_err(|Error(why)| Error(format!("weight tensor {index}: {why}")))?;
    }
    for (index, step) in program.steps.iter().enumerate() {
        Rules { program, index, step }
            .check()
            .map_err(|Error(why)| Error(format!("step {index} ({:?}): {why}", step.opcode)))?;
    }
    output(program)
}

fn output(program: &Program) -> Result<()> {
    let form = program.output();
    let count = form.dims.count();
    match program.output_codec {
        OutputCodec::Words => {
            ensure!(form.element_type.is_integer(), "output words are integers, not f32");
            ensure!(count <= 256, "{count} output words, at most 256");
        }
        OutputCodec::Int16s => {
            ensure!(form.element_type == ElementType::S32, "output int16s are made of s32");
            ensure!(count <= 4096, "{count} output int16s, at most 4096");
        }
        OutputCodec::Raw => {
            ensure!(form.bytes() <= 65_536, "{} output bytes, at most 65536", form.bytes());
        }
    }
    let bytes = program.max_calldata() + program.output_length();
    ensure!(bytes <= MOVE_BYTES, "calldata and return data have {bytes} bytes, at most {MOVE_BYTES}");
    Ok(())
}

fn weight(form: &Form) -> Result<()> {
    let last = form.dims.last();
    let (element_type, rank, most) = match form.layout {
        Layout::Plain => return limits(form),
        Layout::Dot => (ElementType::U8, 2, 992),
        Layout::Lookup => (ElementType::S8, 2, 1024),
        Layout::Channel => (ElementType::U8, 1, usize::MAX),
    };
    ensure!(form.element_type == element_type, "type {:?}, expected {element_type:?}", form.element_type);
    ensure!(form.dims.rank == rank, "rank {}, expected {rank}", form.dims.rank);
    ensure!(last <= most, "last dim {last}, at most {most}");
    limits(form)
}

/// Elements and leaves, counted before anything is multiplied in fewer bits.
fn limits(form: &Form) -> Result<()> {
    let product = |dims: &[u32]| dims.iter().fold(1u128, |all, &dim| all.saturating_mul(dim.into()));
    let dims = form.dims.as_slice();
    let elements = product(dims);
    ensure!(elements < MOST_ELEMENTS, "{elements} elements, fewer than {MOST_ELEMENTS} are allowed");
    let leaves = 1u128 << form.height();
    ensure!(leaves <= MOST_LEAVES, "{leaves} leaves, at most {MOST_LEAVES}");
    Ok(())
}

struct Rules<'p> {
    program: &'p Program,
    index: usize,
    step: &'p Step,
}

impl Rules<'_> {
    fn check(&self) -> Result<()> {
        limits(&self.step.form)?;
        match self.step.opcode {
            Opcode::Codec => self.codec(),
            Opcode::Move => self.moves(),
            Opcode::Lookup => self.lookup(),
            Opcode::Dot => self.dot(),
            Opcode::Requant => self.requant(),
            Opcode::Rescale => self.rescale(),
            Opcode::Table => self.table(),
            Opcode::Arith => self.arith(),
            Opcode::Float => self.float(),
            Opcode::Reduce => self.reduce(),
            Opcode::Select => self.select(),
        }
    }

    fn codec(&self) -> Result<()> {
        self.reads(0)?;
        let Form { element_type, dims, .. } = self.step.form;
        let (k, size, count) = (self.step.k as usize, self.program.input_size, dims.count());
        self.variant(self.program.input_codec as u8..=self.program.input_codec as u8)?;
        let leaves = 1u32 << self.step.form.height();
        ensure!(leaves <= CODEC_LEAVES, "{leaves} leaves, at most {CODEC_LEAVES}");
        if self.program.input_codec != InputCodec::Raw {
            self.gives(&[ElementType::S32])?;
        }
        match self.program.input_codec {
            InputCodec::Text => {
                let is_table = matches!(dims.as_slice(), [1..=64, 1..=16]);
                ensure!(is_table, "dims {:?}: at most 64 tokens of at most 16 ids", dims.as_slice());
                ensure!((2..=1 << 24).contains(&k), "k = {k} table rows: 2 to {}", 1 << 24);
            }
            InputCodec::Prices => {
                self.has_no_k()?;
                let expected = [3, size as u32 - 1];
                ensure!(dims.as_slice() == expected, "dims {:?}, expected {expected:?}", dims.as_slice());
            }
            InputCodec::Int16s => {
                ensure!(k + count <= size, "elements {k} to {} of {size}", k + count);
            }
            InputCodec::Raw => {
                let end = k + count * element_type.size();
                ensure!(end <= size, "bytes {k} to {end} of {size}");
            }
        }
        Ok(())
    }

    fn moves(&self) -> Result<()> {
        self.variant(0..=0)?;
        let Form { element_type, dims, .. } = self.step.form;
        let has_b = self.step.operands[1] != Operand::None;
        self.reads(if has_b { 2 } else { 1 })?;
        let source = self.plain(0)?;
        self.is(source, &[element_type])?;
        let k = self.step.k;
        if has_b {
            let fill = self.plain(1)?;
            self.is(fill, &[element_type])?;
            self.has_dims(fill, &dims)?;
            ensure!(k == 0, "k is {k} although b is given: it is 0");
        } else {
            ensure!(element_type.size() == 4 || k <= 255, "the pad {k} of one byte: at most 255");
        }
        let mut product = 1u128;
        for coordinate in &self.step.coordinates {
            product = product.saturating_mul(coordinate.size.into());
            for (factor, axis) in [(coordinate.a, coordinate.p), (coordinate.b, coordinate.q)] {
                ensure!(axis < dims.rank, "axis {axis} of an output of rank {}", dims.rank);
                ensure!(factor != 0 || axis == 0, "axis {axis} has the factor 0: it is named 0");
            }
        }
        ensure!(
            product == source.dims.count() as u128,
            "the view has {product} elements, its source {}",
            source.dims.count()
        );
        Ok(())
    }

    fn lookup(&self) -> Result<()> {
        self.variant(0..=1)?;
        self.reads(2)?;
        self.has_no_k()?;
        let ids = self.plain(0)?;
        self.is(ids, &[ElementType::S32])?;
        let table = if self.step.variant == 0 {
            self.gives(&[ElementType::S32])?;
            ensure!(ids.dims.last() <= 16, "{} ids in a row, at most 16", ids.dims.last());
            self.weights(1, Layout::Lookup)?
        } else {
            ensure!(ids.dims.last() == 1, "{} ids in a row, expected 1", ids.dims.last());
            let table = self.weights(1, Layout::Plain)?;
            ensure!(table.dims.rank == 2, "a table of rank {}, expected 2", table.dims.rank);
            self.gives(&[table.element_type])?;
            table
        };
        self.last_is(table.dims.last())?;
        self.rows_are(ids.dims.rows(), 1)
    }

    fn dot(&self) -> Result<()> {
        self.variant(0..=2)?;
        self.reads(2)?;
        let a = self.plain(0)?;
        self.is(a, &[ElementType::U8, ElementType::S8])?;
        let b = self.weights(1, Layout::Dot)?;
        let n = b.dims.as_slice()[0] as usize;
        ensure!(a.dims.last() == b.dims.last(), "rows of {} by rows of {}", a.dims.last(), b.dims.last());
        let groups = self.step.k as usize;
        ensure!(groups > 0 && n % groups == 0, "{groups} groups do not divide {n} rows");
        if self.step.variant == 0 {
            self.gives(&[ElementType::S32])?;
        } else {
            self.gives(&[ElementType::U8, ElementType::S8])?;
        }
        self.last_is(n)?;
        self.rows_are(a.dims.rows(), groups)
    }

    fn requant(&self) -> Result<()> {
        self.variant(1..=2)?;
        self.gives(&[ElementType::U8, ElementType::S8])?;
        self.channels()
    }

    fn rescale(&self) -> Result<()> {
        self.variant(0..=0)?;
        self.gives(&[ElementType::S32])?;
        self.channels()
    }

    fn channels(&self) -> Result<()> {
        self.reads(2)?;
        self.has_no_k()?;
        let a = self.plain(0)?;
        self.is(a, &[ElementType::S32])?;
        self.has_dims(a, &self.step.form.dims)?;
        let n = self.weights(1, Layout::Channel)?.dims.count();
        let last = a.dims.last();
        ensure!(n == 1 || n == last, "{n} channels for a last dim of {last}: as many, or 1");
        Ok(())
    }

    fn table(&self) -> Result<()> {
        const BYTES: [ElementType; 3] = [ElementType::U8, ElementType::S8, ElementType::Bool];
        self.variant(0..=0)?;
        self.reads(2)?;
        self.has_no_k()?;
        let a = self.plain(0)?;
        self.is(a, &BYTES)?;
        self.has_dims(a, &self.step.form.dims)?;
        let b = self.weights(1, Layout::Plain)?;
        self.is(b, &[ElementType::U8])?;
        ensure!(b.dims.as_slice() == [256], "a table of dims {:?}, expected [256]", b.dims.as_slice());
        self.gives(&BYTES)
    }

    fn arith(&self) -> Result<()> {
        self.variant(0..=9)?;
        self.has_no_k()?;
        let count = if self.step.variant == 9 { 1 } else { 2 };
        self.reads(count)?;
        for operand in 0..count {
            self.is(self.broadcast(operand)?, &INTEGERS)?;
        }
        match self.step.variant {
            6..=8 => self.gives(&[ElementType::Bool]),
            9 => self.gives(&INTEGERS),
            _ => self.gives(&INTEGERS[..3]),
        }
    }

    fn float(&self) -> Result<()> {
        self.variant(0..=14)?;
        self.has_no_k()?;
        const F32: &[ElementType] = &[ElementType::F32];
        const S32: &[ElementType] = &[ElementType::S32];
        let (operands, output): (&[&[ElementType]], &[ElementType]) = match self.step.variant {
            0..=3 | 6 | 7 => (&[F32, F32], F32),
            4 | 5 => (&[F32], F32),
            8..=10 => (&[F32, F32], &[ElementType::Bool]),
            11 => (&[&INTEGERS], F32),
            12 => (&[F32], &INTEGERS),
            13 => (&[&INTEGERS, F32, S32], F32),
            _ => (&[F32, F32, S32], &INTEGERS[..2]),
        };
        self.reads(operands.len())?;
        for (operand, types) in operands.iter().enumerate() {
            self.is(self.broadcast(operand)?, types)?;
        }
        self.gives(output)
    }

    fn reduce(&self) -> Result<()> {
        self.variant(0..=2)?;
        self.reads(1)?;
        self.has_no_k()?;
        let a = self.plain(0)?;
        self.is(a, &INTEGERS)?;
        ensure!(a.row_bytes() <= 1024, "a row of {} bytes, at most 1024", a.row_bytes());
        let count = self.step.form.dims.count();
        ensure!(count == a.dims.rows(), "{count} outputs of {} rows: as many", a.dims.rows());
        self.gives(&[if self.step.variant == 0 { ElementType::S32 } else { a.element_type }])
    }

    fn select(&self) -> Result<()> {
        self.variant(0..=0)?;
        self.reads(3)?;
        self.has_no_k()?;
        self.is(self.broadcast(0)?, &[ElementType::Bool])?;
        for operand in 1..3 {
            self.is(self.broadcast(operand)?, &[self.step.form.element_type])?;
        }
        Ok(())
    }
}

const INTEGERS: [ElementType; 4] = [ElementType::U8, ElementType::S8, ElementType::S32, ElementType::Bool];

/// What rules are made of.
impl<'p> Rules<'p> {
    fn variant(&self, allowed: core::ops::RangeInclusive<u8>) -> Result<()> {
        let variant = self.step.variant;
        ensure!(allowed.contains(&variant), "variant {variant}: {} to {}", allowed.start(), allowed.end());
        Ok(())
    }

    /// The first `count` operands are named, the others not.
    fn reads(&self, count: usize) -> Result<()> {
        for (at, &operand) in self.step.operands.iter().enumerate() {
            let is_named = operand != Operand::None;
            ensure!(is_named == (at < count), "operand {at} is {operand:?} in a step of {count} operands");
        }
        Ok(())
    }

    fn has_no_k(&self) -> Result<()> {
        ensure!(self.step.k == 0, "k is {}: it has no meaning here, so it is 0", self.step.k);
        Ok(())
    }

    /// A step's tensor or a plain weight tensor.
    fn plain(&self, at: usize) -> Result<&'p Form> {
        if let Operand::Step(step) = self.step.operands[at] {
            ensure!(step < self.index, "operand {at} is step {step}, which is not before this one");
            return Ok(&self.program.steps[step].form);
        }
        self.weights(at, Layout::Plain)
    }

    fn weights(&self, at: usize, layout: Layout) -> Result<&'p Form> {
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
    fn broadcast(&self, at: usize) -> Result<&'p Form> {
        let form = self.plain(at)?;
        let (dims, output) = (form.dims.as_slice(), self.step.form.dims.as_slice());
        let pairs = || dims.iter().rev().zip(output.iter().rev());
        let fits = dims.len() <= output.len() && pairs().all(|(&dim, &out)| dim == out || dim == 1);
        ensure!(fits, "operand {at} has dims {dims:?}, which do not broadcast to {output:?}");
        Ok(form)
    }

    fn is(&self, form: &Form, types: &[ElementType]) -> Result<()> {
        let is_allowed = types.contains(&form.element_type);
        ensure!(is_allowed, "an operand of type {:?}, expected one of {types:?}", form.element_type);
        Ok(())
    }

    fn gives(&self, types: &[ElementType]) -> Result<()> {
        let found = self.step.form.element_type;
        ensure!(types.contains(&found), "an output of type {found:?}, expected one of {types:?}");
        Ok(())
    }

    fn has_dims(&self, form: &Form, dims: &Dims) -> Result<()> {
        let is_equal = form.dims == *dims;
        ensure!(is_equal, "an operand of dims {:?}, expected {:?}", form.dims.as_slice(), dims.as_slice());
        Ok(())
    }

    fn last_is(&self, expected: usize) -> Result<()> {
        let last = self.step.form.dims.last();
        ensure!(last == expected, "the last dim is {last}, expected {expected}");
        Ok(())
    }

    /// `rows` rows make the output's, in groups.
    fn rows_are(&self, rows: usize, groups: usize) -> Result<()> {
        let found = self.step.form.dims.rows();
        ensure!(found.saturating_mul(groups) == rows, "{found} rows in {groups} groups, expected {rows}");
        Ok(())
    }
}
