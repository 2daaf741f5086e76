"""Openings of committed tensors: whose word or row they are, and that they lead to the right root."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from eth_utils.crypto import keccak

from ..errors import AssayError
from .commit import ZERO_WORDS, fold
from .form import WORD, ElementType, Form, Operand, Program, Rows, Step, height_of
from .numbers import Integers, Stored, from_bytes, integers
from .output import content_of, has_form, place_of
from .reveal import climb


@dataclass(frozen=True)
class Opening:
    words: tuple[bytes, ...]
    """the real words of an aligned subtree: one word, or a whole row without its padding"""
    path: tuple[bytes, ...]
    """siblings from the subtree to the trace or weights root"""


def invalid(why: str) -> AssayError:
    return AssayError(
        "OPENING_INVALID",
        f"The openings prove nothing: {why}.",
        "Open the words that PROTOCOL.md, section 4 names, in its order.",
    )


class Opened:
    """Takes openings in order and checks where each one is from."""

    def __init__(self, program: Program, weights_root: bytes, trace_root: bytes, openings: Iterator[Opening]) -> None:
        self.program = program
        self.roots = {True: weights_root, False: trace_root}
        self.openings = openings

    def end(self) -> None:
        if next(self.openings, None) is not None:
            raise invalid("there is one too many")

    def take(self, operand: Operand, leaf: int, words: int, height: int) -> bytes:
        """Bytes of so many words, the real ones of a subtree of this height that begins at the leaf."""
        tensors = self.program.weights if operand.is_weight else self.program.steps
        shape = self.shape(operand)
        opening = next(self.openings, None)
        if opening is None:
            raise invalid("there are too few")
        siblings = shape.height - height + height_of(len(tensors))
        if len(opening.words) != words or len(opening.path) != siblings:
            raise invalid(
                f"{len(opening.words)} words and {len(opening.path)} siblings, must be {words} and {siblings}"
            )
        node = fold([keccak(word) for word in opening.words], height, ZERO_WORDS)
        index = (operand.index << (shape.height - height)) + (leaf >> height)
        if climb(node, index, opening.path) != self.roots[operand.is_weight]:
            raise invalid("a path leads to another root")
        return b"".join(opening.words)

    def shape(self, operand: Operand) -> Rows:
        if operand.is_weight:
            return self.program.weights[operand.index].stored
        return self.program.steps[operand.index].form.stored

    def word(self, operand: Operand, row: int, word: int) -> bytes:
        return self.take(operand, (row << self.shape(operand).row_height) + word, 1, 0)

    def row(self, operand: Operand, row: int) -> bytes:
        shape = self.shape(operand)
        return self.take(operand, row << shape.row_height, shape.row_words, shape.row_height)[: shape.row_bytes]

    def element(self, operand: Operand | None, element: int) -> Stored:
        """One stored element [1] of a plain tensor, by its word."""
        assert operand is not None
        form = self.program.form_of(operand)
        row, column = divmod(element, form.dims[-1])
        word, at = divmod(column * form.type.size, WORD)
        return from_bytes(self.word(operand, row, word)[at : at + form.type.size], Form(form.type, (1,)))

    def type(self, operand: Operand | None) -> ElementType:
        assert operand is not None
        return self.program.form_of(operand).type

    def number(self, operand: Operand | None, element: int) -> Integers:
        return integers(self.element(operand, element), self.type(operand))

    def pair(self, operand: Operand | None, step: Step, element: int) -> Integers:
        """The operand's s32 numbers at the output's index and behind it, by the word that holds both."""
        assert operand is not None
        form = self.program.form_of(operand)
        row, column = divmod(broadcast_place(form, step.form, element), form.dims[-1])
        word, at = divmod(4 * column, WORD)
        both = self.word(operand, row, word)[at : at + 8]
        return integers(from_bytes(both, Form(ElementType.S32, (2,))), ElementType.S32)

    def broadcast(self, step: Step, element: int) -> list[tuple[Stored, ElementType]]:
        """The element of each operand at the output's index."""
        found = []
        for operand in (step.a, step.b, step.c):
            if operand is not None:
                place = broadcast_place(self.program.form_of(operand), step.form, element)
                found.append((self.element(operand, place), self.type(operand)))
        return found


def index_of(form: Form, element: int) -> list[int]:
    return [element // prod(form.dims[axis + 1 :]) % dim for axis, dim in enumerate(form.dims)]


def broadcast_place(form: Form, output: Form, element: int) -> int:
    """Number of the operand's element at the output's index."""
    index = index_of(output, element)[len(output.dims) - len(form.dims) :]
    place = 0
    for i, dim in zip(index, form.dims, strict=True):
        place = place * dim + (i if dim > 1 else 0)
    return place


@dataclass(frozen=True)
class OpenedOutput:
    """One element of a claimed output, as the bytes that return data hold."""

    expected: bytes
    """what the trace gives"""
    claimed: bytes


def open_output(
    program: Program, trace_root: bytes, output: bytes, element: int, openings: Sequence[Opening]
) -> OpenedOutput | None:
    """Compares an element of a claimed output with the trace's last tensor, by the word that holds it.

    None if the output has a wrong form, which is a fault by itself and takes no opening.
    Raises AssayError OPENING_INVALID.
    """
    if not has_form(program, output):
        return None
    if not 0 <= element < program.output.count:
        raise invalid(f"there is no element {element} of the output")
    opened = Opened(program, bytes(WORD), trace_root, iter(openings))
    stored = opened.element(Operand(False, len(program.steps) - 1), element)
    opened.end()
    expected = content_of(program.output_codec, program.output.type, stored)
    return OpenedOutput(expected, output[slice(*place_of(program, element))])
