import type { StepCheck } from "../program/check.ts";
import { lastDim, rowCount, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { OperandSource, Read } from "./opcode.ts";
import type { Requantizer } from "./requantizer.ts";

/** RESCALE planes: s32 to numbers u of 16 bits, a row of which is its high bytes `⌊u / 256⌋` and behind them its low bytes
 *  `u mod 256`, for DOT planes. Source: docs/EXACT.md, section 3. */

/** Most of 16 bits. */
export const MOST_NUMBER = 65_535;

/** @param rescaled what RESCALE makes of the element, within s32 */
export const numberOf = (rescaled: number): number => Math.max(0, Math.min(MOST_NUMBER, rescaled));

/** Elements of a row of operand a. */
export const planeLength = ({ dims }: Pick<Step, "dims">): number => lastDim(dims) / 2;

export function preparePlanes(
  step: Step,
  channels: Requantizer,
): (out: Uint8Array, input: Int32Array) => void {
  const length = planeLength(step);
  const period = channels.bias.length;
  return (out, input) => {
    for (let i = 0, n = 0; i < input.length; i++) {
      const number = numberOf(channels.rescaled(input[i] as number, n));
      const column = i % length;
      const to = 2 * (i - column) + column;
      out[to] = number >> 8;
      out[to + length] = number;
      if (++n === period) n = 0;
    }
  };
}

/** The element's word, and the parameter word of its channel. */
export function planesReads(step: Step, element: number, source: OperandSource): Read[] {
  const length = planeLength(step);
  const row = Math.floor(element / (2 * length));
  const column = element % length;
  const n = source.weights(step.b).dims[0] as number;
  const { type, dims } = source.shape(step.a);
  return [
    readWord(step.a, type, dims, row * length + column),
    { operand: step.b, row: n === 1 ? 0 : column, word: 0 },
  ];
}

export function planesRules(check: StepCheck): void {
  const { step } = check;
  check.type("u8");
  const input = check.plain("a", "s32");
  const parameters = check.weights("b", "channel");
  check.none("c");
  check.noAttribute();
  check.rows("a", input, rowCount(step.dims));
  if (input === undefined) return;
  const length = lastDim(input.dims);
  check.must(
    lastDim(step.dims) === 2 * length,
    "last dim",
    lastDim(step.dims),
    `2 * ${length}, twice operand a's`,
  );
  if (parameters === undefined) return;
  const n = parameters.dims[0] as number;
  check.must(n === 1 || n === length, "channels of operand b", n, `1 or ${length}`);
}
