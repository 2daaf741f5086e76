"""DOT rescaled: sums of numbers of 16 bits by the parameters of their rows, and what is added to them (docs/EXACT.md,
section 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import pytest

from assay import AssayError
from assay.exact import Opening, decode_program
from assay.exact.form import ElementType, Layout

from .committed import Committed
from .one_step import FIRST, NONE, Channel, Dims, OneStep, clamped, dot_row, parameters, plain, s32s, weights, wrapped

U8, S8, S32, F32, BOOL = ElementType.U8, ElementType.S8, ElementType.S32, ElementType.F32, ElementType.BOOL
LEAST, MOST = -(2**31), 2**31 - 1


@dataclass(frozen=True)
class Row:
    """Weights with their parameters. As it is here, it leaves a number as it is, up to the clamp."""

    weights: bytes = b"\1"
    channel: Channel = (0, 1, 0, 0)
    upper: int = 31
    offset: int = 0

    @property
    def stored(self) -> bytes:
        return dot_row(self.weights, parameters(self.channel, self.upper, self.offset))

    def by_definition(self, numbers: list[int], addend: int) -> int:
        bias, m, b, s = self.channel
        acc = wrapped(sum(u * (w - self.offset) for u, w in zip(numbers, self.weights, strict=True)) + bias)
        limit = 2 ** (self.upper % 32)
        return wrapped(clamped(wrapped(acc * m + b, 64) >> s % 64, -limit, limit - 1) + addend)


def rescaled(kind: ElementType, dims: Dims, k: int, groups: int) -> OneStep:
    rows = prod(dims[:-1]) * groups
    return OneStep(4, 5, kind, groups, dims, (plain(U8, rows, 2 * k), weights(Layout.DOT, dims[-1], k)))


def products(
    dims: Dims, numbers: list[list[int]], groups: int, rows: list[Row], addends: list[int] | None
) -> list[int]:
    """The output's numbers, which are those of the definition."""
    n = len(rows)
    step = rescaled(S32, dims, len(rows[0].weights), groups)
    stored = [b"".join(bytes([u // 256 for u in row] + [u % 256 for u in row]) for row in numbers)]
    stored.append(b"".join(row.stored for row in rows))
    if addends is not None:
        step = replace(step, operands=(*step.operands, plain(S32, *dims)))
        stored.append(s32s(addends))

    def row_of(element: int) -> int:
        return element // n * groups + element % n * groups // n

    def reads(read: Committed, element: int) -> list[Opening]:
        found = [read.row(0, row_of(element)), read.row(1, element % n)]
        return found if addends is None else [*found, read.word(2, element // n, 4 * (element % n))]

    found = step.computed(stored, reads)
    for element, number in enumerate(found):
        addend = 0 if addends is None else addends[element]
        assert number == rows[element % n].by_definition(numbers[row_of(element)], addend)
    return found


def one(number: int, row: Row, addend: int) -> int:
    """What one number gives by a row of the weight 1, and an addend."""
    [found] = products((1, 1), [[number]], 1, [row], [addend])
    return found


def test_an_addend_is_not_rescaled_or_clamped() -> None:
    row = Row(channel=(0, 3, 1, 1), upper=4)
    # (5 · 3 + 1) / 2 = 8, and 12 · 3 / 2 is clamped to 15.
    assert one(5, row, 100) == 108
    assert one(12, row, 100) == 115
    assert one(12, row, -20) == -5
    below = replace(row, channel=(-100, 3, 1, 1))
    assert [one(0, below, 0), one(0, below, 1000)] == [-16, 984]


def test_a_sum_wraps_at_both_ends() -> None:
    most, least = Row(channel=(MOST, 1, 0, 0)), Row(channel=(LEAST, 1, 0, 0))
    assert [one(0, most, addend) for addend in (0, 1, MOST)] == [MOST, LEAST, -2]
    assert [one(0, least, addend) for addend in (-1, LEAST)] == [MOST, 0]
    assert one(1, Row(upper=15), MOST) == LEAST
    # A clamp of 0 bits leaves 0 and -1.
    assert one(9, Row(upper=32), LEAST) == LEAST
    assert one(0, Row(channel=(-9, 1, 0, 0), upper=0), LEAST) == MOST


CHANNELS: list[Channel] = [
    (0, 1, 0, 20),
    (MOST, 2**32 - 1, -(2**63), 65),
    (LEAST, 1 << 20, 1 << 40, 31),
    (-9, 77, -5, 255),
]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize(
    ("dims", "k"), [((3, 4), 1), ((12,), 33), ((2, 1, 4), 5), ((2, 2, 12), 64), ((1, 4), 992), ((1, 4), 2016)]
)
def test_each_element_has_its_addend(dims: Dims, k: int, groups: int) -> None:
    rows = [
        Row(
            bytes((i * 97 + n * 31) % 256 for i in range(k)),
            CHANNELS[n % 4],
            (15, 31, 63, 40)[n % 4],
            (128, 0, 65_535, 131)[n % 4],
        )
        for n in range(dims[-1])
    ]
    addends = [wrapped((i + 1) * 0x3FFF_FF77) for i in range(prod(dims))]
    count = prod(dims[:-1]) * groups
    numbers = [[(row * k + i) * 40_503 % 65_536 for i in range(k)] for row in range(count)]
    products(dims, numbers, groups, rows, addends)
    products(dims, numbers, groups, rows, None)


BYTES = rescaled(U8, (2, 3, 4), 5, 2)
A, B = BYTES.operands
ADDENDS = plain(S32, 2, 3, 4)
RIGHT = replace(BYTES, kind=S32, operands=(A, B, ADDENDS))
OF_BYTES = (plain(U8, 12, 5), B)


@pytest.mark.parametrize("given", [RIGHT, *(replace(BYTES, kind=kind) for kind in (U8, S8, S32))])
def test_taken(given: OneStep) -> None:
    assert given.version == 2


def with_c(c: bytes) -> OneStep:
    return replace(RIGHT, operands=(A, B, c))


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (replace(RIGHT, kind=U8), "operand c"),
        (replace(RIGHT, kind=S8), "operand c"),
        (replace(RIGHT, kind=F32), "operand c"),
        (with_c(plain(U8, 2, 3, 4)), "c has another type"),
        (with_c(plain(F32, 2, 3, 4)), "c has another type"),
        (with_c(plain(BOOL, 2, 3, 4)), "c has another type"),
        (with_c(plain(S32, 4)), "c has another type"),
        (with_c(plain(S32, 6, 4)), "c has another type"),
        (with_c(plain(S32, 1, 2, 3, 4)), "c has another type"),
        (with_c(plain(S32, 3, 2, 4)), "c has another type"),
        (with_c(weights(Layout.CHANNEL, 24)), "layout CHANNEL"),
        (replace(RIGHT, variant=4), "operand c"),
        (replace(RIGHT, variant=0, operands=(*OF_BYTES, ADDENDS)), "operand c"),
        (replace(RIGHT, variant=1, kind=U8, operands=(*OF_BYTES, ADDENDS)), "operand c"),
        (replace(RIGHT, named=(FIRST, FIRST + 1, 0)), "operand c"),
        (replace(RIGHT, named=(FIRST, FIRST + 1, FIRST + 3)), "operand c"),
        (replace(RIGHT, named=(FIRST, NONE, FIRST + 2)), "operand b"),
    ],
)
def test_refused(wrong: OneStep, why: str) -> None:
    with pytest.raises(AssayError, match=why):
        decode_program(wrong.program)
