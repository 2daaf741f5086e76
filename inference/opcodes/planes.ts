import type { StepCheck } from "../program/check.ts";
import { elementCount, lastDim, NONE, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { Kernel, OperandSource, Read } from "./opcode.ts";
import { checkDivisors, ratios } from "./ratio.ts";
import type { Requantizer } from "./requantizer.ts";

/** RESCALE planes: s32, or their ratios (ratio.ts), to numbers u of 16 bits, a row of which is its high bytes `⌊u / 256⌋` and
 *  behind them its low bytes `u mod 256`, for DOT planes. Source: docs/EXACT.md, section 3. */

/** Numbers of a row. Operand a may have any dims: its elements are such rows one after the other. */
export const planeLength = ({ dims }: Pick<Step, "dims">): number => lastDim(dims) / 2;

/** The dims in which operand a's elements are read. */
export const numberDims = (step: Pick<Step, "dims">): readonly number[] => [
  ...step.dims.slice(0, -1),
  planeLength(step),
];

export function preparePlanes(step: Step, channels: Requantizer): Kernel {
  const length = planeLength(step);
  const quotients = new Int32Array(step.c === NONE ? 0 : length);
  return (out, a, _b, c, from = 0, to = out.length) => {
    for (let at = from; at < to; at += 2 * length) {
      const numbers = { data: a as Int32Array, from: at / 2, count: length, channel: 0 };
      if (c === undefined) channels.planes(out, at, length, numbers);
      else {
        const divisor = (c as Int32Array)[at / (2 * length)] as number;
        ratios(quotients, numbers, step.k, divisor);
        channels.planes(out, at, length, { ...numbers, data: quotients, from: 0 });
      }
    }
  };
}

/** The element's word, the parameter word of its channel, and where there are divisors that of its row's. */
export function planesReads(step: Step, element: number, source: OperandSource): Read[] {
  const length = planeLength(step);
  const row = Math.floor(element / (2 * length));
  const column = element % length;
  const n = source.weights(step.b).dims[0] as number;
  const { type, dims } = source.shape(step.a);
  const read: Read[] = [
    readWord(step.a, type, dims, row * length + column),
    { operand: step.b, row: n === 1 ? 0 : column, word: 0 },
  ];
  return step.c === NONE ? read : [...read, readWord(step.c, "s32", source.shape(step.c).dims, row)];
}

export function planesRules(check: StepCheck): void {
  const { step } = check;
  check.type("u8");
  const input = check.plain("a", "s32");
  const parameters = check.weights("b", "channel");
  if (step.c === NONE) check.noAttribute();
  else checkDivisors(check, "c");
  check.must(lastDim(step.dims) % 2 === 0, "last dim", lastDim(step.dims), "even");
  if (input !== undefined) {
    const [count, wanted] = [elementCount(input.dims), elementCount(step.dims) / 2];
    check.must(count === wanted, "elements of operand a", count, `${wanted}, half of the output's`);
  }
  if (parameters === undefined) return;
  const [n, length] = [parameters.dims[0] as number, planeLength(step)];
  check.must(n === 1 || n === length, "channels of operand b", n, `1 or ${length}`);
}
