"""Weight tensors from their stored rows (docs/EXACT.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import AssayError
from .form import WORD, Form, Layout, Program, Weight
from .numbers import Floats, Integers, Stored, from_bytes

PARAMETERS = np.dtype(
    [
        ("bias", ">i4"),
        ("multiplier", ">u4"),
        ("addend", ">i8"),
        ("shift", "u1"),
        ("scale", ">f4"),
        ("zero", "u1"),
        ("lower", "u1"),
        ("upper", "u1"),
        ("offset", ">u2"),
        ("unread", "V6"),
    ]
)
LOOKUP_BYTES = np.array([4 * (e % 8) + 3 - e // 8 for e in range(WORD)])
"""where each of a LOOKUP word's 32 elements stands"""


@dataclass(frozen=True)
class Parameters:
    """Parameter words, one an output channel."""

    bias: Integers
    multiplier: NDArray[np.uint64]
    addend: NDArray[np.uint64]
    """B modulo 2^64"""
    shift: Integers
    """from 0 to 63"""
    scale: Floats
    zero: Integers
    lower: Integers
    upper: Integers
    offset: Integers

    @staticmethod
    def parse(words: bytes) -> Parameters:
        fields = np.frombuffer(words, PARAMETERS)
        return Parameters(
            bias=fields["bias"].astype(np.int64),
            multiplier=fields["multiplier"].astype(np.uint64),
            addend=fields["addend"].astype(np.int64).view(np.uint64),
            shift=fields["shift"].astype(np.int64) & 63,
            scale=fields["scale"].astype(np.float32),
            zero=fields["zero"].astype(np.int64),
            lower=fields["lower"].astype(np.int64),
            upper=fields["upper"].astype(np.int64),
            offset=fields["offset"].astype(np.int64),
        )


@dataclass(frozen=True)
class DotRows:
    values: NDArray[np.uint8]
    """[N, K], the stored bytes of the weights"""
    parameters: Parameters

    @staticmethod
    def parse(rows: bytes, length: int) -> DotRows:
        """Rows of `length` elements, each with its parameter word last."""
        words = np.frombuffer(rows, np.uint8).reshape(-1, -(-length // WORD) + 1, WORD)
        values = words[:, :-1, ::-1].reshape(len(words), -1)[:, :length]
        return DotRows(values, Parameters.parse(words[:, -1].tobytes()))


def parse_lookup(rows: bytes, length: int) -> Integers:
    """Numbers of a LOOKUP table, [V, D]. `rows` may also be words of one row, with a length of 32."""
    words = np.frombuffer(rows, np.uint8).reshape(-1, -(-length // WORD), WORD)
    return words[:, :, LOOKUP_BYTES].reshape(len(words), -1)[:, :length].astype(np.int64) - 128


@dataclass(frozen=True)
class Weights:
    """A model's weight tensors, each in the form in which steps read it."""

    rows: tuple[bytes, ...]
    """stored rows of each tensor"""
    plain: dict[int, Stored]
    dot: dict[int, DotRows]
    lookup: dict[int, Integers]
    channel: dict[int, Parameters]

    @staticmethod
    def parse(program: Program, data: bytes) -> Weights:
        """Reads weights.bin.

        Raises AssayError WEIGHTS_INVALID for another length than the program's descriptors give.
        """
        rows = split(program.weights, data)
        weights = Weights(rows, {}, {}, {}, {})
        for i, (weight, stored) in enumerate(zip(program.weights, rows, strict=True)):
            dims = weight.form.dims
            if weight.layout is Layout.PLAIN:
                weights.plain[i] = from_bytes(stored, Form(weight.form.type, dims))
            elif weight.layout is Layout.DOT:
                weights.dot[i] = DotRows.parse(stored, dims[1])
            elif weight.layout is Layout.LOOKUP:
                weights.lookup[i] = parse_lookup(stored, dims[1])
            else:
                weights.channel[i] = Parameters.parse(stored)
        return weights


def split(weights: tuple[Weight, ...], data: bytes) -> tuple[bytes, ...]:
    sizes = [weight.stored.rows * weight.stored.row_bytes for weight in weights]
    if len(data) != sum(sizes):
        raise AssayError(
            "WEIGHTS_INVALID",
            f"{len(data)} bytes of weights, the program's descriptors give {sum(sizes)}.",
            "Take the weights.bin that belongs to the program.",
        )
    ends = np.cumsum([0, *sizes])
    return tuple(data[ends[i] : ends[i + 1]] for i in range(len(sizes)))
