/** Numbers of 16 bits as planes of bytes: the kernels against their definition in exact integers, what is read, the rules
 *  and the intervals. */
import { describe, expect, test } from "vitest";
import { hostileParameters } from "../../../conformance/generate/random-values.ts";
import { dot } from "../../../inference/opcodes/dot.ts";
import { rescale } from "../../../inference/opcodes/rescale.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import {
  elementCount,
  judgeVersionOf,
  NONE,
  type Program,
  type Step,
  WEIGHT,
} from "../../../inference/program/form.ts";
import { validateProgram } from "../../../inference/program/validate.ts";
import { type ChannelParameters, packChannel, packDot } from "../../../inference/program/weights.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const SPLIT = variantCode("rescale", "planes");
const PRODUCT = variantCode("dot", "planes");
const EDGES = [0, 1, -1, 255, 256, 32_767, 65_535, 65_536, 2 ** 31 - 1, -(2 ** 31)];
const integer = (rng: Rng): number => (rng.chance(0.4) ? rng.pick(EDGES) : (rng.u32() | 0) >> rng.int(0, 31));

/** What EXACT.md states, element by element. */
function split(x: number, p: ChannelParameters): number {
  const acc = BigInt.asIntN(32, BigInt(x) + BigInt(p.bias));
  const sum = BigInt.asIntN(64, acc * BigInt(p.multiplier) + p.addend);
  const v = BigInt.asIntN(32, sum >> BigInt(p.shift % 64));
  return Number(v < 0n ? 0n : v > 65_535n ? 65_535n : v);
}

/** Parameters by which many elements come to lie inside of 16 bits. */
const gentle = (rng: Rng): ChannelParameters => ({
  ...hostileParameters(rng),
  ...{
    bias: rng.int(-9, 9),
    multiplier: rng.int(1, 2 ** 12),
    addend: BigInt(rng.int(0, 2 ** 28)),
    shift: 12,
  },
});

const record = (changed: Partial<Step>): Step => ({
  ...{ opcode: "rescale", variant: SPLIT, type: "u8", dims: [2, 6] },
  ...{ a: 0, b: WEIGHT, c: NONE, k: 0, coordinates: [] },
  ...changed,
});

/** Dims of a, and numbers of a row. */
const SHAPES = [
  ...[[1], [3], [2, 1], [1, 33], [4, 16], [2, 3, 4], [3, 1, 2, 31], [2, 65]].map(
    (dims) => [dims, dims.at(-1) as number] as const,
  ),
  ...([
    [[12], 4],
    [[2, 3, 4], 12],
    [[3, 5], 1],
    [[2, 6], 3],
    [[1, 1, 30], 15],
    [[6, 10], 60],
  ] as const),
];

describe("RESCALE planes", () => {
  test("behavior: the kernel equals the definition over shapes, channels and sizes", () => {
    const rng = createRng(21);
    let inside = 0;
    for (let round = 0; round < 30; round++) {
      for (const [dims, k] of SHAPES) {
        const channels = Array.from({ length: rng.pick([1, k]) }, () =>
          rng.chance(0.5) ? gentle(rng) : hostileParameters(rng),
        );
        const step = record({ dims: [elementCount(dims) / k, 2 * k] });
        const kernel = rescale.prepare(step, [
          { type: "s32", dims },
          { type: "u8", dims: [channels.length], words: packChannel(channels) },
        ]);
        const data = Int32Array.from({ length: elementCount(dims) }, () => integer(rng));
        const out = new Uint8Array(2 * data.length);
        kernel(out, data, undefined, undefined);
        data.forEach((x, i) => {
          const [row, column] = [Math.floor(i / k), i % k];
          const u = split(x, channels[channels.length === 1 ? 0 : column] as ChannelParameters);
          if (u > 0 && u < 65_535) inside++;
          expect([out[2 * row * k + column], out[(2 * row + 1) * k + column]]).toEqual([u >> 8, u & 255]);
        });
      }
    }
    expect(inside).toBeGreaterThan(1000);
  });
});

describe("RESCALE planes of products and quotients", () => {
  const LIMITS = [-(2n ** 31n), 2n ** 31n - 1n] as const;

  /** x·M / d to the nearest integer, halves up, within s32; 0 of a divisor below 1. */
  function quotient(x: number, m: number, d: number): number {
    if (d < 1) return 0;
    const [numerator, whole] = [2n * BigInt(x) * BigInt(m) + BigInt(d), 2n * BigInt(d)];
    const rest = ((numerator % whole) + whole) % whole;
    const found = (numerator - rest) / whole;
    return Number(found < LIMITS[0] ? LIMITS[0] : found > LIMITS[1] ? LIMITS[1] : found);
  }

  test("behavior: the kernel equals the definition over shapes, factors, divisors, parts and multipliers", () => {
    const rng = createRng(26);
    let inside = 0;
    for (let round = 0; round < 30; round++) {
      for (const [dims, k] of SHAPES) {
        const channels = Array.from({ length: rng.pick([1, k]) }, () =>
          rng.chance(0.5) ? gentle(rng) : hostileParameters(rng),
        );
        const isProduct = rng.chance(0.3);
        const m = isProduct ? 0 : rng.pick([1, rng.int(1, 1000), 2 ** 32 - 1]);
        const rows = elementCount(dims) / k;
        const parts = rng.pick(Array.from({ length: k }, (_, i) => i + 1).filter((part) => k % part === 0));
        const step = record({ dims: [rows, 2 * k], c: 1, k: m });
        const count = isProduct ? rows * k : rows * parts;
        const kernel = rescale.prepare(step, [
          { type: "s32", dims },
          { type: "u8", dims: [channels.length], words: packChannel(channels) },
          { type: "s32", dims: [count] },
        ]);
        const data = Int32Array.from({ length: rows * k }, () => integer(rng));
        const by = Int32Array.from({ length: count }, () =>
          rng.chance(0.2) ? rng.int(-2, 2) : isProduct ? integer(rng) : Math.abs(integer(rng)),
        );
        const out = new Uint8Array(2 * data.length);
        kernel(out, data, undefined, by);
        data.forEach((x, i) => {
          const [row, column] = [Math.floor(i / k), i % k];
          const parameters = channels[channels.length === 1 ? 0 : column] as ChannelParameters;
          const own = by[isProduct ? i : row * parts + Math.floor((column * parts) / k)] as number;
          const u = split(isProduct ? Math.imul(x, own) : quotient(x, m, own), parameters);
          if (u > 0 && u < 65_535) inside++;
          expect([out[2 * row * k + column], out[(2 * row + 1) * k + column]]).toEqual([u >> 8, u & 255]);
        });
        // The last row alone, beside others that it leaves alone.
        const part = new Uint8Array(out.length);
        kernel(part, data, undefined, by, out.length - 2 * k, out.length);
        expect([...part]).toEqual([...out].map((byte, i) => (i < out.length - 2 * k ? 0 : byte)));
      }
    }
    expect(inside).toBeGreaterThan(1000);
  });
});

/** What EXACT.md states of an accumulator, as stored. */
function rescaled(acc: bigint, p: ChannelParameters, type: Step["type"]): number {
  const shifted = BigInt.asIntN(64, acc * BigInt(p.multiplier) + p.addend) >> BigInt(p.shift % 64);
  const clamped = (x: bigint, low: bigint, high: bigint): bigint => {
    const raised = x > low ? x : low;
    return raised < high ? raised : high;
  };
  const limit = 2n ** BigInt(p.upper % 32);
  return Number(
    type === "s32"
      ? clamped(shifted, -limit, limit - 1n)
      : clamped(shifted + BigInt(p.zeroPoint), BigInt(p.lower), BigInt(p.upper)),
  );
}

describe.each([
  ["planes", "s32", ""],
  ["rescaled", "s32", ""],
  ["rescaled", "s32", ", added to numbers"],
  ["rescaled", "u8", ""],
  ["rescaled", "s8", ""],
] as const)("DOT %s to %s%s", (name, type, isAdded) => {
  test("behavior: the kernel equals the definition over groups and sizes, whatever wraps", () => {
    const rng = createRng(22);
    for (let round = 0; round < 120; round++) {
      const k = rng.pick([1, 2, 31, 32, 33, 63, rng.int(1, 200), 992, 2016]);
      const groups = rng.int(1, 3);
      const [n, rows] = [groups * rng.int(1, 4), rng.int(1, 3)];
      const bytes = rng.bytes(n * k);
      const channels = Array.from({ length: n }, () =>
        rng.chance(0.5)
          ? hostileParameters(rng)
          : { ...hostileParameters(rng), multiplier: rng.int(1, 2 ** 12), shift: rng.int(8, 30) },
      );
      const variant = variantCode("dot", name);
      const c = isAdded ? 1 : NONE;
      const step = record({ opcode: "dot", variant, type, dims: [rows, n], k: groups, c });
      const added = isAdded ? Int32Array.from({ length: rows * n }, () => integer(rng)) : undefined;
      const kernel = dot.prepare(step, [
        { type: "u8", dims: [rows * groups, 2 * k] },
        { type: "u8", dims: [n, k], words: packDot(bytes, k, channels) },
      ]);
      const a = rng.chance(0.2)
        ? new Uint8Array(rows * groups * 2 * k).fill(255)
        : rng.bytes(rows * groups * 2 * k);
      const out = type === "s32" ? new Int32Array(rows * n) : new Uint8Array(rows * n);
      kernel(out, a, undefined, added);
      const expected = Array.from({ length: rows * n }, (_, i) => {
        const [row, channel] = [Math.floor(i / n), i % n];
        const from = (row * groups + Math.floor((channel * groups) / n)) * 2 * k;
        const parameters = channels[channel] as ChannelParameters;
        const { bias, weightOffset } = parameters;
        let acc = BigInt(bias);
        for (let j = 0; j < k; j++) {
          const u = 256n * BigInt(a[from + j] as number) + BigInt(a[from + k + j] as number);
          acc += u * (BigInt(bytes[channel * k + j] as number) - BigInt(weightOffset));
        }
        const wrapped = BigInt.asIntN(32, acc);
        if (name === "planes") return Number(wrapped);
        const number = rescaled(wrapped, parameters, type);
        return added === undefined ? number : (number + (added[i] as number)) | 0;
      });
      expect([...out], JSON.stringify({ k, groups, n, rows })).toEqual(expected);
    }
  });
});

const PARAMETERS = { bias: 0, multiplier: 1, addend: 0n, shift: 0, scaleBits: 0 };
const PLAIN: ChannelParameters = { ...PARAMETERS, zeroPoint: 0, lower: 0, upper: 255, weightOffset: 128 };

/** s32 [2, 3] from calldata, its planes, and their product with rows of weights. */
function program(splits: Partial<Step> = {}, product: Partial<Step> = {}, channels = 3): Program {
  const codec = record({ opcode: "codec", variant: 4, type: "s32", dims: [2, 3], a: NONE, b: NONE });
  const weights = [
    { layout: "channel", type: "u8", dims: [channels] },
    { layout: "dot", type: "u8", dims: [4, 3] },
    { layout: "plain", type: "s32", dims: [2, 1] },
    { layout: "plain", type: "s32", dims: [4] },
  ] as const;
  const last = {
    opcode: "dot",
    variant: PRODUCT,
    type: "s32",
    dims: [2, 4],
    a: 1,
    b: WEIGHT + 1,
    k: 1,
  } as const;
  return {
    ...{ inputCodec: "raw", outputCodec: "raw", inputSize: 24, weights },
    steps: [codec, record(splits), record({ ...last, ...product })],
  };
}
const fieldsOf = (...args: Parameters<typeof program>): string[] =>
  validateProgram(program(...args)).map(({ field }) => field);

describe("rules and intervals of planes", () => {
  test("default: a program of both, which needs version 2 of the judge", () => {
    expect(fieldsOf()).toEqual([]);
    expect(fieldsOf({}, {}, 1)).toEqual([]);
    expect(judgeVersionOf(program())).toBe(2);
  });

  test("error: another type, length, number of rows or channels, an attribute, a third operand", () => {
    expect(fieldsOf({ type: "s8" })).toEqual(["type", "type of operand a"]);
    const more = ["elements of operand a", "channels of operand b", "last dim of operand a"];
    expect(fieldsOf({ dims: [2, 8] })).toEqual(more);
    expect(fieldsOf({ dims: [3, 6] })).toEqual(["elements of operand a", "rows of operand a"]);
    expect(fieldsOf({ dims: [4, 3] })[0]).toBe("last dim");
    expect(fieldsOf({}, {}, 2)).toEqual(["channels of operand b"]);
    expect(fieldsOf({ k: 1 })).toEqual(["k"]);
    // Operand a has a factor, or a divisor, for each of its own numbers.
    expect(fieldsOf({ c: 0 })).toEqual([]);
    expect(fieldsOf({ c: 0, k: 1 })).toEqual([]);
    expect(fieldsOf({ c: WEIGHT + 2, k: 1 })).toEqual([]);
    expect(fieldsOf({ c: WEIGHT + 2 })).toEqual(["elements of operand c"]);
    expect(fieldsOf({ c: WEIGHT + 3, k: 1 })).toEqual(["elements of operand c"]);
    expect(fieldsOf({ c: WEIGHT, k: 1 })).toEqual(["layout of operand c"]);
    expect(fieldsOf({}, { a: 0 })).toEqual(["type of operand a", "last dim of operand a"]);
    expect(fieldsOf({}, { type: "u8" })).toEqual(["type"]);
    expect(fieldsOf({}, { k: 2 })).toEqual(["rows of operand a"]);
  });

  test("default: DOT rescaled gives bytes or s32, and needs version 2 of the judge", () => {
    const variant = variantCode("dot", "rescaled");
    for (const type of ["s32", "u8", "s8"] as const) expect(fieldsOf({}, { variant, type })).toEqual([]);
    expect(judgeVersionOf(program({}, { variant }))).toBe(2);
    // What is added is s32 and has the output's dims.
    expect(fieldsOf({}, { variant, c: 0 })).toEqual(["dims of operand c"]);
    expect(fieldsOf({}, { variant, c: 1 })).toEqual(["type of operand c", "dims of operand c"]);
    expect(fieldsOf({}, { variant, type: "u8", c: 0 })).toEqual(["operand c"]);
    expect(fieldsOf({}, { c: 0 })).toEqual(["operand c"]);
    expect(fieldsOf({}, { variant, type: "bool" })).toEqual(["type"]);
    expect(fieldsOf({}, { variant, a: 0 })).toEqual(["type of operand a", "last dim of operand a"]);
  });

  test("behavior: intervals hold every run, and name sums that can leave s32", () => {
    const rng = createRng(23);
    for (let round = 0; round < 40; round++) {
      const bytes = rng.bytes(12);
      const channel = { ...PLAIN, shift: rng.int(1, 16), addend: BigInt(rng.int(0, 2 ** 18)) };
      const model = {
        program: program(),
        weights: [
          packChannel([channel, PLAIN, channel]),
          packDot(bytes, 3, Array(4).fill(PLAIN)),
          new Uint8Array(8),
          new Uint8Array(16),
        ],
      };
      const { ranges, problems } = analyse(model);
      expect(problems).toEqual([]);
      const [splits, product] = model.program.steps.slice(1) as [Step, Step];
      const [first, second] = [
        rescale.prepare(splits, [
          { type: "s32", dims: [2, 3] },
          { type: "u8", dims: [3], words: model.weights[0] as Uint8Array },
        ]),
        dot.prepare(product, [
          { type: "u8", dims: [2, 6] },
          { type: "u8", dims: [4, 3], words: model.weights[1] as Uint8Array },
        ]),
      ];
      const [a, p] = [new Uint8Array(12), new Int32Array(8)];
      for (let run = 0; run < 50; run++) {
        first(
          a,
          Int32Array.from({ length: 6 }, () => integer(rng)),
          undefined,
          undefined,
        );
        second(p, a, undefined, undefined);
        for (const [index, tensor] of [a, p].entries()) {
          const { low, high } = ranges[index + 1] as (typeof ranges)[number];
          tensor.forEach((value, i) => {
            const at = low.length === 1 ? 0 : i;
            expect(value).toBeGreaterThanOrEqual(low[at] as number);
            expect(value).toBeLessThanOrEqual(high[at] as number);
          });
        }
      }
    }
    // One interval of all numbers gives each plane its own.
    const narrow = { ...PLAIN, multiplier: 0, addend: 20_000n };
    const even = {
      program: program({}, {}, 1),
      weights: [packChannel([narrow]), packDot(new Uint8Array(12), 3, Array(4).fill(PLAIN))],
    };
    const { low, high } = analyse(even).ranges[1] as { low: Float64Array; high: Float64Array };
    expect([...low]).toEqual([78, 78, 78, 32, 32, 32, 78, 78, 78, 32, 32, 32]);
    expect(high).toEqual(low);
    const heavy = packDot(new Uint8Array(12).fill(255), 3, Array(4).fill({ ...PLAIN, bias: 2 ** 31 - 1 }));
    const wide = { program: program(), weights: [packChannel([PLAIN, PLAIN, PLAIN]), heavy] };
    expect(analyse(wide).problems.map(({ what }) => what)).toEqual(["the accumulator can leave s32"]);
  });
});
