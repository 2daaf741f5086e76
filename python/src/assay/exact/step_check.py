"""What the structure rules of one step are asked with (docs/EXACT.md, section 2)."""

from __future__ import annotations

from .decode import invalid
from .form import ElementType, Form, Layout, Operand, Program, Step

BYTES = (ElementType.U8, ElementType.S8)


class StepCheck:
    """One step, with the program in front of it."""

    def __init__(self, program: Program, index: int, step: Step) -> None:
        self.program = program
        self.index = index
        self.step = step
        self.form = step.form

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            raise invalid(f"step {self.index} ({self.step.opcode.name}, variant {self.step.variant}): {what}")

    def variant_below(self, count: int) -> None:
        self.require(self.step.variant < count, "there is no such variant")

    def operands(self, count: int) -> None:
        """Exactly the first so many operands are there, each in front of this step."""
        for i, operand in enumerate((self.step.a, self.step.b, self.step.c)):
            self.require((operand is not None) == (i < count), f"operand {'abc'[i]} is {operand}")
            if operand is not None:
                bound = len(self.program.weights) if operand.is_weight else self.index
                self.require(operand.index < bound, f"operand {'abc'[i]} is {operand}, must be below {bound}")

    def no_k(self) -> None:
        self.require(self.step.k == 0, f"k is {self.step.k}, must be 0")

    def tensor(self, operand: Operand | None) -> Form:
        """A step's tensor or a PLAIN weight tensor."""
        assert operand is not None
        if operand.is_weight:
            return self.weight(operand, Layout.PLAIN)
        return self.program.form_of(operand)

    def weight(self, operand: Operand | None, layout: Layout) -> Form:
        assert operand is not None
        self.require(operand.is_weight, f"{operand} is no weight tensor")
        weight = self.program.weights[operand.index]
        self.require(weight.layout is layout, f"{operand} has layout {weight.layout.name}, must be {layout.name}")
        return weight.form

    def broadcasts(self, form: Form) -> None:
        dims = self.form.dims
        fits = len(form.dims) <= len(dims) and all(
            d in (1, o) for d, o in zip(reversed(form.dims), reversed(dims), strict=False)
        )
        self.require(fits, f"dims {form.dims} do not broadcast to {dims}")

    def output_in(self, *types: ElementType) -> None:
        self.require(self.form.type in types, f"the output's type is {self.form.type.name}")
