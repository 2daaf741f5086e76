"""RESCALE planes of quotients: numbers by the divisors of their rows, rescaled, as two planes of bytes (docs/EXACT.md,
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


def planes(k: int, dims: Dims, a: Dims, channels: int, divisors: Dims) -> OneStep:
    operands = (plain(S32, *a), weights(Layout.CHANNEL, channels), plain(S32, *divisors))
    return OneStep(6, 2, U8, k, dims, operands)


def by_definition(x: int, k: int, divisor: int, channel: Channel) -> int:
    bias, m, b, s = channel
    quotient = (2 * x * k + divisor) // (2 * divisor) if divisor >= 1 else 0
    acc = wrapped(clamped(quotient, LEAST, MOST) + bias)
    return clamped(wrapped(wrapped(acc * m + b, 64) >> s % 64), 0, 65_535)


def quotients(k: int, count: int, a: Tensor, divisors: Tensor, channels: list[Channel]) -> list[int]:
    """The output's numbers of 16 bits, in rows of `count`, which are those of the definition."""

    def own(column: int) -> int:
        return column if len(channels) > 1 else 0

    def reads(read: Committed, element: int) -> list[Opening]:
        row, column = element // (2 * count), element % count
        row_of_a, column_of_a = divmod(row * count + column, a[0][-1])
        row_of_c, column_of_c = divmod(row, divisors[0][-1])
        words = read.word(0, row_of_a, 4 * column_of_a), read.word(2, row_of_c, 4 * column_of_c)
        return [words[0], read.row(1, own(column)), words[1]]

    dims = (len(a[1]) // count, 2 * count)
    step = planes(k, dims, a[0], len(channels), divisors[0])
    stored = [s32s(a[1]), b"".join(parameters(channel) for channel in channels), s32s(divisors[1])]
    found = step.computed(stored, reads)
    joined = [
        256 * found[2 * count * row + i] + found[2 * count * row + count + i]
        for row in range(dims[0])
        for i in range(count)
    ]
    expected = [by_definition(x, k, divisors[1][i // count], channels[own(i % count)]) for i, x in enumerate(a[1])]
    assert joined == expected, (a[0], divisors[0])
    return joined


def row(k: int, numbers: list[int], divisor: int, channel: Channel) -> list[int]:
    """One row of numbers by one divisor and one channel."""
    return quotients(k, len(numbers), ((len(numbers),), numbers), ((1,), [divisor]), [channel])


def test_quotients_are_rounded_and_then_rescaled() -> None:
    assert row(1, [4, 5, 6, 7], 2, SAME) == [2, 3, 3, 4]
    # Halves up: -0.5 is 0, -1.5 is -1; the bias is added behind that.
    assert row(1, [-1, -2, -3, -4], 2, (100, 1, 0, 0)) == [100, 99, 99, 98]
    assert row(300, [1, 2, 3], 7, (0, 10, 5, 1)) == [217, 432, 647]


@pytest.mark.parametrize("divisor", [0, -1, -7, LEAST])
def test_of_a_divisor_below_1_the_quotient_is_0(divisor: int) -> None:
    assert row(9, [1, -1, MOST, LEAST], divisor, (5, 2, 1, 0)) == [11] * 4


def test_quotients_saturate_before_they_are_rescaled() -> None:
    numbers, most = [MOST, LEAST, 1, -1], 2**32 - 1
    # What saturated wraps with a bias.
    assert row(most, numbers, 1, (1, 1, 0, 0)) == [0] * 4
    assert row(most, numbers, 1, (-1, 1, 0, 0)) == [65_535] * 4
    assert row(most, numbers, 1, (0, 1, 0, 16)) == [32_767, 0, 32_767, 0]
    # 2^31 is no s32 any more, 2^31 - 1 is one.
    assert row(2, [1 << 30, (1 << 30) - 1, -(1 << 30)], 1, (0, 1, 0, 15)) == [65_535, 65_535, 0]
    assert row(2, [1 << 30, -(1 << 30)], 1, (-MOST, 1, 9, 0)) == [9, 10]
    assert row(1, [LEAST, LEAST + 1], 1, (LEAST, 1, 0, 0)) == [0, 1]


@pytest.mark.parametrize("divisor", [1, 2, 65_537, MOST - 1, MOST])
def test_a_numerator_has_up_to_65_bits(divisor: int) -> None:
    # 2 · x · k is nearly 2^64, in size.
    numbers = [MOST, MOST - 1, LEAST, LEAST + 1, 1 << 30, 3]
    for k in (2**32 - 1, 2**32 - 2, 1 << 31, 1):
        row(k, numbers, divisor, (0, 1, 0, 15))
        row(k, numbers, divisor, (-(1 << 30), 1, 0, 16))
    assert row(2**32 - 1, [MOST, LEAST], divisor, (0, 1, 0, 15)) == [65_535, 0]


@pytest.mark.parametrize(
    ("a", "dims"),
    [
        ((24, 5), (24,)),
        ((120,), (24, 1)),
        ((5, 24), (1, 24)),
        ((2, 3, 20), (2, 12)),
        ((120, 1), (3, 1, 8)),
        ((1, 40, 3), (2, 2, 2, 3)),
    ],
)
def test_each_row_has_its_divisor(a: Dims, dims: Dims) -> None:
    numbers = [(i * 7919 % 4001 - 1500) << i % 7 for i in range(120)]
    divisors = [(3, 0, 70, -4, 1, 999, 12)[i % 7] + i for i in range(24)]
    channels: list[Channel] = [(1, 1, 0, 0), (-256, 3, 1 << 20, 4), (7, 1 << 31, 5, 31), (0, 77, -1, 66), (9, 1, 1, 1)]
    # Five numbers in each of 24 rows of the output, whatever the rows of a and of the divisors.
    quotients(50, 5, (a, numbers), (dims, divisors), channels)
    quotients(1000, 5, (a, numbers), (dims, divisors), channels[:1])
    quotients(1000, 10, (a, numbers), ((3, 4), divisors[:12]), channels[1:2])


RIGHT = planes(1, (3, 8), (3, 4), 4, (3,))
A, B, C = RIGHT.operands
WITHOUT = replace(RIGHT, k=0, operands=(A, B))


@pytest.mark.parametrize(
    "given",
    [
        RIGHT,
        WITHOUT,
        replace(RIGHT, k=2**32 - 1),
        # The elements count, whatever their dims.
        replace(RIGHT, operands=(plain(S32, 12), B, C)),
        replace(RIGHT, operands=(plain(S32, 2, 6), B, C)),
        replace(RIGHT, operands=(A, B, plain(S32, 3, 1))),
        replace(RIGHT, operands=(A, B, plain(S32, 1, 3, 1))),
        replace(RIGHT, operands=(A, weights(Layout.CHANNEL, 1), C)),
        replace(RIGHT, dims=(1, 3, 8)),
        planes(7, (24,), (3, 4), 1, (1,)),
        planes(7, (12, 2), (3, 4), 1, (2, 6)),
    ],
)
def test_taken(given: OneStep) -> None:
    assert given.version == 2


def divided_by(c: bytes) -> OneStep:
    return replace(RIGHT, operands=(A, B, c))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (replace(RIGHT, k=0), "the multiplier is 0"),
        (replace(WITHOUT, k=1), "k is 1"),
        (divided_by(plain(S32, 2)), "2 divisors of 3 rows"),
        (divided_by(plain(S32, 4)), "4 divisors of 3 rows"),
        (divided_by(plain(S32, 3, 4)), "12 divisors of 3 rows"),
        (planes(1, (3, 8), (2, 6), 4, (2,)), "2 divisors of 3 rows"),
        (divided_by(plain(U8, 3)), "divisors are no s32"),
        (divided_by(plain(S8, 3)), "divisors are no s32"),
        (divided_by(plain(F32, 3)), "divisors are no s32"),
        (divided_by(plain(BOOL, 3)), "divisors are no s32"),
        (divided_by(weights(Layout.CHANNEL, 3)), "layout CHANNEL"),
        (replace(RIGHT, operands=(A, weights(Layout.CHANNEL, 3), C)), "3 channels for rows of 4"),
        (replace(RIGHT, operands=(plain(U8, 3, 4), B, C)), "a is U8"),
        (replace(RIGHT, kind=S32), "output's type is S32"),
        (planes(1, (8, 3), (3, 4), 1, (8,)), "must be even"),
        (planes(1, (2, 8), (3, 4), 4, (2,)), "12 numbers in 16 bytes"),
        # Channels and ratios have no c.
        (replace(RIGHT, variant=0, kind=S32, k=0, dims=(3, 4)), "operand c"),
        (replace(RIGHT, variant=1, kind=S32, dims=(3, 4), operands=(A, C, C)), "operand c"),
        (replace(RIGHT, named=(FIRST, FIRST + 1, 0)), "operand c"),
        (replace(RIGHT, named=(FIRST, FIRST + 1, FIRST + 3)), "operand c"),
        (replace(RIGHT, named=(FIRST, NONE, FIRST + 2)), "operand b"),
    ],
)
def test_refused(wrong: OneStep, why: str) -> None:
    with pytest.raises(AssayError, match=why):
        decode_program(wrong.program)
