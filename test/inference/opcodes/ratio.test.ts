import { describe, expect, test } from "vitest";
import { ratio } from "../../../inference/opcodes/ratio.ts";
import { rescale } from "../../../inference/opcodes/rescale.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementCount,
  judgeVersionOf,
  NONE,
  type Program,
  rowCount,
  type Step,
  WEIGHT,
} from "../../../inference/program/form.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const INPUTS = ["u8", "s8", "s32", "bool"] as const;
const OUTPUTS = ["u8", "s8", "s32"] as const;
type Input = (typeof INPUTS)[number];
type Output = (typeof OUTPUTS)[number];
const LIMITS = { u8: [0n, 255n], s8: [-128n, 127n], s32: [-(2n ** 31n), 2n ** 31n - 1n] } as const;

const stepOf = (type: Output, dims: readonly number[], k: number): Step => ({
  ...{ opcode: "rescale", variant: variantCode("rescale", "ratio"), type, dims },
  ...{ a: 0, b: 1, c: NONE, k, coordinates: [] },
});

/** The definition: of x·M / d the integer below or equal, and one more from the half on. */
function plain(x: number, k: number, d: number): bigint {
  if (d < 1) return 0n;
  const [product, divisor] = [BigInt(x) * BigInt(k), BigInt(d)];
  const rest = ((product % divisor) + divisor) % divisor;
  return (product - rest) / divisor + (2n * rest >= divisor ? 1n : 0n);
}

function stored(type: Output, value: bigint): number {
  const [low, high] = LIMITS[type];
  const number = Number(value < low ? low : value > high ? high : value);
  return type === "s8" ? number + 128 : number;
}

const EDGES = [0, 1, -1, 2, 2 ** 31 - 1, -(2 ** 31), -(2 ** 31) + 1, 2 ** 30, 2 ** 21, 3];
const FACTORS = [1, 2, 3, 2 ** 20, 2 ** 21, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1];

const integer = (rng: Rng): number => (rng.chance(0.4) ? rng.pick(EDGES) : rng.u32() >> rng.int(0, 31));
/** Divisors below 1 among them; often ones that leave quotients inside the type. */
const divisor = (rng: Rng, k: number): number =>
  rng.chance(0.5)
    ? integer(rng)
    : Math.min(2 ** 31 - 1, Math.ceil((k / 2 ** rng.int(0, 12)) * (1 + rng.int(0, 9))));

function compare(rng: Rng, input: Input, output: Output, dims: readonly number[], k: number): void {
  const rows = rowCount(dims);
  const kernel = rescale.prepare(stepOf(output, dims, k), [
    { type: input, dims },
    { type: "s32", dims: [rows] },
  ]);
  const count = elementCount(dims);
  const data = input === "s32" ? Int32Array.from({ length: count }, () => integer(rng)) : rng.bytes(count);
  const divisors = Int32Array.from({ length: rows }, () => divisor(rng, k));
  const out = output === "s32" ? new Int32Array(count) : new Uint8Array(count);
  kernel(out, data, divisors, undefined);
  const expected = [...data].map((value, i) => {
    const x = input === "s8" ? value - 128 : value;
    return stored(output, plain(x, k, divisors[Math.floor((i * rows) / count)] as number));
  });
  expect([...out], JSON.stringify({ input, output, dims, k })).toEqual(expected);
}

describe("RESCALE ratio", () => {
  test("behavior: the kernel equals the definition over shapes, types and sizes", () => {
    const rng = createRng(9);
    for (const input of INPUTS) {
      for (const output of OUTPUTS) {
        for (const k of FACTORS) {
          for (const dims of [[1], [257], [3, 1], [1, 33], [2, 3, 4], [5, 1, 2, 7], [2, 1, 3, 1, 2, 5]]) {
            compare(rng, input, output, dims, k);
          }
        }
        for (let i = 0; i < 40; i++) {
          const dims = [rng.int(1, 9), rng.int(1, 70)];
          compare(rng, input, output, dims, Math.max(1, rng.u32() >>> rng.int(0, 31)));
        }
      }
    }
  });

  test("behavior: quotients next to every kind of half, where doubles hold the numerator and where they do not", () => {
    const rng = createRng(10);
    let [near, beyond] = [0, 0];
    for (let i = 0; i < 30_000; i++) {
      const widest = rng.pick([4, 31]);
      const d = 1 + (rng.u32() >>> rng.int(1, widest));
      const k = Math.max(1, rng.u32() >>> rng.int(0, widest));
      // An x whose product is close to a half or to a whole multiple of d.
      const x = Math.round((((rng.u32() | 0) >> rng.int(0, widest - 1)) * (d / 2)) / k) + rng.int(-1, 1);
      if (Math.abs(x) >= 2 ** 31) continue;
      if (Math.abs(2 * x * k) < 2 ** 52) near++;
      else beyond++;
      const exact = plain(x, k, d);
      if (exact > -(2n ** 53n) && exact < 2n ** 53n)
        expect(ratio(x, k, d), `${x} ${k} ${d}`).toBe(Number(exact));
    }
    expect(Math.min(near, beyond)).toBeGreaterThan(2000);
    // Halves themselves go up.
    for (const [x, k, d] of [
      [1, 1, 2],
      [-1, 1, 2],
      [3, 2 ** 31, 2 ** 30],
      [-(2 ** 31), 2 ** 32 - 1, 2 ** 31 - 1],
    ]) {
      expect(BigInt(ratio(x as number, k as number, d as number))).toBe(
        plain(x as number, k as number, d as number),
      );
    }
  });

  test("behavior: numerators on both sides of 2^52, by one", () => {
    for (const k of [2 ** 20, 2 ** 21 - 1, 2 ** 21, 2 ** 21 + 1]) {
      for (const size of [2 ** 30 - 1, 2 ** 30, 2 ** 30 + 1, 2 ** 31 - 1]) {
        for (const d of [2 ** 31 - 1, 2 ** 30 + 1, 2 ** 20 + 1, 3]) {
          for (const x of [size, -size]) expect(BigInt(ratio(x, k, d))).toBe(plain(x, k, d));
        }
      }
    }
  });

  const DIVISORS = { layout: "plain", type: "s32", dims: [2] } as const;
  const program = (input: Input, changed: Partial<Step> = {}, dims: readonly number[] = [2, 3]): Program => {
    const codec = { opcode: "codec", variant: 4, a: NONE, b: NONE, c: NONE, k: 0, coordinates: [] } as const;
    const ratioStep = { ...stepOf("s32", dims, 5), b: WEIGHT, ...changed };
    return {
      ...{ inputCodec: "raw", outputCodec: "raw", inputSize: 32, weights: [DIVISORS] },
      steps: [{ ...codec, type: input, dims: [2, 3] }, ratioStep],
    };
  };
  const fieldsOf = (...args: Parameters<typeof program>): string[] =>
    validateProgram(program(...args)).map(({ field }) => field);

  test("args: integers of any type, any k from 1 on, s32, s8 and u8 results", () => {
    for (const input of INPUTS) {
      for (const type of OUTPUTS) expect(fieldsOf(input, { type, k: 2 ** 32 - 1 })).toEqual([]);
    }
  });

  test("error: k 0, another type, other dims, a third operand, divisors of another number or type", () => {
    expect(fieldsOf("u8", { k: 0 })).toEqual(["k (multiplier)"]);
    expect(fieldsOf("u8", { type: "bool" })).toEqual(["type"]);
    expect(fieldsOf("u8", {}, [3, 2])).toEqual(["dims of operand a", "elements of operand b"]);
    expect(fieldsOf("u8", { c: 0 })).toEqual(["operand c"]);
    expect(fieldsOf("s32", { b: 0 })).toEqual(["elements of operand b"]);
    expect(fieldsOf("u8", { b: 0 })).toEqual(["type of operand b", "elements of operand b"]);
    expect(fieldsOf("u8", { a: 1 })).toEqual(["operand a"]);
  });

  test("behavior: the judge's version is 2 with it", () => {
    expect(judgeVersionOf(program("u8"))).toBe(2);
  });

  const problems = (divisors: readonly [number, number], changed: Partial<Step> = {}): string[] => {
    const bytes = new Uint8Array(8);
    divisors.forEach((value, i) => {
      new DataView(bytes.buffer).setInt32(4 * i, value);
    });
    const model = { program: program("s32", changed), weights: [bytes] };
    return analyse(model).problems.map(({ what }) => what);
  };

  test("behavior: a profile needs divisors of at least 1, quotients in s32 and numerators in 64 bits", () => {
    expect(problems([5, 6])).toEqual([]);
    expect(problems([5, 0], { type: "s8" })).toEqual(["the divisor can be below 1"]);
    expect(problems([4, 6])).toEqual(["the ratio can leave s32"]);
    expect(problems([4, 6], { type: "s8" })).toEqual([]);
    expect(problems([1, 1], { type: "s8", k: 2 ** 31 })).toEqual(["the numerator can leave 64 bits"]);
  });
});
