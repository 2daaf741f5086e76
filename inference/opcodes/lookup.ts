import { MAX_REDUCED_LENGTH, type StepCheck } from "../program/check.ts";
import {
  elementBytes,
  isBelow,
  isEach,
  LOOKUP_VARIANTS,
  lastDim,
  NONE,
  rowCount,
  type Step,
  type TensorData,
} from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";
import { unpackLookup } from "../program/weights.ts";
import { belowReads, prepareBelow } from "./below.ts";
import { readWord } from "./broadcast.ts";
import { copyElements } from "./copy.ts";
import type { Kernel, OpcodeForm, PreparedOperand } from "./opcode.ts";

/** Ids of a row that one output sums. */
const MAX_SUMMED_ROWS = 16;

/** LOOKUP: sums of table rows, one row picked, an element for each id, which is a row of one, whatever the ids' dims, or
 *  one by distances (below.ts). Source: docs/EXACT.md, section 3. */
export const lookup: OpcodeForm = {
  rules,
  prepare(step, [ids, table, mask]) {
    if (isBelow(step)) return prepareBelow(step, table as PreparedOperand, mask);
    return LOOKUP_VARIANTS[step.variant] === "sum"
      ? sum(ids as PreparedOperand, table as PreparedOperand)
      : pick(step, table as PreparedOperand);
  },
  reads(step, element, source) {
    if (isBelow(step)) return belowReads(step, element, source);
    const { dims } = source.shape(step.a);
    const ids = source.data(step.a) as Int32Array;
    const table = source.weights(step.b);
    const d = lastDim(table.dims);
    const row = Math.floor(element / d);
    const column = element % d;
    const last = (table.dims[0] as number) - 1;
    if (LOOKUP_VARIANTS[step.variant] === "sum") {
      const j = lastDim(dims);
      const rows = Array.from(ids.subarray(row * j, (row + 1) * j), (id) => clamp(id, last)).filter(
        (id) => id !== 0,
      );
      return [
        { operand: step.a, row },
        ...rows.map((id) => ({ operand: step.b, row: id, word: column >> 5 })),
      ];
    }
    const id = clamp(ids[row] as number, last);
    return [readWord(step.a, "s32", dims, row), readWord(step.b, table.type, table.dims, id * d + column)];
  },
};

function rules(check: StepCheck): void {
  const { step } = check;
  if (!check.variant()) return;
  const sum = LOOKUP_VARIANTS[step.variant] === "sum";
  const below = isBelow(step);
  const single = isEach(step) || below;
  const ids = check.plain("a", "s32");
  if (single) check.sameDims("a", ids);
  else if (ids !== undefined) {
    const most = sum ? MAX_SUMMED_ROWS : 1;
    check.must(lastDim(ids.dims) <= most, "last dim of operand a", lastDim(ids.dims), `1..${most}`);
    check.rows("a", ids, rowCount(step.dims));
  }
  const table = check.weights("b", sum ? "lookup" : "plain");
  if (table !== undefined) {
    check.must(table.dims.length === 2, "rank of operand b", table.dims.length, "2");
    const length = lastDim(table.dims);
    if (single) check.must(length === 1, "last dim of operand b", length, "1");
    else check.must(lastDim(step.dims) === length, "last dim", lastDim(step.dims), `${length}`);
    if (!sum) check.type(table.type);
  }
  if (sum) check.type("s32");
  if (below) belowRules(check);
  else check.none("c");
  check.noAttribute();
}

/** A row is compared at once; which of its places count, a mask may say. */
function belowRules(check: StepCheck): void {
  const { c, dims } = check.step;
  const length = lastDim(dims);
  check.must(length <= MAX_REDUCED_LENGTH, "last dim", length, `<= ${MAX_REDUCED_LENGTH}`);
  if (c === NONE) return;
  const mask = check.plain("c", "bool");
  check.broadcasts("c", mask);
  if (mask !== undefined)
    check.must(lastDim(mask.dims) === length, "last dim of operand c", lastDim(mask.dims), `${length}`);
}

const clamp = (id: number, last: number): number => (id < 0 ? 0 : Math.min(id, last));

function sum(ids: PreparedOperand, { dims, words }: PreparedOperand): Kernel {
  const [v, d] = dims as [number, number];
  const values = unpackLookup(words as Uint8Array, v, d);
  const j = lastDim(ids.dims);
  return (out, a, _b, _c, first = 0, to = out.length) => {
    const source = a as Int32Array;
    out.fill(0, first, to);
    for (let start = first; start < to; start += d) {
      const row = start / d;
      for (let i = row * j; i < (row + 1) * j; i++) {
        const id = clamp(source[i] as number, v - 1);
        if (id === 0) continue;
        const from = id * d;
        // 16 rows of s8 sum to at most 2,048 in size: nothing wraps.
        for (let k = 0; k < d; k++)
          out[start + k] = (out[start + k] as number) + (values[from + k] as number);
      }
    }
  };
}

function pick(step: Step, { dims, constant }: PreparedOperand): Kernel {
  const [v, d] = dims as [number, number];
  const wide = elementBytes(step.type) === 4;
  const table = wide ? bitsOf(constant as TensorData) : (constant as TensorData);
  if (d === 1) return pickEach(step, table);
  return (out, a, _b, _c, from = 0, to = out.length) => {
    const ids = a as Int32Array;
    const target = wide ? bitsOf(out) : out;
    for (let at = from, row = from / d; at < to; at += d, row++)
      copyElements(target, at, table, clamp(ids[row] as number, v - 1) * d, d);
  };
}

/** @param table of rows of one element, as bits */
const pickEach =
  ({ type }: Step, table: TensorData): Kernel =>
  (out, a, _b, _c, from = 0, to = out.length) =>
    pickInto(elementBytes(type) === 4 ? bitsOf(out) : out, from, to, a as Int32Array, table);

function pickInto(target: TensorData, from: number, to: number, ids: Int32Array, table: TensorData): void {
  const last = table.length - 1;
  for (let at = from; at < to; at++) target[at] = table[clamp(ids[at] as number, last)] as number;
}
