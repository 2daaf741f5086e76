import { describe, expect, it } from "vitest";
import { type Emission, type EmitOptions, emit } from "../../../inference/emit/emit.ts";
import { ProgramBuilder } from "../../../inference/onnx/builder.ts";
import { decode } from "../../../inference/onnx/proto/decode.ts";
import { findIntegerForm } from "../../../inference/onnx/requantize/integer-form.ts";
import { type Model, NONE, type Step, WEIGHT } from "../../../inference/program/form.ts";
import { bitsOfFloat } from "../../../inference/program/tensor.ts";
import { type ChannelParameters, packChannel, packDot } from "../../../inference/program/weights.ts";
import { canonicalExecutor } from "../../support/differential.ts";
import { directedProgram, TARGETS } from "../../support/directed-program.ts";
import { openEmitted } from "../../support/onnxruntime.ts";
import { createRng } from "../../support/rng.ts";

function emitted(model: Model, options: EmitOptions = {}): Emission {
  const emission = emit(model, options);
  if ("refused" in emission) throw new Error(emission.refused);
  return emission;
}

const operators = (onnx: Uint8Array): string[] =>
  (decode("Model", onnx).graph?.node ?? []).map(({ opType }) => opType ?? "");

const K = 16;
/** Both forms, equal: a scale one unit in the last place above 2^-8. */
function parameters(): ChannelParameters {
  const scale = 2 ** -8 * (1 + 2 ** -23);
  const rule = { scale, zeroPoint: 128, lower: 0, upper: 255 };
  const form = findIntegerForm(rule, -255 * 255 * K, 255 * 255 * K);
  if (form === undefined) throw new Error("this scale has an integer form");
  return {
    bias: 5,
    multiplier: form.m,
    addend: form.b,
    shift: form.s,
    scaleBits: bitsOfFloat(scale),
    zeroPoint: 128,
    lower: 0,
    upper: 255,
    weightOffset: 128,
  };
}

/** One product of two rows with three channels, or one requantization of three channels. */
function model(step: Pick<Step, "opcode" | "variant">, channels: readonly ChannelParameters[]): Model {
  const isDot = step.opcode === "dot";
  const empty = { b: NONE, c: NONE, coordinates: [] };
  const [type, dims] = isDot ? (["u8", [2, K]] as const) : (["s32", [2, 3]] as const);
  return {
    program: {
      inputCodec: "raw",
      outputCodec: "raw",
      inputSize: isDot ? 2 * K : 24,
      weights: [
        isDot ? { layout: "dot", type: "u8", dims: [3, K] } : { layout: "channel", type: "u8", dims: [3] },
      ],
      steps: [
        { ...empty, opcode: "codec", variant: 4, type, dims, a: NONE, k: 0 },
        { ...empty, ...step, type: "u8", dims: [2, 3], a: 0, b: WEIGHT, k: isDot ? 1 : 0 },
      ],
    },
    weights: [isDot ? packDot(createRng(1).bytes(3 * K), K, channels) : packChannel(channels)],
  };
}
const three = (change: Partial<ChannelParameters> = {}): ChannelParameters[] => [
  parameters(),
  { ...parameters(), ...change },
  parameters(),
];

describe("emit", () => {
  it("behavior: the same program gives the same bytes", () => {
    for (const [seed, target] of TARGETS.entries()) {
      const once = emitted(directedProgram(createRng(seed), target).model);
      expect(emitted(directedProgram(createRng(seed), target).model)).toEqual(once);
    }
  });

  it("args: trace makes every step an output", () => {
    const dot = model({ opcode: "dot", variant: 2 }, three());
    expect(emitted(dot)).toMatchObject({ inputs: [0], outputs: [1] });
    expect(emitted(dot, { trace: true })).toMatchObject({ inputs: [0], outputs: [0, 1] });
  });

  it("behavior: equal nodes are one, and rows that stay together are moved as a whole", () => {
    const at = (view: number, a = 0, p = 0) => ({ view, a, p, b: 0, q: 0, c: 0 });
    const builder = new ProgramBuilder("raw", 48);
    const rows = builder.codec("s32", [4, 3], 0);
    const [even, same] = [0, 1].map(() =>
      builder.move(rows, [2, 3], [at(1), at(1), at(4, 2, 0), at(3, 1, 1)]),
    ) as [number, number];
    builder.arith("add", "s32", even, same);
    const { onnx } = emitted(builder.model("raw"));
    expect(operators(onnx)).toEqual(["Gather", "Add", "Identity"]);
    const indices = decode("Model", onnx).graph?.initializer?.map(({ dims }) =>
      Array.from(dims ?? []).join(),
    );
    expect(indices).toEqual(["2"]);
  });

  it("behavior: a product with the rule that its integer form is equal to is one node", () => {
    for (const variant of [1, 2]) {
      expect(operators(emitted(model({ opcode: "dot", variant }, three())).onnx)).toEqual([
        "QGemm",
        "Identity",
      ]);
    }
    const clamped = three().map((channel) => ({ ...channel, lower: 10 }));
    const { onnx } = emitted(model({ opcode: "dot", variant: 2 }, clamped));
    expect(operators(onnx)).toEqual(["QGemm", "Clip", "Identity"]);
  });

  it("behavior: an integer form that is not equal to the rule stays in integers", () => {
    for (const change of [{ addend: parameters().addend + 2n ** 20n }, { scaleBits: 0x7fc00000 }]) {
      const { onnx } = emitted(model({ opcode: "dot", variant: 1 }, three(change)));
      expect(operators(onnx)).toContain("BitShift");
      expect(operators(onnx)).not.toContain("Round");
      expect(operators(onnx)).not.toContain("QGemm");
    }
  });

  it("behavior: sums whose quotients leave s32 saturate as in the executor", async () => {
    const wide = model(
      { opcode: "requant", variant: 1 },
      three().map((channel) => ({ ...channel, bias: 0, multiplier: 4, addend: 0n, shift: 1 })),
    );
    const sums = Int32Array.of(2 ** 30, 2 ** 31 - 1, -(2 ** 31), -(2 ** 30) - 1, 2 ** 30 + 7, -3);
    const input = { type: "s32", dims: [2, 3], data: sums } as const;
    const byRuntime = await openEmitted(wide, {});
    try {
      const [output] = await byRuntime.run([input]);
      expect(output?.data).toEqual(Uint8Array.of(255, 255, 0, 0, 255, 122));
      expect(output).toEqual(canonicalExecutor(wide, [[input]])[0]?.at(-1));
    } finally {
      await byRuntime.close();
    }
  });

  it("error: weights that no import writes are refused with the step and the reason", () => {
    const refusal = (opcode: "dot" | "requant", variant: number, change: Partial<ChannelParameters>) =>
      emit(model({ opcode, variant }, three(change)));
    expect(refusal("dot", 2, { weightOffset: 300 })).toMatchInlineSnapshot(`
      {
        "refused": "step 1 (dot): a weight offset is above 255",
      }
    `);
    expect(refusal("dot", 2, { scaleBits: 0x7fc00000 })).toMatchInlineSnapshot(`
      {
        "refused": "step 1 (dot): a requantization scale is not a finite number above 0",
      }
    `);
    expect(refusal("requant", 2, { scaleBits: bitsOfFloat(-1) })).toMatchInlineSnapshot(`
      {
        "refused": "step 1 (requant): a requantization scale is not a finite number above 0",
      }
    `);
  });
});
