/** What one element of a step is computed from: what the opcodes have in common. Source: docs/EXACT.md, section 3. */
import { lastDim, type Operand } from "../../program/form.ts";
import type { StepRanges } from "../context.ts";
import { broadcastIndex, type Range } from "../range.ts";

/** Told of consecutive elements of an operand. */
export type Visit = (operand: Operand, from: number, count: number) => void;

/** Names every element that the value of one element of a step can depend on. */
export type ElementReads = (element: number, visit: Visit) => void;

export function sameElement({ step: { a } }: StepRanges): ElementReads {
  return (element, visit) => visit(a, element, 1);
}

/** A whole row of operand a. */
export function wholeRow(ctx: StepRanges, rowOf: (element: number) => number): ElementReads {
  const { a } = ctx.step;
  const length = lastDim(ctx.operand("a").dims);
  return (element, visit) => visit(a, rowOf(element) * length, length);
}

export function broadcastElements(ctx: StepRanges): ElementReads {
  const { a, b, c, dims } = ctx.step;
  const maps = ctx.operands().map((operand) => broadcastIndex(operand.dims, dims));
  const operands = [a, b, c].slice(0, maps.length);
  return (element, visit) => {
    operands.forEach((operand, i) => {
      visit(operand, maps[i]?.[element] as number, 1);
    });
  };
}

/** Interval of one element. */
export function boundsAt({ low, high }: Range, element: number): readonly [number, number] {
  const at = low.length === 1 ? 0 : element;
  return [low[at] as number, high[at] as number];
}
