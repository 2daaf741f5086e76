import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fromHex, type Hex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { rawInput, rawProgram, step } from "../../../conformance/generate/small-programs.ts";
import { encodeInput } from "../../../inference/codecs/input.ts";
import type { Program, Step } from "../../../inference/program/form.ts";
import { readProgram } from "../../../inference/program/validate.ts";
import {
  groth16Binding,
  packTensor,
  publicSignals,
  signalLayout,
  signalNames,
  signalsOfTrace,
} from "../../../protocol/rules/proof/public-signals.ts";
import { formatSignalVectors, makeSignalVectors } from "../../../tools/make-signal-vectors.ts";

const file = readFileSync(new URL("../../vectors/public-signals.json", import.meta.url), "utf8");
const vectors = JSON.parse(file) as {
  selector: Hex;
  signals: Record<string, string[]>;
  refused: Record<string, string[]>;
};
const SELECTOR = Uint8Array.of(1, 2, 3, 4);

function programWith(inputCodec: Program["inputCodec"], inputSize: number, codec: Partial<Step>): Program {
  const variant = ["text", "prices", "int16s", "raw"].indexOf(inputCodec) + 1;
  const input = step({ opcode: "codec", variant, ...codec });
  return { inputCodec, outputCodec: "words", inputSize, weights: [], steps: [input] };
}

describe("signalLayout", () => {
  test("default: inputs in step order, then output and binding", () => {
    const program = rawProgram(77, [rawInput("u8", [62]), rawInput("s32", [3], 62), rawInput("s8", [32])]);
    const layout = signalLayout(program);
    expect(signalNames(layout)).toMatchInlineSnapshot(`
      [
        "input[0].0",
        "input[0].1",
        "input[1].0",
        "input[2].0",
        "input[2].1",
        "output.0",
        "output.1+binding",
      ]
    `);
    expect(layout.count).toBe(7);
    expect(layout.inputs.map(({ step: index, first, signals }) => [index, first, signals])).toEqual([
      [0, 0, 2],
      [1, 2, 1],
      [2, 3, 2],
    ]);
    expect(layout.output).toMatchObject({ step: 2, first: 5, signals: 2, fieldBytes: 1, bytes: 51 });
  });

  test.each([
    ["prices", { dims: [3, 9] }, 10, 2, 32_768],
    ["int16s", { dims: [16] }, 16, 2, 32_768],
    ["text", { dims: [8, 2], k: 256 }, 99, 1, 0],
    ["text", { dims: [8, 2], k: 257 }, 99, 2, 0],
    ["text", { dims: [8, 2], k: 65_536 }, 99, 2, 0],
    ["text", { dims: [8, 2], k: 65_537 }, 99, 3, 0],
    ["raw", { dims: [4], type: "u8" }, 4, 1, 0],
    ["raw", { dims: [4], type: "s32" }, 16, 4, 0],
  ] as const)("args: field of codec %s %j", (codec, fields, size, fieldBytes, offset) => {
    expect(signalLayout(programWith(codec, size, fields)).inputs[0]).toMatchObject({ fieldBytes, offset });
  });

  test.each(["input", "output"] as const)("error: f32 as %s", (name) => {
    const input = rawInput(name === "input" ? "f32" : "s32", [4]);
    const last = step({ opcode: "float", type: name === "output" ? "f32" : "s32", dims: [4] });
    const problem = () => signalLayout(rawProgram(16, [input, last]));
    expect(problem).toThrow(BaseError);
    expect(problem).toThrow(
      `The ${name} (step ${name === "input" ? 0 : 1}) is f32; public signals hold u8, s8, s32 or bool.`,
    );
  });
});

describe("packTensor", () => {
  const part = { name: "input", step: 0, first: 0, signals: 1 };

  test("default: big-endian, the first byte the most significant", () => {
    expect(
      packTensor({ ...part, elements: 3, fieldBytes: 1, offset: 0, bytes: 3 }, Uint8Array.of(1, 2, 255)),
    ).toEqual([0x0102ffn]);
  });

  test("args: 2 bytes with the offset of lanes", () => {
    const data = Int32Array.of(-32_768, -1, 0, 32_767);
    expect(packTensor({ ...part, elements: 4, fieldBytes: 2, offset: 32_768, bytes: 8 }, data)).toEqual([
      0x0000_7fff_8000_ffffn,
    ]);
  });

  test("args: 3 bytes of ids, 4 of two's complement", () => {
    expect(
      packTensor({ ...part, elements: 2, fieldBytes: 3, offset: 0, bytes: 6 }, Int32Array.of(0xffffff, 1)),
    ).toEqual([0xffffff_000001n]);
    expect(
      packTensor({ ...part, elements: 2, fieldBytes: 4, offset: 0, bytes: 8 }, Int32Array.of(-2, 1)),
    ).toEqual([0xfffffffe_00000001n]);
  });

  test("behavior: an element may straddle two signals, and the last one is shorter", () => {
    const data = new Int32Array(16);
    data[15] = 0x1234;
    const signals = packTensor({ ...part, elements: 16, fieldBytes: 2, offset: 0, bytes: 32 }, data);
    expect(signals).toEqual([0x12n, 0x34n]);
  });
});

describe("groth16Binding", () => {
  const binding = {
    chainId: 31_337,
    proofLane: `0x${"11".repeat(20)}`,
    modelId: `0x${"22".repeat(32)}`,
    submitter: `0x${"33".repeat(20)}`,
  } as const;

  test("default", () => {
    expect(groth16Binding(binding)).toMatchInlineSnapshot(`5030101236889288002702448501857777925937162047n`);
    expect(groth16Binding(binding) < 2n ** 152n).toBe(true);
  });

  test("behavior: every part changes it", () => {
    const others = [
      { ...binding, chainId: 1 },
      { ...binding, proofLane: `0x${"12".repeat(20)}` as const },
      { ...binding, modelId: `0x${"23".repeat(32)}` as const },
      { ...binding, submitter: `0x${"34".repeat(20)}` as const },
    ].map(groth16Binding);
    expect(new Set([groth16Binding(binding), ...others]).size).toBe(5);
  });
});

describe("publicSignals", () => {
  const column = (table: Record<string, string[]>, name: string): string[] => table[name] as string[];

  test("default: the committed vectors", () => {
    expect(formatSignalVectors(makeSignalVectors())).toBe(file);
    expect(column(vectors.signals, "name").length).toBeGreaterThanOrEqual(30);
  });

  test("error: every refused output", () => {
    const names = column(vectors.refused, "name");
    expect(names.length).toBeGreaterThanOrEqual(100);
    names.forEach((name, i) => {
      const program = readProgram(fromHex(column(vectors.refused, "program")[i] as string));
      const [input, output] = ["input", "output"].map((field) =>
        fromHex(column(vectors.refused, field)[i] as string),
      ) as [Uint8Array, Uint8Array];
      expect(() => publicSignals(program, fromHex(vectors.selector), input, output, 0n), name).toThrow(
        BaseError,
      );
    });
  });

  test("behavior: the same as from a trace", () => {
    const program = rawProgram(40, [rawInput("u8", [40])]);
    const bytes = Uint8Array.from({ length: 40 }, (_, i) => 3 * i);
    const calldata = encodeInput(program, SELECTOR, { codec: "raw", bytes });
    const output = new Uint8Array([
      ...new Uint8Array(31),
      32,
      ...new Uint8Array(31),
      40,
      ...bytes,
      ...new Uint8Array(24),
    ]);
    const signals = publicSignals(program, SELECTOR, calldata, output, 7n);
    expect(signals).toEqual(signalsOfTrace(program, [bytes], 7n));
    expect(signals).toHaveLength(4);
  });
});
