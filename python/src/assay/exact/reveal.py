"""Positions, and what is published and revealed at them (docs/PROTOCOL.md, section 3)."""

from __future__ import annotations

from collections.abc import Sequence

from eth_utils.crypto import keccak

from ..errors import AssayError
from .commit import ZERO_ROOTS, ZERO_WORDS, fold, parent
from .form import WORD, Program, Rows, height_of

TRACE = 0xFFFF
"""step of a position in the trace's own tree"""
REVEALED = 6
"""levels that one reveal opens"""


def refused(why: str) -> AssayError:
    return AssayError(
        "REVEAL_INVALID", f"The reveal is refused: {why}.", "Take the node's content and path from the trace."
    )


def top_level(trace_height: int) -> int:
    """Level of the trace's tree whose nodes commitTrace publishes."""
    return max(REVEALED * (-(-trace_height // REVEALED) - 1), 0)


def tops_root(program: Program, nodes: Sequence[bytes]) -> bytes:
    """Trace root of the nodes that commitTrace publishes.

    Raises AssayError REVEAL_INVALID for another number of nodes, and for a node of padding that differs from it.
    """
    steps = len(program.steps)
    height = height_of(steps)
    top = top_level(height)
    count = steps if height <= REVEALED else 1 << (height - top)
    if len(nodes) != count:
        raise refused(f"{len(nodes)} nodes, must be {count}")
    check_padding(nodes, 0, top, steps, ZERO_ROOTS)
    return fold(nodes, height - top, ZERO_ROOTS[top:])


def check_padding(nodes: Sequence[bytes], first: int, level: int, real: int, zeros: Sequence[bytes]) -> None:
    """Nodes at one level from number `first` on, behind `real` leaves, are the zero subtree."""
    for number, node in enumerate(nodes, first):
        if number << level >= real and node != zeros[level]:
            raise refused(f"node {number} of level {level} is padding, and not zero")


def climb(node: bytes, index: int, path: Sequence[bytes]) -> bytes:
    """Root above a node with this index at its level, by its siblings from the leaf up."""
    for sibling in path:
        node = parent(sibling, node) if index & 1 else parent(node, sibling)
        index >>= 1
    return node


def check_reveal(program: Program, root: bytes, position: int, content: Sequence[bytes], path: Sequence[bytes]) -> None:
    """Raises AssayError REVEAL_INVALID unless this is the one valid reveal of the position under the trace root."""
    step, level, index = position >> 48, position >> 40 & 0xFF, position & ((1 << 40) - 1)
    trace_height = height_of(len(program.steps))
    if step == TRACE:
        top = top_level(trace_height)
        if level % REVEALED or not REVEALED <= level <= top or index << level >= len(program.steps):
            raise refused(f"the trace's tree has no position at level {level}, index {index}")
        below = level - REVEALED
        check_count(content, 1 << REVEALED)
        check_padding(content, index << REVEALED, below, len(program.steps), ZERO_ROOTS)
        node, siblings = fold(content, REVEALED, ZERO_ROOTS[below:]), trace_height - level
    else:
        if step >= len(program.steps):
            raise refused(f"there is no step {step}")
        shape = program.steps[step].form.stored
        node = tensor_node(shape, level, index, content)
        siblings = shape.height - level + trace_height
        index += step << (shape.height - level)
    if len(path) != siblings:
        raise refused(f"{len(path)} siblings, must be {siblings}")
    if climb(node, index, path) != root:
        raise refused("the path leads to another root")


def tensor_node(shape: Rows, level: int, index: int, content: Sequence[bytes]) -> bytes:
    """The node of a tensor's tree whose canonical content this is."""
    is_level = level == shape.height or (level % REVEALED == 0 and REVEALED <= level < shape.height)
    first = index << level
    if not is_level or first >> shape.row_height >= shape.rows or word_of(shape, first) >= shape.row_words:
        raise refused(f"the tensor has no position at level {level}, index {index}")
    below = max(REVEALED * (-(-level // REVEALED) - 1), 0)
    check_count(content, 1 << (level - below))
    if below == 0:
        for leaf, word in enumerate(content, first):
            if any(word[real_bytes(shape, leaf) :]):
                raise refused(f"word {leaf} is not zero where it is padding")
        return fold([keccak(word) for word in content], level, ZERO_WORDS)
    for number, node in enumerate(content, first >> below):
        leaf = number << below
        is_padding = leaf >> shape.row_height >= shape.rows or word_of(shape, leaf) >= shape.row_words
        if is_padding and node != ZERO_WORDS[below]:
            raise refused(f"node {number} of level {below} is padding, and not the zero subtree")
    return fold(content, level - below, ZERO_WORDS[below:])


def word_of(shape: Rows, leaf: int) -> int:
    """Number of a leaf's word in its row."""
    return leaf & ((1 << shape.row_height) - 1)


def real_bytes(shape: Rows, leaf: int) -> int:
    """Bytes of a leaf's word that are no padding."""
    if leaf >> shape.row_height >= shape.rows:
        return 0
    return min(max(shape.row_bytes - WORD * word_of(shape, leaf), 0), WORD)


def check_count(content: Sequence[bytes], count: int) -> None:
    if len(content) != count:
        raise refused(f"{len(content)} words of content, must be {count}")
