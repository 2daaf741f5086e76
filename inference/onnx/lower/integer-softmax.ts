/** Softmax of quantized tensors in integers alone: exponentials by LOOKUP, their exact quotients by RESCALE ratio. Source:
 *  docs/EXACT.md, section 6. */

import { count, type OnnxTensor } from "../graph.ts";
import { refuse } from "../refusal.ts";
import { QUOTIENT_BITS } from "./integer-normalize.ts";
import type { Lowering } from "./lowering.ts";
import { kept } from "./masked.ts";
import { isWide } from "./quantization.ts";
import { softmaxRows } from "./softmax-rows.ts";
import { type DequantizedTensor, type ScaledValue, scaledIntegers } from "./values.ts";

/** Of a row's sum. */
const SUM_BITS = 30;
/** Rounding moves the sum of a row of this length by 2^-11 of itself at most. */
const MOST_LENGTH = 1_024;

/** `E(max − q) / Σ E(max − q)` in units of 2^-20, with `E(d) = round(2^t·exp(−scale·d))`, and 0 for `E` where a mask
 *  leaves nothing.
 *  @param reduced axes of a row @param mask leaves some of each row; default: all */
export function integerSoftmax(
  ctx: Lowering,
  value: DequantizedTensor,
  reduced: readonly number[],
  mask?: OnnxTensor,
): ScaledValue {
  const { builder } = ctx;
  const [scale = 1] = value.scale;
  const source =
    mask === undefined ? value.source : kept(ctx, mask, value.source, ctx.rangeOf(value.source).low);
  const n = count(reduced.map((axis) => source.dims[axis] as number));
  if (n > MOST_LENGTH) {
    const next = `Take at most ${MOST_LENGTH}, or import with --arithmetic float32.`;
    refuse(`its rows have ${n} elements, in integers`, next);
  }
  const rows = softmaxRows(ctx, source, reduced);
  const bits = SUM_BITS - Math.ceil(Math.log2(n));
  const most = isWide(source.onnx) ? 2 ** 16 : 2 ** 8;
  const all = rows.picked("s32", exponentials(scale, bits, most));
  const parts = mask === undefined ? all : rows.of(kept(ctx, mask, rows.result(all, "s32"), 0));
  // Each sum holds exp(0): the maximum changes nothing, and lets import see it.
  const whole = builder.arith("max", "s32", rows.sum(parts), builder.s32(2 ** bits));
  const quotient = builder.ratio(parts, whole, 2 ** QUOTIENT_BITS);
  return scaledIntegers(rows.result(quotient, "s32"), 2 ** -QUOTIENT_BITS);
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
