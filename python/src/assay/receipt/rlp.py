"""RLP, Ethereum's encoding of nested lists of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .refusal import malformed

Item: TypeAlias = bytes | Sequence["Item"]
SHORT = 55
"""bytes of a payload whose length stands in the first byte"""
MAX_DEPTH = 32


def encode(item: Item) -> bytes:
    if not isinstance(item, bytes):
        content = b"".join(map(encode, item))
        return head(0xC0, len(content)) + content
    if len(item) == 1 and item[0] < 0x80:
        return item
    return head(0x80, len(item)) + item


def head(kind: int, length: int) -> bytes:
    if length <= SHORT:
        return bytes([kind + length])
    size = length.to_bytes(-(-length.bit_length() // 8), "big")
    return bytes([kind + SHORT + len(size)]) + size


def decode(data: bytes, what: str) -> Item:
    """Raises AssayError RECEIPT_MALFORMED for bytes that no encoder writes."""
    item, end = read(data, 0, MAX_DEPTH)
    # An item has one encoding: what was read leniently shows here.
    if end != len(data) or encode(item) != data:
        raise malformed(f"{what} is no RLP")
    return item


def decode_list(data: bytes, what: str) -> Sequence[Item]:
    """As `decode`, of a list."""
    item = decode(data, what)
    if isinstance(item, bytes):
        raise malformed(f"{what} is no list")
    return item


def read(data: bytes, at: int, depth: int) -> tuple[Item, int]:
    """An item and its end."""
    first = data[at] if at < len(data) else 0x80
    if first < 0x80:
        return data[at : at + 1], at + 1
    kind = 0x80 if first < 0xC0 else 0xC0
    start, length = at + 1, first - kind
    if length > SHORT:
        size = length - SHORT
        length = int.from_bytes(data[start : start + size], "big")
        start += size
    end = start + length
    if end > len(data) or depth == 0:
        raise malformed("its RLP is cut off or nested too deep")
    if kind == 0x80:
        return data[start:end], end
    items = []
    while start < end:
        item, start = read(data, start, depth - 1)
        items.append(item)
    return items, start
