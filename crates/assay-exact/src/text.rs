//! Codec text: tokens and n-grams as rows of a table (docs/EXACT.md, section 5).
use crate::program::WORD;
use crate::tree::keccak;
use alloc::vec::Vec;

/// A token keeps this many bytes.
const MOST_BYTES: usize = 31;
const TRIGRAM: u8 = 0x83;
const TETRAGRAM: u8 = 0x84;

/// The ids of `tokens` rows of `width`.
pub(crate) fn ids(text: &[u8], tokens: usize, width: usize, table_rows: u32) -> Vec<i32> {
    let mut ids = Vec::with_capacity(tokens * width);
    for token in split(text, tokens) {
        let token = &token[..token.len().min(MOST_BYTES)];
        let grams = |size: usize, tag: u8| token.windows(size).map(move |gram| (gram, tag));
        let all =
            core::iter::once((token, token.len() as u8)).chain(grams(3, TRIGRAM)).chain(grams(4, TETRAGRAM));
        // The n-grams of a token of 1 or 2 bytes, or of 3, are none: windows gives none.
        ids.extend(all.take(width).map(|(gram, tag)| row_number(gram, tag, table_rows)));
        ids.resize(ids.len().next_multiple_of(width), 0);
    }
    ids.resize(tokens * width, 0);
    ids
}

fn split(text: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(&first) = rest.first() {
        if found.len() == most {
            break;
        }
        if matches!(first, 0x00..=0x20 | 0x7f) {
            rest = &rest[1..];
        } else if !is_word(first) {
            found.push(Vec::from([first]));
            rest = &rest[1..];
        } else {
            let length = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
            let token = rest[..length].to_ascii_lowercase();
            rest = &rest[length..];
            if (token == b"http" || token == b"https") && rest.starts_with(b"://") {
                let end = rest.iter().position(|&byte| byte <= 0x20).unwrap_or(rest.len());
                rest = &rest[end..];
            } else {
                found.push(token);
            }
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// `1 + keccak256(K) mod (V − 1)`.
fn row_number(gram: &[u8], tag: u8, table_rows: u32) -> i32 {
    let mut key = [0; WORD];
    key[..gram.len()].copy_from_slice(gram);
    key[WORD - 1] = tag;
    let modulus = u64::from(table_rows - 1);
    let rest = keccak(&key).iter().fold(0, |rest, &byte| (rest << 8 | u64::from(byte)) % modulus);
    1 + rest as i32
}
