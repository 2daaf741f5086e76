"""RESCALE planes of products: numbers by factors of their own, rescaled, as two planes of bytes (docs/EXACT.md,
section 3)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay import AssayError
from assay.exact import Opening, decode_program
from assay.exact.form import ElementType, Layout

from .committed import Committed
from .one_step import FIRST, NONE, Channel, Dims, OneStep, clamped, parameters, plain, s32s, weights, wrapped

U8, S8, S32, F32, BOOL = ElementType.U8, ElementType.S8, ElementType.S32, ElementType.F32, ElementType.BOOL
LEAST, MOST = -(2**31), 2**31 - 1
SAME: Channel = (0, 1, 0, 0)

Tensor = tuple[Dims, list[int]]


def planes(dims: Dims, a: Dims, channels: int, factors: Dims) -> OneStep:
    operands = (plain(S32, *a), weights(Layout.CHANNEL, channels), plain(S32, *factors))
    return OneStep(6, 2, U8, 0, dims, operands)


def by_definition(x: int, factor: int, channel: Channel) -> int:
    bias, m, b, s = channel
    acc = wrapped(wrapped(x * factor) + bias)
    return clamped(wrapped(wrapped(acc * m + b, 64) >> s % 64), 0, 65_535)


def products(count: int, a: Tensor, factors: Tensor, channels: list[Channel]) -> list[int]:
    """The output's numbers of 16 bits, in rows of `count`, which are those of the definition."""

    def own(column: int) -> int:
        return column if len(channels) > 1 else 0

    def reads(read: Committed, element: int) -> list[Opening]:
        row, column = element // (2 * count), element % count
        row_of_a, column_of_a = divmod(row * count + column, a[0][-1])
        row_of_c, column_of_c = divmod(row * count + column, factors[0][-1])
        words = read.word(0, row_of_a, 4 * column_of_a), read.word(2, row_of_c, 4 * column_of_c)
        return [words[0], read.row(1, own(column)), words[1]]

    dims = (len(a[1]) // count, 2 * count)
    step = planes(dims, a[0], len(channels), factors[0])
    stored = [s32s(a[1]), b"".join(parameters(channel) for channel in channels), s32s(factors[1])]
    found = step.computed(stored, reads)
    joined = [
        256 * found[2 * count * row + i] + found[2 * count * row + count + i]
        for row in range(dims[0])
        for i in range(count)
    ]
    pairs = zip(a[1], factors[1], strict=True)
    expected = [by_definition(x, factor, channels[own(i % count)]) for i, (x, factor) in enumerate(pairs)]
    assert joined == expected, (a[0], factors[0])
    return joined


def row(numbers: list[int], factors: list[int], channel: Channel) -> list[int]:
    """One row of numbers by factors and one channel."""
    dims = (len(numbers),)
    return products(len(numbers), (dims, numbers), (dims, factors), [channel])


def test_products_are_rescaled() -> None:
    assert row([3, -3, 3, -3, 0], [5, 5, -5, -5, 9], SAME) == [15, 0, 0, 15, 0]
    # The bias is added to the product, before M.
    assert row([3, -3, 3, -3], [5, 5, -5, -5], (20, 10, 5, 1)) == [177, 27, 27, 177]
    assert row([300, 256, 255], [300, 256, 257], SAME) == [65_535] * 3


def test_products_wrap_before_they_are_rescaled() -> None:
    # 2^32 is 0, 2^32 + 2^16 is 2^16, 2^31 is -2^31, and -2^31 stays.
    numbers, factors = [2**16, 2**16, 2**30, LEAST, LEAST], [2**16, 65_537, 2, 1, -1]
    assert row(numbers, factors, (0, 1, 0, 1)) == [0, 32_768, 0, 0, 0]
    # A bias brings them back, and wraps itself.
    assert row(numbers, factors, (LEAST, 1, 7, 0)) == [0, 0, 7, 7, 7]
    assert row(numbers, factors, (MOST, 1, 0, 0)) == [65_535, 0, 0, 0, 0]


@pytest.mark.parametrize("channel", [(1, 2**32 - 1, 1 << 40, 31), (-1, 1, 0, 16), (MOST, 3, -9, 80)])
def test_the_ends_of_s32_by_each_other(channel: Channel) -> None:
    # 1, 2^31, 2^62 and those around.
    ends, others = [MOST, MOST, LEAST, LEAST, LEAST + 1, MOST], [MOST, LEAST, LEAST, MOST, MOST, -2]
    assert row(ends, others, SAME) == [1, 0, 0, 0, 0, 2]
    assert row(ends, others, (LEAST, 1, 6, 1)) == [0, 3, 0, 3, 65_535, 0]
    row(ends, others, channel)


@pytest.mark.parametrize(
    ("a", "dims"),
    [
        ((12, 5), (12, 5)),
        ((12, 5), (60,)),
        ((60,), (5, 12)),
        ((5, 12), (60, 1)),
        ((2, 3, 10), (1, 20, 3)),
        ((60, 1), (2, 3, 2, 5)),
        ((1, 20, 3), (3, 1, 20)),
    ],
)
def test_each_number_has_its_factor(a: Dims, dims: Dims) -> None:
    numbers = [(i * 7919 % 4001 - 1500) << i % 7 for i in range(60)]
    factors = [(i * 4057 % 997 - 400) << i % 11 * 2 for i in range(60)]
    channels: list[Channel] = [(1, 1, 0, 0), (-256, 3, 1 << 20, 4), (7, 1 << 31, 5, 31), (0, 77, -1, 66), (9, 1, 1, 1)]
    # Rows of the output of five numbers and of other ones, whatever the rows of a and of the factors.
    products(5, (a, numbers), (dims, factors), channels)
    products(10, (a, numbers), (dims, factors), channels[:1])
    products(60, (a, numbers), (dims, factors), channels[1:2])
    products(1, (a, numbers), (dims, factors), channels[2:3])


RIGHT = planes((3, 8), (3, 4), 4, (3, 4))
A, B, C = RIGHT.operands


def by_factors(c: bytes) -> OneStep:
    return replace(RIGHT, operands=(A, B, c))


@pytest.mark.parametrize(
    "given",
    [
        RIGHT,
        # The elements count, whatever their dims.
        replace(RIGHT, operands=(plain(S32, 12), B, C)),
        by_factors(plain(S32, 12)),
        by_factors(plain(S32, 2, 6)),
        by_factors(plain(S32, 12, 1, 1)),
        replace(RIGHT, operands=(A, weights(Layout.CHANNEL, 1), C)),
        replace(RIGHT, dims=(1, 3, 8)),
        planes((24,), (3, 4), 1, (3, 4)),
        planes((2,), (1,), 1, (1,)),
    ],
)
def test_taken(given: OneStep) -> None:
    assert given.version == 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        *(
            (by_factors(plain(S32, *dims)), "factors of 12 numbers")
            for dims in ((11,), (13,), (1,), (3,), (4,), (3, 2), (3, 8))
        ),
        *((by_factors(plain(kind, 3, 4)), "factors are no s32") for kind in (U8, S8, F32, BOOL)),
        (by_factors(weights(Layout.CHANNEL, 12)), "layout CHANNEL"),
        (replace(RIGHT, operands=(A, weights(Layout.CHANNEL, 3), C)), "3 channels for rows of 4"),
        (replace(RIGHT, operands=(plain(U8, 3, 4), B, C)), "a is U8"),
        (replace(RIGHT, kind=S32), "output's type is S32"),
        (planes((8, 3), (3, 4), 1, (12,)), "must be even"),
        (planes((2, 8), (3, 4), 4, (3, 4)), "12 numbers in 16 bytes"),
        # Channels have no c.
        (replace(RIGHT, variant=0, kind=S32, dims=(3, 4)), "operand c"),
        (replace(RIGHT, named=(FIRST, FIRST + 1, 0)), "operand c"),
        (replace(RIGHT, named=(FIRST, FIRST + 1, FIRST + 3)), "operand c"),
        (replace(RIGHT, named=(FIRST, NONE, FIRST + 2)), "operand b"),
    ],
)
def test_refused(wrong: OneStep, why: str) -> None:
    with pytest.raises(AssayError, match=why):
        decode_program(wrong.program)
