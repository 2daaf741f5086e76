"""Reads the tries of Ethereum's state from some of their nodes. Every node is found by its hash, so whoever gave the
nodes can leave some out, which is noticed, and cannot change any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eth_utils.crypto import keccak

from .refusal import malformed, unproven
from .rlp import Item, decode_list, encode

HASH_BYTES = 32
EMPTY_ROOT = keccak(encode(b""))
"""root of a trie without keys"""
BRANCH, PAIR = 17, 2
"""parts of a node; a pair is a leaf or an extension"""


class Witness:
    def __init__(self, nodes: Iterable[bytes]) -> None:
        """`nodes` are RLP of trie nodes, in any order."""
        self.nodes = {keccak(node): node for node in nodes}

    def read(self, root: bytes, path: bytes) -> bytes | None:
        """The value at a key's hash, None if the trie has none.

        Raises AssayError RECEIPT_UNPROVEN where a node is missing, RECEIPT_MALFORMED for one of another form.
        """
        if root == EMPTY_ROOT:
            return None
        rest = path.hex()
        node = self.node(root)
        while True:
            if len(node) == BRANCH:
                # Keys are hashes of one length, so none ends at a branch.
                if rest == "":
                    raise malformed("a key ends at a branch")
                child, rest = node[int(rest[0], 16)], rest[1:]
                if child == b"":
                    return None
            elif len(node) == PAIR:
                is_leaf, nibbles = compact_path(node[0])
                child = node[1]
                if is_leaf:
                    if not isinstance(child, bytes):
                        raise malformed("a leaf holds a node")
                    return child if nibbles == rest else None
                if nibbles == "":
                    raise malformed("an extension extends by nothing")
                if not rest.startswith(nibbles):
                    return None
                rest = rest[len(nibbles) :]
            else:
                raise malformed(f"a trie node has {len(node)} parts, not 2 or 17")
            node = self.child(child)

    def child(self, reference: Item) -> Sequence[Item]:
        """A child stands inside its parent if its RLP is shorter than a hash."""
        if not isinstance(reference, bytes):
            return reference
        if len(reference) != HASH_BYTES:
            raise malformed("a reference to a trie node is no hash")
        return self.node(reference)

    def node(self, digest: bytes) -> Sequence[Item]:
        data = self.nodes.get(digest)
        if data is None:
            raise unproven(f"the trie node 0x{digest.hex()} is not in the receipt")
        return decode_list(data, "a trie node")


def compact_path(prefix: Item) -> tuple[bool, str]:
    """Whether it is a leaf's, and its nibbles. Of the first digit bit 1 says leaf, bit 0 that the number of nibbles is
    odd and its own second digit is the first."""
    digits = prefix.hex() if isinstance(prefix, bytes) else ""
    flag = int(digits[0], 16) if digits else 4
    if flag > 3:
        raise malformed("a trie path has an unknown mark")
    return flag >= 2, digits[1 if flag % 2 else 2 :]
