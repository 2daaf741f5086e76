import { sourceMap } from "../opcodes/move.ts";
import { elementCount, NONE, type Step } from "../program/form.ts";
import type { ElementReads, ReadForm } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { commonGrid, empty, gridOf, highest, isUniform, lowest, type Range, uniform } from "./range.ts";

/** The number that a pad attribute means. */
export function padValue(step: Step): number {
  if (step.type === "s8") return (step.k & 255) - 128;
  if (step.type === "f32") {
    const view = new DataView(new ArrayBuffer(4));
    view.setUint32(0, step.k);
    return view.getFloat32(0);
  }
  return step.type === "s32" ? step.k | 0 : step.k & 255;
}

export function moveRange(ctx: StepRanges): Range {
  const { step } = ctx;
  const source = ctx.operand("a").range;
  const other = step.b === NONE ? exactPad(ctx) : ctx.operand("b").range;
  const tiny = Math.min(source.tiny, other.tiny);
  const grid = Math.min(gridOf(source), gridOf(other));
  const result = empty(step.dims);
  const first = step.coordinates.map((j) => j.view).reduce((n, v) => n * v, 1);
  if (result.low.length === 1 && elementCount(step.dims) > 1) {
    const low = Math.min(lowest(source), lowest(other));
    return {
      low: Float64Array.of(low),
      high: Float64Array.of(Math.max(highest(source), highest(other))),
      tiny,
      grid,
    };
  }
  const single = isUniform(source) && first > 1;
  sourceMap(step).forEach((from, i) => {
    const range = from >= 0 ? source : other;
    const at = from >= 0 ? (single ? 0 : from) : isUniform(other) ? 0 : i;
    result.low[i] = range.low[at] as number;
    result.high[i] = range.high[at] as number;
  });
  return { ...result, tiny, grid };
}

function exactPad(ctx: StepRanges): Range {
  const { step } = ctx;
  const value = padValue(step);
  ctx.areNumbers(step.type, [value]);
  // A zero is a multiple of anything.
  return value === 0
    ? uniform(value, value, Number.MAX_VALUE, Number.MAX_VALUE)
    : uniform(value, value, Math.abs(value), step.type === "f32" ? commonGrid([value]) : 1);
}

/** The element that it copies. */
export function moveReads({ step, dims: [, other] }: ReadForm): ElementReads {
  const sources = sourceMap(step);
  return (element, visit) => {
    const source = sources[element] as number;
    if (source >= 0) visit(0, source, 1);
    else if (other !== undefined) visit(1, element, 1);
  };
}
