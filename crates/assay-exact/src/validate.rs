//! The structure rules of a program as a whole and of its weights (docs/EXACT.md, sections 2 and 5).
use crate::error::ensure;
use crate::program::{ElementType, Form, InputCodec, Layout, OutputCodec, Program};
use crate::rules::Rules;
use crate::{Error, Result};
use alloc::format;

const MOST_LEAVES: u128 = 1 << 22;
const MOST_ELEMENTS: u128 = 1 << 24;
/// Of a row of DOT weights, which numbers of 16 bits are multiplied with.
pub(crate) const MOST_OF_PLANES: usize = 2016;
/// Of one that bytes are multiplied with.
pub(crate) const MOST_OF_BYTES: usize = 992;
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
        Layout::Dot => (ElementType::U8, 2, MOST_OF_PLANES),
        Layout::Lookup => (ElementType::S8, 2, 1024),
        Layout::Channel => (ElementType::U8, 1, usize::MAX),
    };
    ensure!(form.element_type == element_type, "type {:?}, expected {element_type:?}", form.element_type);
    ensure!(form.dims.rank == rank, "rank {}, expected {rank}", form.dims.rank);
    ensure!(last <= most, "last dim {last}, at most {most}");
    limits(form)
}

/// Elements and leaves, counted before anything is multiplied in fewer bits.
pub(crate) fn limits(form: &Form) -> Result<()> {
    let product = |dims: &[u32]| dims.iter().fold(1u128, |all, &dim| all.saturating_mul(dim.into()));
    let dims = form.dims.as_slice();
    let elements = product(dims);
    ensure!(elements < MOST_ELEMENTS, "{elements} elements, fewer than {MOST_ELEMENTS} are allowed");
    let leaves = 1u128 << form.height();
    ensure!(leaves <= MOST_LEAVES, "{leaves} leaves, at most {MOST_LEAVES}");
    Ok(())
}
