"""What a program is made of: types, layouts, steps (docs/EXACT.md, sections 1 and 2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import prod

WORD = 32
"""bytes of a word"""


class ElementType(IntEnum):
    U8 = 0
    S8 = 1
    S32 = 2
    F32 = 3
    BOOL = 4

    @property
    def size(self) -> int:
        """bytes of a stored element"""
        return 4 if self in (ElementType.S32, ElementType.F32) else 1

    @property
    def is_integer(self) -> bool:
        return self is not ElementType.F32


class Layout(IntEnum):
    PLAIN = 1
    DOT = 2
    LOOKUP = 3
    CHANNEL = 4


class Opcode(IntEnum):
    CODEC = 1
    MOVE = 2
    LOOKUP = 3
    DOT = 4
    REQUANT = 5
    RESCALE = 6
    TABLE = 7
    ARITH = 8
    FLOAT = 9
    REDUCE = 10
    SELECT = 11


class InputCodec(IntEnum):
    TEXT = 1
    PRICES = 2
    INT16S = 3
    RAW = 4


CLAIMED = 5
"""CODEC's variant that reads the claimed output; the others are input codecs"""


class OutputCodec(IntEnum):
    WORDS = 1
    INT16S = 2
    RAW = 3


def words_of(size: int) -> int:
    """Words that hold so many bytes."""
    return -(-size // WORD)


def height_of(count: int) -> int:
    """Levels of a binary tree above so many leaves, which are padded to a power of two."""
    return (count - 1).bit_length()


@dataclass(frozen=True)
class Rows:
    """Rows of equal length, as they are stored and committed to."""

    rows: int
    row_bytes: int

    @property
    def row_words(self) -> int:
        return words_of(self.row_bytes)

    @property
    def row_height(self) -> int:
        """height of one row's subtree"""
        return height_of(self.row_words)

    @property
    def height(self) -> int:
        return height_of(self.rows) + self.row_height


@dataclass(frozen=True)
class Form:
    """Type and dims of a tensor, row-major."""

    type: ElementType
    dims: tuple[int, ...]

    @property
    def count(self) -> int:
        return prod(self.dims)

    @property
    def row_count(self) -> int:
        return prod(self.dims[:-1])

    @property
    def stored(self) -> Rows:
        return Rows(self.row_count, self.dims[-1] * self.type.size)


@dataclass(frozen=True)
class Weight:
    """Descriptor of a weight tensor."""

    layout: Layout
    form: Form

    @property
    def stored(self) -> Rows:
        dims = self.form.dims
        if self.layout is Layout.PLAIN:
            return self.form.stored
        if self.layout is Layout.DOT:
            return Rows(dims[0], WORD * (words_of(dims[1]) + 1))
        if self.layout is Layout.LOOKUP:
            return Rows(dims[0], WORD * words_of(dims[1]))
        return Rows(dims[0], WORD)


@dataclass(frozen=True)
class Operand:
    """An earlier step's tensor, or a weight tensor."""

    is_weight: bool
    index: int


@dataclass(frozen=True)
class Coordinate:
    """One of MOVE's four: `s = a·i[p] + b·i[q] + c`, inside the view if 0 ≤ s < size."""

    size: int
    c: int
    a: int
    b: int
    p: int
    q: int


@dataclass(frozen=True)
class Step:
    opcode: Opcode
    variant: int
    form: Form
    a: Operand | None
    b: Operand | None
    c: Operand | None
    k: int
    coordinates: tuple[Coordinate, ...]
    """four for MOVE, else none"""

    @property
    def is_claimed(self) -> bool:
        """whether its tensor is the output that a claim states"""
        return self.opcode is Opcode.CODEC and self.variant == CLAIMED


@dataclass(frozen=True)
class Program:
    bytes: bytes
    input_codec: InputCodec
    output_codec: OutputCodec
    input_size: int
    weights: tuple[Weight, ...]
    steps: tuple[Step, ...]

    @property
    def output(self) -> Form:
        return self.steps[-1].form

    @property
    def reads_claimed(self) -> bool:
        return any(step.is_claimed for step in self.steps)

    def form_of(self, operand: Operand) -> Form:
        return (self.weights if operand.is_weight else self.steps)[operand.index].form

    @property
    def max_calldata(self) -> int:
        """bytes of the longest calldata, selector included"""
        size = self.input_size
        if self.input_codec is InputCodec.PRICES:
            return 4 + 96 + 3 * (32 + 32 * size)
        words = -(-size // 16) if self.input_codec is InputCodec.INT16S else words_of(size)
        return 4 + 64 + 32 * words

    @property
    def output_length(self) -> int:
        """bytes of return data"""
        count = self.output.count
        if self.output_codec is OutputCodec.WORDS:
            return 32 * count
        if self.output_codec is OutputCodec.INT16S:
            return 64 + 32 * -(-count // 16)
        return 64 + 32 * words_of(count * self.output.type.size)
