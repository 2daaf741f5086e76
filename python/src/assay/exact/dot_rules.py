"""Structure rules of DOT (docs/EXACT.md, section 3)."""

from __future__ import annotations

from .form import ElementType, Layout
from .step_check import BYTES, StepCheck

MAX_DOT = 992
MAX_PLANES = 2016
MAX_ACTIVATIONS = 1024


class DotRules(StepCheck):
    """Of one step that sums products."""

    def dot(self) -> None:
        self.variant_below(6)
        has_c = self.step.variant == 5 and self.form.type is ElementType.S32 and self.step.c is not None
        self.operands(3 if has_c else 2)
        if self.step.variant == 3:
            self.dot_of_activations()
        else:
            self.dot_of_weights()

    def dot_of_weights(self) -> None:
        step, form = self.step, self.form
        a, b = self.tensor(step.a), self.weight(step.b, Layout.DOT)
        is_planes = step.variant >= 4
        self.require(a.type in (BYTES[:1] if is_planes else BYTES), f"a is {a.type.name}")
        length = 2 * b.dims[1] if is_planes else b.dims[1]
        self.require(a.dims[-1] == length, f"rows of {a.dims[-1]} bytes, must be {length}")
        self.require(is_planes or b.dims[1] <= MAX_DOT, f"weight rows of {b.dims[1]} bytes, at most {MAX_DOT}")
        self.require(form.dims[-1] == b.dims[0], f"{b.dims[0]} weight rows, last dim {form.dims[-1]}")
        self.require(step.k >= 1 and b.dims[0] % step.k == 0, f"{step.k} groups do not divide {b.dims[0]}")
        self.require(a.row_count == form.row_count * step.k, "rows of a are not rows of the output times groups")
        sums = (ElementType.S32,) if step.variant in (0, 4, 5) else ()
        self.output_in(*sums, *(() if step.variant in (0, 4) else BYTES))
        if step.c is not None:
            self.require(self.tensor(step.c) == form, "c has another type or other dims than the output")

    def dot_of_activations(self) -> None:
        step, form = self.step, self.form
        a, b = self.tensor(step.a), self.tensor(step.b)
        self.require(a.type in BYTES and b.type in BYTES, "an operand is no u8 or s8")
        self.require(a.dims[-1] <= MAX_ACTIVATIONS, f"rows of {a.dims[-1]} activations, at most {MAX_ACTIVATIONS}")
        self.require(a.dims[-1] == b.dims[-1], f"rows of {a.dims[-1]} and of {b.dims[-1]}")
        self.require(a.row_count == form.row_count, "rows of a are not rows of the output")
        self.require(
            step.k >= 1 and form.row_count % step.k == 0, f"{step.k} rows a matrix do not divide {form.row_count}"
        )
        self.require(b.row_count == form.row_count // step.k * form.dims[-1], "rows of b are not those of its matrices")
        self.output_in(ElementType.S32)
