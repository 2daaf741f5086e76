/** Files as onnxruntime's static quantization writes them (tools/quantize_examples.py), which docs/IMPORT.md follows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commitWeights } from "../../../inference/commit/commitments.ts";
import type { NamedTensors } from "../../../inference/model-values.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { readOnnx } from "../../../inference/onnx/read.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { compareBoth } from "../../support/both-ways.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";
import { withUnsignedWeights } from "../../support/unsigned-weights.ts";

const NAMES = ["mlp", "conv1d", "mobilenet"] as const;
const FILES = NAMES.flatMap((name) =>
  (["qdq", "qoperator", "int16"] as const).map((form) => [name, form] as const),
);
const RUNS = scaled(8, 300);

const read = (name: string, form: string): Uint8Array =>
  readFileSync(join(import.meta.dirname, `../../vectors/quantized/${name}.${form}.onnx`));

/** What one unit of the quantized output is worth. */
function outputUnit(onnx: Uint8Array): number {
  const { nodes, constants } = readOnnx(onnx);
  const last = nodes.find((node) => node.op === "DequantizeLinear" && node.outputs[0]?.startsWith("gemm"));
  return constants.get(last?.inputs[1] ?? "")?.data[0] as number;
}

function inputs(onnx: Uint8Array): NamedTensors[] {
  const rng = createRng(40);
  const [input] = readOnnx(onnx).inputs;
  const { name = "", dims = [], type = "" } = input ?? {};
  const length = dims.reduce((a, b) => a * b, 1);
  return Array.from({ length: RUNS }, () => ({
    [name]: { type, dims, data: Array.from({ length }, () => Math.fround(rng.int(-3000, 3000) / 1000)) },
  }));
}

/** Most units of the output by which a node of one unit moves the whole: of 256, or of 65,536. */
const UNITS = { qdq: 1, qoperator: 1, int16: 4 } as const;

describe("files of onnxruntime's static quantization", () => {
  it.each(FILES)("behavior: %s.%s.onnx gives onnxruntime's outputs", async (name, form) => {
    const onnx = read(name, form);
    const floatUnit = outputUnit(onnx);
    // Products with s8 weights are wrong on some CPUs; with u8 weights the file is the same function.
    const options = { original: withUnsignedWeights(onnx), floatUnit };
    const { original, emitted } = await compareBoth(`${name}.${form}`, onnx, inputs(onnx), options);
    const { compared, different, largest } = original;
    process.stdout.write(
      `${name}.${form}: ${compared} compared, ${different} different, by at most ${largest.toFixed(3)} units\n`,
    );
    expect(emitted).toMatchObject({ different: 0 });
    expect(compared).toBeGreaterThanOrEqual(3 * RUNS);
    // The numbers are float32: their distance has a rounding of its own.
    expect(largest).toBeLessThanOrEqual(UNITS[form] * 1.01);
  });

  it.each(NAMES)("behavior: %s is the same program in both forms", (name) => {
    const ids = (["qdq", "qoperator"] as const).map((form) => {
      const { model } = importOnnx(read(name, form));
      return [encodeProgram(model.program), commitWeights(model)];
    });
    expect(ids[0]).toEqual(ids[1]);
  });
});

describe("a text classifier with int64 ids and a mask (tools/text_example.py)", () => {
  it("behavior: gives onnxruntime's outputs but for a unit now and then", async () => {
    const onnx = read("text", "qdq");
    const settings = {
      dims: new Map([["sequence", 16]]),
      inputTypes: new Map(["input_ids", "attention_mask"].map((name) => [name, "int32"])),
    };
    const rng = createRng(41);
    const dims = [1, 16];
    const runs = Array.from({ length: RUNS }, (): NamedTensors => {
      const tokens = rng.int(0, 16);
      const mask = Array.from({ length: 16 }, (_, i) => (i < tokens ? 1 : 0));
      const ids = mask.map((kept) => (kept === 1 ? rng.int(1, 299) : 0));
      return {
        input_ids: { type: "int32", dims, data: ids },
        attention_mask: { type: "int32", dims, data: mask },
      };
    });
    const { nodes, constants } = readOnnx(onnx, settings);
    const last = nodes.find((node) => node.outputs[0] === "logits");
    const floatUnit = constants.get(last?.inputs[1] ?? "")?.data[0] as number;
    const options = { original: withUnsignedWeights(onnx), floatUnit, settings };
    const { original, emitted } = await compareBoth("text.qdq", onnx, runs, options);
    expect(emitted).toMatchObject({ different: 0 });
    expect(original.compared).toBe(3 * RUNS);
    expect(original.largest).toBeLessThanOrEqual(1.01);
  });
});
