//! The words of a line: bytes as 0x and digits, numbers as big-endian bytes.
use assay_exact::ids::{Address, Claim, Request};
use assay_exact::openings::Opening;
use assay_exact::program::{Program, WORD};
use assay_exact::promises::SignedClaim;
use assay_exact::tree::Hash;
use assay_exact::{Error, Result};
use std::fmt::Write as _;

/// The words of one line that are not read yet.
pub struct Words<'l>(std::iter::Copied<std::slice::Iter<'l, &'l str>>);

impl<'l> Words<'l> {
    pub fn new(words: &'l [&'l str]) -> Self {
        Self(words.iter().copied())
    }

    pub fn left(&self) -> usize {
        self.0.len()
    }

    pub fn bytes(&mut self) -> Result<Vec<u8>> {
        let text = self.0.next().ok_or_else(|| Error(String::from("the line has too few words")))?;
        let digits = text.strip_prefix("0x").unwrap_or("-").as_bytes();
        let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
        let pairs: Option<Vec<u8>> =
            digits.chunks(2).map(|pair| Some(digit(&pair[0])? << 4 | digit(pair.get(1)?)?)).collect();
        pairs.ok_or_else(|| Error(format!("bytes are written as 0x and pairs of digits, not as {text:.40}")))
    }

    /// As many bytes as are wanted.
    pub fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.bytes()?;
        bytes.try_into().map_err(|other: Vec<u8>| Error(format!("{} bytes, expected {N}", other.len())))
    }

    /// Words of 32 bytes, joined.
    pub fn hashes(&mut self) -> Result<Vec<Hash>> {
        let bytes = self.bytes()?;
        if bytes.len() % WORD != 0 {
            return Err(Error(format!("{} bytes are no whole words", bytes.len())));
        }
        bytes
            .chunks_exact(WORD)
            .map(|word| word.try_into().map_err(|_| Error(String::from("no word"))))
            .collect()
    }

    /// A big-endian number of at most 16 bytes that has at most as many bits.
    pub fn number<T: TryFrom<u128>>(&mut self, bits: u32) -> Result<T> {
        let bytes = self.bytes()?;
        let value = match bytes.len() {
            0..=16 => bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte)),
            length => return Err(Error(format!("a number of {length} bytes, at most 16"))),
        };
        let fits = value.checked_shr(bits).unwrap_or(0) == 0;
        let found = if fits { value.try_into().ok() } else { None };
        found.ok_or_else(|| Error(format!("the number {value} is larger than its field of {bits} bits")))
    }

    pub fn program(&mut self) -> Result<Program> {
        Program::read(&self.bytes()?)
    }

    pub fn opening(&mut self) -> Result<Opening> {
        Ok(Opening { words: self.hashes()?, path: self.hashes()? })
    }

    /// Chain and contract.
    pub fn game(&mut self) -> Result<(u64, Address)> {
        Ok((self.number(53)?, self.fixed()?))
    }

    pub fn request(&mut self) -> Result<Request> {
        Ok(Request {
            requester: self.fixed()?,
            model_id: self.fixed()?,
            input_hash: self.fixed()?,
            lanes: self.number(8)?,
            fee: self.number(96)?,
            delivery_fee: self.number(96)?,
            min_bond: self.number(96)?,
            window: self.number(32)?,
            expiry: self.number(40)?,
            exclusive_prover: self.fixed()?,
            exclusive_until: self.number(40)?,
            callback: self.fixed()?,
            callback_gas: self.number(32)?,
            salt: self.number(64)?,
        })
    }

    pub fn claim(&mut self) -> Result<Claim> {
        Ok(Claim {
            request_id: self.fixed()?,
            model_id: self.fixed()?,
            attempt: self.number(32)?,
            prover: self.fixed()?,
            operator: self.fixed()?,
            output_hash: self.fixed()?,
            bond: self.number(96)?,
            ticket_bond: self.number(96)?,
            gas_price: self.number(64)?,
        })
    }

    pub fn signed_claim(&mut self) -> Result<SignedClaim> {
        Ok(SignedClaim {
            prover: self.fixed()?,
            model_id: self.fixed()?,
            input_hash: self.fixed()?,
            output_hash: self.fixed()?,
            requester: self.fixed()?,
            issued_at: self.number(40)?,
            expiry: self.number(40)?,
            min_bond: self.number(96)?,
            salt: self.number(64)?,
        })
    }

    pub fn end(&mut self) -> Result<()> {
        match self.left() {
            0 => Ok(()),
            left => Err(Error(format!("the line has {left} words too many"))),
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes {
        // A string takes whatever is written to it.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
