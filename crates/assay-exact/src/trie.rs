//! The tries of Ethereum's state, read from some of their nodes.
use crate::error::{ensure, refuse};
use crate::rlp::{item, Item};
use crate::tree::{keccak, Hash};
use crate::Result;
use alloc::vec::Vec;

/// Nodes, each found by its hash.
pub(crate) struct Witness<'n>(Vec<(Hash, &'n [u8])>);

impl<'n> Witness<'n> {
    pub(crate) fn new(nodes: &[&'n [u8]]) -> Self {
        Self(nodes.iter().map(|node| (keccak(node), *node)).collect())
    }

    /// What the trie holds at a hashed key; nothing where its nodes show that there is nothing.
    pub(crate) fn read(&self, root: Hash, key: &Hash) -> Result<Option<&'n [u8]>> {
        // The root of a trie without keys is the hash of empty bytes.
        if root == keccak(&[0x80]) {
            return Ok(None);
        }
        let path: Vec<u8> = key.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        let mut rest = &path[..];
        let mut node = self.node(&root)?;
        loop {
            let items = node.list()?;
            match items.len() {
                17 => {
                    let Some((&digit, behind)) = rest.split_first() else {
                        refuse!("a key ends at a branch")
                    };
                    let next = items[usize::from(digit)];
                    if next == Item::Bytes(&[]) {
                        return Ok(None);
                    }
                    rest = behind;
                    node = self.child(next)?;
                }
                2 => {
                    let (is_leaf, nibbles) = compact(items[0].bytes()?)?;
                    if is_leaf {
                        let value = items[1].bytes()?;
                        return Ok((nibbles == rest).then_some(value));
                    }
                    ensure!(!nibbles.is_empty(), "an extension extends by nothing");
                    let Some(behind) = rest.strip_prefix(&nibbles[..]) else { return Ok(None) };
                    rest = behind;
                    node = self.child(items[1])?;
                }
                parts => refuse!("a trie node has {parts} parts, not 2 or 17"),
            }
        }
    }

    /// A child stands inside of its parent if it is shorter than a hash.
    fn child(&self, reference: Item<'n>) -> Result<Item<'n>> {
        match reference {
            Item::List(_) => Ok(reference),
            Item::Bytes(bytes) => match bytes.try_into() {
                Ok(hash) => self.node(hash),
                Err(_) => refuse!("a reference to a trie node of {} bytes is no hash", bytes.len()),
            },
        }
    }

    fn node(&self, hash: &Hash) -> Result<Item<'n>> {
        match self.0.iter().find(|(known, _)| known == hash) {
            Some((_, node)) => item(node),
            None => refuse!("the trie node {hash:02x?} is not among the given ones"),
        }
    }
}

/// A path: whether it is a leaf's, and its nibbles. The first nibble has bit 1 for a leaf and bit 0 for an odd number.
fn compact(path: &[u8]) -> Result<(bool, Vec<u8>)> {
    let nibbles: Vec<u8> = path.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
    match nibbles.first() {
        Some(&mark @ 0..=3) => Ok((mark >= 2, nibbles[2 - usize::from(mark & 1)..].to_vec())),
        _ => refuse!("a trie path has an unknown mark"),
    }
}
