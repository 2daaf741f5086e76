/** How the elements of a step are parted, so that two threads compute them together. */
import { rowLength } from "../opcodes/opcode.ts";
import { MOST_TOGETHER } from "../opcodes/products.ts";
import type { Program, Step } from "../program/form.ts";
import { stepWork } from "./quick.ts";

/** Elements of a step, `from` to before `to`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Least work of a part, as `stepWork` counts it: some 10 µs, far more than a thread needs to take it. */
export const LEAST_WORK = 8_192;
/** Enough that neither thread waits long for the other's last one. */
const MOST_PARTS = 8;

/** Elements from one part's first to the next one's, whole rows that a kernel computes alone; undefined: there would be
 *  one. @param span whole rows of the step @param least work of a part */
export function partLength(
  program: Program,
  step: Step,
  { from, to }: Span,
  least = LEAST_WORK,
): number | undefined {
  const parts = Math.min(MOST_PARTS, Math.floor(stepWork(program, step, to - from) / least));
  const row = rowLength(step);
  if (parts < 2 || to - from === row) return undefined;
  const rows = Math.ceil((to - from) / row / parts);
  // As many as share the loads of a DOT's weights.
  const whole = rows < MOST_TOGETHER ? rows : MOST_TOGETHER * Math.ceil(rows / MOST_TOGETHER);
  return whole * row < to - from ? whole * row : undefined;
}
