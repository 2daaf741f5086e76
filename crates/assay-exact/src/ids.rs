//! Ids: hashes of content (docs/PROTOCOL.md, sections 1 and 2).
use crate::program::{InputCodec, Opcode, OutputCodec, Program, WORD};
use crate::tree::{keccak, list_height, Hash};
use alloc::vec::Vec;

/// The version of the judge that a program needs: 2 with LOOKUP each or below,
/// DOT of activations or planes, rescaled or not, REDUCE norm, RESCALE ratio or
/// planes, ARITH rotate, or CODEC claimed, else 1.
pub fn judge_version(program: &Program) -> u16 {
    let is_new = program.steps.iter().any(|step| {
        let is_new_variant = matches!(
            (step.opcode, step.variant),
            (Opcode::Lookup, 2 | 3) | (Opcode::Dot, 3..=5) | (Opcode::Reduce, 3) | (Opcode::Rescale, 1 | 2)
        );
        is_new_variant || step.is_rotation() || step.is_claimed()
    });
    if is_new {
        2
    } else {
        1
    }
}

/// Twenty bytes of an account.
pub type Address = [u8; 20];

/// What a model's id is made of, besides its program.
#[derive(Clone, Debug)]
pub struct Model {
    /// The root over the weight tensors.
    pub weights_root: Hash,
    /// The function that calldata call.
    pub selector: [u8; 4],
    /// Bit 0 EXECUTION, bit 1 PROOF, bit 2 BOND.
    pub lanes: u8,
    /// The hash of the verification key; zero exactly without the lane PROOF.
    pub vk_hash: Hash,
}

impl Model {
    /// The id of a model with the program of these bytes.
    pub fn id(&self, program: &Program, bytes: &[u8]) -> Hash {
        Words::default()
            .bytes32(&keccak(bytes))
            .bytes32(&self.weights_root)
            .left(&self.selector)
            .number(program.max_calldata() as u128)
            .number(program.output_length() as u128)
            .number(self.lanes.into())
            .bytes32(&self.vk_hash)
            .number(judge_version(program).into())
            .hash()
    }

    /// The model word, which the registry keeps.
    pub fn word(&self, program: &Program) -> [u8; WORD] {
        let list = list_height(program.steps.len());
        let mut word = [0; WORD];
        let mut put = |bit: usize, bytes: &[u8]| {
            let end = WORD - bit / 8;
            word[end - bytes.len()..end].copy_from_slice(bytes);
        };
        put(0, &[1]);
        put(8, &[self.lanes]);
        put(16, &[demands(program) as u8]);
        put(24, &[list as u8]);
        put(32, &(program.steps.len() as u16).to_be_bytes());
        put(48, &(program.weights.len() as u16).to_be_bytes());
        put(64, &self.selector);
        put(96, &(program.max_calldata() as u32).to_be_bytes());
        put(128, &(program.output_length() as u32).to_be_bytes());
        put(160, &[program.input_codec as u8]);
        put(168, &[program.output_codec as u8]);
        put(176, &(program.input_size as u32).to_be_bytes());
        word
    }
}

/// `d`: the most demands that one path from the trace root to a word needs.
pub fn demands(program: &Program) -> usize {
    let deepest = program.steps.iter().map(|step| step.form.height().div_ceil(6).max(1)).max().unwrap_or(1);
    list_height(program.steps.len()).div_ceil(6).saturating_sub(1) + deepest
}

/// The tag of models without a program.
const NO_PROGRAM: &[u8] = b"assay model without a program";

/// The program hash of a model without a program, which takes as many int16s.
pub fn hash_without_program(inputs: u16) -> Hash {
    Words::default()
        .bytes32(&keccak(NO_PROGRAM))
        .number(InputCodec::Int16s as u128)
        .number(OutputCodec::Words as u128)
        .number(inputs.into())
        .hash()
}

/// What somebody asks for. The fields are PROTOCOL.md's, in its order.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct Request {
    pub requester: Address,
    pub model_id: Hash,
    pub input_hash: Hash,
    pub lanes: u8,
    pub fee: u128,
    pub delivery_fee: u128,
    pub min_bond: u128,
    pub window: u32,
    pub expiry: u64,
    pub exclusive_prover: Address,
    pub exclusive_until: u64,
    pub callback: Address,
    pub callback_gas: u32,
    pub salt: u64,
}

impl Request {
    /// The request's id on a chain's contract.
    pub fn id(&self, chain_id: u64, assay: &Address) -> Hash {
        Words::default()
            .number(chain_id.into())
            .address(assay)
            .address(&self.requester)
            .bytes32(&self.model_id)
            .bytes32(&self.input_hash)
            .number(self.lanes.into())
            .number(self.fee)
            .number(self.delivery_fee)
            .number(self.min_bond)
            .number(self.window.into())
            .number(self.expiry.into())
            .address(&self.exclusive_prover)
            .number(self.exclusive_until.into())
            .address(&self.callback)
            .number(self.callback_gas.into())
            .number(self.salt.into())
            .hash()
    }
}

/// What a prover states. The fields are PROTOCOL.md's, in its order.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct Claim {
    pub request_id: Hash,
    pub model_id: Hash,
    pub attempt: u32,
    pub prover: Address,
    pub operator: Address,
    pub output_hash: Hash,
    pub bond: u128,
    pub ticket_bond: u128,
    pub gas_price: u64,
}

impl Claim {
    /// The claim's id on a chain's contract.
    pub fn id(&self, chain_id: u64, assay: &Address) -> Hash {
        Words::default()
            .number(chain_id.into())
            .address(assay)
            .bytes32(&self.request_id)
            .bytes32(&self.model_id)
            .number(self.attempt.into())
            .address(&self.prover)
            .address(&self.operator)
            .bytes32(&self.output_hash)
            .number(self.bond)
            .number(self.ticket_bond)
            .number(self.gas_price.into())
            .hash()
    }
}

/// `abi.encode` of values that have a word each.
#[derive(Default)]
pub(crate) struct Words(Vec<u8>);

impl Words {
    pub(crate) fn bytes32(mut self, word: &Hash) -> Self {
        self.0.extend(word);
        self
    }

    pub(crate) fn number(self, number: u128) -> Self {
        self.right(&number.to_be_bytes())
    }

    pub(crate) fn address(self, address: &Address) -> Self {
        self.right(address)
    }

    fn right(self, bytes: &[u8]) -> Self {
        let mut word = [0; WORD];
        word[WORD - bytes.len()..].copy_from_slice(bytes);
        self.bytes32(&word)
    }

    fn left(self, bytes: &[u8]) -> Self {
        let mut word = [0; WORD];
        word[..bytes.len()].copy_from_slice(bytes);
        self.bytes32(&word)
    }

    pub(crate) fn hash(self) -> Hash {
        keccak(&self.0)
    }
}
