import { describe, expect, test } from "vitest";
import { arith } from "../../../inference/opcodes/arith.ts";
import { broadcastElement } from "../../../inference/opcodes/broadcast.ts";
import { rotated } from "../../../inference/opcodes/rotate.ts";
import { boundsAt } from "../../../inference/profile/causality/reads.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { isUniform, type Range } from "../../../inference/profile/range.ts";
import { rotateReads } from "../../../inference/profile/rotate.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementCount,
  judgeVersionOf,
  lastDim,
  NONE,
  type Program,
  type Step,
  type TensorType,
  WEIGHT,
  whyNotExecuted,
} from "../../../inference/program/form.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];
const SHIFTS = [0, 1, 2, 14, 15, 30, 31];

const stepOf = (dims: readonly number[], k: number, type: TensorType = "s32"): Step => ({
  ...{ opcode: "arith", variant: variantCode("arith", "rotate"), type, dims },
  ...{ a: 0, b: 1, c: NONE, k, coordinates: [] },
});

/** The definition: the floor of (2v + 2^k) / 2^(k+1), saturated. */
function plain(x: number, y: number, c: number, s: number, k: number, isFirst: boolean): number {
  const [p, q, r, t] = [x, y, c, s].map(BigInt) as [bigint, bigint, bigint, bigint];
  const value = isFirst ? p * r - q * t : p * t + q * r;
  const [numerator, unit] = [2n * value + 2n ** BigInt(k), 2n ** BigInt(k + 1)];
  const rest = ((numerator % unit) + unit) % unit;
  const number = (numerator - rest) / unit;
  return Math.max(LEAST, Math.min(MOST, Number(number)));
}

const EDGES = [0, 1, -1, 2 ** 15, -(2 ** 15), 2 ** 20, 2 ** 30, MOST, LEAST, LEAST + 1];
const integer = (rng: Rng): number => (rng.chance(0.3) ? rng.pick(EDGES) : (rng.u32() | 0) >> rng.int(0, 31));
const small = (rng: Rng): number => rng.int(-(2 ** 15), 2 ** 15);

/** Dims that broadcast to the output's, all of the last axis. */
function operandDims(rng: Rng, dims: readonly number[]): readonly number[] {
  const own = rng.chance(0.5) ? dims : dims.slice(rng.int(0, dims.length - 1));
  return own.map((dim, axis) => (axis < own.length - 1 && rng.chance(0.3) ? 1 : dim));
}

const drawn = (rng: Rng, dims: readonly number[], draw: (rng: Rng) => number): Int32Array =>
  Int32Array.from({ length: elementCount(dims) }, () => draw(rng));

function compare(rng: Rng, dims: readonly number[], k: number, draw: (rng: Rng) => number): void {
  const [aDims, bDims] = [operandDims(rng, dims), operandDims(rng, dims)];
  const [a, b] = [drawn(rng, aDims, integer), drawn(rng, bDims, draw)];
  const kernel = arith.prepare(stepOf(dims, k), [
    { type: "s32", dims: aDims },
    { type: "s32", dims: bDims },
  ]);
  const count = elementCount(dims);
  const expected = Array.from({ length: count }, (_, element) => {
    const first = element - (element % 2);
    const [left, right] = [broadcastElement(dims, aDims, first), broadcastElement(dims, bDims, first)];
    const pair = [a[left], a[left + 1], b[right], b[right + 1]] as [number, number, number, number];
    return plain(...pair, k, element === first);
  });
  const out = new Int32Array(count);
  kernel(out, a, b, undefined);
  expect([...out], JSON.stringify({ dims, aDims, bDims, k })).toEqual(expected);
  // A range of rows, beside neighbours that it leaves alone.
  const row = lastDim(dims);
  const from = row * rng.int(0, count / row - 1);
  const part = drawn(rng, dims, integer);
  const before = [...part];
  kernel(part, a, b, undefined, from, count);
  expect([...part]).toEqual([...before.slice(0, from), ...expected.slice(from)]);
}

describe("ARITH rotate", () => {
  test("behavior: the kernel equals the definition over shapes, broadcasts, shifts and sizes", () => {
    const rng = createRng(21);
    for (const draw of [integer, small]) {
      for (const k of SHIFTS) {
        for (const dims of [[2], [34], [3, 2], [2, 3, 4], [5, 1, 2, 8], [2, 1, 3, 1, 2, 6], [3, 2050]])
          for (let i = 0; i < 2; i++) compare(rng, dims, k, draw);
      }
    }
  });

  test("behavior: bytes saturate, signed ones stored 128 above their value", () => {
    const rng = createRng(24);
    const dims = [3, 2, 40];
    const shape = { type: "s32", dims } as const;
    for (const type of ["u8", "s8"] as const)
      for (const k of [0, 20, 27, 31]) {
        const [a, b] = [drawn(rng, dims, integer), drawn(rng, dims, small)];
        const out = new Uint8Array(240);
        arith.prepare(stepOf(dims, k, type), [shape, shape])(out, a, b, undefined);
        const [low, high, offset] = type === "u8" ? [0, 255, 0] : [-128, 127, 128];
        const expected = Array.from(out, (_, element) => {
          const first = element - (element % 2);
          const pair = [a[first], a[first + 1], b[first], b[first + 1]] as [number, number, number, number];
          return Math.min(high, Math.max(low, plain(...pair, k, element === first))) + offset;
        });
        expect([...out], `${type} ${k}`).toEqual(expected);
      }
  });

  test("behavior: halves go up, sums of 65 bits saturate, and doubles are left before they round", () => {
    const rng = createRng(22);
    type Case = [x: number, y: number, c: number, s: number, k: number];
    const cases: Case[] = [
      [1, 0, 1, 0, 1],
      [-1, 0, 1, 0, 1],
      [-3, 0, 1, 0, 1],
      [LEAST, LEAST, LEAST, LEAST, 0],
      [LEAST, LEAST, MOST, LEAST, 31],
      [LEAST, MOST, LEAST, LEAST, 31],
      ...[2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 2 ** 22 + 1].map(
        (c) => [2 ** 31 - 1, 2 ** 31 - 1, c, -c, 21] as Case,
      ),
      // Large products of which little is left.
      ...Array.from({ length: 2_000 }, () => {
        const [x, c] = [rng.int(2 ** 20, MOST - 9), rng.int(2 ** 20, MOST - 9)];
        return [x, x + rng.int(-9, 9), c, c + rng.int(-9, 9), rng.int(0, 20)] as Case;
      }),
      ...Array.from({ length: 5_000 }, () => {
        const all = [integer(rng), integer(rng), integer(rng), integer(rng), rng.pick(SHIFTS)];
        return all as Case;
      }),
    ];
    for (const [x, y, c, s, k] of cases) {
      const kernel = arith.prepare(stepOf([2], k), [
        { type: "s32", dims: [2] },
        { type: "s32", dims: [2] },
      ]);
      const out = new Int32Array(2);
      kernel(out, Int32Array.of(x, y), Int32Array.of(c, s), undefined);
      const expected = [true, false].map((isFirst) => plain(x, y, c, s, k, isFirst));
      expect([...out], `${x} ${y} ${c} ${s} ${k}`).toEqual(expected);
      expect([true, false].map((isFirst) => rotated([x, y], [c, s], k, isFirst))).toEqual(expected);
    }
  });

  test("behavior: the words of both pairs are opened", () => {
    const shape = (operand: number) => ({ type: "s32" as const, dims: operand === 0 ? [3, 20] : [20] });
    const source = { shape, weights: () => expect.fail(), data: () => expect.fail() };
    expect(arith.reads(stepOf([3, 20], 14), 33, source)).toEqual([
      { operand: 0, row: 1, word: 1 },
      { operand: 1, row: 0, word: 1 },
    ]);
  });

  test("behavior: an element is computed from both elements of both pairs", () => {
    const dims = [2, 4];
    const reads = rotateReads({ step: stepOf(dims, 3), dims: [dims, [4], undefined], zeros: [] });
    const of = (element: number): number[][] => {
      const visits: number[][] = [];
      reads(element, (...visit) => visits.push(visit));
      return visits;
    };
    const second = [
      [0, 6, 2],
      [1, 2, 2],
    ];
    expect([of(6), of(7)]).toEqual([second, second]);
  });

  const TURNS = { layout: "plain", type: "s32", dims: [4] } as const;
  const program = (k: number): Program => {
    const step = { a: NONE, b: NONE, c: NONE, k: 0, coordinates: [], type: "s32" } as const;
    const limit = (name: "min" | "max", a: number, weight: number): Step => ({
      ...{
        ...step,
        opcode: "arith",
        variant: variantCode("arith", name),
        dims: [3, 4],
        a,
        b: WEIGHT + weight,
      },
    });
    const one = { layout: "plain", type: "s32", dims: [1] } as const;
    return {
      ...{ inputCodec: "raw", outputCodec: "raw", inputSize: 48, weights: [TURNS, one, one] },
      steps: [
        { ...step, opcode: "codec", variant: 4, dims: [3, 4] },
        limit("max", 0, 1),
        limit("min", 1, 2),
        { ...stepOf([3, 4], k), a: 2, b: WEIGHT },
      ],
    };
  };
  const bytesOf = (...values: number[]): Uint8Array => {
    const bytes = new Uint8Array(4 * values.length);
    values.forEach((value, i) => {
      new DataView(bytes.buffer).setInt32(4 * i, value);
    });
    return bytes;
  };

  test("behavior: intervals hold what large products leave of each other", () => {
    const rng = createRng(24);
    for (let i = 0; i < 400; i++) {
      const size = rng.int(2 ** 26, 2 ** 30);
      const [low, width] = [size + rng.int(-9, 9), rng.pick([0, 1, 2])];
      const turns = Array.from({ length: 4 }, () => size + rng.int(-9, 9));
      const weights = [bytesOf(...turns), bytesOf(low), bytesOf(low + width)];
      const range = analyse({ program: program(0), weights }).ranges.at(-1) as Range;
      for (let element = 0; element < 4; element++) {
        const [c, s] = turns.slice(element - (element % 2)) as [number, number];
        const [least, most] = boundsAt(range, element);
        for (let x = low; x <= low + width; x++) {
          for (let y = low; y <= low + width; y++) {
            const value = plain(x, y, c, s, 0, element % 2 === 0);
            expect(value).toBeGreaterThanOrEqual(least);
            expect(value).toBeLessThanOrEqual(most);
          }
        }
      }
    }
  });

  test("behavior: intervals hold what can come, pair by pair, and are no wider than they need be", () => {
    const rng = createRng(23);
    for (let i = 0; i < 400; i++) {
      const k = rng.pick(SHIFTS);
      const size = 2 ** rng.int(1, 30);
      const [low, high] = [rng.int(-size, 0), rng.int(0, size)];
      const turns = Array.from({ length: 4 }, () => integer(rng) >> rng.int(0, 2));
      const model = { program: program(k), weights: [bytesOf(...turns), bytesOf(low), bytesOf(high)] };
      const range = analyse(model).ranges.at(-1) as Range;
      if (!isUniform(range)) expect(range.low.length).toBe(12);
      for (let element = 0; element < 4; element++) {
        const isFirst = element % 2 === 0;
        const [c, s] = turns.slice(element - (element % 2)) as [number, number];
        const ends = [low, high].flatMap((x) => [low, high].map((y) => plain(x, y, c, s, k, isFirst)));
        const [least, most] = boundsAt(range, element);
        // Above 2^51 a sum has a margin.
        const slack = Math.ceil(2 ** (13 - k)) + 1;
        expect(least).toBeLessThanOrEqual(Math.min(...ends));
        expect(most).toBeGreaterThanOrEqual(Math.max(...ends));
        const isExact = 4 * size * Math.max(...turns.map(Math.abs)) < 2 ** 51;
        expect(Math.min(...ends) - least).toBeLessThanOrEqual(isExact ? 0 : slack);
        expect(most - Math.max(...ends)).toBeLessThanOrEqual(isExact ? 0 : slack);
      }
    }
  });

  test("behavior: a profile needs numerators in 64 bits, and judge version 2", () => {
    const problems = (k: number, low: number, high: number, turn: number): string[] =>
      analyse({
        program: program(k),
        weights: [bytesOf(turn, turn, 0, 0), bytesOf(low), bytesOf(high)],
      }).problems.map(({ what }) => what);
    expect(problems(0, -5, MOST, 2 ** 15)).toEqual([]);
    expect(problems(31, LEAST, MOST, 2 ** 30 - 1)).toEqual([]);
    expect(problems(31, LEAST, MOST, MOST)).toEqual(["the numerator can leave 64 bits"]);
    expect(judgeVersionOf(program(0))).toBe(2);
    expect(whyNotExecuted(program(0))).toBe("step 3 is ARITH rotate, which no interpreter runs");
  });
});
