"""ARITH rotate: pairs of neighbours as complex numbers, to numbers and to bytes (docs/EXACT.md, section 3)."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest

from assay import AssayError
from assay.exact import Opening, decode_program
from assay.exact.form import ElementType, Layout

from .committed import Committed
from .one_step import FIRST, Dims, OneStep, clamped, plain, s32s, weights

U8, S8, S32, F32, BOOL = ElementType.U8, ElementType.S8, ElementType.S32, ElementType.F32, ElementType.BOOL
LEAST, MOST = -(2**31), 2**31 - 1
RANGES = {U8: (0, 255), S8: (-128, 127), S32: (LEAST, MOST)}

Operand = tuple[Dims, list[int]]


def rotate(kind: ElementType, k: int, dims: Dims, a: Dims, b: Dims) -> OneStep:
    return OneStep(8, 10, kind, k, dims, (plain(S32, *a), plain(S32, *b)))


def place_in(index: int, dims: Dims, own: Dims) -> int:
    """Number of an operand's element at an index of the output, each axis by itself."""
    place = 0
    for axis, dim in enumerate(own, len(dims) - len(own)):
        on_axis = index // prod(dims[axis + 1 :]) % dims[axis]
        place = place * dim + (0 if dim == 1 else on_axis)
    return place


def rotated(kind: ElementType, k: int, dims: Dims, a: Operand, b: Operand) -> list[int]:
    """The numbers of the output, which are those of the definition."""

    def reads(read: Committed, element: int) -> list[Opening]:
        found = []
        for tensor, (own, _) in enumerate((a, b)):
            row, column = divmod(place_in(element, dims, own), dims[-1])
            found.append(read.word(tensor, row, 4 * column))
        return found

    def pair(operand: Operand, element: int) -> list[int]:
        first = place_in(element - element % 2, dims, operand[0])
        return operand[1][first : first + 2]

    expected = []
    for element in range(prod(dims)):
        (x, y), (c, s) = pair(a, element), pair(b, element)
        value = x * s + y * c if element % 2 else x * c - y * s
        expected.append(clamped((2 * value + 2**k) // 2 ** (k + 1), *RANGES[kind]))
    found = rotate(kind, k, dims, a[0], b[0]).computed([s32s(a[1]), s32s(b[1])], reads)
    assert found == expected, (kind, k, dims)
    return found


def row(kind: ElementType, k: int, a: list[int], b: list[int]) -> list[int]:
    """One row of pairs, times as many."""
    dims = (len(a),)
    return rotated(kind, k, dims, (dims, a), (dims, b))


def test_pairs_of_numbers() -> None:
    # (3 + 4i)(1 + 2i) = -5 + 10i.
    assert row(S32, 0, [3, 4], [1, 2]) == [-5, 10]
    assert row(S8, 0, [3, 4], [1, 2]) == [-5, 10]
    assert row(U8, 0, [3, 4], [1, 2]) == [0, 10]


def test_bytes_saturate() -> None:
    numbers, one = [300, 255, 256, -1, -128, -129, 127, 128], [1, 0] * 4
    assert row(U8, 0, numbers, one) == [255, 255, 255, 0, 0, 0, 127, 128]
    assert row(S8, 0, numbers, one) == [127, 127, 127, -1, -128, -128, 127, 127]
    assert row(S32, 0, numbers, one) == numbers
    # Rounded first: 255.5 and -128.5 are 256 and -128, 127 and 127.5 are 127.
    assert row(U8, 1, [511, -1, 509, -2], [1, 0, 1, 0]) == [255, 0, 255, 0]
    assert row(S8, 1, [-257, 254, -258, 255], [1, 0, 1, 0]) == [-128, 127, -128, 127]


@pytest.mark.parametrize("kind", [S8, S32])
def test_halves_are_rounded_up(kind: ElementType) -> None:
    assert row(kind, 1, [1, -1, 3, -3], [1, 0, 1, 0]) == [1, 0, 2, -1]
    assert row(kind, 2, [2, -2, 6, -6], [1, 0, 1, 0]) == [1, 0, 2, -1]


EDGES = [LEAST, MOST, -1, 0]


@pytest.mark.parametrize("k", [0, 1, 30, 31])
@pytest.mark.parametrize("kind", [U8, S8, S32])
def test_a_value_has_up_to_64_bits(kind: ElementType, k: int) -> None:
    turns = [number for c in EDGES for s in EDGES for number in (c, s)]
    for x in EDGES:
        for y in EDGES:
            rotated(kind, k, (16, 2), ((2,), [x, y]), ((16, 2), turns))
    # Twice 2^62 is 2^63, which is no number below 0.
    most = {U8: 255, S8: 127, S32: MOST}[kind]
    assert row(kind, k, [LEAST, LEAST], [LEAST, LEAST]) == [0, most]


@pytest.mark.parametrize(("kind", "k"), [(U8, 7), (S8, 8), (S32, 3)])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 3, 2, 10), (10,)),
        ((2, 3, 2, 10), (2, 10)),
        ((2, 1, 2, 10), (3, 1, 10)),
        ((10,), (2, 3, 1, 10)),
        ((1, 3, 2, 10), (2, 1, 1, 10)),
    ],
)
def test_operands_are_broadcast(a: Dims, b: Dims, kind: ElementType, k: int) -> None:
    def numbers(dims: Dims, seed: int) -> list[int]:
        return [(i + seed) * 7919 % 401 - 200 for i in range(prod(dims))]

    rotated(kind, k, (2, 3, 2, 10), (a, numbers(a, 3)), (b, numbers(b, 11)))


A, B = plain(S32, 2, 3, 4), plain(S32, 3, 4)
RIGHT = OneStep(8, 10, S8, 31, (2, 3, 4), (A, B))


@pytest.mark.parametrize("kind", [U8, S8, S32])
def test_taken(kind: ElementType) -> None:
    assert replace(RIGHT, kind=kind).version == 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (replace(RIGHT, kind=BOOL), "output's type is BOOL"),
        (replace(RIGHT, kind=F32), "output's type is F32"),
        (replace(RIGHT, k=32), "a shift of 32"),
        (replace(RIGHT, operands=(plain(S8, 2, 3, 4), B)), "no s32"),
        (replace(RIGHT, operands=(A, plain(U8, 3, 4))), "no s32"),
        (replace(RIGHT, operands=(A,)), "operand b"),
        (replace(RIGHT, operands=(A, B, A)), "operand c"),
        (replace(RIGHT, operands=(A, plain(S32, 3, 2))), "rows have 2 elements, not 4"),
        (replace(RIGHT, operands=(A, plain(S32, 3, 1))), "rows have 1 elements, not 4"),
        (replace(RIGHT, operands=(A, plain(S32, 2, 4))), "do not broadcast"),
        (rotate(S8, 0, (2, 3), (2, 3), (3,)), "rows of 3 elements are no pairs"),
        (replace(RIGHT, operands=(A, weights(Layout.DOT, 3, 4))), "layout DOT"),
        (replace(RIGHT, variant=11), "no such variant"),
        (replace(RIGHT, named=(FIRST, 0, 0xFFFF)), "operand b"),
    ],
)
def test_refused(wrong: OneStep, why: str) -> None:
    with pytest.raises(AssayError, match=why):
        decode_program(wrong.program)
