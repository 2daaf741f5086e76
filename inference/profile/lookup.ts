import { elementCount, isBelow, isEach, LOOKUP_VARIANTS, lastDim, NONE } from "../program/form.ts";
import { unpackLookup } from "../program/weights.ts";
import {
  CAN_BE_OTHER,
  type ElementReads,
  type ReadForm,
  sameElement,
  wholeRow,
  zerosAt,
} from "./causality/reads.ts";
import { plainValues, type StepRanges } from "./context.ts";
import { broadcastIndex, combine, commonGrid, empty, highest, lowest, type Range, uniform } from "./range.ts";
import { extremesOf } from "./table-extremes.ts";

/** LOOKUP: per column from the rows that the ids can name; the sum counts each of the J ids, id 0 as zero.
 *  @param most elements of which each has an interval of its own; default: as `combine` */
export function lookupRange(ctx: StepRanges, most?: number): Range {
  const { step } = ctx;
  if (isBelow(step)) return belowRange(ctx, most);
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

/** From the entries for the distances that two numbers of operand a can have, and 0 where a place may not count. Of a table
 *  what is kept of it is asked: the masks of a program can be many, and be computed often. */
function belowRange(ctx: StepRanges, most?: number): Range {
  const { step } = ctx;
  const { range } = ctx.operand("a");
  const table = ctx.operand("b").range;
  const { tiny, grid = 1 } = table;
  const named = highest(range) - lowest(range) + 1;
  const reach = { low: table.low.subarray(0, named), high: table.high.subarray(0, named), tiny };
  const [low, high] = [lowest(reach), highest(reach)];
  if (step.c === NONE) return uniform(low, high, tiny, grid);
  const counted = ([least]: readonly number[], [largest]: readonly number[], out: Float64Array): void => {
    const [canCount, canBeOut] = [(largest as number) > 0, (least as number) <= 0];
    out[0] = canCount ? (canBeOut ? Math.min(low, 0) : low) : 0;
    out[1] = canCount ? (canBeOut ? Math.max(high, 0) : high) : 0;
  };
  return { ...combine([ctx.operand("c")], step.dims, counted, most), tiny, grid };
}

/** The least size of entries other than 0; 1 where there are none. @param to the entry behind the last one */
function leastSize(values: ArrayLike<number>, from: number, to: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = from; i < to; i++) if (values[i] !== 0) least = Math.min(least, Math.abs(values[i] as number));
  return Number.isFinite(least) ? least : 1;
}

/** A row of ids, the element's id, or the places of a row that count. */
export function lookupReads(form: ReadForm): ElementReads {
  if (isBelow(form.step)) return belowReads(form);
  if (isEach(form.step)) return sameElement();
  return wholeRow(form, (element) => Math.floor(element / lastDim(form.step.dims)));
}

/** Above this many pairs of places of a row, the places that an element reads are told as one stretch. */
const MAX_PAIRS = 2 ** 26;

/** The mask's row, and of operand a's the places that can count; where an element's place cannot, the mask's alone. In a
 *  step of too many pairs of places, the beginning of the row up to the last place that can count. */
function belowReads(form: ReadForm): ElementReads {
  const { dims } = form.step;
  const length = lastDim(dims);
  const [, , counts] = form.dims;
  if (counts === undefined) return wholeRow(form, (element) => Math.floor(element / length));
  const mask = broadcastIndex(counts, dims);
  const isLarge = elementCount(dims) * length > MAX_PAIRS;
  const [, , zeros] = form.zeros;
  const canCount = (element: number): boolean => (zerosAt(zeros, mask[element] as number) & CAN_BE_OTHER) > 0;
  // Elements of one row follow one another.
  let [row, runs]: [number, number[]] = [-1, []];
  return (element, visit) => {
    visit(2, mask[element] as number, 1);
    if (!canCount(element)) return;
    if (row !== Math.floor(element / length)) {
      row = Math.floor(element / length);
      const found = runsOf(row * length, (row + 1) * length, canCount);
      runs = isLarge ? [row * length, found.at(-1) as number] : found;
    }
    visit(2, mask[row * length] as number, length);
    for (let i = 0; i < runs.length; i += 2)
      visit(0, runs[i] as number, (runs[i + 1] as number) - (runs[i] as number));
  };
}

/** The first of each run of elements for which it is so, and the one behind its last. */
function runsOf(from: number, to: number, is: (element: number) => boolean): number[] {
  const runs: number[] = [];
  for (let i = from; i < to; i++) {
    if (!is(i)) continue;
    if (runs.at(-1) === i) runs.pop();
    else runs.push(i);
    runs.push(i + 1);
  }
  return runs;
}
