"""Leaves, and batches of them (docs/PROMISES.md, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from eth_utils.crypto import keccak

from ..codecs import INT16S_PER_WORD, WORD, encode_int16s, encode_prices, encode_raw, encode_text, word
from ..errors import AssayError
from ..exact.calldata import parse_input
from ..exact.form import InputCodec, OutputCodec, height_of
from ..types import Batch, id_of

MAX_LEAVES = 1_024
TEXT_LENGTH = 2
RAW_LENGTH = 4
PRICE = 16
HEAD = 2 * WORD
"""offset and length of what is dynamic"""


class LeafModel(Protocol):
    """What leaves depend on: a model's word, or its program."""

    @property
    def input_codec(self) -> InputCodec: ...
    @property
    def output_codec(self) -> OutputCodec: ...
    @property
    def input_size(self) -> int: ...
    @property
    def output_length(self) -> int: ...


def batch_id(chain_id: int, promises: str, batch: Batch) -> str:
    return id_of(chain_id, promises, batch)


def compact_leaf(model: LeafModel, selector: bytes, calldata: bytes, output: bytes) -> bytes:
    """The leaf of canonical calldata and of return data.

    Raises AssayError CALLDATA_NOT_CANONICAL; LEAF_INVALID for numbers that no leaf holds.
    """
    read = parse_input(model.input_codec, model.input_size, selector, calldata)
    if model.input_codec is InputCodec.PRICES:
        compact = b"".join(unsigned(price, PRICE, "price") for prices in read.prices for price in prices)
    elif model.input_codec is InputCodec.INT16S:
        compact = np.asarray(read.numbers).astype(">i2").tobytes()
    else:
        is_text = model.input_codec is InputCodec.TEXT
        compact = (len(read.data).to_bytes(TEXT_LENGTH, "big") if is_text else b"") + read.data
    if len(output) != model.output_length:
        raise invalid(f"the output has {len(output)} bytes, must have {model.output_length}")
    if model.output_codec is OutputCodec.WORDS:
        words = (output[at : at + WORD] for at in range(0, len(output), WORD))
        return compact + b"".join(signed_word(word) for word in words)
    offset, length = (int.from_bytes(output[at : at + WORD], "big") for at in (0, WORD))
    if offset != WORD:
        raise invalid(f"the output's offset is {offset}")
    if model.output_codec is OutputCodec.INT16S and length != (len(output) - HEAD) // WORD:
        raise invalid(f"the output's length is {length} words")
    head = unsigned(length, RAW_LENGTH, "length") if model.output_codec is OutputCodec.RAW else b""
    return compact + head + output[HEAD:]


def unsigned(value: int, size: int, what: str) -> bytes:
    if value >> 8 * size:
        raise invalid(f"a {what} of {value} has more than {size} bytes")
    return value.to_bytes(size, "big")


def signed_word(data: bytes) -> bytes:
    value = int.from_bytes(data, "big", signed=True)
    if not -(1 << 31) <= value < 1 << 31:
        raise invalid(f"a word of {value} has more than 32 bits")
    return data[-4:]


def expand_leaf(model: LeafModel, selector: bytes, leaf: bytes) -> tuple[bytes, bytes]:
    """Calldata and return data that a leaf stands for.

    Raises AssayError LEAF_INVALID for bytes of another length.
    """
    size = leaf_length(model, leaf, 0)
    if len(leaf) != size:
        raise invalid(f"it has {len(leaf)} bytes, must have {size}")
    split = size - output_bytes(model)
    return expand_input(model, selector, leaf[:split]), expand_output(model, leaf[split:])


def expand_input(model: LeafModel, selector: bytes, compact: bytes) -> bytes:
    if model.input_codec is InputCodec.TEXT:
        return encode_text(selector, compact[TEXT_LENGTH:])
    if model.input_codec is InputCodec.RAW:
        return encode_raw(selector, compact)
    if model.input_codec is InputCodec.INT16S:
        return encode_int16s(selector, np.frombuffer(compact, ">i2"))
    prices = [int.from_bytes(compact[at : at + PRICE], "big") for at in range(0, len(compact), PRICE)]
    n = model.input_size
    return encode_prices(selector, prices[:n], prices[n : 2 * n], prices[2 * n :])


def expand_output(model: LeafModel, compact: bytes) -> bytes:
    if model.output_codec is OutputCodec.WORDS:
        values = (int.from_bytes(compact[at : at + 4], "big", signed=True) for at in range(0, len(compact), 4))
        return b"".join(value.to_bytes(WORD, "big", signed=True) for value in values)
    if model.output_codec is OutputCodec.INT16S:
        return word(WORD) + word(len(compact) // WORD) + compact
    return word(WORD) + word(int.from_bytes(compact[:RAW_LENGTH], "big")) + compact[RAW_LENGTH:]


def leaf_length(model: LeafModel, data: bytes, at: int) -> int:
    """Bytes of the leaf that begins there; what is cut off reads as zeros."""
    size = model.input_size
    if model.input_codec is InputCodec.TEXT:
        length = int.from_bytes(data[at : at + TEXT_LENGTH].ljust(TEXT_LENGTH, b"\0"), "big")
        if length > size:
            raise invalid(f"its text has {length} bytes, at most {size}")
        size = TEXT_LENGTH + length
    elif model.input_codec is InputCodec.PRICES:
        size *= 3 * PRICE
    elif model.input_codec is InputCodec.INT16S:
        size *= WORD // INT16S_PER_WORD
    return size + output_bytes(model)


def output_bytes(model: LeafModel) -> int:
    if model.output_codec is OutputCodec.WORDS:
        return model.output_length // (WORD // 4)
    return model.output_length - HEAD + (RAW_LENGTH if model.output_codec is OutputCodec.RAW else 0)


def split_batch(model: LeafModel, data: bytes) -> list[bytes]:
    """The leaves of a batch's data.

    Raises AssayError LEAF_INVALID for data that end within a leaf, and unless there are 1 to 1,024.
    """
    leaves, at = [], 0
    while at < len(data):
        size = leaf_length(model, data, at)
        if at + size > len(data):
            raise invalid(f"the data end after {len(data) - at} of its {size} bytes")
        leaves.append(data[at : at + size])
        at += size
    if not 1 <= len(leaves) <= MAX_LEAVES:
        raise invalid(f"a batch has 1 to {MAX_LEAVES} leaves, not {len(leaves)}")
    return leaves


def levels_of(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """The nodes of the tree, level by level, with the padding that they are hashed with."""
    nodes, padding, levels = [keccak(leaf) for leaf in leaves], bytes(WORD), []
    for _ in range(height_of(len(leaves))):
        nodes = nodes + [padding] * (len(nodes) % 2)
        levels.append(nodes)
        nodes = [keccak(nodes[i] + nodes[i + 1]) for i in range(0, len(nodes), 2)]
        padding = keccak(padding + padding)
    return [*levels, nodes]


def batch_root(leaves: Sequence[bytes]) -> bytes:
    return levels_of(leaves)[-1][0]


def batch_path(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Siblings of a leaf, bottom up. Raises AssayError LEAF_INVALID for an index outside."""
    require_inside(index, len(leaves))
    return [nodes[(index >> level) ^ 1] for level, nodes in enumerate(levels_of(leaves)[:-1])]


def check_member(count: int, root: bytes, index: int, leaf: bytes, path: Sequence[bytes]) -> None:
    """Raises AssayError LEAF_INVALID for what is not the leaf of this index."""
    require_inside(index, count)
    # All leaves are equally deep, so no node passes as a leaf.
    if len(path) != height_of(count):
        raise invalid(f"its path has {len(path)} nodes, must have {height_of(count)}")
    node = keccak(leaf)
    for level, sibling in enumerate(path):
        node = keccak(sibling + node if index >> level & 1 else node + sibling)
    if node != root:
        raise invalid(f"it leads to the root 0x{node.hex()}, the batch has 0x{root.hex()}")


def require_inside(index: int, count: int) -> None:
    if not 0 <= index < count:
        raise invalid(f"it is number {index} of a batch of {count}")


def invalid(why: str) -> AssayError:
    return AssayError(
        "LEAF_INVALID",
        f"The leaf is refused: {why}.",
        "Take leaf and path from the batch's own data, and the word of its model.",
    )
