"""LOOKUP below: elements of a table by how far numbers are below their row's largest (docs/EXACT.md, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import pytest

from assay import AssayError
from assay.exact import Model, Opening, decode_program, judge_element
from assay.exact.commit import judge_version
from assay.exact.form import ElementType, Layout
from assay.exact.numbers import to_bytes

from .committed import Committed

U8, S8, S32, F32, BOOL = ElementType.U8, ElementType.S8, ElementType.S32, ElementType.F32, ElementType.BOOL
LEAST, MOST = -(2**31), 2**31 - 1
FIRST, NONE = 0x8000, 0xFFFF
SELECTOR = bytes(4)
CALLDATA = b"".join([SELECTOR, (32).to_bytes(32, "big"), (1).to_bytes(32, "big"), bytes(32)])

Dims = tuple[int, ...]
Mask = tuple[Dims, bytes]


def six(dims: Dims) -> bytes:
    return b"".join(dim.to_bytes(4, "big") for dim in dims).ljust(24, b"\0")


def descriptor(layout: Layout, kind: ElementType, *dims: int) -> bytes:
    return (bytes([layout, kind, len(dims), 0]) + six(dims)).ljust(32, b"\0")


def plain(kind: ElementType, *dims: int) -> bytes:
    return descriptor(Layout.PLAIN, kind, *dims)


@dataclass(frozen=True)
class Given:
    """A program of one step over two weight tensors, or three with operand c."""

    kind: ElementType
    dims: Dims
    a: bytes
    b: bytes
    c: bytes | None
    k: int = 0
    variant: int = 3
    operands: Dims | None = None

    @property
    def program(self) -> bytes:
        weights = [self.a, self.b] + ([] if self.c is None else [self.c])
        named = self.operands or (FIRST, FIRST + 1, NONE if self.c is None else FIRST + 2)
        header = b"ASY1" + bytes([0, len(weights), 0, 1, 4, 3]) + (1).to_bytes(4, "big") + bytes(18)
        operands = b"".join(operand.to_bytes(2, "big") for operand in named)
        head = bytes([3, self.variant, self.kind, len(self.dims)]) + operands + self.k.to_bytes(4, "big")
        return header + b"".join(weights) + (head.ljust(32, b"\0") + six(self.dims)).ljust(128, b"\0")


def below(kind: ElementType, dims: Dims, v: int, mask: Dims | None) -> Given:
    return Given(kind, dims, plain(S32, *dims), plain(kind, v, 1), None if mask is None else plain(BOOL, *mask))


def place_in_mask(index: int, dims: Dims, mask: Dims) -> int:
    """Number of the mask's byte at an index of the output, each axis by itself."""
    place = 0
    for axis, dim in enumerate(mask, len(dims) - len(mask)):
        on_axis = index // prod(dims[axis + 1 :]) % dims[axis]
        place = place * dim + (0 if dim == 1 else on_axis)
    return place


def looked_up(kind: ElementType, dims: Dims, numbers: list[int], table: list[bytes], mask: Mask | None) -> list[bytes]:
    """The stored elements. Each is judged as well, and all of them are those of the definition."""
    length, size = dims[-1], kind.size

    def counts(index: int) -> bool:
        return mask is None or mask[1][place_in_mask(index, dims, mask[0])] != 0

    def source(index: int) -> int | None:
        if not counts(index):
            return None
        start = index // length * length
        largest = max(numbers[i] for i in range(start, start + length) if counts(i))
        return min(largest - numbers[index], len(table) - 1)

    sources = [source(index) for index in range(len(numbers))]
    zero = b"\x80" if kind is S8 else bytes(size)
    expected = [zero if at is None else table[at] for at in sources]
    given = below(kind, dims, len(table), None if mask is None else mask[0])
    rows = [b"".join(x.to_bytes(4, "big", signed=True) for x in numbers), b"".join(table)]
    rows += [] if mask is None else [mask[1]]
    model = Model(given.program, b"".join(rows), SELECTOR)
    [tensor] = model.trace(CALLDATA)
    assert to_bytes(tensor) == b"".join(expected), (dims, len(table), mask)

    weights = Committed([(w.stored, data) for w, data in zip(model.program.weights, rows, strict=True)])
    trace = Committed([(model.program.steps[0].form.stored, to_bytes(tensor))])

    def judged(openings: list[Opening]) -> tuple[int, int]:
        found = judge_element(model.program, weights.root, trace.root, 0, index, openings)
        return found.expected, found.claimed

    # Of long rows not each element: every one opens two of them.
    for index in range(0, len(numbers), 1 + len(numbers) // 64):
        row, place = divmod(index, length)
        openings = [trace.word(0, row, size * place), weights.row(0, row)]
        if mask is not None:
            openings.append(weights.row(2, place_in_mask(index, dims, mask[0]) // length))
        at = sources[index]
        if at is not None:
            openings.append(weights.word(1, at, 0))
        stored = int.from_bytes(expected[index], "big")
        assert judged(openings) == (stored, stored)
        wrong = [openings[:-1], [*openings, weights.word(1, 0, 0)]]
        wrong += [
            [*openings[:i], openings[i + 1], openings[i], *openings[i + 2 :]] for i in range(1, len(openings) - 1)
        ]
        for others in wrong:
            with pytest.raises(AssayError, match="prove nothing"):
                judged(others)
    return expected


TABLE = [100, 50, 25, 12, 6]


def elements(dims: Dims, numbers: list[int], table: list[int], mask: Mask | None = None) -> list[int]:
    """The same of a table of bytes."""
    return list(b"".join(looked_up(U8, dims, numbers, [bytes([x]) for x in table], mask)))


NUMBERS = [3, 5, 4, 0, -1, -7, -2, -1]


def test_by_how_far_below_the_largest_of_the_row() -> None:
    assert elements((2, 4), NUMBERS, TABLE) == [25, 100, 50, 6, 100, 6, 50, 100]
    assert elements((8,), NUMBERS, TABLE) == [25, 100, 50, 6, 6, 6, 6, 6]
    # Rows of one number, and a table of one element.
    assert elements((8, 1), NUMBERS, TABLE) == [100] * 8
    assert elements((2, 4), NUMBERS, TABLE[:1]) == [100] * 8
    # The last element of the table is that of every larger distance.
    assert elements((6,), [4, 1, 0, -1, -2, 3], TABLE) == [100, 12, 6, 6, 6, 50]


def test_a_distance_has_up_to_32_bits() -> None:
    numbers = [MOST, LEAST, 0, LEAST, -1, MOST]
    assert elements((6,), numbers, TABLE) == [100, 6, 6, 6, 6, 100]
    # 2^32 - 1 is no -1, and 2^31 no negative distance.
    assert elements((3, 2), numbers, TABLE) == [100, 6, 100, 6, 6, 100]
    assert elements((3,), [LEAST, LEAST + 2, LEAST], TABLE) == [25, 100, 25]


def test_only_places_that_count_take_part() -> None:
    # Each byte but 0 counts; the largest number of the first row does not.
    mask = bytes([1, 0, 2, 255, 0, 128, 1, 0])
    assert elements((2, 4), NUMBERS, TABLE, ((2, 4), mask)) == [50, 0, 100, 6, 0, 6, 100, 0]
    # No place of the first row counts, and all of the second.
    rows = bytes([0] * 4 + [1] * 4)
    assert elements((2, 4), NUMBERS, TABLE, ((2, 4), rows)) == [0, 0, 0, 0, 100, 6, 50, 100]
    assert elements((8, 1), NUMBERS, TABLE, ((1,), bytes(1))) == [0] * 8
    assert elements((3,), [LEAST, MOST, LEAST], TABLE, ((3,), bytes([1, 0, 1]))) == [100, 0, 100]


@pytest.mark.parametrize(
    "mask",
    [
        (5,),
        (1, 5),
        (2, 5),
        (3, 1, 5),
        (1, 2, 5),
        (3, 2, 5),
        (2, 1, 1, 5),
        (1, 3, 1, 5),
        (2, 1, 2, 5),
        (2, 3, 2, 5),
    ],
)
def test_the_mask_is_broadcast(mask: Dims) -> None:
    own = bytes(0 if i * 29 % 17 < 7 else i | 1 for i in range(prod(mask)))
    elements((2, 3, 2, 5), [i * 37 % 11 - 5 for i in range(60)], TABLE, (mask, own))


def test_elements_of_every_type() -> None:
    def stored(kind: ElementType, *table: bytes) -> list[bytes]:
        return looked_up(kind, (2, 3), [1, 9, 0, -4, 0, -4], list(table), ((3,), bytes([1, 0, 1])))

    # The number 0 of s8 is stored as 128; a bool is its byte.
    assert b"".join(stored(S8, b"\0", b"\xff")) == bytes([0, 128, 255, 0, 128, 0])
    assert b"".join(stored(BOOL, b"\7", b"\xc8")) == bytes([7, 0, 200, 7, 0, 7])
    first, second = bytes.fromhex("80000001"), bytes.fromhex("fffffffe")
    assert stored(S32, first, second)[:3] == [first, bytes(4), second]
    # Bits of no number stay as they are.
    nan, minus_zero = bytes.fromhex("7fa00001"), bytes.fromhex("80000000")
    assert stored(F32, nan, minus_zero)[:3] == [nan, bytes(4), minus_zero]


@pytest.mark.parametrize("mask", [None, ((1024,), bytes(i % 3 for i in range(1024)))])
def test_rows_of_1024(mask: Mask | None) -> None:
    numbers = [i * 40_503 % 1009 for i in range(2048)]
    elements((2, 1024), numbers, [i % 251 for i in range(700)], mask)


RIGHT = below(U8, (2, 3, 4), 5, (3, 4))


@pytest.mark.parametrize(
    "given",
    [
        RIGHT,
        replace(RIGHT, c=None),
        below(U8, (1,), 1, None),
        below(S8, (1, 1, 1, 1, 2, 1024), 300, (1024,)),
        below(BOOL, (2, 3, 4), 5, (2, 1, 4)),
        below(S32, (2, 3, 4), 5, (1, 3, 4)),
        below(F32, (2, 3, 4), 5, (4,)),
        below(U8, (3, 1), 5, (1,)),
    ],
)
def test_taken(given: Given) -> None:
    assert judge_version(decode_program(given.program)) == 2


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (below(U8, (2, 1025), 5, None), "rows of 1025 elements, at most 1024"),
        (replace(RIGHT, k=1), "k is 1"),
        (replace(RIGHT, a=plain(U8, 2, 3, 4)), "no s32"),
        (replace(RIGHT, a=plain(F32, 2, 3, 4)), "no s32"),
        (replace(RIGHT, a=plain(S32, 6, 4)), "not the same dims"),
        (replace(RIGHT, a=plain(S32, 3, 3, 4)), "not the same dims"),
        (replace(RIGHT, kind=S8), "the output's type"),
        (replace(RIGHT, b=plain(U8, 5, 2)), "no column"),
        (replace(RIGHT, b=plain(U8, 5)), "no column"),
        (replace(RIGHT, b=plain(U8, 1, 5, 1)), "no column"),
        (replace(RIGHT, b=descriptor(Layout.DOT, U8, 5, 1)), "layout DOT"),
        (replace(RIGHT, c=plain(U8, 3, 4)), "c is no bool"),
        (replace(RIGHT, c=plain(S32, 3, 4)), "c is no bool"),
        (replace(RIGHT, c=plain(BOOL, 3, 1)), "rows of c have 1 elements, not 4"),
        (replace(RIGHT, c=plain(BOOL, 3, 5)), "rows of c have 5 elements, not 4"),
        (replace(RIGHT, c=plain(BOOL, 2, 4)), "do not broadcast"),
        (replace(RIGHT, c=plain(BOOL, 1, 2, 3, 4)), "do not broadcast"),
        (replace(RIGHT, c=descriptor(Layout.DOT, U8, 3, 4)), "layout DOT"),
        (replace(RIGHT, variant=2), "operand c"),
        (replace(RIGHT, variant=4, c=None), "no such variant"),
        (replace(RIGHT, operands=(FIRST, 0, NONE)), "operand b"),
        (replace(RIGHT, operands=(FIRST, FIRST + 1, 0)), "operand c"),
        (replace(RIGHT, operands=(FIRST, FIRST + 1, FIRST + 3)), "operand c"),
    ],
)
def test_refused(wrong: Given, why: str) -> None:
    with pytest.raises(AssayError, match=why):
        decode_program(wrong.program)
