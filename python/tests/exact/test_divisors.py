"""RESCALE planes of quotients: numbers by the divisors of rows or of their parts, rescaled, as two planes of bytes
(docs/EXACT.md, section 3)."""

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
    """The output's numbers of 16 bits, in rows of `count`, which are those of the definition. Each row has equally
    many divisors."""
    # Numbers of one divisor stand one after the other, in the order of a.
    share = len(a[1]) // len(divisors[1])

    def own(column: int) -> int:
        return column if len(channels) > 1 else 0

    def reads(read: Committed, element: int) -> list[Opening]:
        row, column = element // (2 * count), element % count
        row_of_a, column_of_a = divmod(row * count + column, a[0][-1])
        row_of_c, column_of_c = divmod((row * count + column) // share, divisors[0][-1])
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
    expected = [by_definition(x, k, divisors[1][i // share], channels[own(i % count)]) for i, x in enumerate(a[1])]
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


@pytest.mark.parametrize(
    ("divisors", "expected"),
    [
        ([2], [60] * 6),
        ([2, 3], [60, 60, 60, 40, 40, 40]),
        ([2, 0, 5], [60, 60, 0, 0, 24, 24]),
        ([1, 2, 3, 4, 5, 6], [120, 60, 40, 30, 24, 20]),
    ],
)
def test_each_part_of_a_row_has_its_divisor(divisors: list[int], expected: list[int]) -> None:
    assert quotients(1, 6, ((6,), [120] * 6), ((len(divisors),), divisors), [SAME]) == expected


@pytest.mark.parametrize(
    ("count", "per_row"), [*((12, g) for g in (1, 2, 3, 4, 6, 12)), *((18, g) for g in (1, 2, 9, 18))]
)
def test_parts_of_many_rows(count: int, per_row: int) -> None:
    numbers = [(i * 7919 % 4001 - 1500) << i % 7 for i in range(72)]
    rows = len(numbers) // count
    divisors = [(3, 0, 70, -4, 1, 999, 12)[i % 7] + i for i in range(rows * per_row)]
    channels: list[Channel] = [(1, 1, 0, 0), (-256, 3, 1 << 20, 4), (7, 1 << 31, 5, 31), (0, 77, -1, 66)]
    own = [channels[i % 4] for i in range(count)]
    # Whatever the rows of a and of the divisors.
    quotients(50, count, ((1, 72), numbers), ((1, rows * per_row), divisors), own)
    quotients(50, count, ((8, 9), numbers), ((per_row, rows), divisors), own[1:2])


RIGHT = planes(1, (3, 8), (3, 4), 4, (3,))
A, B, C = RIGHT.operands
WITHOUT = replace(RIGHT, k=0, operands=(A, B))
RATIO = OneStep(6, 1, S32, 1, (3, 4), (A, C))


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
        # Two divisors a row, or one a number, with rows of their own.
        *(replace(RIGHT, operands=(A, B, plain(S32, *dims))) for dims in ((6,), (3, 2), (2, 3, 1), (3, 4), (2, 6))),
        planes(1, (3, 12), (3, 6), 6, (9,)),
        planes(1, (12,), (6,), 1, (3,)),
        planes(1, (3, 2), (3,), 1, (3,)),
        RATIO,
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
        (replace(RIGHT, k=0), "3 factors of 12 numbers"),
        (replace(RATIO, k=0), "the multiplier is 0"),
        (replace(WITHOUT, k=1), "k is 1"),
        (divided_by(plain(S32, 2)), "2 divisors of 3 rows"),
        (divided_by(plain(S32, 4)), "4 divisors of 3 rows"),
        (divided_by(plain(S32, 8)), "8 divisors of 3 rows"),
        (divided_by(plain(S32, 10)), "10 divisors of 3 rows"),
        (divided_by(plain(S32, 9)), "3 divisors a row, must divide 4"),
        (divided_by(plain(S32, 24)), "8 divisors a row, must divide 4"),
        (planes(1, (3, 12), (3, 6), 6, (12,)), "4 divisors a row, must divide 6"),
        (planes(1, (12,), (6,), 1, (12,)), "12 divisors a row, must divide 6"),
        # A ratio's rows have one divisor each.
        (replace(RATIO, operands=(A, plain(S32, 6))), "2 divisors a row, must divide 1"),
        (replace(RATIO, operands=(A, plain(S32, 12))), "4 divisors a row, must divide 1"),
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
