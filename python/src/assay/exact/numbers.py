"""Stored elements and what they mean (docs/EXACT.md, section 1).

A tensor is an array of its stored elements: uint8 for types of one byte, uint32 with the bits of the others.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .form import ElementType, Form

Stored: TypeAlias = NDArray[np.unsignedinteger[Any]]
Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]

NAN_BITS = np.uint32(0x7FC00000)
S32_MIN, S32_MAX = -(1 << 31), (1 << 31) - 1
RANGES = {
    ElementType.U8: (0, 255),
    ElementType.S8: (-128, 127),
    ElementType.S32: (S32_MIN, S32_MAX),
}


def from_bytes(data: bytes, form: Form) -> Stored:
    """Stored bytes in row-major order."""
    if form.type.size == 1:
        return np.frombuffer(data, np.uint8).reshape(form.dims)
    return np.frombuffer(data, ">u4").astype(np.uint32).reshape(form.dims)


def to_bytes(stored: Stored) -> bytes:
    """The inverse of `from_bytes`."""
    return stored.tobytes() if stored.dtype == np.uint8 else stored.astype(">u4").tobytes()


def integers(stored: Stored, kind: ElementType) -> Integers:
    """The numbers of an integer tensor; of bool the bytes."""
    if kind is ElementType.S32:
        return stored.view(np.int32).astype(np.int64)
    values = stored.astype(np.int64)
    return values - 128 if kind is ElementType.S8 else values


def store(values: Integers, kind: ElementType) -> Stored:
    """Numbers of the type's range as they are stored."""
    if kind is ElementType.S32:
        return values.astype(np.int32).view(np.uint32)
    return (values + 128 if kind is ElementType.S8 else values).astype(np.uint8)


def floats(stored: Stored) -> Floats:
    return stored.view(np.float32)


def store_floats(values: Floats) -> Stored:
    """Bits, every NaN the same."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return np.where(np.isnan(values), NAN_BITS, bits)


def wrap(values: Integers) -> Integers:
    """Modulo 2^32 as signed."""
    narrow: NDArray[np.int32] = values.astype(np.int32, casting="unsafe")
    return narrow.astype(np.int64)


def saturate(values: Integers, kind: ElementType) -> Integers:
    """Clamped to the type's range; of bool 1 where it is not 0."""
    if kind is ElementType.BOOL:
        truth: NDArray[np.bool_] = values != 0
        return truth.astype(np.int64)
    least, most = RANGES[kind]
    clamped: Integers = np.clip(values, least, most)
    return clamped


def round_to_s32(values: Floats) -> Integers:
    """To integers, half to even; NaN is 0, the rest saturates to s32."""
    rounded = np.rint(values).astype(np.float64)
    return to_s32(rounded)


def truncate_to_s32(values: Floats) -> Integers:
    """Toward zero; NaN is 0, the rest saturates to s32."""
    whole = np.trunc(values).astype(np.float64)
    return to_s32(whole)


def to_s32(whole: NDArray[np.float64]) -> Integers:
    clamped: NDArray[np.float64] = np.clip(np.where(np.isnan(whole), 0.0, whole), S32_MIN, S32_MAX)
    return clamped.astype(np.int64)
