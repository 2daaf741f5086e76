"""Structure rules (docs/EXACT.md, sections 2, 3 and 5): what registration checks of a program."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from .decode import invalid, parse_program
from .dot_rules import MAX_PLANES, DotRules
from .form import (
    ElementType,
    Form,
    InputCodec,
    Layout,
    Opcode,
    OutputCodec,
    Program,
    Rows,
    Weight,
)
from .rescale_rules import RescaleRules
from .step_check import BYTES

MAX_HEIGHT = 22
"""of a tensor's tree: 2^22 leaves"""
MAX_COUNT = 1 << 24
MAX_CODEC_HEIGHT = 12
"""of the tree of a CODEC step's tensor: 4,096 leaves"""
MAX_MOVED = 84_000
"""bytes of the longest calldata and the return data together"""
MAX_BELOW = 1024
"""elements of a row"""
MAX_REDUCED = 1024
"""bytes of a row"""
MAX_NORM = 8192
INPUT_SIZES = {
    InputCodec.TEXT: (1, 4096),
    InputCodec.PRICES: (2, 256),
    InputCodec.INT16S: (1, 4096),
    InputCodec.RAW: (1, 65_536),
}


def decode_program(data: bytes) -> Program:
    """A program that keeps every structure rule.

    Raises AssayError PROGRAM_INVALID, naming the rule and the value.
    """
    program = parse_program(data)
    low, high = INPUT_SIZES[program.input_codec]
    if not low <= program.input_size <= high:
        raise invalid(f"input size {program.input_size} is not from {low} to {high}")
    for i, weight in enumerate(program.weights):
        check_weight(weight, f"weight {i}")
    for i, step in enumerate(program.steps):
        StepRules(program, i, step).check()
    check_output(program)
    moved = program.max_calldata + program.output_length
    if moved > MAX_MOVED:
        raise invalid(f"calldata and return data have {moved} bytes, at most {MAX_MOVED}")
    return program


def check_size(form: Form, stored: Rows, where: str) -> None:
    if form.count >= MAX_COUNT:
        raise invalid(f"{where}: {form.count} elements, must be below {MAX_COUNT}")
    if stored.height > MAX_HEIGHT:
        raise invalid(f"{where}: 2^{stored.height} leaves, at most 2^{MAX_HEIGHT}")


def check_weight(weight: Weight, where: str) -> None:
    form = weight.form
    if weight.layout is not Layout.PLAIN:
        check_layout(weight, where)
    check_size(form, weight.stored, where)


def check_layout(weight: Weight, where: str) -> None:
    form = weight.form
    required = ElementType.S8 if weight.layout is Layout.LOOKUP else ElementType.U8
    rank = 1 if weight.layout is Layout.CHANNEL else 2
    if form.type is not required or len(form.dims) != rank:
        raise invalid(f"{where}: layout {weight.layout.name} has type {required.name} and rank {rank}")
    longest = {Layout.DOT: MAX_PLANES, Layout.LOOKUP: 1024}.get(weight.layout)
    if longest is not None and form.dims[1] > longest:
        raise invalid(f"{where}: rows of {form.dims[1]} elements, at most {longest}")


def check_output(program: Program) -> None:
    form = program.output
    count, size = form.count, form.count * form.type.size
    if program.output_codec is OutputCodec.WORDS and not (form.type.is_integer and count <= 256):
        raise invalid(f"output codec words takes at most 256 integers, not {count} of {form.type.name}")
    if program.output_codec is OutputCodec.INT16S and not (form.type is ElementType.S32 and count <= 4096):
        raise invalid(f"output codec int16s takes at most 4096 s32, not {count} of {form.type.name}")
    if program.output_codec is OutputCodec.RAW and size > 65_536:
        raise invalid(f"output codec raw takes at most 65536 bytes, not {size}")


class StepRules(DotRules, RescaleRules):
    """Checks one step against the program in front of it."""

    def check(self) -> None:
        step = self.step
        check_size(self.form, self.form.stored, f"step {self.index}")
        RULES[step.opcode](self)

    # One rule an opcode

    def codec(self) -> None:
        program, step, form = self.program, self.step, self.form
        self.operands(0)
        self.require(form.stored.height <= MAX_CODEC_HEIGHT, "more than 4096 leaves")
        if step.is_claimed:
            self.claimed()
            return
        self.require(step.variant == program.input_codec, "the variant is not the header's input codec")
        if program.input_codec is not InputCodec.RAW:
            self.output_in(ElementType.S32)
        if program.input_codec is InputCodec.TEXT:
            fits = len(form.dims) == 2 and form.dims[0] <= 64 and form.dims[1] <= 16
            self.require(fits, f"dims {form.dims} are not [tokens up to 64, width up to 16]")
            self.require(2 <= step.k <= 1 << 24, f"k is {step.k}, must be from 2 to 2^24")
        elif program.input_codec is InputCodec.PRICES:
            self.no_k()
            self.require(form.dims == (3, program.input_size - 1), f"dims {form.dims} are not [3, n − 1]")
        else:
            size = form.type.size if program.input_codec is InputCodec.RAW else 1
            end = step.k + form.count * size
            self.require(end <= program.input_size, f"reads up to {end} of {program.input_size}")

    def claimed(self) -> None:
        """Of CODEC: the last step's tensor, of numbers."""
        self.output_in(ElementType.U8, ElementType.S8, ElementType.S32)
        self.require(self.form == self.program.output, "the tensor is another than the last step's")
        self.no_k()

    def move(self) -> None:
        step, form = self.step, self.form
        self.variant_below(1)
        self.operands(1 if step.b is None else 2)
        source = self.tensor(step.a)
        self.require(source.type is form.type, "the source has another type")
        if step.b is not None:
            self.no_k()
            self.require(self.tensor(step.b) == form, "b has another type or other dims")
        elif form.type.size == 1:
            self.require(step.k <= 255, f"the pad {step.k} is no byte")
        view = prod(coordinate.size for coordinate in step.coordinates)
        self.require(view == source.count, f"the view has {view} elements, the source {source.count}")
        for c in step.coordinates:
            rank = len(form.dims)
            self.require(c.size >= 1, "a view dim is 0")
            self.require(c.p < rank and c.q < rank, f"axes {c.p} and {c.q} are not below the rank {rank}")
            self.require(c.a != 0 or c.p == 0, "p without a")
            self.require(c.b != 0 or c.q == 0, "q without b")

    def lookup(self) -> None:
        step, form = self.step, self.form
        self.variant_below(4)
        self.operands(3 if step.variant == 3 and step.c is not None else 2)
        self.no_k()
        ids = self.tensor(step.a)
        self.require(ids.type is ElementType.S32, "ids are no s32")
        if step.variant == 2:
            self.lookup_each(ids)
            return
        if step.variant == 3:
            self.lookup_below(ids)
            return
        longest = 16 if step.variant == 0 else 1
        self.require(ids.dims[-1] <= longest, f"{ids.dims[-1]} ids a row, at most {longest}")
        self.require(ids.row_count == form.row_count, "ids and output have not as many rows")
        table = self.weight(step.b, Layout.LOOKUP if step.variant == 0 else Layout.PLAIN)
        self.require(len(table.dims) == 2, "the table has not rank 2")
        self.require(table.dims[1] == form.dims[-1], "the table's rows are not the output's last dim")
        self.require(form.type is (ElementType.S32 if step.variant == 0 else table.type), "the output's type")

    def lookup_each(self, ids: Form) -> None:
        table = self.weight(self.step.b, Layout.PLAIN)
        self.require(ids.dims == self.form.dims, "ids and output have not the same dims")
        self.require(len(table.dims) == 2 and table.dims[1] == 1, "the table is no column")
        self.require(self.form.type is table.type, "the output's type")

    def lookup_below(self, numbers: Form) -> None:
        length = numbers.dims[-1]
        self.require(length <= MAX_BELOW, f"rows of {length} elements, at most {MAX_BELOW}")
        self.lookup_each(numbers)
        if self.step.c is not None:
            mask = self.tensor(self.step.c)
            self.require(mask.type is ElementType.BOOL, "c is no bool")
            self.require(mask.dims[-1] == length, f"rows of c have {mask.dims[-1]} elements, not {length}")
            self.broadcasts(mask)

    def table(self) -> None:
        self.variant_below(1)
        self.operands(2)
        self.no_k()
        a, b = self.tensor(self.step.a), self.weight(self.step.b, Layout.PLAIN)
        self.require(a.type.size == 1 and a.dims == self.form.dims, "a has no bytes of the output's dims")
        self.require(b == Form(ElementType.U8, (256,)), "b is no u8 [256]")
        self.require(self.form.type.size == 1, "the output has no bytes")

    def arith(self) -> None:
        step = self.step
        self.variant_below(11)
        if step.variant == 10:
            self.rotate()
            return
        self.operands(1 if step.variant == 9 else 2)
        self.no_k()
        for operand in (step.a, step.b)[: 1 if step.variant == 9 else 2]:
            form = self.tensor(operand)
            self.require(form.type.is_integer, "an operand is f32")
            self.broadcasts(form)
        if step.variant in (6, 7, 8):
            self.output_in(ElementType.BOOL)
        else:
            self.require(self.form.type.is_integer, "the output is f32")
            self.require(step.variant == 9 or self.form.type is not ElementType.BOOL, "the output is bool")

    def rotate(self) -> None:
        step, length = self.step, self.form.dims[-1]
        self.operands(2)
        self.output_in(*BYTES, ElementType.S32)
        self.require(length % 2 == 0, f"rows of {length} elements are no pairs")
        self.require(step.k < 32, f"a shift of {step.k}, at most 31")
        for operand in (step.a, step.b):
            form = self.tensor(operand)
            self.require(form.type is ElementType.S32, "an operand is no s32")
            self.require(form.dims[-1] == length, f"an operand's rows have {form.dims[-1]} elements, not {length}")
            self.broadcasts(form)

    def float(self) -> None:
        variant = self.step.variant
        self.variant_below(len(FLOAT_OPERANDS))
        kinds = FLOAT_OPERANDS[variant]
        self.operands(len(kinds))
        self.no_k()
        for kind, operand in zip(kinds, (self.step.a, self.step.b, self.step.c), strict=False):
            form = self.tensor(operand)
            taken = {
                "f": form.type is ElementType.F32,
                "i": form.type.is_integer,
                "s": form.type is ElementType.S32,
            }
            self.require(taken[kind], f"an operand is {form.type.name}")
            self.broadcasts(form)
        if variant == 12:
            self.require(self.form.type.is_integer, "the output is f32")
        elif variant == 14:
            self.output_in(*BYTES)
        else:
            self.output_in(ElementType.BOOL if variant in (8, 9, 10) else ElementType.F32)

    def reduce(self) -> None:
        self.variant_below(4)
        self.operands(1)
        is_norm = self.step.variant == 3
        if not is_norm:
            self.no_k()
        a = self.tensor(self.step.a)
        self.require(a.type.is_integer, "a is f32")
        length, most = a.dims[-1], MAX_NORM // a.type.size if is_norm else MAX_REDUCED
        self.require(length <= most, f"rows of {length} elements, at most {most}")
        self.require(self.form.count == a.row_count, f"{a.row_count} rows, {self.form.count} outputs")
        self.output_in(ElementType.S32 if self.step.variant in (0, 3) else a.type)

    def select(self) -> None:
        self.variant_below(1)
        self.operands(3)
        self.no_k()
        condition = self.tensor(self.step.a)
        self.require(condition.type is ElementType.BOOL, "a is no bool")
        self.broadcasts(condition)
        for operand in (self.step.b, self.step.c):
            form = self.tensor(operand)
            self.require(form.type is self.form.type, "b and c have not the output's type")
            self.broadcasts(form)


FLOAT_OPERANDS = ("ff", "ff", "ff", "ff", "f", "f", "ff", "ff", "ff", "ff", "ff", "i", "f", "ifs", "ffs")
"""by variant: f is f32, i an integer, s an s32"""

RULES: dict[Opcode, Callable[[StepRules], None]] = {
    Opcode.CODEC: StepRules.codec,
    Opcode.MOVE: StepRules.move,
    Opcode.LOOKUP: StepRules.lookup,
    Opcode.DOT: StepRules.dot,
    Opcode.REQUANT: StepRules.requant,
    Opcode.RESCALE: StepRules.rescale,
    Opcode.TABLE: StepRules.table,
    Opcode.ARITH: StepRules.arith,
    Opcode.FLOAT: StepRules.float,
    Opcode.REDUCE: StepRules.reduce,
    Opcode.SELECT: StepRules.select,
}
