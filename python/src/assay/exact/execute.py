"""Runs a program: every step's tensor (docs/EXACT.md, section 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import AssayError
from . import kernels
from .calldata import Calldata, codec_tensor, parse_calldata
from .claimed import claimed_tensor
from .form import ElementType, Opcode, Operand, Program, Step
from .numbers import Stored, integers
from .output import encode_output
from .validate import decode_program
from .weights import Weights


class Model:
    """A program with its weights, ready to run.

    Raises AssayError PROGRAM_INVALID or WEIGHTS_INVALID.
    """

    def __init__(self, program: bytes, weights: bytes, selector: bytes) -> None:
        self.program = decode_program(program)
        self.weights = Weights.parse(self.program, weights)
        self.selector = selector

    def trace(self, calldata: bytes, claimed: bytes | None = None) -> list[Stored]:
        """Every step's tensor, stored elements in the step's dims.

        `claimed` is the output that a program reads which reads it; without it that is the one it finds right.
        Raises AssayError CALLDATA_NOT_CANONICAL; OUTPUT_LENGTH; OUTPUT_NOT_FOUND for a program that finds none right;
        FLOAT_UNIT_FLUSHES if this process drops subnormal numbers.
        """
        require_subnormals()
        read = parse_calldata(self.program, self.selector, calldata)
        if self.program.reads_claimed and claimed is None:
            return self._find(read)
        return self._pass(read, claimed)

    def _find(self, read: Calldata) -> list[Stored]:
        """Each pass reads what the one before gave, the first one zeros, until nothing changes: each rights a row."""
        output = bytes(self.program.output_length)
        passes = self.program.output.dims[0] + 1
        for _ in range(passes):
            tensors = self._pass(read, output)
            found = encode_output(self.program, tensors[-1])
            if found == output:
                return tensors
            output = found
        raise AssayError("OUTPUT_NOT_FOUND", f"No output that the program finds right was found in {passes} passes.")

    def _pass(self, read: Calldata, claimed: bytes | None) -> list[Stored]:
        run = Run(self, read, None if claimed is None else claimed_tensor(self.program, claimed))
        for step in self.program.steps:
            tensor = KERNELS[step.opcode](run, step)
            run.tensors.append(np.ascontiguousarray(tensor.reshape(step.form.dims)))
        return run.tensors

    def run(self, calldata: bytes) -> bytes:
        """Return data. Raises AssayError as `trace` does."""
        return encode_output(self.program, self.trace(calldata)[-1])


LEAST = np.array([1], np.uint32).view(np.float32)
"""the least subnormal number"""


def require_subnormals() -> None:
    """A library that was compiled for speed may have set the processor to flush subnormal numbers to zero."""
    if (LEAST * np.float32(1)).view(np.uint32)[0] != 1:
        raise AssayError(
            "FLOAT_UNIT_FLUSHES",
            "This thread's processor flushes subnormal numbers to zero: float results would be others.",
            "Run the model in a process that loads no library compiled with fast floating-point arithmetic.",
        )


class Run:
    """One run: the tensors so far, and how steps read them."""

    def __init__(self, model: Model, calldata: Calldata, claimed: Stored | None) -> None:
        self.program: Program = model.program
        self.weights = model.weights
        self.calldata = calldata
        self.claimed = claimed
        self.tensors: list[Stored] = []

    def tensor(self, operand: Operand | None) -> tuple[Stored, ElementType]:
        assert operand is not None
        kind = self.program.form_of(operand).type
        return (self.weights.plain if operand.is_weight else self.tensors)[operand.index], kind

    def numbers(self, operand: Operand | None) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        return integers(*self.tensor(operand))

    def broadcast(self, step: Step) -> list[tuple[Stored, ElementType]]:
        """All operands in the step's dims."""
        found = [self.tensor(operand) for operand in (step.a, step.b, step.c) if operand is not None]
        return [(np.broadcast_to(stored, step.form.dims), kind) for stored, kind in found]


def codec(run: Run, step: Step) -> Stored:
    if step.is_claimed:
        assert run.claimed is not None
        return run.claimed
    return codec_tensor(run.calldata, step)


def move(run: Run, step: Step) -> Stored:
    source, _ = run.tensor(step.a)
    dims = step.form.dims
    index = [i.astype(np.int64) for i in np.ogrid[tuple(slice(dim) for dim in dims)]]
    at = np.broadcast_to(kernels.move_sources(step.coordinates, index), dims)
    other = run.tensor(step.b)[0] if step.b is not None else source.dtype.type(step.k)
    return np.where(at < 0, other, source.reshape(-1)[at])


def lookup(run: Run, step: Step) -> Stored:
    assert step.b is not None
    ids = run.numbers(step.a)
    if step.variant == 3:
        return lookup_below(run, step)
    if step.variant == 0:
        return kernels.lookup_sum(ids.reshape(-1, ids.shape[-1]), run.weights.lookup[step.b.index])
    return kernels.pick(ids.reshape(-1), run.weights.plain[step.b.index])


def lookup_below(run: Run, step: Step) -> Stored:
    rows = run.numbers(step.a).reshape(-1, step.form.dims[-1])
    mask = np.ones(1, np.uint8) if step.c is None else run.tensor(step.c)[0]
    counts = np.broadcast_to(mask, step.form.dims).reshape(rows.shape) != 0
    table, kind = run.tensor(step.b)
    return kernels.below(kernels.below_sources(rows, counts, len(table)), table, kind)


def dot(run: Run, step: Step) -> Stored:
    assert step.b is not None
    if step.variant == 3:
        numbers, columns = run.numbers(step.a), run.numbers(step.b)
        length = numbers.shape[-1]
        matrices = numbers.size // length // step.k
        left, right = numbers.reshape(matrices, step.k, length), columns.reshape(matrices, -1, length)
        return kernels.dot_of_activations(left, right)
    a, _ = run.tensor(step.a)
    rows = run.weights.dot[step.b.index]
    addends = None if step.c is None else run.numbers(step.c).reshape(-1, step.form.dims[-1])
    return kernels.dot(step.variant, a.reshape(-1, step.k, a.shape[-1]), rows, step.form.type, addends)


def requant(run: Run, step: Step) -> Stored:
    assert step.b is not None
    return kernels.requant(step.variant, run.numbers(step.a), run.weights.channel[step.b.index])


def rescale(run: Run, step: Step) -> Stored:
    assert step.b is not None
    if step.variant == 1:
        numbers = run.numbers(step.a)
        rows, divisors = numbers.reshape(-1, numbers.shape[-1]), run.numbers(step.b).reshape(-1)
        return kernels.ratio(rows, divisors, step.k, step.form.type)
    parameters = run.weights.channel[step.b.index]
    if step.variant == 2:
        rows = run.numbers(step.a).reshape(-1, step.form.dims[-1] // 2)
        if step.c is None:
            return kernels.planes(rows, parameters)
        if step.k == 0:
            return kernels.planes_of_products(rows, run.numbers(step.c).reshape(rows.shape), parameters)
        return kernels.planes_of_quotients(rows, run.numbers(step.c).reshape(-1), step.k, parameters)
    return kernels.rescale(run.numbers(step.a), parameters)


def table(run: Run, step: Step) -> Stored:
    return kernels.table(run.tensor(step.a)[0], run.tensor(step.b)[0])


def arith(run: Run, step: Step) -> Stored:
    operands = [integers(*operand) for operand in run.broadcast(step)]
    if step.variant == 10:
        return kernels.rotate(operands[0], operands[1], step.k, step.form.type)
    return kernels.arith(step.variant, operands, step.form.type)


def float_(run: Run, step: Step) -> Stored:
    operands = run.broadcast(step)
    stored, kinds = [o[0] for o in operands], [o[1] for o in operands]
    return kernels.float_(step.variant, stored, kinds, step.form.type)


def reduce(run: Run, step: Step) -> Stored:
    numbers = run.numbers(step.a)
    return kernels.reduce(step.variant, numbers.reshape(-1, numbers.shape[-1]), run.tensor(step.a)[1], step.k)


def select(run: Run, step: Step) -> Stored:
    return kernels.select(*(stored for stored, _ in run.broadcast(step)))


KERNELS: dict[Opcode, Callable[[Run, Step], Stored]] = {
    Opcode.CODEC: codec,
    Opcode.MOVE: move,
    Opcode.LOOKUP: lookup,
    Opcode.DOT: dot,
    Opcode.REQUANT: requant,
    Opcode.RESCALE: rescale,
    Opcode.TABLE: table,
    Opcode.ARITH: arith,
    Opcode.FLOAT: float_,
    Opcode.REDUCE: reduce,
    Opcode.SELECT: select,
}
