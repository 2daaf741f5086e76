import { describe, expect, test } from "vitest";
import { cappedRoot } from "../../../inference/opcodes/norm.ts";
import { reduce } from "../../../inference/opcodes/reduce.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import { judgeVersionOf, NONE, type Program, type Step } from "../../../inference/program/form.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const TYPES = ["u8", "s8", "s32", "bool"] as const;
type Integer = (typeof TYPES)[number];

const stepOf = (rows: number, k: number): Step => ({
  ...{ opcode: "reduce", variant: variantCode("reduce", "norm"), type: "s32", dims: [rows] },
  ...{ a: 0, b: NONE, c: NONE, k, coordinates: [] },
});

/** The definition: the greatest integer whose square is at most the sum, found bit by bit. */
function plain(values: readonly number[], k: number): number {
  const total = values.reduce((sum, x) => sum + BigInt(x) ** 2n, BigInt(k));
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** 2n <= total) root += bit;
  return Number(root < 2n ** 31n ? root : 2n ** 31n - 1n);
}

/** Stored data, and the numbers that it is. */
function draw(rng: Rng, type: Integer, count: number, bits: number): [Uint8Array | Int32Array, number[]] {
  if (type === "s32") {
    const data = Int32Array.from({ length: count }, () => rng.u32() >> (32 - bits));
    return [data, [...data]];
  }
  const data = bits === 1 ? new Uint8Array(count).fill(rng.pick([0, 127, 128, 255])) : rng.bytes(count);
  return [data, [...data].map((byte) => (type === "s8" ? byte - 128 : byte))];
}

function compare(rng: Rng, type: Integer, rows: number, length: number, bits: number, k: number): void {
  const kernel = reduce.prepare(stepOf(rows, k), [{ type, dims: [rows, length] }]);
  const [data, values] = draw(rng, type, rows * length, bits);
  const out = new Int32Array(rows);
  kernel(out, data, undefined, undefined);
  const expected = Array.from({ length: rows }, (_, r) =>
    plain(values.slice(r * length, (r + 1) * length), k),
  );
  expect([...out], JSON.stringify({ type, rows, length, bits, k })).toEqual(expected);
}

const LENGTHS = [1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2048];
const ADDENDS = [0, 1, 2 ** 31, 2 ** 32 - 1];

describe("REDUCE norm", () => {
  test("behavior: the kernel equals the definition over shapes, types and sizes", () => {
    const rng = createRng(7);
    for (const type of TYPES) {
      for (const length of type === "s32" ? LENGTHS : [...LENGTHS, 8191, 8192]) {
        for (const k of ADDENDS) compare(rng, type, 2, length, rng.pick([1, 8, 20, 27, 32]), k);
      }
    }
    for (let i = 0; i < 200; i++) {
      compare(
        rng,
        rng.pick(TYPES),
        rng.int(1, 6),
        rng.int(1, 70),
        rng.int(1, 32),
        rng.pick([...ADDENDS, rng.u32()]),
      );
    }
  });

  test("behavior: the least and largest s32 of the longest row saturate, as does one that ends at 2^31", () => {
    for (const value of [-(2 ** 31), 2 ** 31 - 1]) {
      for (const length of [1, 2, 2048]) {
        const kernel = reduce.prepare(stepOf(1, 0), [{ type: "s32", dims: [1, length] }]);
        const out = new Int32Array(1);
        kernel(out, new Int32Array(length).fill(value), undefined, undefined);
        expect(out[0]).toBe(2 ** 31 - 1);
      }
    }
  });

  test("behavior: roots next to every kind of square", () => {
    const rng = createRng(8);
    const roots = [0n, 1n, 2n, 3n, 2n ** 26n, 2n ** 26n + 1n, 2n ** 31n - 2n, 2n ** 31n - 1n];
    for (let i = 0; i < 500; i++) roots.push(BigInt(rng.u32()) >> BigInt(rng.int(1, 30)));
    for (const root of roots) {
      expect(cappedRoot(root * root)).toBe(Number(root));
      expect(cappedRoot(root * root + 2n * root)).toBe(Number(root));
      if (root > 0n) expect(cappedRoot(root * root - 1n)).toBe(Number(root - 1n));
    }
    expect(cappedRoot(2n ** 62n)).toBe(2 ** 31 - 1);
    expect(cappedRoot(2n ** 74n)).toBe(2 ** 31 - 1);
  });

  const program = (type: Integer, length: number, changed: Partial<Step> = {}): Program => {
    const codec = { opcode: "codec", variant: 4, a: NONE, b: NONE, c: NONE, k: 0, coordinates: [] } as const;
    const steps: Step[] = [
      { ...codec, type, dims: [2, length] },
      { ...stepOf(2, 5), ...changed },
    ];
    return { inputCodec: "raw", outputCodec: "raw", inputSize: 32_768, weights: [], steps };
  };
  const fieldsOf = (...args: Parameters<typeof program>): string[] =>
    validateProgram(program(...args)).map(({ field }) => field);

  test("args: rows of 8,192 bytes and any k are taken", () => {
    for (const type of TYPES) {
      const length = type === "s32" ? 2048 : 8192;
      expect(fieldsOf(type, length, { k: 2 ** 32 - 1 })).toEqual([]);
      expect(fieldsOf(type, length + 1)).toEqual(["elements of a row of operand a"]);
    }
  });

  test("error: another type, a second operand, other rows; a sum with k or of a long row", () => {
    expect(fieldsOf("u8", 3, { type: "u8" })).toEqual(["type"]);
    expect(fieldsOf("u8", 3, { b: 0 })).toEqual(["operand b"]);
    expect(fieldsOf("u8", 3, { dims: [3] })).toEqual(["rows of operand a"]);
    expect(fieldsOf("u8", 3, { variant: 0 })).toEqual(["k"]);
    expect(fieldsOf("u8", 1025, { variant: 0, k: 0 })).toEqual(["elements of a row of operand a"]);
  });

  test("behavior: the judge's version is 2 with it and 1 with a sum", () => {
    expect(judgeVersionOf(program("u8", 3))).toBe(2);
    expect(judgeVersionOf(program("u8", 3, { variant: 0, k: 0 }))).toBe(1);
  });
});
