"""Program bytes to a program (docs/EXACT.md, section 2)."""

from __future__ import annotations

from ..errors import AssayError
from .form import (
    WORD,
    Coordinate,
    ElementType,
    Form,
    InputCodec,
    Layout,
    Opcode,
    Operand,
    OutputCodec,
    Program,
    Step,
    Weight,
)

MAGIC = b"ASY1"
HEADER = 32
RECORD = 128
MAX_RANK = 6
NO_OPERAND = 0xFFFF
WEIGHT_MARK = 0x8000


def invalid(why: str) -> AssayError:
    return AssayError(
        "PROGRAM_INVALID",
        f"The program breaks a rule: {why}.",
        "Take the program that the model's id commits to.",
    )


class Fields:
    """Big-endian fields of a piece of the program."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data = data
        self.where = where

    def u(self, at: int, size: int) -> int:
        return int.from_bytes(self.data[at : at + size], "big")

    def s(self, at: int, size: int) -> int:
        return int.from_bytes(self.data[at : at + size], "big", signed=True)

    def zero(self, start: int, end: int) -> None:
        if any(self.data[start:end]):
            raise invalid(f"{self.where}: bytes {start} to {end - 1} are not zero")

    def dims(self, at: int, rank: int) -> tuple[int, ...]:
        """Six u32, of which the first `rank` are at least 1 and the others 0."""
        if not 1 <= rank <= MAX_RANK:
            raise invalid(f"{self.where}: rank {rank} is not from 1 to {MAX_RANK}")
        dims = tuple(self.u(at + 4 * i, 4) for i in range(MAX_RANK))
        if min(dims[:rank]) < 1 or any(dims[rank:]):
            raise invalid(f"{self.where}: dims {dims} do not fit rank {rank}")
        return dims[:rank]

    def type(self, at: int) -> ElementType:
        code = self.data[at]
        if code > ElementType.BOOL:
            raise invalid(f"{self.where}: there is no type {code}")
        return ElementType(code)


def parse_program(data: bytes) -> Program:
    """Reads the fields. `validate.validate` checks what they say of each other.

    Raises AssayError PROGRAM_INVALID for another length, code or byte than the form has.
    """
    header = Fields(data[:HEADER], "header")
    if len(data) < HEADER or not data.startswith(MAGIC):
        raise invalid("it does not begin with a header ASY1")
    weight_count, step_count = header.u(4, 2), header.u(6, 2)
    if weight_count > 2048:
        raise invalid(f"{weight_count} weight tensors, at most 2048")
    if not 1 <= step_count <= 2048:
        raise invalid(f"{step_count} steps, must be from 1 to 2048")
    if not 1 <= data[8] <= 4:
        raise invalid(f"there is no input codec {data[8]}")
    if not 1 <= data[9] <= 3:
        raise invalid(f"there is no output codec {data[9]}")
    header.zero(14, HEADER)
    records = HEADER + WORD * weight_count
    length = records + RECORD * step_count
    if len(data) != length:
        raise invalid(f"{len(data)} bytes, by its header {length}")
    weights = [
        parse_weight(Fields(data[at : at + WORD], f"weight {i}")) for i, at in enumerate(range(HEADER, records, WORD))
    ]
    steps = [
        parse_step(Fields(data[at : at + RECORD], f"step {i}")) for i, at in enumerate(range(records, length, RECORD))
    ]
    return Program(
        bytes=data,
        input_codec=InputCodec(data[8]),
        output_codec=OutputCodec(data[9]),
        input_size=header.u(10, 4),
        weights=tuple(weights),
        steps=tuple(steps),
    )


def parse_weight(fields: Fields) -> Weight:
    layout = fields.data[0]
    if not 1 <= layout <= 4:
        raise invalid(f"{fields.where}: there is no layout {layout}")
    fields.zero(3, 4)
    fields.zero(28, WORD)
    return Weight(Layout(layout), Form(fields.type(1), fields.dims(4, fields.data[2])))


def parse_step(fields: Fields) -> Step:
    code = fields.data[0]
    if not 1 <= code <= 11:
        raise invalid(f"{fields.where}: there is no opcode {code}")
    opcode = Opcode(code)
    fields.zero(14, 32)
    fields.zero(56, 64)
    if opcode is not Opcode.MOVE:
        fields.zero(64, RECORD)
    return Step(
        opcode=opcode,
        variant=fields.data[1],
        form=Form(fields.type(2), fields.dims(32, fields.data[3])),
        a=parse_operand(fields.u(4, 2)),
        b=parse_operand(fields.u(6, 2)),
        c=parse_operand(fields.u(8, 2)),
        k=fields.u(10, 4),
        coordinates=tuple(parse_coordinate(fields, 64 + 16 * j) for j in range(4)) if opcode is Opcode.MOVE else (),
    )


def parse_operand(code: int) -> Operand | None:
    if code == NO_OPERAND:
        return None
    return Operand(code >= WEIGHT_MARK, code % WEIGHT_MARK)


def parse_coordinate(fields: Fields, at: int) -> Coordinate:
    return Coordinate(
        size=fields.u(at, 4),
        c=fields.s(at + 4, 4),
        a=fields.s(at + 8, 3),
        b=fields.s(at + 11, 3),
        p=fields.data[at + 14],
        q=fields.data[at + 15],
    )
