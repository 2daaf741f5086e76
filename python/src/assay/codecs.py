"""Canonical calldata and return data of each codec (docs/EXACT.md, section 5): one value has one encoding."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .errors import AssayError

WORD = 32
INT16S_PER_WORD = 16
UINT256 = 1 << 256


def word(value: int) -> bytes:
    return value.to_bytes(WORD, "big")


def padded(data: bytes) -> bytes:
    """With zeros to whole words."""
    return data + bytes(-len(data) % WORD)


def dynamic_bytes(data: bytes) -> bytes:
    """The return data of `bytes`, and the arguments of a function that takes one such value."""
    return word(WORD) + word(len(data)) + padded(data)


def encode_text(selector: bytes, text: str | bytes) -> bytes:
    """Calldata of codec text; a str as UTF-8."""
    return selector + dynamic_bytes(text.encode() if isinstance(text, str) else text)


def encode_raw(selector: bytes, data: bytes) -> bytes:
    """Calldata of codec raw."""
    return selector + dynamic_bytes(data)


def encode_prices(selector: bytes, closes: Sequence[int], highs: Sequence[int], lows: Sequence[int]) -> bytes:
    """Calldata of codec prices, each price from 0 to 2^256 − 1.

    Raises AssayError INPUTS_INVALID for lists of different lengths, and a price out of range.
    """
    lists = (closes, highs, lows)
    if len({len(prices) for prices in lists}) != 1:
        raise inputs_invalid(f"{len(closes)} closes, {len(highs)} highs and {len(lows)} lows")
    tails = [word(len(prices)) + b"".join(word(price_of(price)) for price in prices) for prices in lists]
    heads = [word(WORD * 3 + i * len(tails[0])) for i in range(3)]
    return selector + b"".join(heads + tails)


def price_of(value: int) -> int:
    price = int(value)
    if not 0 <= price < UINT256:
        raise inputs_invalid(f"the price {value} is not from 0 to 2^256 − 1")
    return price


def encode_int16s(selector: bytes, numbers: ArrayLike) -> bytes:
    """Calldata of codec int16s: numbers of any shape, in row-major order.

    Raises AssayError INPUTS_INVALID for what is no whole number from −32,768 to 32,767.
    """
    return selector + int16_words(int16s_of(numbers))


def int16s_of(numbers: ArrayLike) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    values = np.asarray(numbers)
    exact = values.astype(np.int64) if values.size and values.dtype.kind in "iuf" else values
    if exact.dtype != np.int64 or (exact != values).any() or exact.min() < -32_768 or exact.max() > 32_767:
        raise inputs_invalid("what codec int16s takes are whole numbers from -32768 to 32767")
    return exact.astype(np.int16)


def int16_words(numbers: np.ndarray[tuple[int, ...], np.dtype[np.int16]]) -> bytes:
    """The return data of `uint256[]` with sixteen numbers a word, and the arguments of a function that takes it."""
    packed = padded(numbers.astype(">i2").tobytes())
    return word(WORD) + word(len(packed) // WORD) + packed


def inputs_invalid(why: str, next_step: str = "Give what the model's manifest describes.") -> AssayError:
    return AssayError("INPUTS_INVALID", f"The inputs do not fit the model's function: {why}.", next_step)
