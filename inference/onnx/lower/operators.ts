/** Which ONNX operator is lowered by what. Documented in docs/EXACT.md, section 6. */

import type { OnnxNode } from "../graph.ts";
import { conv, convInteger, qLinearConv } from "./conv.ts";
import { binary, byteFunction, cast, clip, divide, relu, sqrt, variadic } from "./elementwise.ts";
import { gather } from "./gather.ts";
import type { Lowering } from "./lowering.ts";
import { gemm, matMul, matMulInteger, qGemm, qLinearMatMul } from "./matmul.ts";
import { maxPool } from "./pool.ts";
import { qLinearBinary, qLinearConcat, qLinearFunction } from "./qlinear.ts";
import { dequantizeLinear, quantizeLinear } from "./quantize.ts";
import { argMax, reduce } from "./reduce.ts";
import {
  concat,
  constant,
  flatten,
  identity,
  pad,
  reshape,
  shapeOf,
  slice,
  squeeze,
  transpose,
  unsqueeze,
} from "./shape.ts";
import type { Value } from "./values.ts";

/** Value of the node's first output. */
export type Lower = (ctx: Lowering, node: OnnxNode) => Value;

const STANDARD: Readonly<Record<string, Lower>> = {
  Add: binary,
  ArgMax: argMax,
  Cast: cast,
  Clip: clip,
  Concat: concat,
  Constant: constant,
  Conv: conv,
  ConvInteger: convInteger,
  DequantizeLinear: dequantizeLinear,
  Div: divide,
  Flatten: flatten,
  Gather: gather,
  Gemm: gemm,
  Identity: identity,
  LeakyRelu: byteFunction,
  MatMul: matMul,
  MatMulInteger: matMulInteger,
  Max: variadic,
  MaxPool: maxPool,
  Min: variadic,
  Mul: binary,
  Pad: pad,
  QLinearConv: qLinearConv,
  QLinearMatMul: qLinearMatMul,
  QuantizeLinear: quantizeLinear,
  ReduceMax: reduce,
  ReduceSum: reduce,
  Relu: relu,
  Reshape: reshape,
  Shape: shapeOf,
  Sigmoid: byteFunction,
  Slice: slice,
  Sqrt: sqrt,
  Squeeze: squeeze,
  Sub: binary,
  Tanh: byteFunction,
  Transpose: transpose,
  Unsqueeze: unsqueeze,
};

const MICROSOFT: Readonly<Record<string, Lower>> = {
  DequantizeLinear: dequantizeLinear,
  QGemm: qGemm,
  QLinearAdd: qLinearBinary,
  QLinearConcat: qLinearConcat,
  QLinearLeakyRelu: qLinearFunction,
  QLinearMul: qLinearBinary,
  QLinearSigmoid: qLinearFunction,
  QuantizeLinear: quantizeLinear,
};

/** The lowering of a node's operator, or why there is none. */
export function operatorOf(node: OnnxNode): Lower | { readonly reason: string; readonly nextStep: string } {
  const table = node.domain === "" ? STANDARD : node.domain === "com.microsoft" ? MICROSOFT : {};
  const lower = Object.hasOwn(table, node.op) ? table[node.op] : undefined;
  if (lower === undefined) {
    return { reason: `the operator ${label(node)} is not supported`, nextStep: ADVICE[node.op] ?? SUPPORTED };
  }
  const subgraph = [...node.attributes].find(([, a]) => a.kind === "other");
  if (subgraph !== undefined) {
    return { reason: `its attribute ${subgraph[0]} is a ${subgraph[1].value}`, nextStep: "Remove it." };
  }
  return lower;
}

export const label = (node: OnnxNode): string => (node.domain === "" ? node.op : `${node.domain}.${node.op}`);

const SUPPORTED = "See docs/EXACT.md, section 6, for the operators that lower to a program.";
const TABLES = "Express it by tables of a byte, integer sums and element-wise operators.";

const ADVICE: Readonly<Record<string, string>> = {
  Softmax: `${TABLES} Scores without Softmax have the same order.`,
  Gelu: `${TABLES} Of one byte it is a table: quantize its operand.`,
  Erf: TABLES,
  Exp: TABLES,
  LayerNormalization: TABLES,
  BatchNormalization: "Fold it into the weights of the layer before it.",
  GlobalAveragePool: "Use ReduceSum on integers and scale the sum.",
  AveragePool: "Use a QLinearConv with equal weights.",
  ReduceMean: "Use ReduceSum on integers and scale the sum.",
  Dropout: "Export the model for inference.",
  DynamicQuantizeLinear: "Quantize statically: scales must be constants.",
  LSTM: "Unroll it into products and tables.",
  GRU: "Unroll it into products and tables.",
  If: "Fold the condition.",
  Loop: "Unroll the loop.",
};
