//! Programs: shapes and steps (docs/EXACT.md, sections 1 and 2).
pub use crate::codes::{ElementType, InputCodec, Layout, Opcode, OutputCodec};
use crate::{decode, validate, Result};
use alloc::vec::Vec;

/// Bytes of a word.
pub const WORD: usize = 32;

/// One to six dims, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    pub(crate) rank: u8,
    pub(crate) sizes: [u32; 6],
}

impl Dims {
    /// The dims, first axis first.
    pub fn as_slice(&self) -> &[u32] {
        &self.sizes[..usize::from(self.rank)]
    }

    /// The first dim.
    pub fn first(&self) -> usize {
        self.sizes[0] as usize
    }

    /// The last dim: elements of a row.
    pub fn last(&self) -> usize {
        self.sizes[usize::from(self.rank) - 1] as usize
    }

    /// Elements.
    pub fn count(&self) -> usize {
        self.as_slice().iter().map(|&dim| dim as usize).product()
    }

    /// Rows, over all axes but the last.
    pub fn rows(&self) -> usize {
        self.count() / self.last()
    }
}

/// A tensor's shape in bytes: a step's, which is plain, or a weight tensor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How rows are stored.
    pub layout: Layout,
    /// The type of the elements.
    pub element_type: ElementType,
    /// The dims.
    pub dims: Dims,
}

impl Form {
    /// Stored rows: a channel's parameter word is a row.
    pub fn rows(&self) -> usize {
        match self.layout {
            Layout::Channel => self.dims.count(),
            _ => self.dims.rows(),
        }
    }

    /// Bytes of a stored row.
    pub fn row_bytes(&self) -> usize {
        let words = self.dims.last().div_ceil(WORD);
        match self.layout {
            Layout::Plain => self.dims.last() * self.element_type.size(),
            Layout::Dot => WORD * (words + 1),
            Layout::Lookup => WORD * words,
            Layout::Channel => WORD,
        }
    }

    /// Bytes of all rows, without padding.
    pub fn bytes(&self) -> usize {
        self.rows() * self.row_bytes()
    }

    /// Words of a row.
    pub fn row_words(&self) -> usize {
        self.row_bytes().div_ceil(WORD)
    }

    /// Height of the tree over a row's words.
    pub fn row_height(&self) -> usize {
        self.row_words().next_power_of_two().ilog2() as usize
    }

    /// Height of the tree over the tensor.
    pub fn height(&self) -> usize {
        self.row_height() + self.rows().next_power_of_two().ilog2() as usize
    }
}

/// What a step reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Nothing.
    None,
    /// The tensor of an earlier step.
    Step(usize),
    /// A weight tensor.
    Weight(usize),
}

/// One of the four coordinates of a move: `a·i[p] + b·i[q] + c` in an axis of `size`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coordinate {
    pub(crate) size: u32,
    pub(crate) c: i32,
    pub(crate) a: i32,
    pub(crate) b: i32,
    pub(crate) p: u8,
    pub(crate) q: u8,
}

/// A record: one step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it computes.
    pub opcode: Opcode,
    /// Which form of the opcode.
    pub variant: u8,
    /// The shape of its tensor.
    pub form: Form,
    /// The operands a, b and c.
    pub operands: [Operand; 3],
    /// The attribute, whose meaning is the opcode's.
    pub k: u32,
    /// A move's coordinates.
    pub coordinates: [Coordinate; 4],
}

/// The variant of CODEC that reads the claimed output.
const CLAIMED: u8 = 5;

impl Step {
    /// Whether the step's tensor is the output that a claim states.
    pub fn is_claimed(&self) -> bool {
        self.opcode == Opcode::Codec && self.variant == CLAIMED
    }

    /// Whether the step multiplies pairs of neighbours as complex numbers.
    pub fn is_rotation(&self) -> bool {
        self.opcode == Opcode::Arith && self.variant == 10
    }
}

/// A program that keeps the structure rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What calldata hold.
    pub input_codec: InputCodec,
    /// What return data hold.
    pub output_codec: OutputCodec,
    /// The size of the input, in the codec's unit.
    pub input_size: usize,
    /// The weight tensors.
    pub weights: Vec<Form>,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Program {
    /// Reads program bytes, and refuses those that break a structure rule.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let program = decode::program(bytes)?;
        validate::program(&program)?;
        Ok(program)
    }

    /// Whether a step reads the claimed output.
    pub fn reads_claimed(&self) -> bool {
        self.steps.iter().any(Step::is_claimed)
    }

    /// The shape of an operand's tensor.
    pub fn form(&self, operand: Operand) -> Option<&Form> {
        match operand {
            Operand::None => None,
            Operand::Step(step) => self.steps.get(step).map(|step| &step.form),
            Operand::Weight(weight) => self.weights.get(weight),
        }
    }

    /// The shape of the last step's tensor, which is the output.
    pub fn output(&self) -> &Form {
        &self.steps[self.steps.len() - 1].form
    }

    /// The most bytes of calldata, the selector included.
    pub fn max_calldata(&self) -> usize {
        let size = self.input_size;
        match self.input_codec {
            InputCodec::Text | InputCodec::Raw => 4 + 64 + WORD * size.div_ceil(WORD),
            InputCodec::Prices => 4 + 96 + 3 * (WORD + WORD * size),
            InputCodec::Int16s => 4 + 64 + WORD * size.div_ceil(16),
        }
    }

    /// Bytes of return data.
    pub fn output_length(&self) -> usize {
        let form = self.output();
        let count = form.dims.count();
        match self.output_codec {
            OutputCodec::Words => WORD * count,
            OutputCodec::Int16s => 64 + WORD * count.div_ceil(16),
            OutputCodec::Raw => 64 + WORD * form.bytes().div_ceil(WORD),
        }
    }
}
