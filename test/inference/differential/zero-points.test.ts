/** A weight zero point for each output channel: import, executor and emitted file against onnxruntime on the original. */
import { describe, expect, it } from "vitest";
import { readParameters } from "../../../inference/program/weights.ts";
import { compareBoth, inputsOf } from "../../support/both-ways.ts";
import { onnxFile, type TestNode, type TestTensor } from "../../support/onnx-file.ts";
import {
  LIMITS,
  microsoft,
  node,
  type OperatorGraph,
  random,
  scalar,
  tensor,
} from "../../support/quantized-graphs.ts";
import { createRng, type Rng } from "../../support/rng.ts";

interface Shape {
  readonly nodes: readonly TestNode[];
  readonly x: readonly number[];
  readonly w: readonly number[];
  /** Dims of scales and zero points. */
  readonly channels: readonly number[];
  readonly output?: "int32";
  /** Differences of one unit that a float32 product may have. */
  readonly near?: true;
}

const dequantized = (last: readonly TestNode[], axis: number): TestNode[] => [
  node("DequantizeLinear", ["x", "xs", "xz"], {}, "r"),
  node("DequantizeLinear", ["w", "ws", "wz"], { axis }, "v"),
  ...last,
  node("QuantizeLinear", ["p", "ys", "yz"]),
];
const integer = node("MatMulInteger", ["x", "w", "xz", "wz"]);

const SHAPES: Readonly<Record<string, Shape>> = {
  MatMulInteger: { nodes: [integer], x: [5, 40], w: [40, 9], channels: [9], output: "int32" },
  "MatMulInteger of rows above 992": {
    nodes: [integer],
    x: [2, 1500],
    w: [1500, 5],
    channels: [5],
    output: "int32",
  },
  "MatMulInteger of a batch": {
    nodes: [integer],
    x: [3, 5, 20],
    w: [3, 20, 7],
    channels: [3, 1, 7],
    output: "int32",
  },
  "MatMulInteger of one row and a batch of weights": {
    nodes: [integer],
    x: [1, 20],
    w: [3, 20, 7],
    channels: [3, 1, 7],
    output: "int32",
  },
  QLinearMatMul: {
    nodes: [node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"])],
    x: [6, 50],
    w: [50, 12],
    channels: [12],
  },
  QGemm: {
    nodes: [microsoft("QGemm", ["x", "xs", "xz", "w", "ws", "wz", "", "ys", "yz"])],
    x: [6, 50],
    w: [50, 12],
    channels: [12],
  },
  "DequantizeLinear, MatMul, QuantizeLinear": {
    nodes: dequantized([node("MatMul", ["r", "v"], {}, "p")], 1),
    x: [6, 50],
    w: [50, 12],
    channels: [12],
    near: true,
  },
  "DequantizeLinear, Conv in groups, QuantizeLinear": {
    nodes: dequantized([node("Conv", ["r", "v"], { group: 2, pads: [1, 1, 1, 1] }, "p")], 0),
    x: [1, 6, 7, 5],
    w: [8, 3, 3, 3],
    channels: [8],
    near: true,
  },
};

const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

function graphOf(rng: Rng, shape: Shape): OperatorGraph {
  const { nodes, x, w, channels, output } = shape;
  const n = count(channels);
  const floats = (dims: readonly number[], low: number, high: number): TestTensor =>
    tensor(
      "float32",
      dims,
      Array.from({ length: count(dims) }, () => Math.fround(rng.int(low, high) / 1e6)),
    );
  return {
    graph: {
      nodes,
      inputs: { x: { type: "uint8", dims: x } },
      outputs: { y: output ?? "uint8" },
      constants: {
        xs: scalar("float32", Math.fround(0.0137)),
        xz: scalar("uint8", rng.int(0, 255)),
        w: random(rng, "uint8", w, LIMITS.uint8),
        ws: floats(channels, 2000, 6000),
        // Anything, the ends among them.
        wz: tensor(
          "uint8",
          channels,
          Array.from({ length: n }, (_, i) => (i < 2 ? 255 * i : rng.int(0, 255))),
        ),
        ys: scalar("float32", Math.fround(0.004 * Math.sqrt(count(w) / n))),
        yz: scalar("uint8", rng.int(90, 160)),
      },
    },
    ranges: { x: LIMITS.uint8 },
  };
}

describe("a weight zero point for each channel", () => {
  it.each(Object.entries(SHAPES))("default: %s", async (name, shape) => {
    const rng = createRng(77);
    for (let i = 0; i < 4; i++) {
      const operator = graphOf(rng, shape);
      const runs = Array.from({ length: 4 }, () => inputsOf(rng, operator));
      const { imported, original, emitted } = await compareBoth(name, onnxFile(operator.graph), runs);
      const { program, weights } = imported.model;
      const offsets = program.weights.flatMap(({ layout, dims }, at) => {
        const bytes = weights[at] as Uint8Array;
        const [rows = 0] = dims;
        if (layout !== "dot") return [];
        return Array.from({ length: rows }, (_, r) => {
          return readParameters(bytes, ((r + 1) * bytes.length) / rows - 32).weightOffset;
        });
      });
      expect(new Set(offsets).size).toBeGreaterThan(3);
      expect(emitted).toMatchObject({ different: 0 });
      expect(original.largest).toBeLessThanOrEqual(shape.near ? 1 : 0);
    }
  });
});
