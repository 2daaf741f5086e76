"""Codec text: bytes to token and n-gram ids (docs/EXACT.md, section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from eth_utils.crypto import keccak

MAX_TOKEN = 31
"""bytes of a token that count"""
TOKEN = re.compile(rb"[0-9A-Za-z\x80-\xff]+|[^\x00-\x20\x7f]")
"""a run of word bytes, or one other byte; what lies between is space"""
LINK_END = re.compile(rb"[\x00-\x20]|\Z")


def tokens(text: bytes) -> Iterator[bytes]:
    """Lowered and cut tokens, without links."""
    at = 0
    while (found := TOKEN.search(text, at)) is not None:
        at = found.end()
        # Only A to Z have another case among bytes.
        token = found.group().lower()
        if token in (b"http", b"https") and text.startswith(b"://", at):
            end = LINK_END.search(text, at)
            assert end is not None
            at = end.start()
        else:
            yield token[:MAX_TOKEN]


def row_number(gram: bytes, tag: int, rows: int) -> int:
    """Row of a table of so many rows, 1 or above."""
    key = gram + bytes(MAX_TOKEN - len(gram)) + bytes([tag])
    return 1 + int.from_bytes(keccak(key), "big") % (rows - 1)


def ids_of(token: bytes, rows: int) -> Iterator[int]:
    yield row_number(token, len(token), rows)
    for length in (3, 4):
        for start in range(len(token) - length + 1):
            yield row_number(token[start : start + length], 0x80 + length, rows)


def token_ids(text: bytes, count: int, width: int, rows: int) -> list[list[int]]:
    """Ids [count, width], zeros behind the last id and the last token."""
    found: list[list[int]] = []
    for token in tokens(text):
        if len(found) == count:
            break
        ids = [number for number, _ in zip(ids_of(token, rows), range(width), strict=False)]
        found.append(ids + [0] * (width - len(ids)))
    return found + [[0] * width for _ in range(count - len(found))]
