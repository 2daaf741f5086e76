import { describe, expect, it } from "vitest";
import { randomInput, seededProgram } from "../../../conformance/generate/random-program.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import { trace } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { analyse } from "../../../inference/profile/intervals.ts";
import { proveProfile } from "../../../inference/profile/prove.ts";
import type { Range } from "../../../inference/profile/range.ts";
import {
  FLOAT_VARIANTS,
  type Model,
  NONE,
  OPCODES,
  type Step,
  type Tensor,
  WEIGHT,
} from "../../../inference/program/form.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

/** First element outside its interval, as a message. */
function outside(tensor: Tensor, range: Range): string | undefined {
  for (let i = 0; i < tensor.data.length; i++) {
    const stored = tensor.data[i] as number;
    const value = tensor.type === "s8" ? stored - 128 : stored;
    const at = range.low.length === 1 ? 0 : i;
    const [low, high] = [range.low[at] as number, range.high[at] as number];
    if (!(value >= low && value <= high)) return `element ${i} is ${value}, proven was ${low} to ${high}`;
    if (tensor.type === "f32" && value !== 0 && Math.abs(value) < range.tiny)
      return `element ${i} is ${value}, below ${range.tiny}`;
  }
  return undefined;
}

const PROGRAMS_OF_ANY_WEIGHTS = scaled(4_500, 20_000, 200_000);

describe("analyse", () => {
  it("behavior: every value of every step of random programs lies in its interval", () => {
    const checked = new Map<string, number>();
    for (let seed = 0; seed < 1200; seed++) {
      const opcode = OPCODES[seed % OPCODES.length] as (typeof OPCODES)[number];
      const { model, selector, calldata } = seededProgram(seed, { opcode, steps: 3 });
      const { ranges, problems } = analyse(model);
      const broken = new Set(problems.map((p) => p.step));
      const tensors = trace(prepare(model, selector), calldata);
      tensors.forEach((tensor, i) => {
        // After a failed proof a step counts as any value of its type; what wraps or is NaN is reported, not bounded.
        if (broken.has(i)) return;
        const step = model.program.steps[i] as Step;
        expect(
          outside(tensor, ranges[i] as Range),
          `seed ${seed}, step ${i} (${step.opcode} ${step.variant})`,
        ).toBeUndefined();
        checked.set(step.opcode, (checked.get(step.opcode) ?? 0) + 1);
      });
    }
    for (const opcode of OPCODES) expect(checked.get(opcode) ?? 0, opcode).toBeGreaterThan(30);
  });

  it("behavior: so does every value of programs with any weights that are proven, on any input", () => {
    const checked = new Map<string, number>();
    for (let seed = 0; seed < PROGRAMS_OF_ANY_WEIGHTS; seed++) {
      const rng = createRng(seed);
      const opcode = OPCODES[seed % OPCODES.length] as (typeof OPCODES)[number];
      const { model, selector, calldata } = seededProgram(seed, {
        opcode,
        hostile: true,
        steps: rng.int(0, 2),
      });
      const { ranges, problems } = analyse(model);
      if (problems.length > 0) continue;
      const { program } = model;
      const inputs = [true, false, true].map((hostile) =>
        encodeInput(program, selector, randomInput(rng, program, hostile)),
      );
      const prepared = prepare(model, selector);
      for (const input of [calldata, ...inputs])
        trace(prepared, input).forEach((tensor, i) => {
          const { opcode, variant } = program.steps[i] as Step;
          const fault = outside(tensor, ranges[i] as Range);
          expect(fault, `seed ${seed}, step ${i} (${opcode} ${variant})`).toBeUndefined();
          checked.set(opcode, (checked.get(opcode) ?? 0) + 1);
        });
    }
    for (const opcode of OPCODES) expect(checked.get(opcode) ?? 0, opcode).toBeGreaterThan(20);
  });
});

describe("proveProfile", () => {
  const step = (fields: Partial<Step> & Pick<Step, "opcode" | "variant" | "type">): Step => ({
    dims: [2],
    a: NONE,
    b: NONE,
    c: NONE,
    k: 0,
    coordinates: [],
    ...fields,
  });
  const input = (type: Step["type"]): Step => step({ opcode: "codec", variant: 4, type });
  const model = (type: Step["type"], last: Step, constant: readonly number[] = []): Model => {
    const bytes = new Uint8Array(4 * constant.length);
    constant.forEach((v, i) => {
      const view = new DataView(bytes.buffer);
      if (type === "f32") view.setFloat32(4 * i, v);
      else view.setInt32(4 * i, v);
    });
    const weights =
      constant.length === 0 ? [] : [{ layout: "plain", type, dims: [constant.length] } as const];
    const program = {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: 8,
      weights,
      steps: [input(type), last],
    } as const;
    return { program, weights: constant.length === 0 ? [] : [bytes] };
  };

  /** TABLE of a byte, 0 to this one. */
  const tableOf = (type: Step["type"], most: number): Model => {
    const map = Uint8Array.from({ length: 256 }, (_, byte) => (byte === 255 ? most : 0));
    const weights = [{ layout: "plain", type, dims: [256] }] as const;
    const last = step({ opcode: "table", variant: 1, type, a: 0, b: WEIGHT });
    const program = { ...model("u8", last).program, inputSize: 2, weights };
    return { program, weights: [map] };
  };

  /** FLOAT of two input elements, with scales and zero points. */
  const ofConstants = (
    name: "quant" | "dequant",
    type: Step["type"],
    scales: readonly number[],
    zeroPoints: readonly number[],
  ): Model => {
    const variant = FLOAT_VARIANTS.indexOf(name);
    const last = step({ opcode: "float", variant, type: name === "quant" ? "u8" : "f32", a: 0 });
    const { program, weights } = model("f32", { ...last, b: WEIGHT, c: WEIGHT + 1 }, scales);
    const points = model("s32", last, zeroPoints);
    return {
      program: {
        ...program,
        steps: [input(type), ...program.steps.slice(1)],
        weights: [...program.weights, ...points.program.weights],
      },
      weights: [...weights, ...points.weights],
    };
  };

  it("default: bounds of each step with its node", () => {
    const last = step({ opcode: "arith", variant: 3, type: "s32", a: 0, b: WEIGHT });
    expect(proveProfile(model("s32", last, [7, -9]), ["in", "clip"]).steps[1]).toEqual({
      step: 1,
      node: "clip",
      operation: "arith min s32 [2]",
      low: -(2 ** 31),
      high: 7,
    });
  });

  it.each<[string, Model, string]>([
    [
      "a sum that wraps",
      model("s32", step({ opcode: "arith", variant: 0, type: "s32", a: 0, b: 0 })),
      "the result can leave s32: -4294967296 to 4294967294",
    ],
    [
      "a divisor below 1",
      model("s32", step({ opcode: "arith", variant: 5, type: "s32", a: 0, b: WEIGHT }), [5, 0]),
      "the divisor can be below 1",
    ],
    [
      "a cast out of range",
      model("s32", step({ opcode: "arith", variant: 9, type: "u8", a: 0 })),
      "the cast value can leave u8",
    ],
    [
      "a float divisor around 0",
      model("f32", step({ opcode: "float", variant: 3, type: "f32", a: 0, b: WEIGHT }), [-1, 1]),
      "the divisor can be 0",
    ],
    [
      "a negative root",
      model("f32", step({ opcode: "float", variant: 4, type: "f32", a: 0 })),
      "the square root of a negative number",
    ],
    [
      "a subnormal product",
      model("f32", step({ opcode: "float", variant: 2, type: "f32", a: 0, b: 0 })),
      "the result can be subnormal",
    ],
    [
      "an infinite product",
      model("f32", step({ opcode: "float", variant: 2, type: "f32", a: 0, b: WEIGHT }), [3e38, 3e38]),
      "the result can be infinite",
    ],
    [
      "a constant that is not a number",
      model("f32", step({ opcode: "float", variant: 0, type: "f32", a: 0, b: WEIGHT }), [5, Number.NaN]),
      "a constant is not a number",
    ],
    [
      "an infinite constant",
      model("f32", step({ opcode: "float", variant: 7, type: "f32", a: 0, b: WEIGHT }), [Infinity, 0]),
      "a constant is no f32: 0 to Infinity",
    ],
    [
      "a pad that is not a number",
      {
        ...model(
          "f32",
          step({
            ...{ opcode: "move", variant: 0, type: "f32", a: 0, k: 0x7fc0_0000 },
            coordinates: [{ view: 2, a: 1, p: 0, b: 0, q: 0, c: 1 }],
          }),
        ),
      },
      "a constant is not a number",
    ],
    ["a table to bool of other bytes than 0 and 1", tableOf("bool", 2), "a constant is no bool: 0 to 2"],
    [
      "a zero point that leaves s32",
      ofConstants("dequant", "s32", [0.5, 0.5], [1, 0]),
      "the value less its zero point can leave s32: -2147483649 to 2147483647",
    ],
  ])("error: %s", (_name, bad, message) => {
    expect(() => proveProfile(bad, ["in", "risky"])).toThrow(`node risky): ${message}`);
  });

  it("behavior: a quotient is held in s32 before the zero point is added", () => {
    const { ranges } = analyse(ofConstants("quant", "f32", [1e-30, 1e-30], [-(2 ** 31), -(2 ** 31)]));
    // From −2^31 and 2^31 − 1.
    expect([ranges[1]?.low[0], ranges[1]?.high[0]]).toEqual([0, 0]);
  });

  it("behavior: an element by a distance is between the entries that two numbers' distance can name, and 0 where it may not count", () => {
    const builder = new ProgramBuilder("raw", 4);
    const x = builder.codec("u8", [2, 2], 0);
    const numbers = builder.arith("min", "s32", x, builder.s32(2));
    const counts = builder.plain("bool", [2], Uint8Array.of(1, 0));
    const may = builder.arith("le", "bool", x, builder.s32(7));
    // Numbers are 0 to 2, so the last entry is out of reach.
    const table = builder.plain("f32", [4, 1], Float32Array.of(7, -3, 0.5, 99));
    const ends = (mask?: number) => {
      const { low, high, tiny, grid } = builder.range(builder.below(numbers, table, mask));
      return [Array.from(low), Array.from(high), tiny, grid];
    };
    expect(ends(counts)).toEqual([[-3, 0, -3, 0], [7, 0, 7, 0], 0.5, 0.5]);
    expect(ends(may)).toEqual([[-3], [7], 0.5, 0.5]);
    expect(ends()).toEqual([[-3], [7], 0.5, 0.5]);
    const positive = builder.plain("u8", [3, 1], Uint8Array.of(9, 5, 7));
    const range = builder.range(builder.below(numbers, positive, may));
    expect([Array.from(range.low), Array.from(range.high)]).toEqual([[0], [9]]);
  });

  it("behavior: an element for each id is between the entries that this id can name, ids clamped", () => {
    const builder = new ProgramBuilder("raw", 4);
    const x = builder.codec("u8", [2, 2], 0);
    // Ids are -1 alone, 1 to 3, 3 to 258, and at most -2.
    const most = builder.arith("min", "s32", x, builder.plain("s32", [2, 2], Int32Array.of(0, 2, 255, 0)));
    const added = builder.plain("s32", [2, 2], Int32Array.of(-1, 1, 3, -2));
    const ids = builder.arith("add", "s32", most, added);
    const entries = Float32Array.of(7, -3, 0, 40, 0.5);
    const found = builder.each(ids, builder.plain("f32", [5, 1], entries));
    const { low, high, tiny, grid } = builder.range(found);
    expect([Array.from(low), Array.from(high)]).toEqual([
      [7, -3, 0.5, 7],
      [7, 40, 40, 7],
    ]);
    expect([tiny, grid]).toEqual([0.5, 0.5]);
    // Ids that name the first three entries alone do not reach the small one.
    const few = builder.arith("min", "s32", x, builder.s32(2));
    const reached = builder.range(builder.each(few, builder.plain("f32", [5, 1], entries)));
    expect([reached.low[0], reached.high[0], reached.tiny]).toEqual([-3, 7, 3]);
    const prepared = prepare(builder.model("raw"), new Uint8Array(4));
    const data = Uint8Array.from([255, 255, 1, 255]);
    const tensors = prepared.runTensors([{ type: "u8", dims: [2, 2], data }]);
    expect(Array.from(tensors[found as number]?.data ?? [])).toEqual([7, 40, 0.5, 7]);
  });

  it("behavior: a row divided by its own norm is not above the multiplier, by that of another it can be", () => {
    const builder = new ProgramBuilder("raw", 8);
    const x = builder.arith("sub", "s32", builder.codec("u8", [2, 4], 0), builder.s32(100));
    const other = builder.arith("add", "s32", x, builder.s32(1));
    const [own, others] = [x, other].map((rows) => builder.ratio(x, builder.norm(rows, 1, [2, 1]), 1_000));
    const both = [own, others].map((operand) => builder.range(operand as number));
    expect(both.map(({ low, high }) => [Math.min(...low), Math.max(...high)])).toEqual([
      [-1_000, 1_000],
      [-100_000, 155_000],
    ]);
    const prepared = prepare(builder.model("words"), new Uint8Array(4));
    const data = Uint8Array.from([255, 100, 100, 100, 0, 99, 101, 100]);
    const tensors = prepared.runTensors([{ type: "u8", dims: [2, 4], data }]);
    // √(100² + 1² + 1² + 1) is 100.01…, cut to 100.
    expect(Array.from(tensors[own as number]?.data ?? [])).toEqual([1_000, 0, 0, 0, -1_000, -10, 10, 0]);
  });
});
