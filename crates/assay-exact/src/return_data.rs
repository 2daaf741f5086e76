//! Output codecs: return data of the last step's tensor (docs/EXACT.md, section 5).
use crate::arithmetic::{number, stored_at};
use crate::error::ensure;
use crate::program::{ElementType, OutputCodec, Program, WORD};
use crate::Result;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The return data of the last tensor's stored bytes.
pub fn encode(program: &Program, bytes: &[u8]) -> Vec<u8> {
    let form = program.output();
    let mut data = vec![0; program.output_length()];
    for (i, word) in head(program).into_iter().enumerate() {
        data[WORD * i + WORD - 4..WORD * (i + 1)].copy_from_slice(&word.to_be_bytes());
    }
    for index in 0..form.dims.count() {
        let encoded = element(program, stored_at(bytes, index, form.element_type));
        data[place(program, index)].copy_from_slice(&encoded);
    }
    data
}

/// Where return data hold an element.
pub fn place(program: &Program, index: usize) -> Range<usize> {
    let (start, size) = match program.output_codec {
        OutputCodec::Words => (0, WORD),
        OutputCodec::Int16s => (2 * WORD, 2),
        OutputCodec::Raw => (2 * WORD, program.output().element_type.size()),
    };
    start + size * index..start + size * (index + 1)
}

/// What return data hold of a stored element.
pub fn element(program: &Program, stored: u32) -> Vec<u8> {
    let element_type = program.output().element_type;
    match program.output_codec {
        OutputCodec::Words => {
            let value = number(stored, element_type);
            let mut word = vec![if value < 0 { 0xff } else { 0 }; WORD];
            word[WORD - 8..].copy_from_slice(&value.to_be_bytes());
            word
        }
        OutputCodec::Int16s => {
            let value = (stored as i32).clamp(i16::MIN.into(), i16::MAX.into());
            (value as i16).to_be_bytes().to_vec()
        }
        OutputCodec::Raw => match element_type {
            ElementType::U8 => vec![stored as u8],
            ElementType::S8 => vec![stored as u8 ^ 0x80],
            ElementType::Bool => vec![u8::from(stored != 0)],
            ElementType::S32 | ElementType::F32 => stored.to_le_bytes().to_vec(),
        },
    }
}

/// The stored bytes of the last tensor that return data hold, which need not be canonical.
pub fn decode(program: &Program, data: &[u8]) -> Result<Vec<u8>> {
    ensure!(has_form(program, data), "{} bytes have not the form of the return data", data.len());
    elements(program, data)
}

/// The stored bytes of the tensor that claimed return data stand for: what stands in the places of the elements,
/// whatever stands around them.
pub fn elements(program: &Program, data: &[u8]) -> Result<Vec<u8>> {
    let length = program.output_length();
    ensure!(data.len() == length, "{} bytes of return data, expected {length}", data.len());
    let form = program.output();
    let mut tensor = Vec::with_capacity(form.bytes());
    for index in 0..form.dims.count() {
        let bytes = &data[place(program, index)];
        match (program.output_codec, form.element_type) {
            (OutputCodec::Words, ElementType::S32) => tensor.extend(&bytes[WORD - 4..]),
            (OutputCodec::Words, ElementType::S8) => tensor.push(bytes[WORD - 1] ^ 0x80),
            (OutputCodec::Words, _) => tensor.push(bytes[WORD - 1]),
            (OutputCodec::Int16s, _) => {
                tensor.extend(i32::from(i16::from_be_bytes([bytes[0], bytes[1]])).to_be_bytes());
            }
            (OutputCodec::Raw, ElementType::S8) => tensor.push(bytes[0] ^ 0x80),
            (OutputCodec::Raw, _) => tensor.extend(bytes.iter().rev()),
        }
    }
    Ok(tensor)
}

/// Whether an output has the form that every output of the program has: its length, head and padding.
pub fn has_form(program: &Program, data: &[u8]) -> bool {
    let end = place(program, program.output().dims.count()).start;
    let head = head(program);
    data.len() == program.output_length()
        && head.iter().zip(data.chunks(WORD)).all(|(&expected, word)| {
            let (high, low) = word.split_at(WORD - 4);
            high.iter().all(|&byte| byte == 0) && low == expected.to_be_bytes()
        })
        && data[end..].iter().all(|&byte| byte == 0)
}

/// The ABI words in front of the elements: an offset, and the length in words or bytes.
fn head(program: &Program) -> Vec<u32> {
    let form = program.output();
    match program.output_codec {
        OutputCodec::Words => vec![],
        OutputCodec::Int16s => vec![WORD as u32, form.dims.count().div_ceil(16) as u32],
        OutputCodec::Raw => vec![WORD as u32, form.bytes() as u32],
    }
}
