import { elementCount, NONE, type Step } from "../program/form.ts";
import type { ElementReads, ReadForm } from "./causality/reads.ts";
import type { StepRanges } from "./context.ts";
import { commonGrid, empty, gridOf, highest, isUniform, lowest, type Range, uniform } from "./range.ts";

/** Calls `visit` with each output index and the source element that a MOVE takes there, −1 where none.
 *  Source: docs/EXACT.md, opcode MOVE. */
function forEachMoved(
  step: Pick<Step, "dims" | "coordinates">,
  visit: (index: number, source: number) => void,
): void {
  const total = elementCount(step.dims);
  const at = new Array<number>(step.dims.length).fill(0);
  for (let i = 0; i < total; i++) {
    let source = 0;
    for (const { view, a, p, b, q, c } of step.coordinates) {
      const s = a * (at[p] as number) + b * (at[q] as number) + c;
      if (s < 0 || s >= view) {
        source = -1;
        break;
      }
      source = source * view + s;
    }
    visit(i, source);
    for (let axis = at.length - 1; axis >= 0; axis--) {
      at[axis] = (at[axis] as number) + 1;
      if ((at[axis] as number) < (step.dims[axis] as number)) break;
      at[axis] = 0;
    }
  }
}

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
  forEachMoved(step, (i, from) => {
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
  const sources = new Int32Array(elementCount(step.dims));
  forEachMoved(step, (i, source) => {
    sources[i] = source;
  });
  return (element, visit) => {
    const source = sources[element] as number;
    if (source >= 0) visit(0, source, 1);
    else if (other !== undefined) visit(1, element, 1);
  };
}
