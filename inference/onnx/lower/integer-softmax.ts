/** Softmax of quantized tensors in integers alone: exponentials by LOOKUP, their exact quotients by RESCALE ratio. Source:
 *  docs/EXACT.md, section 6. */

import { count } from "../graph.ts";
import { refuse } from "../refusal.ts";
import type { DequantizedTensor } from "./average.ts";
import { QUOTIENT_BITS } from "./integer-normalize.ts";
import type { Lowering } from "./lowering.ts";
import { isWide } from "./quantization.ts";
import { reduceRows } from "./rows.ts";
import { type ScaledValue, scaledIntegers } from "./values.ts";

/** Of a row's sum. */
const SUM_BITS = 30;
/** Rounding moves the sum of a row of this length by 2^-11 of itself at most. */
const MOST_LENGTH = 1_024;

/** `E(max − q) / Σ E(max − q)` in units of 2^-20, with `E(d) = round(2^t·exp(−scale·d))`.
 *  @param reduced axes of a row */
export function integerSoftmax(
  ctx: Lowering,
  { source, scale }: DequantizedTensor,
  reduced: readonly number[],
): ScaledValue {
  const { builder } = ctx;
  const { dims } = source;
  const kept = dims.map((_, axis) => axis).filter((axis) => !reduced.includes(axis));
  const order = [...kept, ...reduced];
  const n = count(reduced.map((axis) => dims[axis] as number));
  if (n > MOST_LENGTH) {
    const next = `Take at most ${MOST_LENGTH}, or import with --arithmetic float32.`;
    refuse(`its rows have ${n} elements, in integers`, next);
  }
  const elements = count(dims);
  const rows = [elements / n, n];
  const stored = ctx.reshape(ctx.inLayout(source, order), rows);
  const top = reduceRows(ctx, "max", stored, [elements / n, 1]);
  const ids = ctx.reshape(builder.arith("sub", "s32", top, stored), [elements, 1]);
  const bits = SUM_BITS - Math.ceil(Math.log2(n));
  const table = exponentials(scale[0] as number, bits, isWide(source.onnx) ? 2 ** 16 : 2 ** 8);
  const picked = builder.lookup("pick", ids, builder.plain("s32", [table.length, 1], table), [elements]);
  const parts = ctx.reshape(picked, rows);
  const sums = reduceRows(ctx, "sum", parts, [elements / n, 1]);
  // Each sum holds exp(0): the maximum changes nothing, and lets import see it.
  const whole = builder.arith("max", "s32", sums, builder.s32(2 ** bits));
  const operand = builder.ratio(parts, whole, 2 ** QUOTIENT_BITS);
  const layout = order.every((axis, i) => axis === i) ? {} : { layout: order };
  const tensor = { kind: "tensor", operand, type: "s32", onnx: "int32", dims, ...layout } as const;
  return scaledIntegers(tensor, 2 ** -QUOTIENT_BITS);
}

/** `round(2^bits·exp(−scale·d))` of d = 0, 1, …; the last one stands for all that are farther.
 *  @param most entries */
function exponentials(scale: number, bits: number, most: number): Int32Array {
  const entries: number[] = [];
  while (entries.length < most && entries.at(-1) !== 0) {
    entries.push(Math.round(2 ** bits * Math.exp(-scale * entries.length)));
  }
  return Int32Array.from(entries);
}
