//! The container of .zkey and .wtns files: magic, version, then sections of a type and a length. Numbers are
//! little-endian.
use std::collections::HashMap;

/// Why a file, or a witness for a key, is refused.
pub type Result<T> = std::result::Result<T, String>;

/// Reads bytes one field after the other.
pub struct Bytes<'b>(pub &'b [u8]);

impl<'b> Bytes<'b> {
    pub fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        if self.0.len() < length {
            return Err(format!(
                "{length} bytes are expected, {} are left",
                self.0.len()
            ));
        }
        let (field, rest) = self.0.split_at(length);
        self.0 = rest;
        Ok(field)
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(self
            .take(4)?
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    pub fn u64(&mut self) -> Result<u64> {
        Ok(self
            .take(8)?
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Four limbs of a number of 32 bytes.
    pub fn limbs(&mut self) -> Result<[u64; 4]> {
        Ok([self.u64()?, self.u64()?, self.u64()?, self.u64()?])
    }
}

/// The sections of a file by their type.
pub struct Sections<'b>(HashMap<u32, &'b [u8]>);

impl<'b> Sections<'b> {
    pub fn read(magic: &[u8; 4], content: &'b [u8]) -> Result<Self> {
        let mut bytes = Bytes(content);
        if bytes.take(4)? != magic {
            return Err(format!(
                "the file does not begin with {}",
                String::from_utf8_lossy(magic)
            ));
        }
        let _version = bytes.u32()?;
        let mut sections = HashMap::new();
        for _ in 0..bytes.u32()? {
            let (kind, length) = (bytes.u32()?, bytes.u64()?);
            let length =
                usize::try_from(length).map_err(|_| format!("a section of {length} bytes"))?;
            if sections.insert(kind, bytes.take(length)?).is_some() {
                return Err(format!("section {kind} comes twice"));
            }
        }
        Ok(Self(sections))
    }

    pub fn get(&self, kind: u32) -> Result<Bytes<'b>> {
        self.0
            .get(&kind)
            .map(|content| Bytes(content))
            .ok_or_else(|| format!("section {kind} is missing"))
    }
}
