import { elementCount, isNorm, lastDim, REDUCE_VARIANTS } from "../../../../inference/program/form.ts";
import { maximum, minimum } from "../bits.ts";
import { type Int, sum } from "../integer.ts";
import type { Gadget } from "./gadget.ts";

/** REDUCE: a sum costs nothing, minimum and maximum a chain of comparisons. */
export const reduce: Gadget = (ctx) => {
  const { circuit, step, refuse } = ctx;
  if (isNorm(step))
    refuse("takes the root of a sum of squares, which has no circuit", "Leave out the lane PROOF.");
  const { dims, elements } = ctx.operand("a");
  const length = lastDim(dims);
  const variant = REDUCE_VARIANTS[step.variant];
  return Array.from({ length: elementCount(step.dims) }, (_, row) => {
    circuit.element(row);
    const items = elements.slice(row * length, (row + 1) * length);
    if (variant === "sum") return sum(items.map((x) => [x, 1n] as const));
    const choose = variant === "min" ? minimum : maximum;
    return items.reduce((best: Int, x) => choose(circuit, x, best, `the ${variant}imum so far`));
  });
};
