import { describe, expect, test } from "vitest";
import { lookup } from "../../../inference/opcodes/lookup.ts";
import { extremesOf } from "../../../inference/profile/table-extremes.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementCount,
  judgeVersionOf,
  NONE,
  type Program,
  type Step,
  type TensorData,
  type TensorType,
  whyNotExecuted,
} from "../../../inference/program/form.ts";
import { newData, storedBytes } from "../../../inference/program/tensor.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const TYPES = ["u8", "s8", "s32", "f32", "bool"] as const;
const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

const stepOf = (type: TensorType, dims: readonly number[]): Step => ({
  ...{ opcode: "lookup", variant: variantCode("lookup", "each"), type, dims },
  ...{ a: 0, b: 0x8000, c: NONE, k: 0, coordinates: [] },
});

const stored = (data: TensorData): string[] => {
  const size = data.BYTES_PER_ELEMENT;
  const bytes = Buffer.from(storedBytes(data));
  return Array.from(data, (_, i) => bytes.subarray(i * size, (i + 1) * size).toString("hex"));
};

/** Any bytes: a NaN of binary32 is copied as it is. */
function draw(rng: Rng, type: TensorType, count: number) {
  const data = newData(type, count);
  new Uint8Array(data.buffer).set(rng.bytes(data.byteLength));
  return data;
}

function compare(rng: Rng, type: TensorType, v: number, dims: readonly number[]): void {
  const table = draw(rng, type, v);
  const count = elementCount(dims);
  const edges = [LEAST, -1, 0, v - 1, v, MOST];
  const ids = Int32Array.from({ length: count }, () =>
    rng.chance(0.5) ? rng.pick(edges) : rng.int(0, v - 1),
  );
  const kernel = lookup.prepare(stepOf(type, dims), [
    { type: "s32", dims },
    { type, dims: [v, 1], constant: table },
  ]);
  const entries = stored(table);
  const expected = Array.from(ids, (id) => entries[Math.min(Math.max(id, 0), v - 1)]);
  const out = draw(rng, type, count);
  kernel(out, ids, undefined, undefined);
  expect(stored(out), `${type} ${v} ${dims}`).toEqual(expected);
  // A range of rows, beside neighbours that it leaves alone.
  const row = dims.at(-1) as number;
  const [from, to] = [row * rng.int(0, count / row - 1), count];
  const part = draw(rng, type, count);
  const before = stored(part);
  kernel(part, ids, undefined, undefined, from, to);
  expect(stored(part)).toEqual([...before.slice(0, from), ...expected.slice(from)]);
}

describe("LOOKUP each", () => {
  test("behavior: the kernel equals the definition over types, tables, ranks and ids", () => {
    const rng = createRng(11);
    for (const type of TYPES)
      for (const v of [1, 2, 31, 32, 33, 300, 65_536])
        for (const dims of [
          [1],
          [33],
          [2, 31],
          [3, 1, 32],
          [2, 2, 2, 9],
          [1, 2, 1, 3, 64],
          [2, 1, 2, 1, 2, 5],
        ])
          compare(rng, type, v, dims);
  });

  test("behavior: the word of the id, then the table's", () => {
    const dims = [2, 3, 40];
    const ids = new Int32Array(240);
    [ids[0], ids[49], ids[239]] = [-5, 7, 100];
    const shape = () => ({ type: "s32" as const, dims });
    const table = { layout: "plain", type: "u8", dims: [10, 1] } as const;
    const source = { shape, weights: () => table, data: () => ids };
    const reads = [0, 49, 239].map((element) => lookup.reads(stepOf("u8", dims), element, source));
    const ofTable = [0, 7, 9].map((row) => ({ operand: 0x8000, row, word: 0 }));
    expect(reads).toEqual([
      [{ operand: 0, row: 0, word: 0 }, ofTable[0]],
      [{ operand: 0, row: 1, word: 1 }, ofTable[1]],
      [{ operand: 0, row: 5, word: 4 }, ofTable[2]],
    ]);
  });

  test("behavior: a program that has it needs judge version 2, and no interpreter runs it", () => {
    const program = { steps: [stepOf("u8", [1])] } as unknown as Program;
    expect(judgeVersionOf(program)).toBe(2);
    expect(whyNotExecuted(program)).toBe("step 0 is LOOKUP each, which no interpreter runs");
  });
});

describe("extremesOf", () => {
  test("behavior: the least and the largest of every part of tables of all lengths to 20", () => {
    const rng = createRng(12);
    const out = new Float64Array(2);
    for (let v = 1; v <= 20; v++) {
      const values = Array.from({ length: v }, () => rng.int(-50, 50));
      const extremes = extremesOf(values);
      for (let from = 0; from < v; from++) {
        for (let to = from; to < v; to++) {
          extremes(from, to, out);
          const part = values.slice(from, to + 1);
          expect([...out]).toEqual([Math.min(...part), Math.max(...part)]);
        }
      }
    }
  });
});
