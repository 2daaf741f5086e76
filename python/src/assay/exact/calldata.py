"""Calldata to the tensors of CODEC steps (docs/EXACT.md, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..codecs import INT16S_PER_WORD, WORD, encode_int16s, encode_prices, encode_raw, encode_text
from ..errors import AssayError
from .form import ElementType, Form, InputCodec, Program, Step
from .numbers import Integers, Stored, store
from .text import token_ids

MAX_PRICE = (1 << 128) - 1
MAX_FLOAT_BITS = np.uint32(0x4980_0000)
"""2^20 in binary32"""


@dataclass(frozen=True)
class Calldata:
    """What canonical calldata hold: of the header's codec one field."""

    codec: InputCodec
    data: bytes = b""
    """text, or raw"""
    prices: tuple[Sequence[int], Sequence[int], Sequence[int]] = ((), (), ())
    numbers: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """int16s"""


def parse_calldata(program: Program, selector: bytes, calldata: bytes) -> Calldata:
    """Raises AssayError CALLDATA_NOT_CANONICAL unless it is what a standard encoder writes for the program's input."""
    return parse_input(program.input_codec, program.input_size, selector, calldata)


def parse_input(codec: InputCodec, size: int, selector: bytes, calldata: bytes) -> Calldata:
    if calldata[:4] != selector:
        raise not_canonical(f"the selector is 0x{calldata[:4].hex()}, must be 0x{selector.hex()}")
    arguments = calldata[4:]
    if codec is InputCodec.PRICES:
        read = Calldata(codec, prices=read_prices(arguments, size))
        again = encode_prices(selector, *read.prices)
    elif codec is InputCodec.INT16S:
        words = -(-size // INT16S_PER_WORD)
        content = arguments[2 * WORD : (2 + words) * WORD]
        numbers = np.frombuffer(content[: len(content) // 2 * 2], ">i2")[:size]
        if len(numbers) != size:
            raise not_canonical(f"{len(calldata)} bytes are too few for {size} numbers")
        read = Calldata(codec, numbers=numbers.astype(np.int64))
        again = encode_int16s(selector, numbers)
    else:
        length = int.from_bytes(arguments[WORD : 2 * WORD], "big")
        if length > size or (codec is InputCodec.RAW and length != size):
            raise not_canonical(f"{length} bytes of content, the model takes {size}")
        read = Calldata(codec, arguments[2 * WORD : 2 * WORD + length])
        again = encode_raw(selector, read.data) if codec is InputCodec.RAW else encode_text(selector, read.data)
    if again != calldata:
        raise not_canonical("a standard encoder writes other bytes")
    return read


def read_prices(arguments: bytes, size: int) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    words = [int.from_bytes(arguments[at : at + WORD], "big") for at in range(0, len(arguments), WORD)]
    if len(arguments) != WORD * 3 * (size + 2):
        raise not_canonical(f"{len(arguments)} bytes of arguments, {size} prices a list take {WORD * 3 * (size + 2)}")
    closes, highs, lows = (words[4 + i * (size + 1) : 4 + i * (size + 1) + size] for i in range(3))
    return closes, highs, lows


def not_canonical(why: str) -> AssayError:
    return AssayError(
        "CALLDATA_NOT_CANONICAL",
        f"The calldata are refused: {why}.",
        "Encode the input as EXACT.md, section 5 says.",
    )


def codec_tensor(calldata: Calldata, step: Step) -> Stored:
    """The tensor of a CODEC step."""
    form = step.form
    if calldata.codec is InputCodec.TEXT:
        ids = token_ids(calldata.data, form.dims[0], form.dims[1], step.k)
        return store(np.array(ids, np.int64), ElementType.S32)
    if calldata.codec is InputCodec.PRICES:
        return store(np.array(price_rows(*calldata.prices), np.int64), ElementType.S32)
    if calldata.codec is InputCodec.INT16S:
        return store(calldata.numbers[step.k : step.k + form.count].reshape(form.dims), ElementType.S32)
    return raw_tensor(calldata.data[step.k : step.k + form.count * form.type.size], form)


def price_rows(closes: Sequence[int], highs: Sequence[int], lows: Sequence[int]) -> list[list[int]]:
    """Returns, ranges and distances from the last close, in units of 10^-4."""
    c, h, low = ([min(price, MAX_PRICE) for price in prices] for prices in (closes, highs, lows))
    days = range(1, len(c))
    return [
        [ratio(c[t] - c[t - 1], c[t - 1]) for t in days],
        [ratio(h[t] - low[t], c[t]) for t in days],
        [ratio(c[-1] - c[t], c[t]) for t in days],
    ]


def ratio(difference: int, divisor: int) -> int:
    if divisor == 0:
        return 0
    size = min(10_000 * abs(difference) // divisor, 32_767)
    return -size if difference < 0 else size


def raw_tensor(data: bytes, form: Form) -> Stored:
    """Little-endian elements as they are stored."""
    if form.type.size == 4:
        words: NDArray[np.uint32] = np.frombuffer(data, "<u4").astype(np.uint32).reshape(form.dims)
        return canonical_floats(words) if form.type is ElementType.F32 else words
    stored = np.frombuffer(data, np.uint8).reshape(form.dims)
    if form.type is ElementType.S8:
        return stored ^ np.uint8(128)
    return (stored != 0).astype(np.uint8) if form.type is ElementType.BOOL else stored


def canonical_floats(bits: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """+0 for what is not finite, subnormal, −0, or above 2^20 in size."""
    size = bits & np.uint32(0x7FFF_FFFF)
    is_read = (size >= 0x0080_0000) & (size <= MAX_FLOAT_BITS)
    return np.where(is_read, bits, np.uint32(0))
