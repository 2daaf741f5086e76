//! Positions and canonical reveals (docs/PROTOCOL.md, section 3).
use crate::error::ensure;
use crate::program::{Form, Program, WORD};
use crate::tree::{climb, keccak, list_height, paddings, parent, zero_subtrees, Hash};
use crate::Result;
use alloc::vec::Vec;

/// Levels that one reveal opens.
const LEVELS: usize = 6;
/// The step that means the trace tree itself.
const TRACE: u16 = 0xffff;

/// A tree node whose content somebody wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The step; FFFF is the trace tree.
    pub step: u16,
    /// The node's level, 0 the leaves'.
    pub level: usize,
    /// The node's number in its level.
    pub index: u64,
}

impl Position {
    /// Unpacks `step u16 ‖ level u8 ‖ index u40`.
    pub fn of(packed: u64) -> Self {
        Self {
            step: (packed >> 48) as u16,
            level: (packed >> 40 & 0xff) as usize,
            index: packed & 0xff_ffff_ffff,
        }
    }
}

/// The level of the hashes that a node at `level` opens; none opens words.
fn level_below(level: usize) -> usize {
    LEVELS * level.div_ceil(LEVELS).saturating_sub(1)
}

/// The level at which `commitTrace` publishes nodes.
fn top(program: &Program) -> usize {
    level_below(list_height(program.steps.len()))
}

/// The trace root that published nodes have.
pub fn trace_root_of_tops(program: &Program, tops: &[Hash]) -> Result<Hash> {
    let steps = program.steps.len();
    let (height, top) = (list_height(steps), top(program));
    let expected = if top == 0 { steps } else { 1 << (height - top) };
    ensure!(tops.len() == expected, "{} nodes are published, expected {expected}", tops.len());
    let padding = paddings([0; WORD], height);
    let mut nodes = tops.to_vec();
    nodes.resize(1 << (height - top), padding[top]);
    check_padding(&nodes, 0, top, |first| first < steps, &padding)?;
    Ok(folded(nodes))
}

/// Checks a reveal, and that it leads to the trace root.
pub fn check_reveal(
    program: &Program,
    trace_root: &Hash,
    position: Position,
    content: &[[u8; WORD]],
    path: &[Hash],
) -> Result<()> {
    let node = if position.step == TRACE {
        check_trace_content(program, position, content)?;
        folded(content.to_vec())
    } else {
        let Some(step) = program.steps.get(usize::from(position.step)) else {
            crate::error::refuse!("step {} of {}", position.step, program.steps.len());
        };
        check_tensor_content(&step.form, position, content)?
    };
    let list = list_height(program.steps.len());
    let (siblings, index) = if position.step == TRACE {
        (list - position.level, position.index)
    } else {
        let inside = program.steps[usize::from(position.step)].form.height() - position.level;
        (list + inside, u64::from(position.step) << inside | position.index)
    };
    ensure!(path.len() == siblings, "a path of {} siblings, expected {siblings}", path.len());
    ensure!(climb(node, index, path) == *trace_root, "the reveal does not lead to the trace root");
    Ok(())
}

fn check_trace_content(program: &Program, position: Position, content: &[Hash]) -> Result<()> {
    let Position { level, index, .. } = position;
    let steps = program.steps.len();
    let is_level = level >= LEVELS && level % LEVELS == 0 && level <= top(program);
    ensure!(is_level, "the trace tree has no position at level {level}");
    ensure!(index << level < steps as u64, "node {index} of level {level} is padding");
    ensure!(content.len() == 1 << LEVELS, "{} nodes, expected {}", content.len(), 1 << LEVELS);
    let padding = paddings([0; WORD], level);
    check_padding(content, (index as usize) << LEVELS, level - LEVELS, |first| first < steps, &padding)
}

/// Returns the node.
fn check_tensor_content(form: &Form, position: Position, content: &[[u8; WORD]]) -> Result<Hash> {
    let Position { level, index, .. } = position;
    let height = form.height();
    let is_level = level == height || level >= LEVELS && level % LEVELS == 0 && level < height;
    ensure!(is_level, "a tensor of height {height} has no position at level {level}");
    ensure!(index < 1 << (height - level), "node {index} of level {level} is not in a tree of {height}");
    let index = index as usize;
    let is_real = |leaf: usize| {
        let word = leaf & ((1 << form.row_height()) - 1);
        leaf >> form.row_height() < form.rows() && word < form.row_words()
    };
    ensure!(is_real(index << level), "node {index} of level {level} is padding");
    let below = level_below(level);
    let count = 1 << (level - below);
    ensure!(content.len() == count, "{} words or nodes, expected {count}", content.len());
    if level > LEVELS {
        check_padding(content, index * count, below, is_real, &zero_subtrees(height))?;
        return Ok(folded(content.to_vec()));
    }
    for (i, word) in content.iter().enumerate() {
        let leaf = index * count + i;
        let place = leaf & ((1 << form.row_height()) - 1);
        let used = if is_real(leaf) { (form.row_bytes() - WORD * place).min(WORD) } else { 0 };
        ensure!(word[used..].iter().all(|&byte| byte == 0), "word {leaf} has padding that is not zero");
    }
    Ok(folded(content.iter().map(|word| keccak(word)).collect()))
}

/// Every node whose subtree is all padding is the padding of its level. A subtree whose first leaf is padding is all
/// padding: it lies in one row, or holds whole rows.
fn check_padding(
    nodes: &[Hash],
    first: usize,
    level: usize,
    is_real: impl Fn(usize) -> bool,
    paddings: &[Hash],
) -> Result<()> {
    for (i, node) in nodes.iter().enumerate() {
        let is_right = is_real((first + i) << level) || *node == paddings[level];
        ensure!(is_right, "node {} of level {level} is padding, and not its hash", first + i);
    }
    Ok(())
}

/// The root over as many nodes as a power of two.
fn folded(mut nodes: Vec<Hash>) -> Hash {
    while nodes.len() > 1 {
        nodes = nodes.chunks_exact(2).map(|pair| parent(&pair[0], &pair[1])).collect();
    }
    nodes[0]
}
