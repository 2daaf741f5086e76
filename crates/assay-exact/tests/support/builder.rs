//! Program bytes, as docs/EXACT.md, section 2, lays them out.

pub const U8: u8 = 0;
pub const S32: u8 = 2;
pub const F32: u8 = 3;
pub const BOOL: u8 = 4;
pub const NONE: u16 = 0xffff;
pub const WEIGHT: u16 = 0x8000;

pub fn program([input, output]: [u8; 2], size: u32, weights: &[[u8; 32]], records: &[[u8; 128]]) -> Vec<u8> {
    let mut bytes = b"ASY1".to_vec();
    bytes.extend((weights.len() as u16).to_be_bytes());
    bytes.extend((records.len() as u16).to_be_bytes());
    bytes.extend([input, output]);
    bytes.extend(size.to_be_bytes());
    bytes.resize(32, 0);
    bytes.extend(weights.concat());
    bytes.extend(records.concat());
    bytes
}

/// A PLAIN weight tensor.
pub fn plain(element_type: u8, dims: &[u32]) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..3].copy_from_slice(&[1, element_type, dims.len() as u8]);
    put_dims(&mut bytes[4..28], dims);
    bytes
}

pub fn record(head: [u8; 3], operands: [u16; 3], dims: &[u32]) -> [u8; 128] {
    let mut bytes = [0; 128];
    bytes[..3].copy_from_slice(&head);
    bytes[3] = dims.len() as u8;
    for (i, operand) in operands.iter().enumerate() {
        bytes[4 + 2 * i..6 + 2 * i].copy_from_slice(&operand.to_be_bytes());
    }
    put_dims(&mut bytes[32..56], dims);
    bytes
}

/// A move whose every element is the first one of a source of `count`.
pub fn first_element(element_type: u8, source: u16, count: u32, dims: &[u32]) -> [u8; 128] {
    let mut bytes = record([2, 0, element_type], [source, NONE, NONE], dims);
    for (j, size) in [count, 1, 1, 1].into_iter().enumerate() {
        bytes[64 + 16 * j..68 + 16 * j].copy_from_slice(&size.to_be_bytes());
    }
    bytes
}

fn put_dims(bytes: &mut [u8], dims: &[u32]) {
    for (axis, dim) in dims.iter().enumerate() {
        bytes[4 * axis..4 * axis + 4].copy_from_slice(&dim.to_be_bytes());
    }
}

/// A DOT or CHANNEL weight tensor.
pub fn weights(layout: u8, dims: &[u32]) -> [u8; 32] {
    let mut bytes = plain(U8, dims);
    bytes[0] = layout;
    bytes
}

/// A parameter word: bias′, M, B, S and the weight offset.
pub fn parameters(bias: i32, m: u32, b: i64, s: u8, offset: u16) -> [u8; 32] {
    let mut word = [0; 32];
    word[..4].copy_from_slice(&bias.to_be_bytes());
    word[4..8].copy_from_slice(&m.to_be_bytes());
    word[8..16].copy_from_slice(&b.to_be_bytes());
    word[16] = s;
    word[24..26].copy_from_slice(&offset.to_be_bytes());
    word
}

/// A DOT row: its bytes in reversed words, and the parameter word.
pub fn dot_row(bytes: &[u8], parameters: [u8; 32]) -> Vec<u8> {
    let mut row = Vec::new();
    for part in bytes.chunks(32) {
        let mut word = [0; 32];
        word[..part.len()].copy_from_slice(part);
        word.reverse();
        row.extend(word);
    }
    row.extend(parameters);
    row
}
