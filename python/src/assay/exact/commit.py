"""Commitments to tensors, traces, weights and models (docs/PROTOCOL.md, section 1)."""

from __future__ import annotations

from collections.abc import Sequence

from eth_utils.crypto import keccak

from .form import CLAIMED, WORD, Opcode, Program, Rows, height_of
from .numbers import Stored, to_bytes

ZERO = bytes(WORD)
JUDGE_VERSION = 2
"""the newest version of the judge that this code knows"""
SINCE_2 = (
    (Opcode.CODEC, CLAIMED),
    (Opcode.LOOKUP, 2),
    (Opcode.LOOKUP, 3),
    (Opcode.DOT, 3),
    (Opcode.DOT, 4),
    (Opcode.DOT, 5),
    (Opcode.ARITH, 10),
    (Opcode.REDUCE, 3),
    (Opcode.RESCALE, 1),
    (Opcode.RESCALE, 2),
)
"""variants that version 1 of the judge does not have"""


def parent(left: bytes, right: bytes) -> bytes:
    return keccak(left + right)


def zero_subtrees(leaf: bytes, count: int) -> list[bytes]:
    """Roots of trees all of whose leaves are `leaf`, by height."""
    roots = [leaf]
    while len(roots) < count:
        roots.append(parent(roots[-1], roots[-1]))
    return roots


MAX_LEVELS = 64
ZERO_WORDS = zero_subtrees(keccak(ZERO), MAX_LEVELS)
"""subtrees of a tensor that are all padding"""
ZERO_ROOTS = zero_subtrees(ZERO, MAX_LEVELS)
"""subtrees of the trace's tree that are all padding"""


def fold(nodes: Sequence[bytes], levels: int, zeros: Sequence[bytes]) -> bytes:
    """Root `levels` above the nodes, which are followed by `zeros[i]` at level i."""
    for level in range(levels):
        if len(nodes) % 2:
            nodes = [*nodes, zeros[level]]
        nodes = [parent(nodes[i], nodes[i + 1]) for i in range(0, len(nodes), 2)]
    return nodes[0]


def rows_root(data: bytes, rows: Rows) -> bytes:
    """Root of a tensor's stored rows, without padding in `data`."""
    size, padding = rows.row_bytes, bytes(-rows.row_bytes % WORD)
    nodes = []
    for at in range(0, len(data), size):
        row = data[at : at + size] + padding
        words = [keccak(row[i : i + WORD]) for i in range(0, len(row), WORD)]
        nodes.append(fold(words, rows.row_height, ZERO_WORDS))
    return fold(nodes, height_of(rows.rows), ZERO_WORDS[rows.row_height :])


def tree_root(roots: Sequence[bytes]) -> bytes:
    """Root over tensor roots; 32 zero bytes if there are none."""
    return fold(roots, height_of(len(roots)), ZERO_ROOTS) if roots else ZERO


def trace_root(program: Program, tensors: Sequence[Stored]) -> bytes:
    steps = zip(program.steps, tensors, strict=True)
    return tree_root([rows_root(to_bytes(tensor), step.form.stored) for step, tensor in steps])


def weights_root(program: Program, rows: Sequence[bytes]) -> bytes:
    """`rows` are the stored rows of each weight tensor, as `weights.split` gives them."""
    weights = zip(program.weights, rows, strict=True)
    return tree_root([rows_root(stored, weight.stored) for weight, stored in weights])


def depth_of(program: Program) -> int:
    """d: the most demands that one path from the trace root to a word needs."""
    trace_height = height_of(len(program.steps))
    tensors = max(max(1, -(-step.form.stored.height // 6)) for step in program.steps)
    return max(0, -(-trace_height // 6) - 1) + tensors


def judge_version(program: Program) -> int:
    """The version of the judge that the program needs."""
    is_new = any((step.opcode, step.variant) in SINCE_2 for step in program.steps)
    return 2 if is_new else 1


def model_id(program: Program, root: bytes, selector: bytes, lanes: int, vk_hash: bytes) -> bytes:
    """`root` is the weights root, `lanes` has a bit for each lane."""
    numbers = (program.max_calldata, program.output_length, lanes)
    words = [
        keccak(program.bytes),
        root,
        selector.ljust(WORD, b"\0"),
        *(n.to_bytes(WORD, "big") for n in numbers),
    ]
    return keccak(b"".join([*words, vk_hash, judge_version(program).to_bytes(WORD, "big")]))


def model_word(program: Program, selector: bytes, lanes: int) -> int:
    """The registry's word of a model."""
    fields = (
        (0, 1),
        (8, lanes),
        (16, depth_of(program)),
        (24, height_of(len(program.steps))),
        (32, len(program.steps)),
        (48, len(program.weights)),
        (64, int.from_bytes(selector, "big")),
        (96, program.max_calldata),
        (128, program.output_length),
        (160, program.input_codec),
        (168, program.output_codec),
        (176, program.input_size),
    )
    return sum(value << bit for bit, value in fields)
