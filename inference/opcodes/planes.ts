import type { StepCheck } from "../program/check.ts";
import { elementCount, lastDim, NONE, rowCount, type Step } from "../program/form.ts";
import { readWord } from "./broadcast.ts";
import type { Span } from "./channel-forms.ts";
import type { Kernel, OperandSource, PreparedOperand, Read } from "./opcode.ts";
import { ratios } from "./ratio.ts";
import type { Requantizer } from "./requantizer.ts";

/** RESCALE planes: s32, or their products, or their ratios (ratio.ts), to numbers u of 16 bits, a row of which is its high bytes `⌊u / 256⌋` and
 *  behind them its low bytes `u mod 256`, for DOT planes. Source: docs/EXACT.md, section 3. */

/** Numbers of a row. Operand a may have any dims: its elements are such rows one after the other. */
export const planeLength = ({ dims }: Pick<Step, "dims">): number => lastDim(dims) / 2;

/** The dims in which operand a's elements are read. */
export const numberDims = (step: Pick<Step, "dims">): readonly number[] => [
  ...step.dims.slice(0, -1),
  planeLength(step),
];

/** @param by factors or divisors, if there are any */
export function preparePlanes(step: Step, channels: Requantizer, by?: PreparedOperand): Kernel {
  const length = planeLength(step);
  const changed = new Int32Array(by === undefined ? 0 : length);
  const parts = by === undefined ? 1 : divisorsOfRow(step, by.dims);
  return (out, a, _b, c, from = 0, to = out.length) => {
    for (let at = from; at < to; at += 2 * length) {
      const numbers = { data: a as Int32Array, from: at / 2, count: length, channel: 0 };
      if (c === undefined) {
        channels.planes(out, at, length, numbers);
        continue;
      }
      const by = c as Int32Array;
      if (step.k === 0) products(changed, numbers, by);
      else {
        const first = (at / (2 * length)) * parts;
        quotients(changed, numbers, step.k, by.subarray(first, first + parts));
      }
      channels.planes(out, at, length, { ...numbers, data: changed, from: 0 });
    }
  };
}

type Numbers = Pick<Span, "data" | "from" | "count">;

/** A row's numbers by its divisors, each for as many. */
function quotients(into: Int32Array, numbers: Numbers, multiplier: number, divisors: Int32Array): void {
  const count = numbers.count / divisors.length;
  for (const [part, divisor] of divisors.entries()) {
    const own = { data: numbers.data, from: numbers.from + part * count, count };
    ratios(into.subarray(part * count), own, multiplier, divisor);
  }
}

/** Numbers times the factors of the same indices, wrapped. */
function products(into: Int32Array, { data, from, count }: Numbers, factors: Int32Array): void {
  for (let i = 0; i < count; i++) into[i] = Math.imul(data[from + i] as number, factors[from + i] as number);
}

/** Divisors that a row has. @param dims of the operand that has them */
export const divisorsOfRow = (step: Pick<Step, "dims">, dims: readonly number[]): number =>
  elementCount(dims) / rowCount(step.dims);

/** The element of the factors, or of the divisors, that a number is changed by. @param dims of that operand */
export function changedBy(
  step: Pick<Step, "dims" | "k">,
  dims: readonly number[],
  row: number,
  index: number,
): number {
  const length = planeLength(step);
  if (step.k === 0) return row * length + index;
  const parts = divisorsOfRow(step, dims);
  return row * parts + Math.floor((index * parts) / length);
}

/** The element's word, the parameter word of its channel, and where there is one that of its factor or divisor. */
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
  if (step.c === NONE) return read;
  const by = source.shape(step.c).dims;
  return [...read, readWord(step.c, "s32", by, changedBy(step, by, row, column))];
}

export function planesRules(check: StepCheck): void {
  const { step } = check;
  check.type("u8");
  const input = check.plain("a", "s32");
  const parameters = check.weights("b", "channel");
  if (step.c === NONE) check.noAttribute();
  else checkChange(check);
  check.must(lastDim(step.dims) % 2 === 0, "last dim", lastDim(step.dims), "even");
  if (input !== undefined) {
    const [count, wanted] = [elementCount(input.dims), elementCount(step.dims) / 2];
    check.must(count === wanted, "elements of operand a", count, `${wanted}, half of the output's`);
  }
  if (parameters === undefined) return;
  const [n, length] = [parameters.dims[0] as number, planeLength(step)];
  check.must(n === 1 || n === length, "channels of operand b", n, `1 or ${length}`);
}

/** Of factors, one a number, or of divisors, one for each part of a row. */
function checkChange(check: StepCheck): void {
  const { step } = check;
  const by = check.plain("c", "s32");
  if (by === undefined) return;
  const [count, rows, length] = [elementCount(by.dims), rowCount(step.dims), planeLength(step)];
  const field = "elements of operand c";
  if (step.k === 0) check.must(count === rows * length, field, count, `${rows * length}, one a number`);
  else
    check.must(
      count % rows === 0 && length % (count / rows) === 0,
      field,
      count,
      `${rows} rows times a divisor of ${length}`,
    );
}
