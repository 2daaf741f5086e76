"""Programs of one step over weight tensors: run whole, and judged element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from assay import AssayError
from assay.exact import Model, Opening, decode_program, judge_element
from assay.exact.commit import judge_version
from assay.exact.form import ElementType, Layout
from assay.exact.numbers import integers, to_bytes

from .committed import Committed, words_of

FIRST, NONE = 0x8000, 0xFFFF
SELECTOR = bytes(4)
CALLDATA = b"".join([SELECTOR, (32).to_bytes(32, "big"), (1).to_bytes(32, "big"), bytes(32)])

Dims = tuple[int, ...]
Channel = tuple[int, int, int, int]
"""bias′, M, B, S"""


def six(dims: Dims) -> bytes:
    return b"".join(dim.to_bytes(4, "big") for dim in dims).ljust(24, b"\0")


def descriptor(layout: Layout, kind: ElementType, *dims: int) -> bytes:
    return (bytes([layout, kind, len(dims), 0]) + six(dims)).ljust(32, b"\0")


def plain(kind: ElementType, *dims: int) -> bytes:
    return descriptor(Layout.PLAIN, kind, *dims)


def weights(layout: Layout, *dims: int) -> bytes:
    return descriptor(layout, ElementType.U8, *dims)


def parameters(channel: Channel, upper: int = 0, offset: int = 0) -> bytes:
    """A parameter word, with an upper clamp and a weight offset."""
    bias, m, b, s = channel
    fields = bias.to_bytes(4, "big", signed=True) + m.to_bytes(4, "big") + b.to_bytes(8, "big", signed=True)
    return (fields + bytes([s])).ljust(23, b"\0") + bytes([upper]) + offset.to_bytes(2, "big") + bytes(6)


def dot_row(row: bytes, word: bytes) -> bytes:
    """A DOT row: its bytes in reversed words, and the parameter word."""
    return b"".join(part[::-1] for part in words_of(row)) + word


def s32s(numbers: Sequence[int]) -> bytes:
    return b"".join(x.to_bytes(4, "big", signed=True) for x in numbers)


def wrapped(value: int, bits: int = 32) -> int:
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def clamped(value: int, least: int, most: int) -> int:
    return min(max(value, least), most)


@dataclass(frozen=True)
class OneStep:
    """A program of one step, whose operands are weight tensors of these descriptors."""

    opcode: int
    variant: int
    kind: ElementType
    k: int
    dims: Dims
    operands: tuple[bytes, ...]
    named: Dims | None = None
    """what the record has in place of the weight tensors in their order"""

    @property
    def program(self) -> bytes:
        count = len(self.operands)
        named = self.named or tuple(FIRST + i if i < count else NONE for i in range(3))
        header = b"ASY1" + bytes([0, count, 0, 1, 4, 3]) + (1).to_bytes(4, "big") + bytes(18)
        record = bytes([self.opcode, self.variant, self.kind, len(self.dims)])
        record += b"".join(operand.to_bytes(2, "big") for operand in named) + self.k.to_bytes(4, "big")
        return header + b"".join(self.operands) + (record.ljust(32, b"\0") + six(self.dims)).ljust(128, b"\0")

    @property
    def version(self) -> int:
        return judge_version(decode_program(self.program))

    def computed(self, stored: list[bytes], reads: Callable[[Committed, int], list[Opening]]) -> list[int]:
        """The step's numbers. Each is judged as well, from what `reads` opens of the weights, and not from fewer or
        more openings or from those in another order."""
        model = Model(self.program, b"".join(stored), SELECTOR)
        [tensor] = model.trace(CALLDATA)
        form = model.program.steps[0].form
        own = Committed([(form.stored, to_bytes(tensor))])
        read = Committed([(w.stored, rows) for w, rows in zip(model.program.weights, stored, strict=True)])

        def judged(openings: list[Opening]) -> tuple[int, int]:
            found = judge_element(model.program, read.root, own.root, 0, element, openings)
            return found.expected, found.claimed

        for element, held in enumerate(tensor.reshape(-1).tolist()):
            row, byte = divmod(element * form.type.size, form.stored.row_bytes)
            openings = [own.word(0, row, byte), *reads(read, element)]
            assert judged(openings) == (held, held)
            wrong = [openings[:-1], [*openings, openings[-1]]]
            # Of two equal tensors side by side, each is opened like the other.
            wrong += [
                [*openings[:i], openings[i + 1], openings[i], *openings[i + 2 :]]
                for i in range(1, len(openings) - 1)
                if openings[i].words != openings[i + 1].words
            ]
            for others in wrong:
                with pytest.raises(AssayError, match="prove nothing"):
                    judged(others)
        found: list[int] = integers(tensor, form.type).reshape(-1).tolist()
        return found
