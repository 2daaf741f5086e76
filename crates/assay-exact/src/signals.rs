//! The public signals of a proof (docs/PROTOCOL.md, Proofs).
use crate::arithmetic::stored_at;
use crate::calldata::Input;
use crate::error::ensure;
use crate::ids::{Address, Words};
use crate::program::{ElementType, InputCodec, Opcode, Program, Step, WORD};
use crate::return_data;
use crate::tree::Hash;
use crate::Result;
use alloc::vec::Vec;

/// Bytes of a signal.
const PIECE: usize = 31;
/// Bytes of the binding that stand behind the output.
const BINDING: usize = 19;
/// What makes a 16-bit number unsigned.
const OFFSET: i32 = 32_768;

/// What a proof is bound to.
pub struct Binding {
    /// The chain.
    pub chain_id: u64,
    /// The contract that verifies the proof.
    pub proof_lane: Address,
    /// The model.
    pub model_id: Hash,
    /// Who shows the proof.
    pub submitter: Address,
}

/// The signals of an input and return data, which must be canonical, in order.
pub fn of(program: &Program, input: &Input, output: &[u8], binding: &Binding) -> Result<Vec<[u8; WORD]>> {
    ensure!(!program.reads_claimed(), "the claimed output is no public signal");
    let mut signals = Vec::new();
    let last = &program.steps[program.steps.len() - 1];
    for step in program.steps.iter().filter(|step| step.opcode == Opcode::Codec).chain([last]) {
        ensure!(step.form.element_type != ElementType::F32, "an f32 tensor is no public signal");
    }
    for step in &program.steps {
        if step.opcode == Opcode::Codec {
            pack(&mut signals, &fields(program, step, &input.tensor(step)));
        }
    }
    let tensor = return_data::decode(program, output)?;
    ensure!(return_data::encode(program, &tensor) == output, "the return data are not canonical");
    let hash = Words::default()
        .number(binding.chain_id.into())
        .address(&binding.proof_lane)
        .bytes32(&binding.model_id)
        .address(&binding.submitter)
        .hash();
    let mut bytes = tensor;
    bytes.extend(&hash[..BINDING]);
    pack(&mut signals, &bytes);
    Ok(signals)
}

/// The fields of a CODEC tensor, joined.
fn fields(program: &Program, step: &Step, tensor: &[u8]) -> Vec<u8> {
    let numbers = (0..step.form.dims.count()).map(|i| stored_at(tensor, i, step.form.element_type) as i32);
    match program.input_codec {
        InputCodec::Prices | InputCodec::Int16s => {
            numbers.flat_map(|number| ((number + OFFSET) as u16).to_be_bytes()).collect()
        }
        InputCodec::Text => {
            let width = match step.k - 1 {
                0..=0xff => 1,
                0x100..=0xffff => 2,
                _ => 3,
            };
            numbers.flat_map(|id| id.to_be_bytes().into_iter().skip(4 - width)).collect()
        }
        InputCodec::Raw => tensor.to_vec(),
    }
}

/// Cuts bytes into signals.
fn pack(signals: &mut Vec<[u8; WORD]>, bytes: &[u8]) {
    signals.extend(bytes.chunks(PIECE).map(|piece| {
        let mut signal = [0; WORD];
        signal[WORD - piece.len()..].copy_from_slice(piece);
        signal
    }));
}
