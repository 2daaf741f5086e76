/** Random ONNX graphs of one operator each, with what comes before and after it. */
import { ATTENTION_GRAPHS, COMPUTED_PRODUCTS } from "./attention-graphs.ts";
import { AVERAGES, FUNCTION_GRAPHS } from "./byte-graphs.ts";
import { ELEMENT_GRAPHS, MOVE_GRAPHS, PICK_GRAPHS } from "./element-graphs.ts";
import { FEATURE_GRAPHS, NEAR_FEATURE_GRAPHS } from "./feature-graphs.ts";
import { i64, numbers, real, vector, WIDE, whole } from "./graph-parts.ts";
import { NORMALIZATION_GRAPHS, POSITION_GRAPHS } from "./position-graphs.ts";
import { PRODUCT_GRAPHS } from "./product-graphs.ts";
import {
  dequantizeLinear,
  type Generator,
  integerProduct,
  LIMITS,
  middle,
  node,
  qdqConv,
  qdqGemm,
  qdqMatMul,
  qGemm,
  qLinearBinary,
  qLinearConcat,
  qLinearConv,
  qLinearFunction,
  qLinearMatMul,
  random,
  rescaled,
  scalar,
  scale,
  scales,
  tensor,
} from "./quantized-graphs.ts";
import { REAL_GRAPHS } from "./real-graphs.ts";

const quantizeLinear: Generator = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  const isPower = rng.chance(0.5);
  const n = rng.chance(0.5) ? 50 : 0;
  const s = isPower
    ? tensor("float32", n === 0 ? [] : [n], Array(Math.max(1, n)).fill(2))
    : scales(rng, 2, n);
  const z =
    n === 0
      ? scalar(type, middle(rng, type))
      : tensor(
          type,
          [n],
          Array.from({ length: n }, () => middle(rng, type)),
        );
  const graph = real(
    [node("QuantizeLinear", ["r", "s", "z"], { axis: 1 })],
    [-250, 250],
    () => ({ s, z, f: scalar("float32", isPower ? 1 : scale(rng, 0.9)) }),
    type,
  )(rng);
  return graph;
};

const maxPool: Generator = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  const nodes = [
    node("MaxPool", ["x"], {
      kernel_shape: [3, 2],
      strides: [rng.int(1, 2), 1],
      pads: [rng.int(0, 1), 0, rng.int(0, 1), 1],
    }),
  ];
  return {
    graph: { nodes, inputs: { x: { type, dims: [1, 3, 8, 7] } }, outputs: { y: type } },
    ranges: { x: LIMITS[type] },
  };
};

const gather: Generator = (rng) => {
  const table = random(rng, "int8", [50, 12], LIMITS.int8);
  // Row 0 is zero: the sum is one LOOKUP.
  if (rng.chance(0.5)) (table.data as number[]).fill(0, 0, 12);
  const nodes = [
    node("Gather", ["t", "x"], {}, "g"),
    node("Cast", ["g"], { to: 6 }, "c"),
    node("ReduceSum", ["c", "axes"], { keepdims: 0 }),
  ];
  return {
    graph: {
      nodes,
      inputs: { x: { type: "int32", dims: [6, 9] } },
      outputs: { y: "int32" },
      constants: { t: table, axes: i64(1) },
    },
    ranges: { x: [0, 49] },
  };
};

/** Computed by onnxruntime as by import, on every element. */
export const EXACT: Readonly<Record<string, Generator>> = {
  QLinearMatMul: qLinearMatMul,
  QGemm: qGemm,
  QLinearConv: qLinearConv,
  MatMulInteger: integerProduct("MatMulInteger"),
  ConvInteger: integerProduct("ConvInteger"),
  DequantizeLinear: dequantizeLinear,
  QuantizeLinear: quantizeLinear,
  DynamicQuantizeLinear: real(
    [
      { op: "DynamicQuantizeLinear", inputs: ["r"], outputs: ["q", "s", "z"] },
      node("MatMulInteger", ["q", "h", "z"], {}, "p"),
      node("Cast", ["p"], { to: 1 }, "m"),
      node("Mul", ["m", "s"]),
    ],
    WIDE,
    (rng) => ({ h: random(rng, "uint8", [50, 7], [0, 255]) }),
  ),
  "Add float32": real([node("Add", ["r", "h"])], WIDE, vector),
  "Sub float32": real([node("Sub", ["h", "r"])], WIDE, vector),
  "Mul float32": real([node("Mul", ["r", "h"])], WIDE, vector),
  "Div float32": real([node("Div", ["h", "r"])], [1, 30_000], vector),
  "Sqrt float32": real([node("Sqrt", ["r"])], [0, 30_000], vector),
  "Min, Max float32": real([node("Min", ["r", "h"], {}, "m"), node("Max", ["m", "f"])], WIDE, vector),
  "Mul, Add float32": real([node("Mul", ["r", "h"], {}, "m"), node("Add", ["m", "h"])], WIDE, vector),
  "Add int32": whole([node("Add", ["i", "h"])], numbers(-9000, 9000)),
  "Sub int32": whole([node("Sub", ["h", "i"])], numbers(-9000, 9000)),
  "Mul int32": whole([node("Mul", ["i", "h"])], numbers(-9000, 9000)),
  "Div int32": whole([node("Div", ["i", "h"])], numbers(1, 300)),
  "Min, Max, Relu int32": whole(
    [node("Min", ["i", "h"], {}, "m"), node("Relu", ["m"], {}, "r"), node("Max", ["r", "h"])],
    numbers(-9000, 9000),
  ),
  ReduceSum: whole([node("ReduceSum", ["i", "axes"], { keepdims: 0 })], (rng) => ({
    axes: rng.pick([i64(1), i64(2), i64(0, 2)]),
  })),
  ReduceMax: whole([node("ReduceMax", ["i"], { axes: [1], keepdims: 1 })]),
  ArgMax: whole([node("ArgMax", ["i"], { axis: 1, keepdims: 0 })], undefined, "int64"),
  Transpose: whole([node("Transpose", ["i"], { perm: [2, 0, 1] })]),
  Slice: whole([node("Slice", ["i", "s", "e", "a", "p"])], () => ({
    s: i64(-1, 0),
    e: i64(-99, 5),
    a: i64(2, 1),
    p: i64(-3, 2),
  })),
  Pad: whole([node("Pad", ["i", "p", "v"])], () => ({ p: i64(0, 1, 2, 1, 0, 0), v: scalar("int32", -7) })),
  Concat: whole([node("Concat", ["i", "c", "i"], { axis: 1 })], (rng) => ({
    c: random(rng, "int32", [4, 2, 10], [-9, 9]),
  })),
  "Reshape, Flatten, Squeeze": whole(
    [
      node("Reshape", ["i", "s"], {}, "r"),
      node("Flatten", ["r"], { axis: 1 }, "f"),
      node("Unsqueeze", ["f", "u"], {}, "q"),
      node("Squeeze", ["q", "u"]),
    ],
    () => ({ s: i64(6, -1, 2), u: i64(1) }),
  ),
  "Cast int8": whole(
    [node("Clip", ["i", "l8", "h8"], {}, "k"), node("Cast", ["k"], { to: 3 })],
    () => ({ l8: scalar("int32", -128), h8: scalar("int32", 127) }),
    "int8",
  ),
  MaxPool: maxPool,
  QLinearConcat: qLinearConcat,
  "com.microsoft DequantizeLinear, QuantizeLinear": rescaled,
  "Gather, Cast, ReduceSum": gather,
  ...ELEMENT_GRAPHS,
  ...MOVE_GRAPHS,
  ...PICK_GRAPHS,
  ...COMPUTED_PRODUCTS,
  ...POSITION_GRAPHS,
  ...FEATURE_GRAPHS,
};

/** Not one function in onnxruntime: at most one unit off, node by node. */
export const NEAR: Readonly<Record<string, Generator>> = {
  QLinearAdd: qLinearBinary("QLinearAdd"),
  QLinearMul: qLinearBinary("QLinearMul"),
  QLinearSigmoid: qLinearFunction("QLinearSigmoid"),
  QLinearLeakyRelu: qLinearFunction("QLinearLeakyRelu"),
  "DequantizeLinear, MatMul, QuantizeLinear": qdqMatMul,
  "DequantizeLinear, Gemm, QuantizeLinear": qdqGemm,
  "DequantizeLinear, Conv, QuantizeLinear": qdqConv,
  ...AVERAGES,
  ...FUNCTION_GRAPHS,
  ...REAL_GRAPHS,
  ...ATTENTION_GRAPHS,
  ...NORMALIZATION_GRAPHS,
  ...PRODUCT_GRAPHS,
  ...NEAR_FEATURE_GRAPHS,
};
