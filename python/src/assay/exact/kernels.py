"""What each opcode computes, on arrays of stored elements (docs/EXACT.md, section 3).

The executor calls them with whole tensors, the judge of one element with what was opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from .form import Coordinate, ElementType
from .numbers import (
    S32_MAX,
    S32_MIN,
    Floats,
    Integers,
    Stored,
    floats,
    integers,
    round_to_s32,
    saturate,
    store,
    store_floats,
    truncate_to_s32,
    wrap,
)
from .weights import DotRows, Parameters


def move_sources(coordinates: Sequence[Coordinate], index: Sequence[Integers]) -> Integers:
    """Number of the source's element for each output index, -1 where the view has none.

    `index` has one array an output axis; they broadcast to the result.
    """
    flat: Integers = np.zeros((), np.int64)
    inside: NDArray[np.bool_] = np.ones((), np.bool_)
    for coordinate in coordinates:
        s = coordinate.a * index[coordinate.p] + coordinate.b * index[coordinate.q] + coordinate.c
        is_inside = (s >= 0) & (s < coordinate.size)
        inside = inside & is_inside
        flat = flat * coordinate.size + np.where(is_inside, s, 0)
    return np.where(inside, flat, -1)


def lookup_sum(ids: Integers, table: Integers) -> Stored:
    """Ids [R, J] and table [V, D] to s32 [R, D]: the sum of the rows of all ids but 0."""
    rows = np.clip(ids, 0, len(table) - 1)
    total = np.zeros((len(rows), table.shape[1]), np.int64)
    for column in rows.T:
        total += np.where((column != 0)[:, None], table[column], 0)
    return store(wrap(total), ElementType.S32)


def pick(ids: Integers, table: Stored) -> Stored:
    """Ids [R] to the table's rows [R, D]."""
    return table[np.clip(ids, 0, len(table) - 1)]


def below_sources(rows: Integers, counts: NDArray[np.bool_], length: int) -> Integers:
    """Rows [R, J] of numbers to places in a table of so many elements, by how far each number is below the largest of
    its row that count; -1 where a place does not count."""
    largest = np.where(counts, rows, S32_MIN).max(axis=1, keepdims=True)
    return np.where(counts, np.minimum(largest - rows, length - 1), -1)


def below(sources: Integers, table: Stored, kind: ElementType) -> Stored:
    """The table's elements, and the number 0 where there is no source."""
    return np.where(sources < 0, zero_of(kind), table.reshape(-1)[sources])


def zero_of(kind: ElementType) -> Stored:
    """The number 0 as it is stored, [1]."""
    zeros: Integers = np.zeros(1, np.int64)
    return store_floats(zeros.astype(np.float32)) if kind is ElementType.F32 else store(zeros, kind)


def dot(variant: int, stored: Stored, rows: DotRows, output: ElementType, addends: Integers | None = None) -> Stored:
    """Stored bytes [M, G, K], of variants 4 and 5 [M, G, 2K], times weight rows [N, K] to stored elements [M, N].

    Addends [M, N] are for rescaled s32 alone.
    """
    a: Stored | Integers = joined(stored) if variant >= 4 else stored
    m, groups, length = a.shape
    weights = rows.values.reshape(groups, -1, length)
    # Sums of at most 2,016 products of 16 by 8 bits: binary64 holds each of them exactly, in any order.
    products = np.matmul(a.transpose(1, 0, 2).astype(np.float64), weights.transpose(0, 2, 1).astype(np.float64))
    sums = np.repeat(a.sum(axis=2, dtype=np.int64), len(rows.values) // groups, axis=1)
    exact = products.transpose(1, 0, 2).reshape(m, -1).astype(np.int64)
    parameters = rows.parameters
    acc = wrap(exact - parameters.offset * sums + parameters.bias)
    if variant in (0, 4):
        return store(acc, ElementType.S32)
    if output is ElementType.S32:
        numbers = limited(acc, parameters)
        return store(numbers if addends is None else wrap(numbers + addends), ElementType.S32)
    return requantized(1 if variant == 5 else variant, acc, parameters)


def limited(acc: Integers, parameters: Parameters) -> Integers:
    """Rescaled, and clamped to -2^u to 2^u - 1, u being the upper clamp modulo 32."""
    limit = np.int64(1) << (parameters.upper % 32)
    clamped: Integers = np.minimum(np.maximum(scaled(acc, parameters), -limit), limit - 1)
    return clamped


def joined(planes: Stored) -> Integers:
    """Bytes [..., 2K], the high ones first, to numbers of 16 bits [..., K]."""
    high, low = np.split(planes.astype(np.int64), 2, axis=-1)
    return 256 * high + low


def dot_of_activations(a: Integers, b: Integers) -> Stored:
    """Numbers [G, k, K] times numbers [G, N, K] to s32 [G, k, N]."""
    # At most 1,024 products of bytes: binary64 holds each sum exactly, in any order.
    products = np.matmul(a.astype(np.float64), b.transpose(0, 2, 1).astype(np.float64))
    return store(products.astype(np.int64), ElementType.S32)


def requant(variant: int, a: Integers, parameters: Parameters) -> Stored:
    """s32 numbers [..., N] to stored bytes."""
    return requantized(variant, wrap(a + parameters.bias), parameters)


def rescale(a: Integers, parameters: Parameters) -> Stored:
    """s32 numbers [..., N] to s32."""
    return store(wrap(scaled(wrap(a + parameters.bias), parameters)), ElementType.S32)


def planes(a: Integers, parameters: Parameters) -> Stored:
    """s32 numbers [..., K] to bytes [..., 2K]: rescaled, and of 16 bits the high byte of each, then the low ones."""
    rescaled = integers(rescale(a, parameters), ElementType.S32)
    numbers = np.clip(rescaled, 0, 65_535)
    return np.concatenate([numbers // 256, numbers % 256], axis=-1).astype(np.uint8)


def ratio(rows: Integers, divisors: Integers, k: int, output: ElementType) -> Stored:
    """Quotients as they are stored in the output's type."""
    return store(saturate(quotients(rows, divisors, k), output), output)


def quotients(rows: Integers, divisors: Integers, k: int) -> Integers:
    """Numbers [R, L] times k by the divisors [R], rounded, halves up; 0 of a divisor below 1."""
    # A numerator has up to 65 bits: Python's integers are exact. The quotient fits 64.
    found = [
        [(2 * x * k + d) // (2 * d) if d > 0 else 0 for x in row]
        for row, d in zip(rows.tolist(), divisors.tolist(), strict=True)
    ]
    return np.array(found, np.int64)


def planes_of_products(a: Integers, factors: Integers, parameters: Parameters) -> Stored:
    """What `planes` gives of the products of s32 numbers [..., K] and [..., K], wrapped."""
    return planes(wrap(a * factors), parameters)


def planes_of_quotients(rows: Integers, divisors: Integers, k: int, parameters: Parameters) -> Stored:
    """What `planes` gives of the quotients of rows [R, K] as s32, by divisors [R·G]: each is that of K / G numbers."""
    found = quotients(rows.reshape(len(divisors), -1), divisors, k).reshape(rows.shape)
    return planes(saturate(found, ElementType.S32), parameters)


def scaled(acc: Integers, parameters: Parameters) -> Integers:
    """`(acc·M + B) >> S`, the sum modulo 2^64 as signed."""
    wide = acc.view(np.uint64) * parameters.multiplier + parameters.addend
    return wide.view(np.int64) >> parameters.shift


def requantized(variant: int, acc: Integers, parameters: Parameters) -> Stored:
    """Stored bytes of accumulators: variant 1 by integers, 2 by binary32."""
    if variant == 1:
        q = scaled(acc, parameters)
    else:
        with np.errstate(all="ignore"):
            q = round_to_s32(acc.astype(np.float32) * parameters.scale)
    # Beyond this, the zero point cannot bring a number back between the clamps.
    byte: Integers = np.clip(q, -1024, 1024) + parameters.zero
    clamped: Integers = np.minimum(np.maximum(byte, parameters.lower), parameters.upper)
    return clamped.astype(np.uint8)


def table(a: Stored, b: Stored) -> Stored:
    """b[a] of bytes."""
    return b[a]


def arith(variant: int, operands: Sequence[Integers], output: ElementType) -> Stored:
    """Numbers that broadcast to each other; variants by docs/EXACT.md, ARITH."""
    if variant == 9:
        return store(saturate(wrap(operands[0]), output), output)
    a, b = operands
    if variant >= 6:
        return bools((np.less, np.less_equal, np.equal)[variant - 6](a, b))
    if variant == 5:
        divisor = np.maximum(b, 1)
        value = np.where(b < 1, 0, np.sign(a) * (np.abs(a) // divisor))
    else:
        value = (np.add, np.subtract, np.multiply, np.minimum, np.maximum)[variant](a, b)
    return store(saturate(wrap(value), output), output)


def rotate(numbers: Integers, turns: Integers, k: int, output: ElementType) -> Stored:
    """Pairs of neighbours [..., N] as complex numbers times those of turns, by 2^k, rounded, halves up."""
    x, y, c, s = numbers[..., 0::2], numbers[..., 1::2], turns[..., 0::2], turns[..., 1::2]
    if np.abs(numbers).max() * np.abs(turns).max() >= 2**60:
        # A sum has up to 65 bits: Python's integers are exact.
        x, y, c, s = (side.astype(object) for side in (x, y, c, s))
    values = np.stack([x * c - y * s, x * s + y * c], axis=-1).reshape(numbers.shape)
    rounded = (2 * values + 2**k) >> (k + 1)
    return store(saturate(rounded, output).astype(np.int64), output)


def float_(variant: int, operands: Sequence[Stored], kinds: Sequence[ElementType], output: ElementType) -> Stored:
    """Stored operands that broadcast to each other; variants by docs/EXACT.md, FLOAT."""
    with np.errstate(all="ignore"):
        if variant == 11:
            return store_floats(integers(operands[0], kinds[0]).astype(np.float32))
        if variant == 13:
            difference = wrap(integers(operands[0], kinds[0]) - integers(operands[2], kinds[2]))
            return store_floats(difference.astype(np.float32) * floats(operands[1]))
        x = floats(operands[0])
        if variant == 4:
            return store_floats(np.sqrt(x))
        if variant == 5:
            return store_floats(np.rint(x))
        if variant == 12:
            return store(saturate(truncate_to_s32(x), output), output)
        y = floats(operands[1])
        if variant == 14:
            q = round_to_s32(x / y) + integers(operands[2], kinds[2])
            return store(saturate(q, output), output)
        if variant in (8, 9, 10):
            return bools((np.less, np.less_equal, np.equal)[variant - 8](x, y))
        if variant in (6, 7):
            return store_floats(extreme((np.minimum, np.maximum)[variant - 6](x, y)))
        return store_floats((np.add, np.subtract, np.multiply, np.divide)[variant](x, y))


def bools(values: NDArray[np.bool_]) -> Stored:
    return values.astype(np.uint8)


def extreme(values: Floats) -> Floats:
    """A zero is +0."""
    return np.where(values == 0, np.float32(0), values)


def reduce(variant: int, rows: Integers, kind: ElementType, k: int) -> Stored:
    """Rows [R, L] of numbers to [R]: sum, min, max or norm."""
    if variant == 3:
        return store(norms(rows, k), ElementType.S32)
    if variant == 0:
        return store(wrap(rows.sum(axis=1)), ElementType.S32)
    return store(rows.min(axis=1) if variant == 1 else rows.max(axis=1), kind)


def norms(rows: Integers, k: int) -> Integers:
    """Rows [R, L] of numbers to [R]: the root of each row's sum of squares and k."""
    # A sum has up to 74 bits: Python's integers are exact.
    roots = [isqrt(sum(x * x for x in row) + k) for row in rows.tolist()]
    return np.array([min(root, S32_MAX) for root in roots], np.int64)


def select(condition: Stored, yes: Stored, no: Stored) -> Stored:
    return np.where(condition != 0, yes, no)
