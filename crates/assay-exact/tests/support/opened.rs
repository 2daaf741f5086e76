//! Openings of tensors, made here as docs/PROTOCOL.md, section 1, builds the trees.
use assay_exact::openings::Opening;
use assay_exact::program::Form;
use assay_exact::tree::{keccak, parent, tensor_root, Hash};

/// Tensors whose roots are the leaves of one tree.
pub struct Committed<'t>(pub Vec<(Form, &'t [u8])>);

impl Committed<'_> {
    pub fn row(&self, tensor: usize, row: usize) -> Opening {
        let (form, bytes) = self.0[tensor];
        let words = words(&bytes[row * form.row_bytes()..][..form.row_bytes()]);
        self.open(tensor, words, form.row_height(), row)
    }

    /// The word of a row that holds this byte of it.
    pub fn word(&self, tensor: usize, row: usize, byte: usize) -> Opening {
        let (form, bytes) = self.0[tensor];
        let words = words(&bytes[row * form.row_bytes()..][..form.row_bytes()]);
        let index = (row << form.row_height()) + byte / 32;
        self.open(tensor, vec![words[byte / 32]], 0, index)
    }

    fn open(&self, tensor: usize, words: Vec<[u8; 32]>, level: usize, index: usize) -> Opening {
        let (form, bytes) = self.0[tensor];
        let roots = self.0.iter().map(|(form, bytes)| tensor_root(form, bytes)).collect();
        let mut path = siblings(leaves(&form, bytes), level, index);
        path.extend(siblings(roots, 0, tensor));
        Opening { words, path }
    }
}

fn words(bytes: &[u8]) -> Vec<[u8; 32]> {
    let word = |part: &[u8]| {
        let mut word = [0; 32];
        word[..part.len()].copy_from_slice(part);
        word
    };
    bytes.chunks(32).map(word).collect()
}

fn leaves(form: &Form, bytes: &[u8]) -> Vec<Hash> {
    let width = form.row_words().next_power_of_two();
    let mut leaves = Vec::new();
    for row in bytes.chunks(form.row_bytes()) {
        leaves.extend(words(row).iter().map(|word| keccak(word)));
        leaves.resize(leaves.len().next_multiple_of(width), keccak(&[0; 32]));
    }
    leaves.resize(width * form.rows().next_power_of_two(), keccak(&[0; 32]));
    leaves
}

/// Siblings of a node of this level, up to the root.
fn siblings(mut nodes: Vec<Hash>, level: usize, mut index: usize) -> Vec<Hash> {
    nodes.resize(nodes.len().next_power_of_two(), [0; 32]);
    let mut found = Vec::new();
    for height in 0.. {
        if nodes.len() == 1 {
            break;
        }
        if height >= level {
            found.push(nodes[index ^ 1]);
            index /= 2;
        }
        nodes = nodes.chunks(2).map(|pair| parent(&pair[0], &pair[1])).collect();
    }
    found
}
