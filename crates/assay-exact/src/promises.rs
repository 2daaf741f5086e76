//! Promises: digests of signed claims, ids of batches, leaves and their tree (docs/PROMISES.md, section 7).
use crate::calldata::Input;
use crate::error::{ensure, refuse};
use crate::ids::{Address, Words};
use crate::program::{InputCodec, OutputCodec, Program, WORD};
use crate::tree::{climb, fold, keccak, list_height, paddings, Hash};
use crate::Result;
use alloc::vec::Vec;

const MAX_LEAVES: usize = 1_024;
const TEXT_LENGTH: usize = 2;
const PRICE: usize = 16;
const RAW_LENGTH: usize = 4;
/// The offset and the length of dynamic return data.
const HEAD: usize = 2 * WORD;

const DOMAIN: &[u8] = b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const SIGNED_CLAIM: &[u8] = b"SignedClaim(address prover,bytes32 modelId,bytes32 inputHash,\
bytes32 outputHash,address requester,uint40 issuedAt,uint40 expiry,uint96 minBond,uint64 salt)";

/// What a prover signs off the chain. The fields are PROMISES.md's, in its order.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
pub struct SignedClaim {
    pub prover: Address,
    pub model_id: Hash,
    pub input_hash: Hash,
    pub output_hash: Hash,
    pub requester: Address,
    pub issued_at: u64,
    pub expiry: u64,
    pub min_bond: u128,
    pub salt: u64,
}

impl SignedClaim {
    /// What the prover's key signs, for a chain's contract `Promises`.
    pub fn digest(&self, chain_id: u64, promises: &Address) -> Hash {
        let domain = Words::default()
            .bytes32(&keccak(DOMAIN))
            .bytes32(&keccak(b"Assay Promises"))
            .bytes32(&keccak(b"1"))
            .number(chain_id.into())
            .address(promises)
            .hash();
        let content = Words::default()
            .bytes32(&keccak(SIGNED_CLAIM))
            .address(&self.prover)
            .bytes32(&self.model_id)
            .bytes32(&self.input_hash)
            .bytes32(&self.output_hash)
            .address(&self.requester)
            .number(self.issued_at.into())
            .number(self.expiry.into())
            .number(self.min_bond)
            .number(self.salt.into())
            .hash();
        let mut signed = Vec::from([0x19, 0x01]);
        signed.extend(domain);
        signed.extend(content);
        keccak(&signed)
    }
}

/// Many claims whose data were posted at once.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Whose stake is behind it.
    pub prover: Address,
    /// The model of every leaf.
    pub model_id: Hash,
    /// Seconds in which leaves can be opened.
    pub window: u32,
    /// Leaves.
    pub count: u16,
    /// The root over the leaves.
    pub root: Hash,
}

impl Batch {
    /// The batch's id on a chain's contract `Promises`.
    pub fn id(&self, chain_id: u64, promises: &Address) -> Hash {
        Words::default()
            .number(chain_id.into())
            .address(promises)
            .address(&self.prover)
            .bytes32(&self.model_id)
            .number(self.window.into())
            .number(self.count.into())
            .bytes32(&self.root)
            .hash()
    }
}

/// The leaf of canonical calldata and of an output.
pub fn compact(program: &Program, selector: [u8; 4], calldata: &[u8], output: &[u8]) -> Result<Vec<u8>> {
    let mut leaf = Vec::new();
    let input = Input::read(program, selector, calldata)?;
    match input {
        Input::Text(text) => {
            leaf.extend((text.len() as u16).to_be_bytes());
            leaf.extend(text);
        }
        // Those that are read stop at 128 bits: a leaf has none of the others.
        Input::Prices(_) => {
            for word in price_words(program, &calldata[4..]) {
                let (high, low) = word.split_at(WORD - PRICE);
                ensure!(high.iter().all(|&byte| byte == 0), "a price of more than 128 bits has no leaf");
                leaf.extend(low);
            }
        }
        Input::Int16s(numbers) => leaf.extend(numbers.iter().flat_map(|number| number.to_be_bytes())),
        Input::Raw(bytes) => leaf.extend(bytes),
    }
    let length = program.output_length();
    ensure!(output.len() == length, "an output of {} bytes, expected {length}", output.len());
    if program.output_codec == OutputCodec::Words {
        for word in output.chunks_exact(WORD) {
            let (high, low) = word.split_at(WORD - 4);
            let fill = if low[0] & 0x80 == 0 { 0 } else { 0xff };
            ensure!(high.iter().all(|&byte| byte == fill), "a word beyond 32 bits has no leaf");
            leaf.extend(low);
        }
        return Ok(leaf);
    }
    let (head, words) = output.split_at(HEAD);
    let offset = number(&head[..WORD])?;
    let length = number(&head[WORD..])?;
    ensure!(offset == WORD as u32, "an output with the offset {offset} has no leaf");
    if program.output_codec == OutputCodec::Raw {
        leaf.extend(length.to_be_bytes());
    } else {
        ensure!(length as usize == words.len() / WORD, "an output of {length} words has no leaf");
    }
    leaf.extend(words);
    Ok(leaf)
}

/// The prices of canonical arguments, list by list.
fn price_words<'a>(program: &Program, arguments: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let list = WORD * (program.input_size + 1);
    arguments[3 * WORD..].chunks_exact(list).flat_map(|list| list[WORD..].chunks_exact(WORD))
}

/// A word that holds a number of at most 32 bits.
fn number(word: &[u8]) -> Result<u32> {
    let (high, low) = word.split_at(WORD - 4);
    ensure!(high.iter().all(|&byte| byte == 0), "a number of more than 32 bits has no leaf");
    Ok(low.iter().fold(0, |number, &byte| number << 8 | u32::from(byte)))
}

/// The calldata and the return data that a leaf stands for.
pub fn expand(program: &Program, selector: [u8; 4], leaf: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let size = leaf_length(program, leaf)?;
    ensure!(leaf.len() == size, "a leaf of {} bytes, expected {size}", leaf.len());
    let (input, output) = leaf.split_at(size - output_bytes(program));
    let mut calldata = Vec::from(selector);
    match program.input_codec {
        InputCodec::Text => push_dynamic(&mut calldata, input.len() - TEXT_LENGTH, &input[TEXT_LENGTH..]),
        InputCodec::Raw => push_dynamic(&mut calldata, input.len(), input),
        InputCodec::Int16s => push_dynamic(&mut calldata, input.len().div_ceil(WORD), input),
        InputCodec::Prices => {
            let count = program.input_size;
            for list in 0..3 {
                push_number(&mut calldata, WORD * (3 + list * (count + 1)));
            }
            for list in input.chunks_exact(PRICE * count) {
                push_number(&mut calldata, count);
                for price in list.chunks_exact(PRICE) {
                    calldata.extend([0; WORD - PRICE]);
                    calldata.extend(price);
                }
            }
        }
    }
    let mut data = Vec::with_capacity(program.output_length());
    match program.output_codec {
        OutputCodec::Words => {
            for low in output.chunks_exact(4) {
                let fill = if low[0] & 0x80 == 0 { 0 } else { 0xff };
                data.extend([fill; WORD - 4]);
                data.extend(low);
            }
        }
        OutputCodec::Int16s => push_dynamic(&mut data, output.len() / WORD, output),
        OutputCodec::Raw => {
            let (length, words) = output.split_at(RAW_LENGTH);
            let length = length.iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
            push_dynamic(&mut data, length, words);
        }
    }
    Ok((calldata, data))
}

fn push_number(data: &mut Vec<u8>, number: usize) {
    data.extend([0; WORD - 8]);
    data.extend((number as u64).to_be_bytes());
}

/// An offset, a length and the content, with zeros to whole words.
fn push_dynamic(data: &mut Vec<u8>, length: usize, content: &[u8]) {
    push_number(data, WORD);
    push_number(data, length);
    data.extend(content);
    data.extend(core::iter::repeat_n(0, content.len().next_multiple_of(WORD) - content.len()));
}

/// Bytes of the leaf that data begin with.
fn leaf_length(program: &Program, data: &[u8]) -> Result<usize> {
    let size = program.input_size;
    let input = match program.input_codec {
        InputCodec::Text => {
            let Some(length) = data.first_chunk() else { refuse!("a leaf of {} bytes", data.len()) };
            let length = usize::from(u16::from_be_bytes(*length));
            ensure!(length <= size, "a text of {length} bytes, at most {size}");
            TEXT_LENGTH + length
        }
        InputCodec::Prices => 3 * PRICE * size,
        InputCodec::Int16s => 2 * size,
        InputCodec::Raw => size,
    };
    Ok(input + output_bytes(program))
}

fn output_bytes(program: &Program) -> usize {
    let length = program.output_length();
    match program.output_codec {
        OutputCodec::Words => length / 8,
        OutputCodec::Int16s => length - HEAD,
        OutputCodec::Raw => length - HEAD + RAW_LENGTH,
    }
}

/// The leaves of a batch's data: 1 to 1,024.
pub fn split<'d>(program: &Program, mut data: &'d [u8]) -> Result<Vec<&'d [u8]>> {
    let mut leaves = Vec::new();
    while !data.is_empty() {
        let size = leaf_length(program, data)?;
        ensure!(size <= data.len(), "data that end {} bytes before their leaf", size - data.len());
        let (leaf, rest) = data.split_at(size);
        leaves.push(leaf);
        data = rest;
    }
    ensure!((1..=MAX_LEAVES).contains(&leaves.len()), "a batch of {} leaves", leaves.len());
    Ok(leaves)
}

/// The root over leaves.
pub fn root(leaves: &[&[u8]]) -> Hash {
    let height = list_height(leaves.len());
    fold(nodes_of(leaves), &paddings([0; WORD], height), height)
}

/// The siblings of a leaf, bottom up.
pub fn path(leaves: &[&[u8]], index: usize) -> Result<Vec<Hash>> {
    ensure!(index < leaves.len(), "leaf {index} of {}", leaves.len());
    let height = list_height(leaves.len());
    let paddings = paddings([0; WORD], height);
    let siblings = (0..height).map(|level| {
        let first = (index >> level ^ 1) << level;
        let under = leaves.get(first..leaves.len().min(first + (1 << level))).unwrap_or_default();
        fold(nodes_of(under), &paddings, level)
    });
    Ok(siblings.collect())
}

fn nodes_of(leaves: &[&[u8]]) -> Vec<Hash> {
    leaves.iter().map(|leaf| keccak(leaf)).collect()
}

/// Refuses what is not the leaf of this index in a batch of so many.
pub fn check_member(count: usize, root: &Hash, index: usize, leaf: &[u8], path: &[Hash]) -> Result<()> {
    ensure!(index < count, "leaf {index} of {count}");
    let height = list_height(count);
    ensure!(path.len() == height, "a path of {} nodes, expected {height}", path.len());
    ensure!(climb(keccak(leaf), index as u64, path) == *root, "a leaf of another root");
    Ok(())
}
