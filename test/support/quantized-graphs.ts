/** Random ONNX graphs of one quantized operator each. */
import type { OnnxType } from "../../inference/onnx/graph.ts";
import type { TestGraph, TestNode, TestTensor } from "./onnx-file.ts";
import type { Rng } from "./rng.ts";

export interface OperatorGraph {
  readonly graph: TestGraph;
  /** Least and largest value of each input. */
  readonly ranges: Readonly<Record<string, readonly [number, number]>>;
}

export type Generator = (rng: Rng) => OperatorGraph;

type Byte = "uint8" | "int8";
export const LIMITS = { uint8: [0, 255], int8: [-128, 127] } as const;
/** Weights beside which no CPU saturates a pair of products, whatever the signs. */
const SAFE = { uint8: [64, 191], int8: [-64, 63] } as const;

export const tensor = (type: OnnxType, dims: readonly number[], data: readonly number[]): TestTensor => ({
  type,
  dims,
  data,
});
export const scalar = (type: OnnxType, value: number): TestTensor => tensor(type, [], [value]);
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

export function random(
  rng: Rng,
  type: OnnxType,
  dims: readonly number[],
  [low, high]: readonly [number, number],
): TestTensor {
  return tensor(
    type,
    dims,
    Array.from({ length: count(dims) }, () => rng.int(low, high)),
  );
}
export const scale = (rng: Rng, size: number): number =>
  Math.fround(size * (1 + rng.int(0, 2 ** 20) / 2 ** 20));
export const scales = (rng: Rng, size: number, channels: number): TestTensor =>
  tensor(
    "float32",
    channels === 0 ? [] : [channels],
    Array.from({ length: Math.max(1, channels) }, () => scale(rng, size)),
  );
export const middle = (rng: Rng, type: Byte): number => (type === "uint8" ? 128 : 0) + rng.int(-9, 9);

export const node = (
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<TestNode["attributes"]> = {},
  output = "y",
): TestNode => ({ op, inputs, outputs: [output], attributes });
export const microsoft = (
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<TestNode["attributes"]> = {},
): TestNode => ({ ...node(op, inputs, attributes), domain: "com.microsoft" });

/** u8 times s8 saturates on some CPUs in the original file; u8 times u8 does not. */
const weightRange = (a: Byte, b: Byte): readonly [number, number] =>
  a === "uint8" && b === "uint8" ? LIMITS.uint8 : SAFE[b];

const types = (rng: Rng): readonly [Byte, Byte] =>
  rng.pick([
    ["uint8", "uint8"],
    ["uint8", "int8"],
    ["int8", "int8"],
  ] as const);
const spread = (k: number): number => 74 * 45 * Math.sqrt(k);

/** x, w and their quantization as constants; y's scale leaves most results inside. */
function product(
  rng: Rng,
  k: number,
  wDims: readonly number[],
  channels: number,
): { a: Byte; constants: Record<string, TestTensor> } {
  const [a, b] = types(rng);
  const xs = scale(rng, 0.01);
  const ws = scales(rng, 0.003, channels);
  const zeros = channels === 0 || b === "int8" ? Math.sign(channels) : rng.int(0, 1);
  const wz = middle(rng, b);
  return {
    a,
    constants: {
      xs: scalar("float32", xs),
      xz: scalar(a, middle(rng, a)),
      w: random(rng, b, wDims, weightRange(a, b)),
      ws,
      wz: zeros === 0 || channels === 0 ? scalar(b, wz) : tensor(b, [channels], Array(channels).fill(wz)),
      ys: scalar("float32", (xs * 0.0045 * spread(k)) / rng.int(30, 60)),
      yz: scalar(a, middle(rng, a)),
    },
  };
}

export const qLinearMatMul: Generator = (rng) => {
  const [m, k, n] = [rng.int(1, 30), rng.int(1, 300), rng.int(1, 60)];
  const { a, constants } = product(rng, k, [k, n], rng.chance(0.6) ? n : 0);
  const nodes = [node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"])];
  return {
    graph: { nodes, inputs: { x: { type: a, dims: [m, k] } }, outputs: { y: a }, constants },
    ranges: { x: LIMITS[a] },
  };
};

export const qGemm: Generator = (rng) => {
  const [m, k, n] = [rng.int(1, 30), rng.int(1, 300), rng.int(1, 60)];
  const { a, constants } = product(rng, k, [k, n], rng.chance(0.6) ? n : 0);
  const bias = random(rng, "int32", [n], [-3000, 3000]);
  const nodes = [microsoft("QGemm", ["x", "xs", "xz", "w", "ws", "wz", "c", "ys", "yz"])];
  return {
    graph: {
      nodes,
      inputs: { x: { type: a, dims: [m, k] } },
      outputs: { y: a },
      constants: { ...constants, c: bias },
    },
    ranges: { x: LIMITS[a] },
  };
};

function geometry(
  rng: Rng,
  rank: number,
): { kernel: number[]; spatial: number[]; attributes: Record<string, number | number[]> } {
  const kernel = Array.from({ length: rank }, () => rng.int(1, 3));
  const spatial = Array.from({ length: rank }, () => rng.int(5, 9));
  return {
    kernel,
    spatial,
    attributes: {
      strides: Array.from({ length: rank }, () => rng.int(1, 2)),
      dilations: Array.from({ length: rank }, () => rng.int(1, 2)),
      pads: Array.from({ length: 2 * rank }, () => rng.int(0, 2)),
    },
  };
}

export const qLinearConv: Generator = (rng) => {
  const { kernel, spatial, attributes } = geometry(rng, rng.int(1, 2));
  const group = rng.pick([1, 1, 2, 4]);
  const [per, filters] = [rng.int(1, 6), group * rng.int(1, 4)];
  const k = per * count(kernel);
  const { a, constants } = product(rng, k, [filters, per, ...kernel], rng.chance(0.6) ? filters : 0);
  const bias = random(rng, "int32", [filters], [-3000, 3000]);
  const inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", ...(rng.chance(0.5) ? ["c"] : [])];
  const dims = [rng.int(1, 2), per * group, ...spatial];
  return {
    graph: {
      nodes: [node("QLinearConv", inputs, { ...attributes, group })],
      inputs: { x: { type: a, dims } },
      outputs: { y: a },
      constants: { ...constants, c: bias },
    },
    ranges: { x: LIMITS[a] },
  };
};

/** What follows an integer product; its operators have no scales. */
export function integerProduct(op: string): Generator {
  return (rng) => {
    const [a, b] = types(rng);
    const [m, k, n] = [rng.int(1, 6), rng.int(1, 40), rng.int(1, 24)];
    const isConv = op === "ConvInteger";
    const { kernel, spatial, attributes } = geometry(rng, 2);
    const w = random(rng, b, isConv ? [n, k, ...kernel] : [k, n], weightRange(a, b));
    const constants = {
      w,
      az: scalar(a, middle(rng, a)),
      bz: scalar(b, isConv && b === "int8" ? 0 : middle(rng, b)),
    };
    const dims = isConv ? [1, k, ...spatial] : [m, k];
    const nodes = [node(op, ["x", "w", "az", "bz"], isConv ? attributes : {})];
    return {
      graph: { nodes, inputs: { x: { type: a, dims } }, outputs: { y: "int32" }, constants },
      ranges: { x: LIMITS[a] },
    };
  };
}

/** Decimal scales bring sums near ties, where the ways to compute them part. */
function quantization(rng: Rng, type: Byte, prefix: string, size: number): Record<string, TestTensor> {
  const value = rng.chance(0.5) ? Math.fround(size * rng.pick([0.5, 1, 1.5, 2])) : scale(rng, size);
  return { [`${prefix}s`]: scalar("float32", value), [`${prefix}z`]: scalar(type, middle(rng, type)) };
}

export function qLinearBinary(op: string): Generator {
  return (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const dims = [rng.int(1, 9), rng.int(1, 300)];
    const constants = {
      ...quantization(rng, type, "a", 0.02),
      ...quantization(rng, type, "b", 0.02),
      ...quantization(rng, type, "y", op === "QLinearAdd" ? 0.04 : 0.08),
    };
    const nodes = [microsoft(op, ["x", "as", "az", "u", "bs", "bz", "ys", "yz"])];
    const u = rng.chance(0.5) ? dims : [dims[1] as number];
    return {
      graph: { nodes, inputs: { x: { type, dims }, u: { type, dims: u } }, outputs: { y: type }, constants },
      ranges: { x: LIMITS[type], u: LIMITS[type] },
    };
  };
}

export function qLinearFunction(op: string): Generator {
  return (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const constants = {
      ...quantization(rng, type, "a", 0.02),
      ...quantization(rng, type, "y", op === "QLinearSigmoid" ? 0.004 : 0.02),
    };
    const attributes = op === "QLinearLeakyRelu" ? { alpha: { f: rng.int(1, 50) / 100 } } : {};
    const nodes = [microsoft(op, ["x", "as", "az", "ys", "yz"], attributes)];
    return {
      graph: { nodes, inputs: { x: { type, dims: [4, 64] } }, outputs: { y: type }, constants },
      ranges: { x: LIMITS[type] },
    };
  };
}

export const qLinearConcat: Generator = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  const constants = {
    ...quantization(rng, type, "a", 0.02),
    ...quantization(rng, type, "b", 0.02),
    ...quantization(rng, type, "y", 0.025),
  };
  const nodes = [microsoft("QLinearConcat", ["ys", "yz", "x", "as", "az", "u", "bs", "bz"], { axis: 1 })];
  return {
    graph: {
      nodes,
      inputs: { x: { type, dims: [3, 20] }, u: { type, dims: [3, 30] } },
      outputs: { y: type },
      constants,
    },
    ranges: { x: LIMITS[type], u: LIMITS[type] },
  };
};

/** Quantized operands around a binary32 product, as QDQ files have it. */
function qdq(
  rng: Rng,
  op: string,
  x: readonly number[],
  w: readonly number[],
  channels: readonly [axis: number, count: number],
  attributes: TestNode["attributes"] = {},
): OperatorGraph {
  const k = count(w) / channels[1];
  const perChannel = rng.chance(0.6);
  const { a, constants: own } = product(rng, k, w, perChannel ? channels[1] : 0);
  const { type, data } = own.wz as TestTensor;
  const zeros = tensor(
    type,
    perChannel ? [channels[1]] : [],
    Array(perChannel ? channels[1] : 1).fill(data[0]),
  );
  const constants = { ...own, wz: zeros };
  const nodes = [
    node("DequantizeLinear", ["x", "xs", "xz"], {}, "r"),
    node("DequantizeLinear", ["w", "ws", "wz"], { axis: channels[0] }, "v"),
    node(op, ["r", "v"], attributes, "p"),
    node("QuantizeLinear", ["p", "ys", "yz"]),
  ];
  return {
    graph: { nodes, inputs: { x: { type: a, dims: x } }, outputs: { y: a }, constants },
    ranges: { x: LIMITS[a] },
  };
}

export const qdqMatMul: Generator = (rng) => {
  const [m, k, n] = [rng.int(1, 30), rng.int(1, 200), rng.int(1, 60)];
  return qdq(rng, "MatMul", [m, k], [k, n], [1, n]);
};

export const qdqGemm: Generator = (rng) => {
  const [m, k, n] = [rng.int(1, 30), rng.int(1, 200), rng.int(1, 60)];
  return rng.chance(0.5)
    ? qdq(rng, "Gemm", [m, k], [k, n], [1, n])
    : qdq(rng, "Gemm", [m, k], [n, k], [0, n], { transB: 1 });
};

export const qdqConv: Generator = (rng) => {
  const { kernel, spatial, attributes } = geometry(rng, rng.int(1, 2));
  const [channels, filters] = [rng.int(1, 8), rng.int(1, 12)];
  return qdq(
    rng,
    "Conv",
    [1, channels, ...spatial],
    [filters, channels, ...kernel],
    [0, filters],
    attributes,
  );
};

export const dequantizeLinear: Generator = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  const n = rng.chance(0.5) ? 7 : 0;
  const constants = {
    s: scales(rng, 0.02, n),
    z: n === 0 ? scalar(type, middle(rng, type)) : random(rng, type, [n], LIMITS[type]),
  };
  const nodes = [node("DequantizeLinear", ["x", "s", "z"], { axis: 1 })];
  return {
    graph: { nodes, inputs: { x: { type, dims: [5, 7, 6] } }, outputs: { y: "float32" }, constants },
    ranges: { x: LIMITS[type] },
  };
};

/** Bytes of one scale as bytes of another. */
export const rescaled: Generator = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  const constants = { ...quantization(rng, type, "x", 0.02), ...quantization(rng, type, "y", 0.03) };
  const nodes = [
    { ...microsoft("DequantizeLinear", ["x", "xs", "xz"]), outputs: ["r"] },
    microsoft("QuantizeLinear", ["r", "ys", "yz"]),
  ];
  return {
    graph: { nodes, inputs: { x: { type, dims: [5, 40] } }, outputs: { y: type }, constants },
    ranges: { x: LIMITS[type] },
  };
};
