/** Inputs in another type than the file declares: int64 ids as int32, quantized numbers as bytes. */
import { describe, expect, it } from "vitest";
import { prepare } from "../../../inference/executor/prepare.ts";
import { runNamed } from "../../../inference/model-values.ts";
import { type ImportSettings, importOnnx } from "../../../inference/onnx/import.ts";
import { onnxFile, type TestGraph } from "../../support/onnx-file.ts";
import { node, range, t } from "../../support/onnx-nodes.ts";
import { compareImport, nothingCompared } from "../../support/onnx-original.ts";
import { createRng } from "../../support/rng.ts";

const TABLE = t(
  "int8",
  [40, 6],
  range(240).map((i) => ((i * 37) % 251) - 125),
);
const ids = (nodes: TestGraph["nodes"], output: "int8" | "int64" | "float32" = "int8"): TestGraph => ({
  nodes,
  inputs: { ids: { type: "int64", dims: [2, 5] } },
  outputs: { y: output },
  constants: { table: TABLE, two: t("int64", [], [2]), flat: t("int64", [1], [-1]) },
});
const LOOKED_UP = ids([node("Reshape", ["ids", "flat"], {}, "r"), node("Gather", ["table", "r"])]);
const ADDED = ids([node("Add", ["ids", "two"], {}, "a"), node("Gather", ["table", "a"])]);
const int32 = new Map([["ids", "int32"]]);
const codeOf = (graph: TestGraph, settings: ImportSettings): string => {
  try {
    importOnnx(onnxFile(graph), settings);
    return "accepted";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("int64 inputs", () => {
  it("behavior: ids that are only looked up are int32, with a note", () => {
    const { io, notes } = importOnnx(onnxFile(LOOKED_UP));
    expect(io.inputs).toEqual([{ name: "ids", type: "int32", dims: [2, 5], offset: 0 }]);
    expect(notes.join()).toContain("input ids is given as int32: the graph only looks it up");
  });
  it("behavior: a mask that is cast is int32 as well", () => {
    const graph = ids([node("Cast", ["ids"], { to: 1 })], "float32");
    expect(importOnnx(onnxFile(graph)).io.inputs[0]?.type).toBe("int32");
  });
  it("error: ids that are computed with need --input-type", () => {
    expect(codeOf(ADDED, {})).toContain("--input-type ids=int32");
    expect(codeOf(ids([node("Identity", ["ids"])], "int64"), {})).toContain("--input-type ids=int32");
    expect(codeOf(ADDED, { inputTypes: int32 })).toContain("can leave s32");
    expect(codeOf(ADDED, { inputTypes: int32, codec: "int16s" })).toBe("accepted");
  });
  it("error: names and types that do not fit", () => {
    expect(codeOf(ADDED, { inputTypes: new Map([["idx", "int32"]]) })).toContain("the inputs are ids");
    expect(codeOf(ADDED, { inputTypes: new Map([["ids", "uint8"]]) })).toContain("cannot be given as uint8");
  });
  it.each([
    ["looked up", LOOKED_UP, {}],
    ["computed with", ADDED, { inputTypes: int32, codec: "int16s" }],
  ] as const)("behavior: %s as by onnxruntime", async (_, graph, settings) => {
    const rng = createRng(31);
    const runs = Array.from({ length: 20 }, () => ({
      ids: { type: "int32", dims: [2, 5], data: Array.from({ length: 10 }, () => rng.int(0, 37)) },
    }));
    const comparison = nothingCompared();
    await compareImport(onnxFile(graph), runs, comparison, settings);
    expect(comparison).toMatchObject({ compared: 1200, different: 0 });
  });
});

describe("--quantized-inputs", () => {
  const quantized = (type: "uint8" | "int8", extra: TestGraph["nodes"] = []): TestGraph => ({
    nodes: [
      node("QuantizeLinear", ["x", "s", "z"], {}, "q"),
      node("DequantizeLinear", ["q", "s", "z"], {}, "d"),
      node("Tanh", ["d"], {}, "h"),
      node("QuantizeLinear", ["h", "u", "z"]),
      ...extra,
    ],
    inputs: { x: { type: "float32", dims: [2, 8] } },
    outputs: { y: type },
    constants: {
      s: t("float32", [], [0.03]),
      u: t("float32", [], [0.01]),
      z: t(type, [], [type === "uint8" ? 131 : -3]),
    },
  });
  it.each(["uint8", "int8"] as const)("behavior: bytes of %s give what their numbers give", (type) => {
    const file = onnxFile(quantized(type));
    const [bytes, numbers] = [importOnnx(file, { quantizedInputs: true }), importOnnx(file)];
    const named = importOnnx(file, { inputTypes: new Map([["x", type]]) });
    expect(named.model.program).toEqual(bytes.model.program);
    expect(bytes.io.inputs[0]?.type).toBe(type);
    expect(bytes.model.program.inputSize).toBe(16);
    const shift = type === "uint8" ? 131 : -3;
    const [low, high] = type === "uint8" ? [0, 255] : [-128, 127];
    const outputs = (imported: typeof bytes, inputType: string, data: number[]) =>
      runNamed(
        { prepared: prepare(imported.model, new Uint8Array(4)), io: imported.io, onnx: file },
        { x: { type: inputType, dims: [2, 8], data } },
      ).outputs;
    for (let byte = low; byte <= high - 15; byte += 16) {
      const data = range(16, byte);
      const real = data.map((q) => Math.fround(Math.fround(q - shift) * Math.fround(0.03)));
      expect(outputs(bytes, type, data)).toEqual(outputs(numbers, "float32", real));
    }
  });
  it("error: an input that something else reads as well", () => {
    const graph = quantized("uint8", [node("Neg", ["x"], {}, "n")]);
    expect(codeOf({ ...graph, outputs: { y: "uint8", n: "float32" } }, { quantizedInputs: true })).toContain(
      "no input is read by QuantizeLinear alone",
    );
  });
});
