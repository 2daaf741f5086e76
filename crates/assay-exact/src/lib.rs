//! A second implementation of Assay's exact inference: programs, the ten opcodes, codecs and commitments.
//! It is written from docs/EXACT.md and docs/PROTOCOL.md, without a look at the other one.
#![no_std]

extern crate alloc;

mod arithmetic;
mod binary32;
pub mod calldata;
mod codes;
mod decode;
pub mod element;
mod error;
pub mod execute;
pub mod ids;
pub mod openings;
mod operand_rules;
pub mod orders;
pub mod program;
pub mod promises;
pub mod receipt;
pub mod return_data;
pub mod reveal;
mod rlp;
mod rules;
pub mod signals;
#[cfg(feature = "signatures")]
pub mod signature;
mod text;
pub mod tree;
mod trie;
mod validate;

pub use error::{Error, Result};
