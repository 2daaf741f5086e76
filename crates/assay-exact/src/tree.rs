//! Commitments to tensors and traces (docs/PROTOCOL.md, section 1).
use crate::program::{Form, Program, WORD};
use alloc::vec;
use alloc::vec::Vec;
use tiny_keccak::{Hasher, Keccak};

/// A keccak256 hash, or a root.
pub type Hash = [u8; WORD];

/// keccak256 of bytes.
pub fn keccak(bytes: &[u8]) -> Hash {
    joined(&[bytes])
}

/// `keccak(left ‖ right)`.
pub fn parent(left: &Hash, right: &Hash) -> Hash {
    joined(&[left, right])
}

fn joined(parts: &[&[u8]]) -> Hash {
    let mut hasher = Keccak::v256();
    for part in parts {
        hasher.update(part);
    }
    let mut hash = [0; WORD];
    hasher.finalize(&mut hash);
    hash
}

/// The padding of a tree: one subtree for each level, all of whose leaves are padding.
pub(crate) fn paddings(leaf: Hash, height: usize) -> Vec<Hash> {
    let mut levels = vec![leaf];
    for level in 0..height {
        levels.push(parent(&levels[level], &levels[level]));
    }
    levels
}

/// The zero subtrees of a tensor, `z_0` on.
pub(crate) fn zero_subtrees(height: usize) -> Vec<Hash> {
    paddings(keccak(&[0; WORD]), height)
}

/// Height of the tree over a list of roots.
pub(crate) fn list_height(count: usize) -> usize {
    count.next_power_of_two().ilog2() as usize
}

/// The root over nodes, with the padding of each level behind the last of them.
pub(crate) fn fold(mut nodes: Vec<Hash>, paddings: &[Hash], height: usize) -> Hash {
    for padding in &paddings[..height] {
        nodes = nodes.chunks(2).map(|pair| parent(&pair[0], pair.get(1).unwrap_or(padding))).collect();
    }
    nodes.first().copied().unwrap_or(paddings[height])
}

/// Word `index` of a row's bytes, padded with zeros.
pub(crate) fn word_of(row: &[u8], index: usize) -> [u8; WORD] {
    let mut word = [0; WORD];
    let bytes = &row[(WORD * index).min(row.len())..(WORD * (index + 1)).min(row.len())];
    word[..bytes.len()].copy_from_slice(bytes);
    word
}

/// The root of the tree over one row's words.
pub(crate) fn row_root(words: impl Iterator<Item = [u8; WORD]>, zeros: &[Hash], height: usize) -> Hash {
    fold(words.map(|word| keccak(&word)).collect(), zeros, height)
}

/// The root of a tensor of `form`, from its rows' bytes without padding.
pub fn tensor_root(form: &Form, bytes: &[u8]) -> Hash {
    let zeros = zero_subtrees(form.height());
    let row_height = form.row_height();
    let rows = bytes
        .chunks_exact(form.row_bytes())
        .map(|row| row_root((0..form.row_words()).map(|i| word_of(row, i)), &zeros, row_height))
        .collect();
    fold(rows, &zeros[row_height..], form.height() - row_height)
}

/// The root over tensor roots: of a trace, or of weights, where it is zero if there are none.
pub fn list_root(roots: &[Hash]) -> Hash {
    let height = list_height(roots.len());
    fold(roots.to_vec(), &paddings([0; WORD], height), height)
}

/// The root over a program's weight tensors.
pub fn weights_root(program: &Program, weights: &[&[u8]]) -> Hash {
    let roots: Vec<Hash> =
        program.weights.iter().zip(weights).map(|(form, bytes)| tensor_root(form, bytes)).collect();
    list_root(&roots)
}

/// The root that a node at `index` of its level and the siblings above it have.
pub fn climb(node: Hash, index: u64, siblings: &[Hash]) -> Hash {
    siblings.iter().enumerate().fold(node, |node, (level, sibling)| match index >> level & 1 {
        0 => parent(&node, sibling),
        _ => parent(sibling, &node),
    })
}
