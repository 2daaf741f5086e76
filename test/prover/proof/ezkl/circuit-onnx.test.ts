import { describe, expect, it } from "vitest";
import { contentsOf, withContents } from "../../../../inference/onnx/proto/splice.ts";
import { readOnnx } from "../../../../inference/onnx/read.ts";
import { circuitOnnx } from "../../../../prover/proof/ezkl/circuit-onnx.ts";
import { onnxFile, type TestGraph } from "../../../support/onnx-file.ts";

const graph: TestGraph = {
  nodes: [{ op: "Relu", inputs: ["x"], outputs: ["y"] }],
  inputs: { x: { type: "float32", dims: ["batch", 3] } },
  outputs: { y: "float32" },
};

describe("circuitOnnx", () => {
  it("default", () => {
    const { bytes, inputs, outputs } = circuitOnnx(onnxFile(graph));
    expect(inputs).toEqual([{ name: "x", type: "float32", dims: [1, 3] }]);
    expect(outputs).toEqual(["y"]);
    const read = readOnnx(bytes);
    expect(read.inputs).toEqual([...inputs, { name: "assay_binding", type: "float32", dims: [1, 16] }]);
    expect(read.nodes.map(({ op }) => op)).toEqual(["Relu"]);
  });

  it("args: dims", () => {
    const { bytes, inputs } = circuitOnnx(onnxFile(graph), new Map([["batch", 2]]));
    expect(inputs[0]?.dims).toEqual([2, 3]);
    expect(readOnnx(bytes).inputs[0]?.dims).toEqual([2, 3]);
  });

  it("behavior: everything but the inputs is the user's file, byte for byte", () => {
    const file = onnxFile(graph);
    const { bytes } = circuitOnnx(file);
    const parts = (whole: Uint8Array) => {
      const [held = new Uint8Array(0)] = contentsOf("Model", whole, "graph");
      return [withContents("Model", whole, "graph", []), withContents("Graph", held, "input", [])];
    };
    const unknown = Uint8Array.of(0xf8, 0x07, 1); // field 127
    const more = Uint8Array.from([...file, ...unknown]);
    expect(parts(bytes)).toEqual(parts(file));
    expect(circuitOnnx(more).bytes).toEqual(Uint8Array.from([...bytes, ...unknown]));
  });

  it("error: an input that is no float", () => {
    const file = onnxFile({ ...graph, inputs: { x: { type: "int32", dims: [3] } } });
    expect(() => circuitOnnx(file)).toThrow("x is of int32, must be float32");
  });

  it("error: too many elements", () => {
    const file = onnxFile({ ...graph, inputs: { x: { type: "float32", dims: [4097] } } });
    expect(() => circuitOnnx(file)).toThrow("the inputs have 4097 elements, must have 1 to 4096");
  });

  it("error: a value with the binding's name", () => {
    const nodes = [
      { op: "Relu", inputs: ["x"], outputs: ["assay_binding"] },
      { op: "Relu", inputs: ["assay_binding"], outputs: ["y"] },
    ];
    expect(() => circuitOnnx(onnxFile({ ...graph, nodes }))).toThrow("it has a value called assay_binding");
  });

  it("error: no ONNX", () => {
    expect(() => circuitOnnx(new Uint8Array([1, 2, 3]))).toThrow(/ONNX/);
  });
});
