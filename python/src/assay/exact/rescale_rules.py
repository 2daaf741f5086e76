"""Structure rules of REQUANT and RESCALE (docs/EXACT.md, section 3)."""

from __future__ import annotations

from .form import ElementType, Form, Layout, Operand
from .step_check import BYTES, StepCheck


class RescaleRules(StepCheck):
    """Of one step that scales numbers by the parameters of their channels, by factors, or by the divisors of rows
    or of their parts."""

    def requant(self) -> None:
        self.require(self.step.variant in (1, 2), "there is no such variant")
        self.channels_of_output()
        self.output_in(*BYTES)

    def rescale(self) -> None:
        self.variant_below(3)
        if self.step.variant == 1:
            self.ratio()
        elif self.step.variant == 2:
            self.planes()
        else:
            self.channels_of_output()
            self.output_in(ElementType.S32)

    def planes(self) -> None:
        step, form = self.step, self.form
        self.operands(2 if step.c is None else 3)
        self.require(form.dims[-1] % 2 == 0, f"the last dim is {form.dims[-1]}, must be even")
        a = self.channels(form.dims[-1] // 2)
        self.require(2 * a.count == form.count, f"{a.count} numbers in {form.count} bytes")
        self.output_in(ElementType.U8)
        if step.c is None:
            self.no_k()
        elif step.k == 0:
            self.factors(step.c, a.count)
        else:
            self.divisors(step.c, most=form.dims[-1] // 2)

    def ratio(self) -> None:
        step, form = self.step, self.form
        self.operands(2)
        a = self.tensor(step.a)
        self.require(a.type.is_integer and a.dims == form.dims, "a has no integers of the output's dims")
        self.divisors(step.b, most=1)
        self.output_in(*BYTES, ElementType.S32)

    def factors(self, operand: Operand, numbers: int) -> None:
        """An operand with one for each of so many numbers."""
        factors = self.tensor(operand)
        self.require(factors.type is ElementType.S32, "the factors are no s32")
        self.require(factors.count == numbers, f"{factors.count} factors of {numbers} numbers")

    def divisors(self, operand: Operand | None, most: int) -> None:
        """An operand with equally many for each row of the output, a divisor of `most`, and the multiplier."""
        divisors, rows = self.tensor(operand), self.form.row_count
        self.require(divisors.type is ElementType.S32, "the divisors are no s32")
        per_row, rest = divmod(divisors.count, rows)
        self.require(rest == 0, f"{divisors.count} divisors of {rows} rows")
        self.require(most % per_row == 0, f"{per_row} divisors a row, must divide {most}")
        self.require(self.step.k >= 1, "the multiplier is 0")

    def channels_of_output(self) -> None:
        """Operand a has the output's dims; the indices of its last axis have parameters of their own, or all the
        same."""
        self.operands(2)
        self.no_k()
        dims = self.form.dims
        a = self.channels(dims[-1])
        self.require(a.dims == dims, f"a has dims {a.dims}, must be {dims}")

    def channels(self, row: int) -> Form:
        """Operand a, read as rows of so many numbers."""
        a, b = self.tensor(self.step.a), self.weight(self.step.b, Layout.CHANNEL)
        self.require(a.type is ElementType.S32, f"a is {a.type.name}")
        self.require(b.dims[0] in (1, row), f"{b.dims[0]} channels for rows of {row}")
        return a
