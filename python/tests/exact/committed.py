"""Openings of tensors, made here as docs/PROTOCOL.md, section 1, builds the trees."""

from __future__ import annotations

from eth_utils.crypto import keccak

from assay.exact import Opening
from assay.exact.form import WORD, Rows

ZERO = bytes(WORD)


def words_of(row: bytes) -> list[bytes]:
    return [row[at : at + WORD].ljust(WORD, b"\0") for at in range(0, len(row), WORD)]


class Committed:
    """Tensors whose roots are the leaves of one tree."""

    def __init__(self, tensors: list[tuple[Rows, bytes]]) -> None:
        self.tensors = tensors
        self.trees = [tree_of(leaves_of(rows, data)) for rows, data in tensors]
        self.roots = tree_of(padded([tree[-1][0] for tree in self.trees], ZERO))
        self.root = self.roots[-1][0]

    def row(self, tensor: int, row: int) -> Opening:
        rows, _ = self.tensors[tensor]
        return self._open(tensor, self._words(tensor, row), rows.row_height, row)

    def word(self, tensor: int, row: int, byte: int) -> Opening:
        """The word of a row that holds this byte of it."""
        rows, _ = self.tensors[tensor]
        word = byte // WORD
        return self._open(tensor, [self._words(tensor, row)[word]], 0, (row << rows.row_height) + word)

    def _words(self, tensor: int, row: int) -> list[bytes]:
        rows, data = self.tensors[tensor]
        return words_of(data[row * rows.row_bytes : (row + 1) * rows.row_bytes])

    def _open(self, tensor: int, words: list[bytes], level: int, index: int) -> Opening:
        path = siblings(self.trees[tensor][level:], index) + siblings(self.roots, tensor)
        return Opening(tuple(words), tuple(path))


def padded(nodes: list[bytes], node: bytes) -> list[bytes]:
    return nodes + [node] * ((1 << (len(nodes) - 1).bit_length()) - len(nodes))


def leaves_of(rows: Rows, data: bytes) -> list[bytes]:
    leaves = []
    for at in range(0, len(data), rows.row_bytes):
        leaves += padded(words_of(data[at : at + rows.row_bytes]), ZERO)
    return [keccak(word) for word in padded(leaves, ZERO)]


def tree_of(nodes: list[bytes]) -> list[list[bytes]]:
    """Levels of a full tree, the leaves first."""
    levels = [nodes]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([keccak(below[i] + below[i + 1]) for i in range(0, len(below), 2)])
    return levels


def siblings(levels: list[list[bytes]], index: int) -> list[bytes]:
    return [level[index >> height ^ 1] for height, level in enumerate(levels[:-1])]
