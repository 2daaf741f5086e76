//! A second implementation of Assay's exact inference: programs, the ten opcodes, codecs and commitments.
//! It is written from docs/EXACT.md and docs/PROTOCOL.md, without a look at the other one.
#![no_std]

extern crate alloc;

mod arithmetic;
mod binary32;
pub mod calldata;
mod decode;
pub mod element;
mod error;
pub mod execute;
pub mod openings;
pub mod program;
pub mod return_data;
mod text;
pub mod tree;
mod validate;

pub use error::{Error, Result};
