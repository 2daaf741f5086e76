/** Random ONNX graphs of averages, and of functions that become tables of a byte: at most one unit off. */
import type { TestGraph, TestNode, TestTensor } from "./onnx-file.ts";
import {
  type Generator,
  LIMITS,
  microsoft,
  middle,
  node,
  scalar,
  scale,
  tensor,
} from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

type Byte = "uint8" | "int8";

/** Nodes from the dequantized input r to p, which is quantized. */
function quantizedAround(
  rng: Rng,
  dims: readonly number[],
  nodes: readonly TestNode[],
  [from, to]: readonly [number, number],
  constants: Readonly<Record<string, TestTensor>> = {},
): { graph: TestGraph; ranges: Record<string, readonly [number, number]> } {
  const type: Byte = rng.pick(["uint8", "int8"] as const);
  const graph = {
    nodes: [
      node("DequantizeLinear", ["x", "xs", "xz"], {}, "r"),
      ...nodes,
      node("QuantizeLinear", ["p", "ys", "yz"]),
    ],
    inputs: { x: { type, dims } },
    outputs: { y: type },
    constants: {
      xs: scalar("float32", scale(rng, from)),
      xz: scalar(type, middle(rng, type)),
      ys: scalar("float32", scale(rng, to)),
      yz: scalar(type, middle(rng, type)),
      ...constants,
    },
    opset: 20,
  };
  return { graph, ranges: { x: LIMITS[type] } };
}

const between =
  (
    nodes: readonly TestNode[],
    scales: readonly [number, number],
    constants: Readonly<Record<string, TestTensor>> = {},
  ): Generator =>
  (rng) =>
    quantizedAround(rng, [4, 64], nodes, scales, constants);

const simple = (
  op: string,
  attributes: TestNode["attributes"] = {},
  scales: readonly [number, number] = [0.02, 0.02],
): Generator => between([node(op, ["r"], attributes, "p")], scales);

/** Gelu and SiLU as exporters write them out. */
const expandedGelu = [
  node("Div", ["r", "root"], {}, "d"),
  node("Erf", ["d"], {}, "e"),
  node("Add", ["e", "one"], {}, "a"),
  node("Mul", ["r", "a"], {}, "m"),
  node("Mul", ["m", "half"], {}, "p"),
];
const expandedSilu = [node("Sigmoid", ["r"], {}, "s"), node("Mul", ["r", "s"], {}, "p")];
const GELU = {
  root: scalar("float32", Math.fround(Math.SQRT2)),
  one: scalar("float32", 1),
  half: scalar("float32", 0.5),
};

export const FUNCTION_GRAPHS: Readonly<Record<string, Generator>> = {
  Exp: simple("Exp", {}, [0.01, 0.03]),
  Erf: simple("Erf", {}, [0.02, 0.008]),
  Sigmoid: simple("Sigmoid", {}, [0.04, 0.004]),
  Tanh: simple("Tanh", {}, [0.02, 0.008]),
  Gelu: simple("Gelu"),
  "Gelu tanh": simple("Gelu", { approximate: "tanh" }),
  HardSwish: simple("HardSwish", {}, [0.04, 0.04]),
  HardSigmoid: simple("HardSigmoid", { alpha: { f: 0.25 } }, [0.04, 0.004]),
  Elu: simple("Elu", { alpha: { f: 0.7 } }),
  Selu: simple("Selu"),
  Celu: simple("Celu", { alpha: { f: 1.5 } }),
  Softplus: simple("Softplus"),
  Softsign: simple("Softsign", {}, [0.02, 0.008]),
  Mish: simple("Mish"),
  ThresholdedRelu: simple("ThresholdedRelu", { alpha: { f: 0.3 } }),
  Log: between([node("Clip", ["r", "least"], {}, "c"), node("Log", ["c"], {}, "p")], [0.02, 0.03], {
    least: scalar("float32", 0.25),
  }),
  LeakyRelu: simple("LeakyRelu", { alpha: { f: 0.2 } }),
  Shrink: simple("Shrink", { bias: { f: 0.25 }, lambd: { f: 0.5 } }),
  "com.microsoft Gelu": between([{ ...microsoft("Gelu", ["r"]), outputs: ["p"] }], [0.02, 0.02]),
  "com.microsoft FastGelu": between([{ ...microsoft("FastGelu", ["r"]), outputs: ["p"] }], [0.02, 0.02]),
  "com.microsoft QuickGelu": between([{ ...microsoft("QuickGelu", ["r"]), outputs: ["p"] }], [0.02, 0.02]),
  "Gelu written out": between(expandedGelu, [0.02, 0.02], GELU),
  "SiLU written out": between(expandedSilu, [0.03, 0.03]),
};

const windows = (rng: Rng) => ({
  kernel_shape: [rng.int(2, 3), rng.int(2, 3)],
  strides: [rng.int(1, 2), rng.int(1, 2)],
  pads: rng.pick([
    [0, 0, 0, 0],
    [1, 0, 1, 1],
  ]),
  count_include_pad: rng.int(0, 1),
});
const IMAGE = [2, 24, 9, 8];
const AXES = { axes: tensor("int64", [1], [1]) };

const averagePool: Generator = (rng) =>
  quantizedAround(rng, IMAGE, [node("AveragePool", ["r"], windows(rng), "p")], [0.02, 0.01]);

const qLinearAverage =
  (op: string, attributes: (rng: Rng) => TestNode["attributes"]): Generator =>
  (rng) => {
    const { graph, ranges } = quantizedAround(rng, IMAGE, [], [0.02, 0.01]);
    const pool = { ...microsoft(op, ["x", "xs", "xz", "ys", "yz"]), attributes: attributes(rng) ?? {} };
    return { graph: { ...graph, nodes: [pool] }, ranges };
  };

export const AVERAGES: Readonly<Record<string, Generator>> = {
  AveragePool: averagePool,
  GlobalAveragePool: (rng) =>
    quantizedAround(rng, [4, 32, 5, 6], [node("GlobalAveragePool", ["r"], {}, "p")], [0.02, 0.005]),
  ReduceMean: (rng) =>
    quantizedAround(
      rng,
      [4, 12, 20],
      [node("ReduceMean", ["r", "axes"], { keepdims: 0 }, "p")],
      [0.02, 0.008],
      AXES,
    ),
  "ReduceSum of bytes": (rng) =>
    quantizedAround(rng, [4, 12, 20], [node("ReduceSum", ["r", "axes"], { keepdims: 1 }, "p")], [0.02, 0.2], {
      ...AXES,
    }),
  QLinearAveragePool: qLinearAverage("QLinearAveragePool", windows),
  QLinearGlobalAveragePool: qLinearAverage("QLinearGlobalAveragePool", () => ({})),
};
