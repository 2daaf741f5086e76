//! Receipts: what a block's state says about an output (docs/PROTOCOL.md, Receipts).
use crate::error::{ensure, refuse};
use crate::ids::{Address, Claim, Request};
use crate::program::WORD;
use crate::rlp::item;
use crate::tree::{keccak, Hash};
use crate::trie::Witness;
use crate::Result;

const BOND: u8 = 4;
const BUSY: u8 = 2;
const DONE: u8 = 3;
const ACTIVE: u8 = 1;
const FINAL: u8 = 2;
/// The slots of Assay's mappings.
const REQUESTS: u8 = 0;
const CLAIMS: u8 = 1;
const RESULTS: u8 = 5;

/// What a verifier knows from elsewhere.
pub struct Trust {
    /// The chain.
    pub chain_id: u64,
    /// The contract Assay.
    pub assay: Address,
    /// T, in seconds.
    pub answer_time: u64,
    /// The hash of a block that is the chain's.
    pub block_hash: Hash,
    /// The hash of Assay's code; zero where the address is enough.
    pub code_hash: Hash,
}

/// What a consumer demands.
pub struct Policy {
    /// The model.
    pub model_id: Hash,
    /// The hash of the calldata.
    pub input_hash: Hash,
    /// Bits of the lanes that it takes.
    pub lanes: u8,
    /// The least bond in lane BOND, wei.
    pub min_bond: u128,
    /// The shortest window in lane BOND, seconds.
    pub min_window: u32,
}

/// A receipt.
pub struct Receipt<'r> {
    /// What was asked.
    pub request: Request,
    /// The claim; none after a truth without one that agreed.
    pub claim: Option<Claim>,
    /// The return data.
    pub output: &'r [u8],
    /// RLP of the block's header.
    pub header: &'r [u8],
    /// RLP of nodes of the state's tries.
    pub nodes: &'r [&'r [u8]],
}

/// What a receipt shows.
pub struct Shown {
    /// The request.
    pub request_id: Hash,
    /// The claim; zero where a truth settled the request and no claim agreed.
    pub claim_id: Hash,
    /// The lane in which the output is final.
    pub lane: u8,
    /// The time of the block, in seconds.
    pub timestamp: u64,
}

/// Decides as `requireFinal` would have in the block.
pub fn verify(receipt: &Receipt<'_>, trust: &Trust, policy: &Policy) -> Result<Shown> {
    ensure!(keccak(receipt.header) == trust.block_hash, "the header is of another block");
    let header = item(receipt.header)?.list()?;
    ensure!(header.len() > 11, "a header of {} fields", header.len());
    let (state_root, timestamp) = (hash(header[3].bytes()?)?, header[11].number()?);
    let storage = Storage::of(receipt, trust, state_root)?;
    let Receipt { request, claim, output, .. } = receipt;
    ensure!(request.model_id == policy.model_id, "the request is about another model");
    ensure!(request.input_hash == policy.input_hash, "the request is about another input");
    let request_id = request.id(trust.chain_id, &trust.assay);
    let word = storage.word(REQUESTS, &request_id)?;
    let lane = match word[WORD - 1] {
        BUSY => BOND,
        DONE => word[WORD - 2],
        state => refuse!("the request has state {state}"),
    };
    let settled = storage.word(RESULTS, &request_id)?;
    let mut claim_id = [0; WORD];
    let mut output_hash = settled;
    if settled == [0; WORD] {
        let Some(claim) = claim else { refuse!("the request has a claim, which is not shown") };
        ensure!(claim.request_id == request_id, "the claim is on another request");
        claim_id = claim.id(trust.chain_id, &trust.assay);
        let word = storage.word(CLAIMS, &claim_id)?;
        ensure!(is_final(&word, trust.answer_time, timestamp), "the claim is not final");
        output_hash = claim.output_hash;
    }
    ensure!(keccak(output) == output_hash, "the output is another");
    ensure!(policy.lanes & lane != 0, "the output is final in lane {lane}");
    if lane == BOND {
        let bond = claim.as_ref().map_or(0, |claim| claim.bond);
        ensure!(bond >= policy.min_bond, "a bond of {bond} wei, at least {}", policy.min_bond);
        ensure!(request.window >= policy.min_window, "a window of {} seconds", request.window);
    }
    Ok(Shown { request_id, claim_id, lane, timestamp })
}

/// The claim word's rule (docs/PROTOCOL.md, section 4).
fn is_final(word: &[u8; WORD], answer_time: u64, now: u64) -> bool {
    let field = |bit: usize, bits: usize| {
        let end = WORD - bit / 8;
        word[end - bits / 8..end].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
    };
    let (window_end, last_event, hard_end) = (field(0, 40), field(40, 40), field(80, 40));
    let (pending, state) = (field(192, 32), field(224, 8));
    let final_at = match last_event {
        0 => window_end,
        _ => window_end.max((last_event + answer_time + 1).min(hard_end)),
    };
    state == FINAL.into() || state == ACTIVE.into() && pending == 0 && now >= final_at
}

/// The contract's words at the block.
struct Storage<'n> {
    witness: Witness<'n>,
    root: Hash,
}

impl<'n> Storage<'n> {
    fn of(receipt: &Receipt<'n>, trust: &Trust, state_root: Hash) -> Result<Self> {
        let witness = Witness::new(receipt.nodes);
        let Some(account) = witness.read(state_root, &keccak(&trust.assay))? else {
            refuse!("there is no account at the address")
        };
        let fields = item(account)?.list()?;
        ensure!(fields.len() == 4, "an account of {} fields", fields.len());
        let (root, code) = (hash(fields[2].bytes()?)?, hash(fields[3].bytes()?)?);
        ensure!(trust.code_hash == [0; WORD] || code == trust.code_hash, "the code is another");
        Ok(Self { witness, root })
    }

    /// A mapping's word; zero where there is none.
    fn word(&self, mapping: u8, key: &Hash) -> Result<[u8; WORD]> {
        let mut place = [0; 2 * WORD];
        place[..WORD].copy_from_slice(key);
        place[2 * WORD - 1] = mapping;
        let Some(value) = self.witness.read(self.root, &keccak(&keccak(&place)))? else {
            return Ok([0; WORD]);
        };
        let bytes = item(value)?.bytes()?;
        ensure!(bytes.len() <= WORD, "a storage word of {} bytes", bytes.len());
        let mut word = [0; WORD];
        word[WORD - bytes.len()..].copy_from_slice(bytes);
        Ok(word)
    }
}

fn hash(bytes: &[u8]) -> Result<Hash> {
    match bytes.try_into() {
        Ok(hash) => Ok(hash),
        Err(_) => refuse!("a hash of {} bytes", bytes.len()),
    }
}
