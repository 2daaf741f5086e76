//! The vectors of test/vectors, and what their ABI encoding needs (docs/EXACT.md, section 9).
#![allow(dead_code)]
pub mod builder;
pub mod one_step;
pub mod opened;

use assay_exact::openings::Opening;
use serde_json::Value;
use std::path::PathBuf;

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn hex(text: &str) -> Vec<u8> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).unwrap()).collect()
}

pub fn json(name: &str) -> Value {
    let path = root().join("test/vectors").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The structs of a file of vectors.
pub fn vectors(name: &str) -> Vec<Vec<u8>> {
    let vectors: Vec<Vec<u8>> =
        json(name)["vectors"].as_array().unwrap().iter().map(|v| hex(v.as_str().unwrap())).collect();
    assert!(!vectors.is_empty());
    vectors
}

/// A tuple of ABI-encoded data: its fields are read by their place in the head.
#[derive(Clone, Copy)]
pub struct Tuple<'b>(&'b [u8]);

impl<'b> Tuple<'b> {
    /// The struct of `abi.encode(struct)`.
    pub fn of(bytes: &'b [u8]) -> Self {
        Self(bytes).tuple(0)
    }

    pub fn word(&self, field: usize) -> [u8; 32] {
        self.0[32 * field..32 * (field + 1)].try_into().unwrap()
    }

    pub fn number(&self, field: usize) -> u64 {
        let word = self.word(field);
        assert!(word[..24].iter().all(|&byte| byte == 0));
        u64::from_be_bytes(word[24..].try_into().unwrap())
    }

    pub fn index(&self, field: usize) -> usize {
        self.number(field) as usize
    }

    pub fn selector(&self, field: usize) -> [u8; 4] {
        self.word(field)[..4].try_into().unwrap()
    }

    pub fn tuple(&self, field: usize) -> Self {
        Self(&self.0[self.index(field)..])
    }

    pub fn bytes(&self, field: usize) -> &'b [u8] {
        let at = self.index(field);
        let length = Self(&self.0[at..]).index(0);
        &self.0[at + 32..at + 32 + length]
    }

    /// A list of dynamic tuples or bytes: its own length, and a tuple of as many offsets.
    fn list(&self, field: usize) -> (usize, Self) {
        let list = self.tuple(field);
        (list.index(0), Self(&list.0[32..]))
    }

    pub fn tuples(&self, field: usize) -> Vec<Self> {
        let (count, list) = self.list(field);
        (0..count).map(|i| list.tuple(i)).collect()
    }

    pub fn many_bytes(&self, field: usize) -> Vec<&'b [u8]> {
        let (count, list) = self.list(field);
        (0..count).map(|i| list.bytes(i)).collect()
    }

    pub fn words(&self, field: usize) -> Vec<[u8; 32]> {
        let (count, list) = self.list(field);
        (0..count).map(|i| list.word(i)).collect()
    }

    pub fn opening(&self) -> Opening {
        Opening { words: self.words(0), path: self.words(1) }
    }
}
