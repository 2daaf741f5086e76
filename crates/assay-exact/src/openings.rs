//! Openings: words of the trace or the weights with the siblings up to the root (docs/PROTOCOL.md, section 4).
use crate::arithmetic::stored_at;
use crate::element::{compute, Operands};
use crate::error::{ensure, refuse};
use crate::program::{Form, Operand, Program, WORD};
use crate::tree::{climb, keccak, list_height, row_root, zero_subtrees, Hash};
use crate::Result;
use alloc::vec::Vec;

/// The real words of a row, or one of them, and the siblings from the leaf up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// One word, or all words of a row without its padding.
    pub words: Vec<[u8; WORD]>,
    /// The siblings from that subtree to the trace or weights root.
    pub path: Vec<Hash>,
}

/// The roots that openings lead to.
#[derive(Clone, Copy, Debug)]
pub struct Roots {
    /// The root over the weight tensors.
    pub weights: Hash,
    /// The root over the steps' tensors.
    pub trace: Hash,
}

/// The stored element that the trace holds, and the one that its operands give, all of them opened.
pub fn judge(
    program: &Program,
    roots: Roots,
    step: usize,
    index: usize,
    openings: &[Opening],
) -> Result<(u32, u32)> {
    let mut opened = Opened { program, roots, openings: openings.iter() };
    let claimed = opened.element(Operand::Step(step), index)?;
    let computed = compute(program, step, index, &mut opened)?;
    ensure!(opened.openings.len() == 0, "{} openings are left", opened.openings.len());
    Ok((claimed, computed))
}

/// The stored element of the trace that one opening shows.
pub fn opened_element(
    program: &Program,
    roots: Roots,
    step: usize,
    index: usize,
    opening: &Opening,
) -> Result<u32> {
    Opened { program, roots, openings: core::slice::from_ref(opening).iter() }
        .element(Operand::Step(step), index)
}

/// Operands that somebody opens, one after the other.
struct Opened<'o> {
    program: &'o Program,
    roots: Roots,
    openings: core::slice::Iter<'o, Opening>,
}

impl<'o> Opened<'o> {
    fn form(&self, operand: Operand) -> Result<&'o Form> {
        match self.program.form(operand) {
            Some(form) => Ok(form),
            None => refuse!("{operand:?} has no tensor"),
        }
    }

    fn next(&mut self) -> Result<&'o Opening> {
        match self.openings.next() {
            Some(opening) => Ok(opening),
            None => refuse!("there are fewer openings than the element reads"),
        }
    }

    /// Checks the siblings of a node of a tensor up to the root.
    fn check(&self, operand: Operand, node: Hash, level: usize, index: usize, path: &[Hash]) -> Result<()> {
        let (tensor, count, root) = match operand {
            Operand::Step(step) => (step, self.program.steps.len(), self.roots.trace),
            Operand::Weight(weight) => (weight, self.program.weights.len(), self.roots.weights),
            Operand::None => refuse!("an operand that is not there is opened"),
        };
        let inside = self.form(operand)?.height() - level;
        let expected = inside + list_height(count);
        ensure!(path.len() == expected, "a path of {} siblings, expected {expected}", path.len());
        let is_right = climb(node, (tensor as u64) << inside | index as u64, path) == root;
        ensure!(is_right, "an opening of {operand:?} does not lead to its root");
        Ok(())
    }
}

impl Operands for Opened<'_> {
    type Row = Vec<u8>;

    fn element(&mut self, operand: Operand, index: usize) -> Result<u32> {
        let form = self.form(operand)?;
        let (row, place) = (index / form.dims.last(), index % form.dims.last());
        let byte = place * form.element_type.size();
        let word = self.word(operand, row, byte / WORD)?;
        Ok(stored_at(&word[byte % WORD..], 0, form.element_type))
    }

    fn row(&mut self, operand: Operand, row: usize) -> Result<Vec<u8>> {
        let form = self.form(operand)?;
        let Opening { words, path } = self.next()?;
        ensure!(words.len() == form.row_words(), "{} words of a row of {}", words.len(), form.row_words());
        let level = form.row_height();
        let node = row_root(words.iter().copied(), &zero_subtrees(level), level);
        self.check(operand, node, level, row, path)?;
        let mut bytes = words.concat();
        bytes.truncate(form.row_bytes());
        Ok(bytes)
    }

    fn word(&mut self, operand: Operand, row: usize, word: usize) -> Result<[u8; WORD]> {
        let form = self.form(operand)?;
        let Opening { words, path } = self.next()?;
        ensure!(words.len() == 1, "{} words, expected one", words.len());
        let index = row << form.row_height() | word;
        self.check(operand, keccak(&words[0]), 0, index, path)?;
        Ok(words[0])
    }
}
