//! RLP, as far as block headers and state tries need it.
use crate::error::{ensure, refuse};
use crate::Result;
use alloc::vec::Vec;

/// Bytes, or the encoded items of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<'b> {
    Bytes(&'b [u8]),
    List(&'b [u8]),
}

impl<'b> Item<'b> {
    pub(crate) fn bytes(self) -> Result<&'b [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::List(_) => refuse!("a list stands where bytes are expected"),
        }
    }

    pub(crate) fn list(self) -> Result<Vec<Item<'b>>> {
        let Self::List(mut rest) = self else { refuse!("bytes stand where a list is expected") };
        let mut items = Vec::new();
        while !rest.is_empty() {
            let (item, behind) = split(rest)?;
            items.push(item);
            rest = behind;
        }
        Ok(items)
    }

    /// A number of at most 8 bytes.
    pub(crate) fn number(self) -> Result<u64> {
        let bytes = self.bytes()?;
        ensure!(bytes.len() <= 8, "a number of {} bytes, at most 8", bytes.len());
        Ok(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

/// One item that fills all bytes.
pub(crate) fn item(bytes: &[u8]) -> Result<Item<'_>> {
    let (item, rest) = split(bytes)?;
    ensure!(rest.is_empty(), "{} bytes stand behind an item", rest.len());
    Ok(item)
}

/// The first item, and what stands behind it.
fn split(bytes: &[u8]) -> Result<(Item<'_>, &[u8])> {
    let Some((&mark, rest)) = bytes.split_first() else {
        refuse!("an item is expected behind the last byte")
    };
    match mark {
        0..=0x7f => Ok((Item::Bytes(&bytes[..1]), rest)),
        0x80..=0xbf => {
            let (content, behind) = content(rest, mark - 0x80)?;
            Ok((Item::Bytes(content), behind))
        }
        _ => {
            let (content, behind) = content(rest, mark - 0xc0)?;
            Ok((Item::List(content), behind))
        }
    }
}

/// Content of a length; from 56 on `size` is 55 more than the number of bytes that hold the length.
fn content(bytes: &[u8], size: u8) -> Result<(&[u8], &[u8])> {
    const MOST_SHORT: u8 = 55;
    let (length, rest) = if size <= MOST_SHORT {
        (usize::from(size), bytes)
    } else {
        let (length, rest) = cut(bytes, usize::from(size - MOST_SHORT))?;
        ensure!(length.len() <= 4, "a length of {} bytes, at most 4", length.len());
        (length.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)), rest)
    };
    cut(rest, length)
}

fn cut(bytes: &[u8], length: usize) -> Result<(&[u8], &[u8])> {
    ensure!(bytes.len() >= length, "an item of {length} bytes, {} are left", bytes.len());
    Ok(bytes.split_at(length))
}
