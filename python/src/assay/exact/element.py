"""One element from opened operands, as a conviction computes it (docs/PROTOCOL.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import kernels
from .form import WORD, Form, Opcode, Operand, Program, Step
from .numbers import Integers, Stored, from_bytes, integers
from .openings import Opened, Opening, broadcast_place, index_of, invalid
from .weights import DotRows, Parameters, parse_lookup


@dataclass(frozen=True)
class Judgement:
    expected: int
    """the stored element that the operands give"""
    claimed: int
    """what the trace holds in its place"""


def judge_element(
    program: Program,
    weights_root: bytes,
    trace_root: bytes,
    step: int,
    element: int,
    openings: Sequence[Opening],
) -> Judgement:
    """Computes an element of a committed trace from openings, the word of the element itself first.

    Raises AssayError OPENING_INVALID for openings of other places, in another order or number, or that lead to another
    root.
    """
    if not 0 <= step < len(program.steps) or not 0 <= element < program.steps[step].form.count:
        raise invalid(f"there is no element {element} of step {step}")
    opened = Opened(program, weights_root, trace_root, iter(openings))
    claimed = opened.element(Operand(False, step), element)
    expected = ELEMENTS[program.steps[step].opcode](opened, program.steps[step], element)
    opened.end()
    return Judgement(int(expected.reshape(-1)[0]), int(claimed[0]))


def move(opened: Opened, step: Step, element: int) -> Stored:
    index = [np.array([i], np.int64) for i in index_of(step.form, element)]
    source = int(kernels.move_sources(step.coordinates, index)[0])
    if source >= 0:
        return opened.element(step.a, source)
    if step.b is not None:
        return opened.element(step.b, element)
    return np.array([step.k], np.uint32)


def lookup(opened: Opened, step: Step, element: int) -> Stored:
    assert step.a is not None and step.b is not None
    if step.variant == 3:
        return lookup_below(opened, step, element)
    rows, width = opened.program.form_of(step.b).dims
    row, column = divmod(element, width)
    if step.variant != 0:
        source = int(np.clip(opened.number(step.a, row), 0, rows - 1)[0])
        return opened.element(step.b, source * width + column)
    ids = opened.program.form_of(step.a)
    numbers = integers(from_bytes(opened.row(step.a, row), Form(ids.type, ids.dims[-1:])), ids.type)
    counted = [number for number in np.clip(numbers, 0, rows - 1).tolist() if number != 0]
    word, place = divmod(column, WORD)
    values = [parse_lookup(opened.word(step.b, number, word), WORD)[:, place] for number in counted]
    # A table of the opened rows alone, behind the row that never counts.
    table = np.concatenate([np.zeros(1, np.int64), *values])[:, None]
    return kernels.lookup_sum(np.arange(len(table))[None, :], table)


def lookup_below(opened: Opened, step: Step, element: int) -> Stored:
    assert step.a is not None and step.b is not None
    length = step.form.dims[-1]
    row, place = divmod(element, length)
    numbers = row_numbers(opened, step.a, row).reshape(1, -1)
    counts = np.ones(numbers.shape, np.bool_)
    if step.c is not None:
        # Its last axis is whole: one row of it has the elements of all of the output's row.
        own = broadcast_place(opened.program.form_of(step.c), step.form, element) // length
        counts = row_numbers(opened, step.c, own).reshape(1, -1) != 0
    table = opened.program.form_of(step.b)
    source = int(kernels.below_sources(numbers, counts, table.dims[0])[0, place])
    return opened.element(step.b, source) if source >= 0 else kernels.zero_of(table.type)


def row_numbers(opened: Opened, operand: Operand, row: int) -> Integers:
    """Numbers of a plain tensor's row."""
    form = opened.program.form_of(operand)
    return integers(from_bytes(opened.row(operand, row), Form(form.type, form.dims[-1:])), form.type)


def dot(opened: Opened, step: Step, element: int) -> Stored:
    assert step.a is not None and step.b is not None
    if step.variant == 3:
        m, n = divmod(element, step.form.dims[-1])
        right = m // step.k * step.form.dims[-1] + n
        both = [row_numbers(opened, step.a, m), row_numbers(opened, step.b, right)]
        return kernels.dot_of_activations(*(row.reshape(1, 1, -1) for row in both))
    count, length = opened.program.form_of(step.b).dims
    m, n = divmod(element, count)
    a = np.frombuffer(opened.row(step.a, m * step.k + n * step.k // count), np.uint8)
    rows = DotRows.parse(opened.row(step.b, n), length)
    addend = None if step.c is None else opened.number(step.c, element).reshape(1, 1)
    return kernels.dot(step.variant, a.reshape(1, 1, -1), rows, step.form.type, addend)


def channel(opened: Opened, step: Step, element: int) -> tuple[Integers, Parameters]:
    """An element of a, and the parameters of its channel."""
    assert step.a is not None
    return channel_at(opened, step, element, element % opened.program.form_of(step.a).dims[-1])


def channel_at(opened: Opened, step: Step, element: int, index: int) -> tuple[Integers, Parameters]:
    """An element of a, and its parameters, by index where they are not one for all."""
    assert step.a is not None and step.b is not None
    number = opened.number(step.a, element)
    row = index if opened.program.form_of(step.b).count > 1 else 0
    return number, Parameters.parse(opened.word(step.b, row, 0))


def requant(opened: Opened, step: Step, element: int) -> Stored:
    return kernels.requant(step.variant, *channel(opened, step, element))


def rescale(opened: Opened, step: Step, element: int) -> Stored:
    if step.variant == 1:
        row = element // step.form.dims[-1]
        x, divisor = opened.number(step.a, element), opened.number(step.b, row)
        return kernels.ratio(x.reshape(1, 1), divisor, step.k, step.form.type)
    if step.variant == 2:
        return plane(opened, step, element)
    return kernels.rescale(*channel(opened, step, element))


def plane(opened: Opened, step: Step, element: int) -> Stored:
    """One of the two bytes that a number of a gives."""
    count = step.form.dims[-1] // 2
    row, place = divmod(element, 2 * count)
    index = row * count + place % count
    number, parameters = channel_at(opened, step, index, place % count)
    if step.c is None:
        both = kernels.planes(number, parameters)
    elif step.k == 0:
        both = kernels.planes_of_products(number, opened.number(step.c, index), parameters)
    else:
        per_row = opened.program.form_of(step.c).count // step.form.row_count
        divisor = opened.number(step.c, row * per_row + place % count * per_row // count)
        both = kernels.planes_of_quotients(number.reshape(1, 1), divisor, step.k, parameters).reshape(-1)
    return both[place // count :][:1]


def table(opened: Opened, step: Step, element: int) -> Stored:
    return opened.element(step.b, int(opened.element(step.a, element)[0]))


def rotate(opened: Opened, step: Step, element: int) -> Stored:
    """One of the two elements that a pair of a and one of b give."""
    first = element - element % 2
    pairs = [opened.pair(operand, step, first) for operand in (step.a, step.b)]
    return kernels.rotate(pairs[0], pairs[1], step.k, step.form.type)[element - first :][:1]


def arith(opened: Opened, step: Step, element: int) -> Stored:
    if step.variant == 10:
        return rotate(opened, step, element)
    operands = [integers(*operand) for operand in opened.broadcast(step, element)]
    return kernels.arith(step.variant, operands, step.form.type)


def float_(opened: Opened, step: Step, element: int) -> Stored:
    stored, kinds = zip(*opened.broadcast(step, element), strict=True)
    return kernels.float_(step.variant, stored, kinds, step.form.type)


def reduce(opened: Opened, step: Step, element: int) -> Stored:
    assert step.a is not None
    form = opened.program.form_of(step.a)
    row = from_bytes(opened.row(step.a, element), Form(form.type, (1, form.dims[-1])))
    return kernels.reduce(step.variant, integers(row, form.type), form.type, step.k)


def select(opened: Opened, step: Step, element: int) -> Stored:
    return kernels.select(*(stored for stored, _ in opened.broadcast(step, element)))


def codec(opened: Opened, step: Step, element: int) -> Stored:
    raise invalid("a CODEC step is judged whole, from the calldata")


ELEMENTS: dict[Opcode, Callable[[Opened, Step, int], Stored]] = {
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
