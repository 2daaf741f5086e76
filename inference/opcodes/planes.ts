import type { StepCheck } from "../program/check.ts";
import { elementCount, lastDim, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { Kernel, OperandSource, Read } from "./opcode.ts";
import type { Requantizer } from "./requantizer.ts";

/** RESCALE planes: s32 to numbers u of 16 bits, a row of which is its high bytes `⌊u / 256⌋` and behind them its low bytes
 *  `u mod 256`, for DOT planes. Source: docs/EXACT.md, section 3. */

/** Numbers of a row. Operand a may have any dims: its elements are such rows one after the other. */
export const planeLength = ({ dims }: Pick<Step, "dims">): number => lastDim(dims) / 2;

export function preparePlanes(step: Step, channels: Requantizer): Kernel {
  const length = planeLength(step);
  return (out, a, _b, _c, from = 0, to = out.length) => {
    for (let at = from; at < to; at += 2 * length) {
      const numbers = { data: a as Int32Array, from: at / 2, count: length, channel: 0 };
      channels.planes(out, at, length, numbers);
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
  check.must(lastDim(step.dims) % 2 === 0, "last dim", lastDim(step.dims), "even");
  if (input !== undefined) {
    const [count, wanted] = [elementCount(input.dims), elementCount(step.dims) / 2];
    check.must(count === wanted, "elements of operand a", count, `${wanted}, half of the output's`);
  }
  if (parameters === undefined) return;
  const [n, length] = [parameters.dims[0] as number, planeLength(step)];
  check.must(n === 1 || n === length, "channels of operand b", n, `1 or ${length}`);
}
