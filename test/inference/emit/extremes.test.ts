/** The emitted file beside the executor where numbers are at the ends of what programs hold: sums that wrap, distances of 33
 *  bits, quotients near 2^62, limits of each type. */
import { expect, it } from "vitest";
import { rawInput, step, weight } from "../../../conformance/generate/small-programs.ts";
import { variantCode } from "../../../inference/program/codes.ts";
import type { Model, Step, Tensor, TensorData, TensorType } from "../../../inference/program/form.ts";
import { type ChannelParameters, packChannel, packDot } from "../../../inference/program/weights.ts";
import { modelOf, plain } from "../../support/claimed-models.ts";
import { canonicalExecutor } from "../../support/differential.ts";
import { openEmitted } from "../../support/onnxruntime.ts";
import { createRng, type Rng } from "../../support/rng.ts";

const ROWS = 16;
const CASES = process.env.TEST_DEPTH === "nightly" ? 2_000 : 40;
const [LEAST, MOST] = [-(2 ** 31), 2 ** 31 - 1];

/** One near an end, near 0, near a power of two, or any. */
function extreme(rng: Rng, least = LEAST, most = MOST): number {
  const near = rng.pick([least, most, 0, 2 ** rng.int(0, 31), -(2 ** rng.int(0, 31)), rng.int(least, most)]);
  return Math.max(least, Math.min(most, near + rng.int(-2, 2)));
}

const numbers = (dims: readonly number[], of: () => number): Tensor => ({
  type: "s32",
  dims,
  data: Int32Array.from({ length: dims.reduce((product, dim) => product * dim, 1) }, of),
});

/** @returns elements that differ */
async function different(model: Model, inputs: readonly Tensor[]): Promise<number> {
  const emitted = await openEmitted(model, {});
  const [found] = await emitted.run(inputs);
  await emitted.close();
  const expected = canonicalExecutor(model, [inputs])[0]?.at(-1)?.data as TensorData;
  return expected.filter((one, i) => one !== found?.data[i]).length;
}

const channel = (of: Partial<ChannelParameters>): ChannelParameters => ({
  ...{ bias: 0, multiplier: 1, addend: 0n, shift: 0, scaleBits: 0 },
  ...{ zeroPoint: 0, lower: 0, upper: 255, weightOffset: 128 },
  ...of,
});

/** A channel of any parameters, products that wrap in 64 bits among them, half of them without a bias. */
function anyChannel(rng: Rng, of: Partial<ChannelParameters>): ChannelParameters {
  const multiplier = Math.min(2 ** 32 - 1, 2 ** rng.int(0, 32) + rng.int(0, 3));
  const addend = rng.pick([-(2n ** 63n), 2n ** 63n - 1n]) >> BigInt(rng.pick([0, 0, rng.int(1, 63)]));
  const bias = rng.chance(0.5) ? 0 : extreme(rng);
  return channel({ bias, multiplier, addend, shift: rng.int(0, 63), ...of });
}

const LAST = { lookup: { a: 0, b: weight(0) }, ratio: { a: 0, b: 1 } } as const;

it("LOOKUP below: numbers 2^32 apart, rows of which no place counts", async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const rng = createRng(seed);
    const [length, entries] = [rng.int(1, 40), rng.pick([1, 2, 255, 5_000])];
    const dims = [ROWS, length];
    const isMasked = rng.chance(0.7);
    const type = rng.pick(["u8", "s8", "s32", "bool"] as const satisfies readonly TensorType[]);
    const isWide = type === "s32";
    const bytes = rng.bytes(entries * (isWide ? 4 : 1)).map((byte) => (type === "bool" ? byte & 1 : byte));
    const steps: Step[] = [rawInput("s32", dims)];
    if (isMasked) steps.push(rawInput("bool", dims, 4 * ROWS * length));
    const variant = variantCode("lookup", "below");
    steps.push(
      step({ opcode: "lookup", variant, type, dims, ...LAST.lookup, ...(isMasked ? { c: 1 } : {}) }),
    );
    const model = modelOf({ inputSize: 5 * ROWS * length, steps }, [plain([entries, 1], bytes, type)]);
    const [near, share] = [rng.pick([LEAST, MOST, rng.int(LEAST, MOST)]), rng.pick([0, 0.1, 0.9])];
    const isNear = rng.chance(0.5);
    const table = numbers(dims, () =>
      isNear ? Math.max(LEAST, Math.min(MOST, near + rng.int(-entries, entries))) : extreme(rng),
    );
    const mask = Uint8Array.from({ length: ROWS * length }, () => Number(rng.chance(share)));
    const inputs = isMasked ? [table, { type: "bool", dims, data: mask } as const] : [table];
    expect(await different(model, inputs), `seed ${seed}`).toBe(0);
  }
});

it("RESCALE ratio: divisors of any sign, numerators next to 2^62", async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const rng = createRng(seed);
    const type = rng.pick(["u8", "s8", "s32"] as const);
    const dims = [ROWS, rng.int(1, 9)];
    const most = 2 ** rng.int(4, 31) - 1;
    // The profile's bound: 2 · |x| · k + d is at most 2^62.
    const k = Math.min(2 ** 32 - 1, Math.max(1, Math.floor((2 ** 62 - 2 ** 33) / (2 * (most + 1)))));
    const variant = variantCode("rescale", "ratio");
    const steps = [
      rawInput("s32", dims),
      rawInput("s32", [ROWS, 1], 4 * ROWS * (dims[1] as number)),
      step({ opcode: "rescale", variant, type, dims, k: rng.pick([1, k, rng.int(1, k)]), ...LAST.ratio }),
    ];
    const model = modelOf({ inputSize: 4 * ROWS * ((dims[1] as number) + 1), steps });
    // Quotients within s32, but for bytes, which saturate: the profile refuses others.
    const divisors = numbers([ROWS, 1], () => extreme(rng));
    expect(
      await different(model, [numbers(dims, () => extreme(rng, -most - 1, most)), divisors]),
      `seed ${seed}`,
    ).toBe(0);
  }
});

it("ARITH rotate: products next to 2^62, each shift", async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const rng = createRng(seed);
    const dims = [ROWS, 2 * rng.int(1, 9)];
    // The profile's bound: two products of 2^61.
    const most = 2 ** 30;
    const inputSize = 4 * ROWS * (dims[1] as number);
    const rotate = step({
      ...{ opcode: "arith", variant: variantCode("arith", "rotate"), a: 0, b: 1 },
      ...{ type: rng.pick(["u8", "s8", "s32"] as const), dims, k: rng.int(0, 31) },
    });
    const steps = [rawInput("s32", dims), rawInput("s32", dims, inputSize), rotate];
    const inputs = [numbers(dims, () => extreme(rng)), numbers(dims, () => extreme(rng, -most, most))];
    expect(await different(modelOf({ inputSize: 2 * inputSize, steps }), inputs), `seed ${seed}`).toBe(0);
  }
});

it("REQUANT, RESCALE planes: products that wrap in 64 bits, each shift, bounds of any order", async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const rng = createRng(seed);
    const dims = [ROWS, rng.int(1, 12)];
    const input = numbers(dims, () => extreme(rng));
    const many = Array.from({ length: dims[1] as number }, () => {
      const [lower, upper] = [rng.int(0, 255), rng.int(0, 255)];
      return anyChannel(rng, { zeroPoint: rng.int(0, 255), lower, upper });
    });
    const channels = rng.chance(0.3) ? many.map(() => many[0] as ChannelParameters) : many;
    const weights = [
      {
        descriptor: { layout: "channel", type: "u8", dims: [channels.length] },
        bytes: packChannel(channels),
      },
    ] as const;
    const last = { a: 0, b: weight(0) };
    const requant = step({
      opcode: "requant",
      variant: variantCode("requant", "integer"),
      type: "u8",
      dims,
      ...last,
    });
    const inputSize = 4 * ROWS * (dims[1] as number);
    expect(
      await different(modelOf({ inputSize, steps: [rawInput("s32", dims), requant] }, weights), [input]),
      `seed ${seed}`,
    ).toBe(0);
    const planes = step({
      ...{ opcode: "rescale", variant: variantCode("rescale", "planes"), type: "u8" },
      ...{ dims: [ROWS, 2 * (dims[1] as number)], ...last },
    });
    expect(
      await different(modelOf({ inputSize, steps: [rawInput("s32", dims), planes] }, weights), [input]),
      `seed ${seed}`,
    ).toBe(0);
  }
});

it("DOT planes and rescaled: products of planes that wrap before the bias is added, each limit", async () => {
  for (let seed = 0; seed < CASES; seed++) {
    const rng = createRng(seed);
    const [k, n] = [rng.pick([1, 31, 64, 1_000]), rng.int(1, 9)];
    // Rows as heavy as the profile lets them be: no sum of 16-bit numbers leaves s32.
    const heavy = Math.min(127, Math.floor(65_535 / k));
    const bytes = Uint8Array.from(
      { length: n * k },
      () => 128 + rng.pick([heavy, -heavy, rng.int(-heavy, heavy)]),
    );
    const channels = Array.from({ length: n }, (_, row) => {
      const sum = bytes.subarray(row * k, (row + 1) * k).reduce((total, byte) => total + byte - 128, 0);
      const middle = rng.chance(0.5) ? { bias: -32_768 * sum } : {};
      return anyChannel(rng, { ...middle, upper: rng.int(0, 31), shift: rng.int(0, 63) });
    });
    const dims = [ROWS, n];
    const input = { type: "u8", dims: [ROWS, 2 * k], data: rng.bytes(2 * ROWS * k) } as const;
    if (rng.chance(0.3)) input.data.fill(rng.pick([0, 255]));
    const weights = [
      { descriptor: { layout: "dot", type: "u8", dims: [n, k] }, bytes: packDot(bytes, k, channels) },
    ] as const;
    for (const form of ["planes", "rescaled"] as const) {
      const dot = step({ opcode: "dot", variant: variantCode("dot", form), dims, a: 0, b: weight(0), k: 1 });
      const steps = [rawInput("u8", [ROWS, 2 * k]), dot];
      expect(
        await different(modelOf({ inputSize: 2 * ROWS * k, steps }, weights), [input]),
        `${form}, seed ${seed}`,
      ).toBe(0);
    }
  }
});
