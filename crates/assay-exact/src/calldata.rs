//! Input codecs: canonical calldata, and the tensor that a CODEC step makes of them (docs/EXACT.md, section 5).
use crate::error::ensure;
use crate::program::{ElementType, InputCodec, Program, Step, WORD};
use crate::{text, Result};
use alloc::vec::Vec;

/// The content of canonical calldata, by the program's input codec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// The bytes of the string.
    Text(Vec<u8>),
    /// Closes, highs and lows, each reduced to 128 bits.
    Prices([Vec<u128>; 3]),
    /// The numbers, without those of the last word that are not used.
    Int16s(Vec<i16>),
    /// The bytes.
    Raw(Vec<u8>),
}

impl Input {
    /// Reads calldata, and refuses what a standard encoder does not write or the program does not take.
    pub fn read(program: &Program, selector: [u8; 4], calldata: &[u8]) -> Result<Self> {
        ensure!(calldata.starts_with(&selector), "calldata do not begin with the selector {selector:02x?}");
        let words = Words(&calldata[4..]);
        let size = program.input_size;
        match program.input_codec {
            InputCodec::Text => {
                words.has_number(0, WORD)?;
                let length = words.number(1)?;
                ensure!(length <= size, "{length} bytes of text, at most {size}");
                Ok(Self::Text(words.bytes(length)?))
            }
            InputCodec::Raw => {
                words.has_number(0, WORD)?;
                words.has_number(1, size)?;
                Ok(Self::Raw(words.bytes(size)?))
            }
            InputCodec::Prices => {
                words.has_bytes(3 * WORD * (size + 2))?;
                let mut lists = [(); 3].map(|()| Vec::with_capacity(size));
                for (i, list) in lists.iter_mut().enumerate() {
                    let at = 3 + i * (size + 1);
                    words.has_number(i, WORD * at)?;
                    words.has_number(at, size)?;
                    list.extend((1..=size).map(|t| price(words.word(at + t))));
                }
                Ok(Self::Prices(lists))
            }
            InputCodec::Int16s => {
                let count = size.div_ceil(16);
                words.has_bytes(WORD * (2 + count))?;
                words.has_number(0, WORD)?;
                words.has_number(1, count)?;
                let pairs = words.0[2 * WORD..].chunks_exact(2);
                let mut numbers: Vec<i16> =
                    pairs.map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
                let is_padded = numbers[size..].iter().all(|&number| number == 0);
                ensure!(is_padded, "a number behind the {size} of the input is not zero");
                numbers.truncate(size);
                Ok(Self::Int16s(numbers))
            }
        }
    }

    /// The stored bytes of a CODEC step's tensor.
    pub fn tensor(&self, step: &Step) -> Vec<u8> {
        let dims = step.form.dims.as_slice();
        let (k, count) = (step.k as usize, step.form.dims.count());
        match self {
            Self::Text(bytes) => {
                stored(text::ids(bytes, dims[0] as usize, dims[1] as usize, step.k).into_iter())
            }
            Self::Prices(lists) => stored(changes(lists).into_iter()),
            Self::Int16s(numbers) => stored(numbers[k..k + count].iter().map(|&number| number.into())),
            Self::Raw(bytes) => {
                let element_type = step.form.element_type;
                raw(&bytes[k..k + count * element_type.size()], element_type)
            }
        }
    }
}

fn stored(numbers: impl Iterator<Item = i32>) -> Vec<u8> {
    numbers.flat_map(i32::to_be_bytes).collect()
}

fn raw(bytes: &[u8], element_type: ElementType) -> Vec<u8> {
    let fours = || bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    match element_type {
        ElementType::U8 => bytes.to_vec(),
        ElementType::S8 => bytes.iter().map(|byte| byte ^ 0x80).collect(),
        ElementType::Bool => bytes.iter().map(|&byte| u8::from(byte != 0)).collect(),
        ElementType::S32 => fours().flat_map(u32::to_be_bytes).collect(),
        ElementType::F32 => fours().map(tame).flat_map(u32::to_be_bytes).collect(),
    }
}

/// What is no normal number of at most 2^20 in size is +0.
fn tame(bits: u32) -> u32 {
    const MOST: f32 = 1_048_576.0;
    let value = f32::from_bits(bits);
    if value.is_normal() && value.abs() <= MOST {
        bits
    } else {
        0
    }
}

fn price(word: &[u8]) -> u128 {
    let (high, low) = word.split_at(16);
    if high.iter().any(|&byte| byte != 0) {
        return u128::MAX;
    }
    low.iter().fold(0, |price, &byte| price << 8 | u128::from(byte))
}

/// The three rows of changes, in ten-thousandths.
fn changes([closes, highs, lows]: &[Vec<u128>; 3]) -> Vec<i32> {
    let n = closes.len();
    let days = 1..n;
    let of_day = days.clone().map(|t| change(closes[t - 1], closes[t], closes[t - 1]));
    let of_range = days.clone().map(|t| change(lows[t], highs[t], closes[t]));
    let to_last = days.map(|t| change(closes[t], closes[n - 1], closes[t]));
    of_day.chain(of_range).chain(to_last).collect()
}

/// `10^4·(to − from) / divisor`, truncated toward zero and clamped; 0 where the divisor is 0.
fn change(from: u128, to: u128, divisor: u128) -> i32 {
    if divisor == 0 {
        return 0;
    }
    let scaled = times(from.abs_diff(to), 10_000);
    // The greatest quotient whose product is not above: 15 bits, one by one.
    let size = (0..15).rev().fold(0, |q, bit| {
        let next = q | 1 << bit;
        if times(divisor, next) <= scaled {
            next
        } else {
            q
        }
    });
    if to < from {
        -(size as i32)
    } else {
        size as i32
    }
}

/// A product of 160 bits: what is above 128 bits, and the rest.
fn times(x: u128, factor: u32) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let low = (x & LOW) * u128::from(factor);
    let high = (x >> 64) * u128::from(factor) + (low >> 64);
    (high >> 64, high << 64 | low & LOW)
}

/// Calldata behind the selector, by words.
struct Words<'c>(&'c [u8]);

impl Words<'_> {
    fn has_bytes(&self, expected: usize) -> Result<()> {
        ensure!(self.0.len() == expected, "{} bytes behind the selector, expected {expected}", self.0.len());
        Ok(())
    }

    fn word(&self, index: usize) -> &[u8] {
        &self.0[WORD * index..WORD * (index + 1)]
    }

    /// A word that holds a small number.
    fn number(&self, index: usize) -> Result<usize> {
        ensure!(self.0.len() >= WORD * (index + 1), "calldata end in front of word {index}");
        let (high, low) = self.word(index).split_at(WORD - 4);
        ensure!(high.iter().all(|&byte| byte == 0), "word {index} of the calldata has more than 32 bits");
        Ok(low.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    fn has_number(&self, index: usize, expected: usize) -> Result<()> {
        let found = self.number(index)?;
        ensure!(found == expected, "word {index} of the calldata is {found}, expected {expected}");
        Ok(())
    }

    /// The bytes of the only dynamic argument, whose padding is zero.
    fn bytes(&self, length: usize) -> Result<Vec<u8>> {
        self.has_bytes(WORD * (2 + length.div_ceil(WORD)))?;
        let (bytes, padding) = self.0[2 * WORD..].split_at(length);
        ensure!(padding.iter().all(|&byte| byte == 0), "the padding of the calldata is not zero");
        Ok(bytes.to_vec())
    }
}
