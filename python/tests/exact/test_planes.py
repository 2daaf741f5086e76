"""Numbers of 16 bits as two planes of bytes: RESCALE planes and DOT planes (docs/EXACT.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from assay import AssayError
from assay.exact import Model, Opening, decode_program, judge_element
from assay.exact.commit import judge_version
from assay.exact.form import ElementType, Layout
from assay.exact.numbers import to_bytes

from .committed import Committed, words_of

U8, S8, S32 = ElementType.U8, ElementType.S8, ElementType.S32
FIRST, SECOND, NONE = 0x8000, 0x8001, 0xFFFF
SELECTOR = bytes(4)
CALLDATA = b"".join([SELECTOR, (32).to_bytes(32, "big"), (1).to_bytes(32, "big"), bytes(32)])
EDGES = [0, 1, -1, 255, 256, 257, 32_767, 65_535, 65_536, 65_537, 2**31 - 1, -(2**31)]
CLAMPED = [0, 1, 0, 255, 256, 257, 32_767, 65_535, 65_535, 65_535, 65_535, 0]

Channel = tuple[int, int, int, int]
"""bias′, M, B, S"""
SAME: Channel = (0, 1, 0, 0)


def six(dims: tuple[int, ...]) -> bytes:
    return b"".join(dim.to_bytes(4, "big") for dim in dims).ljust(24, b"\0")


def descriptor(layout: Layout, kind: ElementType, *dims: int) -> bytes:
    return (bytes([layout, kind, len(dims), 0]) + six(dims)).ljust(32, b"\0")


@dataclass(frozen=True)
class Given:
    """A program of one step over two weight tensors."""

    opcode: int
    variant: int
    kind: ElementType
    k: int
    dims: tuple[int, ...]
    a: bytes
    b: bytes
    c: int = NONE

    @property
    def program(self) -> bytes:
        header = b"ASY1" + bytes([0, 2, 0, 1, 4, 3]) + (1).to_bytes(4, "big") + bytes(18)
        operands = b"".join(operand.to_bytes(2, "big") for operand in (FIRST, SECOND, self.c))
        head = bytes([self.opcode, self.variant, self.kind, len(self.dims)]) + operands + self.k.to_bytes(4, "big")
        return header + self.a + self.b + (head.ljust(32, b"\0") + six(self.dims)).ljust(128, b"\0")

    def computed(self, a: bytes, b: bytes, reads: Callable[[Committed, int], list[Opening]]) -> np.ndarray:
        """The step's stored elements. Each is judged as well, from what `reads` opens of the weights."""
        model = Model(self.program, a + b, SELECTOR)
        [tensor] = model.trace(CALLDATA)
        form = model.program.steps[0].form
        weights = Committed([(w.stored, rows) for w, rows in zip(model.program.weights, (a, b), strict=True)])
        trace = Committed([(form.stored, to_bytes(tensor))])

        def judged(openings: list[Opening]) -> tuple[int, int]:
            found = judge_element(model.program, weights.root, trace.root, 0, element, openings)
            return found.expected, found.claimed

        for element, stored in enumerate(tensor.reshape(-1).tolist()):
            row, byte = divmod(element * form.type.size, form.stored.row_bytes)
            own, (first, second) = trace.word(0, row, byte), reads(weights, element)
            assert judged([own, first, second]) == (stored, stored)
            for wrong in ([own, first], [own, second, first], [own, first, second, second]):
                with pytest.raises(AssayError, match="prove nothing"):
                    judged(wrong)
        return tensor


def rescale_planes(rows: int, k: int, n: int) -> Given:
    a, b = descriptor(Layout.PLAIN, S32, rows, k), descriptor(Layout.CHANNEL, U8, n)
    return Given(6, 2, U8, 0, (rows, 2 * k), a, b)


def dot_planes(rows: int, k: int, n: int, groups: int) -> Given:
    """Rows of the output, numbers in a row of a, weight rows and groups."""
    a, b = descriptor(Layout.PLAIN, U8, rows * groups, 2 * k), descriptor(Layout.DOT, U8, n, k)
    return Given(4, 4, S32, groups, (rows, n), a, b)


def parameters(channel: Channel, offset: int = 0) -> bytes:
    bias, m, b, s = channel
    fields = bias.to_bytes(4, "big", signed=True) + m.to_bytes(4, "big") + b.to_bytes(8, "big", signed=True)
    return (fields + bytes([s])).ljust(24, b"\0") + offset.to_bytes(2, "big") + bytes(6)


def wrapped(value: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def rescaled(numbers: list[int], k: int, channels: list[Channel], last: int | None = None) -> list[int]:
    """The numbers of 16 bits that RESCALE planes makes of rows of k numbers, which a has in rows of `last`."""
    count = len(channels)
    last = k if last is None else last

    def reads(weights: Committed, element: int) -> list[Opening]:
        row, column = element // (2 * k), element % k
        row_of_a, column_of_a = divmod(row * k + column, last)
        return [weights.word(0, row_of_a, 4 * column_of_a), weights.row(1, column if count > 1 else 0)]

    a = b"".join(x.to_bytes(4, "big", signed=True) for x in numbers)
    b = b"".join(parameters(channel) for channel in channels)
    given = rescale_planes(len(numbers) // k, k, count)
    given = replace(given, a=descriptor(Layout.PLAIN, S32, len(numbers) // last, last))
    planes = given.computed(a, b, reads).tolist()
    return [256 * row[i] + row[k + i] for row in planes for i in range(k)]


@pytest.mark.parametrize("k", [1, 3, 4, 12])
def test_numbers_are_clamped_to_16_bits(k: int) -> None:
    assert rescaled(EDGES, k, [SAME]) == CLAMPED
    assert rescaled(EDGES, k, [SAME] * k) == CLAMPED
    for last in (1, 2, 6, len(EDGES)):
        assert rescaled(EDGES, k, [SAME] * k, last) == CLAMPED


def by_definition(x: int, channel: Channel) -> int:
    bias, m, b, s = channel
    v = wrapped(wrapped(wrapped(x + bias, 32) * m + b, 64) >> s % 64, 32)
    return min(max(v, 0), 65_535)


def test_each_channel_has_its_parameters() -> None:
    channels: list[Channel] = [
        (1, 1, 0, 0),
        (-256, 3, 1 << 20, 4),
        (-(2**31), 2**32 - 1, -(2**63), 65),
        (7, 2**31, 2**63 - 1, 255),
        (0, 1 << 20, 1 << 19, 20),
    ]
    numbers = [wrapped(EDGES[i * 7 % 12] + i, 32) for i in range(60)]
    expected = [by_definition(x, channels[i % 5]) for i, x in enumerate(numbers)]
    assert rescaled(numbers, 5, channels) == expected
    for channel in channels:
        assert rescaled(numbers, 5, [channel]) == [by_definition(x, channel) for x in numbers]
    # The sum with the bias wraps, and so does what is behind the shift.
    assert rescaled([2**31 - 1, -(2**31)], 2, [(1, 1, 0, 0)]) == [0, 0]
    assert rescaled([-(2**31), 0], 2, [(-1, 1, 0, 0)]) == [65_535, 0]
    assert rescaled([0, 3], 2, [(0, 1, 2**32 + 5, 0)]) == [5, 8]


def products(
    numbers: list[int], k: int, groups: int, rows: list[list[int]], channels: list[tuple[int, int]]
) -> list[int]:
    """What DOT planes makes of numbers of 16 bits. `channels` are bias′ and o of each weight row."""
    n, count = len(rows), len(numbers) // k // groups
    given = [numbers[at : at + k] for at in range(0, len(numbers), k)]

    def row_of(element: int) -> int:
        return element // n * groups + element % n * groups // n

    def reads(weights: Committed, element: int) -> list[Opening]:
        return [weights.row(0, row_of(element)), weights.row(1, element % n)]

    a = b"".join(bytes([u // 256 for u in row] + [u % 256 for u in row]) for row in given)
    b = b"".join(
        b"".join(word[::-1] for word in words_of(bytes(row))) + parameters((bias, 0, 0, 0), offset)
        for row, (bias, offset) in zip(rows, channels, strict=True)
    )
    stored = dot_planes(count, k, n, groups).computed(a, b, reads)
    found: list[int] = stored.view(np.int32).reshape(-1).tolist()
    expected = []
    for element in range(count * n):
        bias, offset = channels[element % n]
        pairs = zip(given[row_of(element)], rows[element % n], strict=True)
        expected.append(wrapped(sum(u * (w - offset) for u, w in pairs) + bias, 32))
    assert found == expected
    return found


def test_products_of_16_bits() -> None:
    assert products([0, 255, 256, 65_535], 4, 1, [[1, 10, 100, 0]], [(5, 0)]) == [28_155]
    assert products([258], 1, 1, [[3]], [(0, 1)]) == [516]
    assert products([65_535], 1, 1, [[0]], [(0, 65_535)]) == [131_071]
    # 2,016 · 65,535 · 255 is far beyond s32.
    largest = products([65_535] * 2016, 2016, 1, [[255] * 2016], [(0, 0)])
    assert largest == [wrapped(2016 * 65_535 * 255, 32)]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("k", [1, 31, 32, 33, 64, 992, 2016])
def test_products_of_groups(k: int, groups: int) -> None:
    numbers = [i * 40_503 % 65_536 for i in range(2 * groups * k)]
    rows = [[(i * 97 + n * 31) % 256 for i in range(k)] for n in range(4)]
    products(numbers, k, groups, rows, [(0, 128), (2**31 - 1, 0), (-(2**31), 65_535), (-9, 131)])


def version(given: Given) -> int:
    return judge_version(decode_program(given.program))


RESCALE, DOT = rescale_planes(3, 4, 4), dot_planes(3, 5, 4, 2)


def test_taken() -> None:
    for given in (
        *(rescale_planes(3, 4, n) for n in (1, 4)),
        replace(RESCALE, a=descriptor(Layout.PLAIN, S32, 3, 1, 4)),
        replace(RESCALE, dims=(1, 3, 8)),
        replace(RESCALE, a=descriptor(Layout.PLAIN, S32, 2, 6)),
        replace(rescale_planes(3, 4, 1), dims=(24,)),
        *(dot_planes(3, 5, 4, groups) for groups in (1, 2, 4)),
        dot_planes(1, 2016, 1, 1),
    ):
        assert version(given) == 2
    assert version(replace(DOT, variant=0, a=descriptor(Layout.PLAIN, U8, 6, 5))) == 1


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (rescale_planes(3, 4, 3), "3 channels for rows of 4"),
        (rescale_planes(3, 4, 8), "8 channels for rows of 4"),
        (replace(RESCALE, k=1), "k is 1"),
        (replace(RESCALE, kind=S8), "output's type is S8"),
        (replace(RESCALE, kind=S32), "output's type is S32"),
        (replace(RESCALE, a=descriptor(Layout.PLAIN, U8, 3, 4)), "a is U8"),
        (replace(RESCALE, dims=(3, 4)), "4 channels for rows of 2"),
        (replace(RESCALE, dims=(3, 9)), "the last dim is 9, must be even"),
        (replace(RESCALE, dims=(2, 8)), "12 numbers in 16 bytes"),
        (replace(RESCALE, dims=(6, 4)), "4 channels for rows of 2"),
        (replace(RESCALE, b=descriptor(Layout.PLAIN, U8, 4)), "layout PLAIN"),
        (replace(RESCALE, variant=3), "no such variant"),
        (replace(DOT, a=descriptor(Layout.PLAIN, S8, 6, 10)), "a is S8"),
        (replace(DOT, a=descriptor(Layout.PLAIN, S32, 6, 10)), "a is S32"),
        (replace(DOT, a=descriptor(Layout.PLAIN, U8, 6, 5)), "rows of 5 bytes, must be 10"),
        (replace(DOT, a=descriptor(Layout.PLAIN, U8, 6, 11)), "rows of 11 bytes, must be 10"),
        (dot_planes(1, 2017, 1, 1), "rows of 2017 elements"),
        (replace(DOT, k=0), "0 groups"),
        (dot_planes(3, 5, 4, 3), "3 groups do not divide 4"),
        (replace(DOT, k=1), "rows of the output times groups"),
        (replace(DOT, kind=U8), "output's type is U8"),
        (replace(DOT, dims=(3, 5)), "4 weight rows"),
        (replace(DOT, b=descriptor(Layout.PLAIN, U8, 4, 5)), "layout PLAIN"),
        (replace(DOT, c=FIRST), "operand c"),
        (replace(DOT, variant=0), "rows of 10 bytes, must be 5"),
        (replace(DOT, variant=6), "no such variant"),
    ],
)
def test_refused(wrong: Given, why: str) -> None:
    with pytest.raises(AssayError, match=why):
        decode_program(wrong.program)
