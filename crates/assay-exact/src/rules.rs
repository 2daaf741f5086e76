//! The structure rules of each opcode (docs/EXACT.md, section 3).
use crate::error::ensure;
use crate::program::{ElementType, Form, InputCodec, Layout, Opcode, Operand, Program, Step};
use crate::validate::limits;
use crate::Result;

mod dot;
mod rescale;

const CODEC_LEAVES: u32 = 4096;
const INTEGERS: [ElementType; 4] = [ElementType::U8, ElementType::S8, ElementType::S32, ElementType::Bool];

/// One step of a program.
pub(crate) struct Rules<'p> {
    pub(crate) program: &'p Program,
    pub(crate) index: usize,
    pub(crate) step: &'p Step,
}

impl Rules<'_> {
    pub(crate) fn check(&self) -> Result<()> {
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
        let [size, count] = [self.program.input_size, dims.count()].map(|number| number as u64);
        let k = u64::from(self.step.k);
        let leaves = 1u32 << self.step.form.height();
        ensure!(leaves <= CODEC_LEAVES, "{leaves} leaves, at most {CODEC_LEAVES}");
        if self.step.is_claimed() {
            return self.claimed();
        }
        self.variant(self.program.input_codec as u8..=self.program.input_codec as u8)?;
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
                let end = k + count * element_type.size() as u64;
                ensure!(end <= size, "bytes {k} to {end} of {size}");
            }
        }
        Ok(())
    }

    /// The claimed output: the last step's tensor, of numbers.
    fn claimed(&self) -> Result<()> {
        let (form, last) = (&self.step.form, self.program.output());
        self.gives(&[ElementType::U8, ElementType::S8, ElementType::S32])?;
        ensure!(form == last, "the claimed output is {form:?}, the last step's tensor {last:?}");
        self.has_no_k()
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
        self.variant(0..=3)?;
        let has_c = self.step.variant == 3 && self.step.operands[2] != Operand::None;
        self.reads(if has_c { 3 } else { 2 })?;
        self.has_no_k()?;
        let ids = self.plain(0)?;
        self.is(ids, &[ElementType::S32])?;
        match self.step.variant {
            2 => return self.lookup_of_each(ids),
            3 => return self.lookup_below(ids, has_c),
            _ => {}
        }
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

    fn lookup_of_each(&self, ids: &Form) -> Result<()> {
        self.has_dims(ids, &self.step.form.dims)?;
        let table = self.weights(1, Layout::Plain)?;
        ensure!(table.dims.rank == 2, "a table of rank {}, expected 2", table.dims.rank);
        ensure!(table.dims.last() == 1, "{} elements in a row, expected 1", table.dims.last());
        self.gives(&[table.element_type])
    }

    /// Numbers in place of ids, and which of them count.
    fn lookup_below(&self, numbers: &Form, has_mask: bool) -> Result<()> {
        let length = numbers.dims.last();
        ensure!(length <= 1024, "a row of {length} elements, at most 1024");
        self.lookup_of_each(numbers)?;
        if has_mask {
            let mask = self.broadcast(2)?;
            self.is(mask, &[ElementType::Bool])?;
            let own = mask.dims.last();
            ensure!(own == length, "{own} elements in a row of c, expected {length}");
        }
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
        self.variant(0..=10)?;
        if self.step.is_rotation() {
            return self.rotation();
        }
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

    fn rotation(&self) -> Result<()> {
        const S32: &[ElementType] = &[ElementType::S32];
        self.reads(2)?;
        self.gives(&INTEGERS[..3])?;
        let length = self.step.form.dims.last();
        ensure!(length % 2 == 0, "{length} elements in a row are no pairs");
        ensure!(self.step.k <= 31, "the shift {}: at most 31", self.step.k);
        for operand in 0..2 {
            let form = self.broadcast(operand)?;
            self.is(form, S32)?;
            let own = form.dims.last();
            ensure!(own == length, "{own} elements in a row of an operand, expected {length}");
        }
        Ok(())
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
        self.variant(0..=3)?;
        self.reads(1)?;
        let is_norm = self.step.variant == 3;
        if !is_norm {
            self.has_no_k()?;
        }
        let a = self.plain(0)?;
        self.is(a, &INTEGERS)?;
        let (length, most) = (a.dims.last(), if is_norm { 8192 / a.element_type.size() } else { 1024 });
        ensure!(length <= most, "a row of {length} elements, at most {most}");
        let count = self.step.form.dims.count();
        ensure!(count == a.dims.rows(), "{count} outputs of {} rows: as many", a.dims.rows());
        self.gives(&[if matches!(self.step.variant, 0 | 3) { ElementType::S32 } else { a.element_type }])
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
