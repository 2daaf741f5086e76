import { elementCount, isEach, LOOKUP_VARIANTS, lastDim } from "../program/form.ts";
import { unpackLookup } from "../program/weights.ts";
import { type ElementReads, type ReadForm, sameElement, wholeRow } from "./causality/reads.ts";
import { plainValues, type StepRanges } from "./context.ts";
import { combine, commonGrid, empty, highest, lowest, type Range, uniform } from "./range.ts";
import { extremesOf } from "./table-extremes.ts";

/** LOOKUP: per column from the rows that the ids can name; the sum counts each of the J ids, id 0 as zero. */
export function lookupRange(ctx: StepRanges): Range {
  const { step } = ctx;
  if (isEach(step)) return eachRange(ctx);
  const ids = ctx.operand("a");
  const { descriptor, bytes } = ctx.weight("b");
  const [rows, columns] = descriptor.dims as [number, number];
  const clamp = (id: number): number => Math.min(Math.max(id, 0), rows - 1);
  const from = clamp(lowest(ids.range));
  const to = clamp(highest(ids.range));
  const sum = LOOKUP_VARIANTS[step.variant] === "sum";
  const times = sum ? lastDim(ids.dims) : 1;
  const values = sum ? unpackLookup(bytes, rows, columns) : plainValues(descriptor.type, bytes);
  if (!sum) ctx.areNumbers(descriptor.type, values);
  const low = new Float64Array(columns).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(columns).fill(Number.NEGATIVE_INFINITY);
  for (let row = from; row <= to; row++) {
    for (let d = 0; d < columns; d++) {
      const value = sum && row === 0 ? 0 : (values[row * columns + d] as number);
      if (value < (low[d] as number)) low[d] = value;
      if (value > (high[d] as number)) high[d] = value;
    }
  }
  const tiny = leastSize(values, (sum ? Math.max(from, 1) : from) * columns, (to + 1) * columns);
  const grid = descriptor.type === "f32" ? commonGrid(values) : 1;
  const result = empty(step.dims);
  if (result.low.length === 1 && elementCount(step.dims) > 1) {
    const all = { low, high, tiny };
    return uniform(lowest(all) * times, highest(all) * times, tiny, grid);
  }
  for (let i = 0; i < result.low.length; i++) {
    result.low[i] = (low[i % columns] as number) * times;
    result.high[i] = (high[i % columns] as number) * times;
  }
  return { ...result, tiny, grid };
}

/** Each element from the entries that its id can name. */
function eachRange(ctx: StepRanges): Range {
  const ids = ctx.operand("a");
  const { descriptor, bytes } = ctx.weight("b");
  const values = plainValues(descriptor.type, bytes);
  ctx.areNumbers(descriptor.type, values);
  const clamp = (id: number): number => Math.min(Math.max(id, 0), values.length - 1);
  const extremes = extremesOf(values);
  const result = combine([ids], ctx.step.dims, ([low], [high], out) =>
    extremes(clamp(low as number), clamp(high as number), out),
  );
  const tiny = leastSize(values, clamp(lowest(ids.range)), clamp(highest(ids.range)) + 1);
  const grid = descriptor.type === "f32" ? commonGrid(values) : 1;
  return { ...result, tiny, grid };
}

/** The least size of entries other than 0; 1 where there are none. @param to the entry behind the last one */
function leastSize(values: ArrayLike<number>, from: number, to: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = from; i < to; i++) if (values[i] !== 0) least = Math.min(least, Math.abs(values[i] as number));
  return Number.isFinite(least) ? least : 1;
}

/** A row of ids, or the element's id. */
export const lookupReads = (form: ReadForm): ElementReads =>
  isEach(form.step)
    ? sameElement()
    : wholeRow(form, (element) => Math.floor(element / lastDim(form.step.dims)));
