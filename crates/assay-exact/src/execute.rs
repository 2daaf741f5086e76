//! Whole programs: every step in order, each element by the element function.
use crate::arithmetic::stored_at;
use crate::calldata::Input;
use crate::element::{compute, Operands};
use crate::error::{ensure, refuse};
use crate::program::{Opcode, Operand, Program, WORD};
use crate::tree::{list_root, tensor_root, word_of, Hash};
use crate::{return_data, Result};
use alloc::vec;
use alloc::vec::Vec;

/// What a run leaves: the tensors of all steps, rows without padding.
pub struct Run<'p> {
    program: &'p Program,
    /// Each step's stored bytes.
    pub tensors: Vec<Vec<u8>>,
}

impl Run<'_> {
    /// The return data.
    pub fn output(&self) -> Vec<u8> {
        return_data::encode(self.program, &self.tensors[self.tensors.len() - 1])
    }

    /// The root of each step's tensor.
    pub fn roots(&self) -> Vec<Hash> {
        self.program
            .steps
            .iter()
            .zip(&self.tensors)
            .map(|(step, bytes)| tensor_root(&step.form, bytes))
            .collect()
    }

    /// The root over all steps' tensors.
    pub fn trace_root(&self) -> Hash {
        list_root(&self.roots())
    }
}

/// Cuts weights.bin into its tensors, and refuses another length.
pub fn split_weights<'w>(program: &Program, weights: &'w [u8]) -> Result<Vec<&'w [u8]>> {
    let expected: usize = program.weights.iter().map(|form| form.bytes()).sum();
    ensure!(weights.len() == expected, "{} bytes of weights, expected {expected}", weights.len());
    let mut rest = weights;
    let mut tensors = Vec::with_capacity(program.weights.len());
    for form in &program.weights {
        let (tensor, behind) = rest.split_at(form.bytes());
        tensors.push(tensor);
        rest = behind;
    }
    Ok(tensors)
}

/// Runs a program on an input. Where it reads the claimed output, the run is that of the output which it finds right:
/// each pass reads what the one before gave, the first one zeros, and in a causal program makes one more row right.
/// Refuses a program that finds none.
pub fn run<'p>(program: &'p Program, weights: &[&[u8]], input: &Input) -> Result<Run<'p>> {
    if !program.reads_claimed() {
        return pass(program, weights, input, &[]);
    }
    let mut output = vec![0; program.output_length()];
    let passes = program.output().dims.first() + 1;
    for _ in 0..passes {
        let found = run_claimed(program, weights, input, &output)?;
        let next = found.output();
        if next == output {
            return Ok(found);
        }
        output = next;
    }
    refuse!("no output that the program finds right in {passes} passes")
}

/// Runs a program on an input and the output that a claim states for it.
pub fn run_claimed<'p>(
    program: &'p Program,
    weights: &[&[u8]],
    input: &Input,
    output: &[u8],
) -> Result<Run<'p>> {
    pass(program, weights, input, &return_data::elements(program, output)?)
}

/// One pass. `claimed` is the tensor of the steps that read the claimed output.
fn pass<'p>(program: &'p Program, weights: &[&[u8]], input: &Input, claimed: &[u8]) -> Result<Run<'p>> {
    let mut tensors: Vec<Vec<u8>> = Vec::with_capacity(program.steps.len());
    for (index, step) in program.steps.iter().enumerate() {
        if step.opcode == Opcode::Codec {
            tensors.push(if step.is_claimed() { claimed.to_vec() } else { input.tensor(step) });
            continue;
        }
        let mut memory = Memory { program, weights, tensors: &tensors };
        let size = step.form.element_type.size();
        let mut bytes = Vec::with_capacity(step.form.bytes());
        for element in 0..step.form.dims.count() {
            let stored = compute(program, index, element, &mut memory)?;
            bytes.extend_from_slice(&stored.to_be_bytes()[4 - size..]);
        }
        tensors.push(bytes);
    }
    Ok(Run { program, tensors })
}

/// The tensors that are there.
struct Memory<'t> {
    program: &'t Program,
    weights: &'t [&'t [u8]],
    tensors: &'t [Vec<u8>],
}

impl<'t> Memory<'t> {
    fn bytes(&self, operand: Operand) -> Result<&'t [u8]> {
        match operand {
            Operand::Step(step) => Ok(&self.tensors[step]),
            Operand::Weight(weight) => Ok(self.weights[weight]),
            Operand::None => refuse!("an operand that is not there is read"),
        }
    }

    fn form(&self, operand: Operand) -> Result<&'t crate::program::Form> {
        match self.program.form(operand) {
            Some(form) => Ok(form),
            None => refuse!("{operand:?} has no tensor"),
        }
    }
}

impl<'t> Operands for Memory<'t> {
    type Row = &'t [u8];

    fn element(&mut self, operand: Operand, index: usize) -> Result<u32> {
        Ok(stored_at(self.bytes(operand)?, index, self.form(operand)?.element_type))
    }

    fn row(&mut self, operand: Operand, row: usize) -> Result<&'t [u8]> {
        let size = self.form(operand)?.row_bytes();
        Ok(&self.bytes(operand)?[size * row..size * (row + 1)])
    }

    fn word(&mut self, operand: Operand, row: usize, word: usize) -> Result<[u8; WORD]> {
        Ok(word_of(self.row(operand, row)?, word))
    }
}
