/** Operators on float32 that nobody quantized, each with its definition in binary64. */
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { microsoft, node, t } from "./onnx-nodes.ts";
import { erf, gelu, sigmoid, tanhGelu } from "./real-functions.ts";
import { createRng } from "./rng.ts";

export interface RealCase {
  /** Nodes from x, float32 [rows, n], to y, float32 [rows, …]. */
  readonly nodes: readonly TestNode[];
  readonly constants?: (n: number) => Record<string, TestTensor>;
  /** Of one row. */
  readonly reference: (x: readonly number[], constants: Record<string, TestTensor>) => number[];
  /** What results are measured by: 2^-20 of it is one unit. */
  readonly sizes: (
    x: readonly number[],
    results: readonly number[],
    constants: Record<string, TestTensor>,
  ) => number[];
  readonly lengths: readonly number[];
}

const sum = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);
const absolute = (x: readonly number[]): number => sum(x.map(Math.abs));
const orOne = (_: readonly number[], results: readonly number[]): number[] =>
  results.map((v) => Math.max(1, Math.abs(v)));
const EPSILON = Math.fround(1e-5);
const LENGTHS = [1, 2, 3, 7, 32, 33, 200];

export function plainNormalization(x: readonly number[], epsilon: number): number[] {
  const d = distances(x);
  const variance = sum(d.map((v) => v * v)) / x.length;
  return d.map((v) => v / Math.sqrt(variance + epsilon));
}

/** From the mean; of nearly flat rows as well: the first number is taken away from all beforehand. */
function distances(x: readonly number[]): number[] {
  const from = x.map((v) => v - (x[0] as number));
  const mean = sum(from) / x.length;
  return from.map((v) => v - mean);
}

/** In binary32, no order of additions gives a row's distances from its mean better than this. */
const rowError = (x: readonly number[], results: readonly number[], epsilon: number): number[] => {
  const d = distances(x);
  const deviation = Math.sqrt(sum(d.map((v) => v * v)) / x.length + epsilon);
  const apart = Math.max(...x.map((v) => Math.abs(v - (x[0] as number))));
  return results.map((v) => Math.max(1, Math.abs(v), apart / deviation / 8));
};

const softmax = (x: readonly number[]): number[] => {
  const top = Math.max(...x);
  const e = x.map((v) => Math.exp(v - top));
  return e.map((v) => v / sum(e));
};
const logSoftmax = (x: readonly number[]): number[] => {
  const top = Math.max(...x);
  const log = Math.log(sum(x.map((v) => Math.exp(v - top))));
  return x.map((v) => v - top - log);
};
/** Exponentials are cut below 2^-45 of the largest. */
const probability = (_: readonly number[], results: readonly number[]): number[] =>
  results.map((v) => Math.max(v, 2 ** -24));

const at = (tensor: TestTensor | undefined, i: number): number => tensor?.data[i] as number;
const COLUMNS = 3;
const weights = (n: number): TestTensor => {
  const rng = createRng(n + 900);
  const data = Array.from({ length: n * COLUMNS }, (_, i) =>
    Math.fround(
      i % COLUMNS === 0 ? 1 : i % COLUMNS === 1 ? (i % 2 === 0 ? 3.7 : -3.7) : rng.int(-900, 900) / 700,
    ),
  );
  return t("float32", [n, COLUMNS], data);
};
const products = (
  x: readonly number[],
  w: TestTensor | undefined,
  of: (terms: readonly number[]) => number,
): number[] =>
  Array.from({ length: COLUMNS }, (_, column) => of(x.map((v, k) => v * at(w, k * COLUMNS + column))));
const bias = (): TestTensor => t("float32", [COLUMNS], [0.5, -2.25, 7].map(Math.fround));

const WINDOW = 3;
const taps = t("float32", [2, 1, WINDOW], [0.3, -1.1, 2.6, 5, 0.01, -7.7].map(Math.fround));
const windowTerms = (x: readonly number[], filter: number, place: number): number[] =>
  Array.from({ length: WINDOW }, (_, i) => (x[place + i - 1] ?? 0) * at(taps, filter * WINDOW + i));
const convolved = (x: readonly number[], of: (terms: readonly number[]) => number): number[] =>
  [0, 1].flatMap((filter) => x.map((_, place) => of(windowTerms(x, filter, place))));

const elementwise = (
  nodes: readonly TestNode[],
  f: (x: number) => number,
  size: (x: number) => number,
): RealCase => ({
  nodes,
  reference: (x) => x.map(f),
  sizes: (x) => x.map(size),
  lengths: [64],
});
const one = (): number => 1;
const axis = (): Record<string, TestTensor> => ({ axes: t("int64", [1], [1]) });
const unsqueezed = node("Unsqueeze", ["x", "axes"], {}, "u");

export const REAL_CASES: Readonly<Record<string, RealCase>> = {
  ReduceSum: {
    nodes: [node("ReduceSum", ["x", "axes"], { keepdims: 0 })],
    constants: axis,
    reference: (x) => [sum(x)],
    sizes: (x) => [absolute(x)],
    lengths: LENGTHS,
  },
  ReduceMean: {
    nodes: [node("ReduceMean", ["x", "axes"], { keepdims: 0 })],
    constants: axis,
    reference: (x) => [sum(x) / x.length],
    sizes: (x) => [absolute(x) / x.length],
    lengths: LENGTHS,
  },
  GlobalAveragePool: {
    nodes: [unsqueezed, node("GlobalAveragePool", ["u"])],
    constants: axis,
    reference: (x) => [sum(x) / x.length],
    sizes: (x) => [absolute(x) / x.length],
    lengths: LENGTHS,
  },
  "AveragePool with pads that do not count": {
    nodes: [unsqueezed, node("AveragePool", ["u"], { kernel_shape: [5], pads: [2, 2] })],
    constants: axis,
    reference: (x) => x.map((_, i) => x.slice(Math.max(i - 2, 0), i + 3)).map((w) => sum(w) / w.length),
    sizes: (x) => x.map((_, i) => x.slice(Math.max(i - 2, 0), i + 3)).map((w) => absolute(w) / w.length),
    lengths: [3, 40],
  },
  MatMul: {
    nodes: [node("MatMul", ["x", "w"])],
    constants: (n) => ({ w: weights(n) }),
    reference: (x, { w }) => products(x, w, sum),
    sizes: (x, _, { w }) => products(x, w, absolute),
    lengths: LENGTHS,
  },
  Gemm: {
    nodes: [node("Gemm", ["x", "w", "b"], { alpha: { f: 0.75 }, beta: { f: -2 } })],
    constants: (n) => ({ w: weights(n), b: bias() }),
    reference: (x, { w, b }) => products(x, w, sum).map((v, i) => 0.75 * v - 2 * at(b, i)),
    sizes: (x, _, { w, b }) => products(x, w, absolute).map((v, i) => v + 2 * Math.abs(at(b, i))),
    lengths: [1, 33, 200],
  },
  Einsum: {
    nodes: [node("Einsum", ["x", "w"], { equation: "bk,kn->bn" })],
    constants: (n) => ({ w: weights(n) }),
    reference: (x, { w }) => products(x, w, sum),
    sizes: (x, _, { w }) => products(x, w, absolute),
    lengths: [33],
  },
  Conv: {
    nodes: [unsqueezed, node("Conv", ["u", "f", "c"], { pads: [1, 1] })],
    constants: () => ({ ...axis(), f: taps, c: t("float32", [2], [0, 4]) }),
    reference: (x) => convolved(x, sum).map((v, i) => v + (i < x.length ? 0 : 4)),
    sizes: (x) => convolved(x, absolute).map((v) => v + 4),
    lengths: [5, 64],
  },
  Softmax: {
    nodes: [node("Softmax", ["x"])],
    reference: softmax,
    sizes: probability,
    lengths: LENGTHS,
  },
  LogSoftmax: {
    nodes: [node("LogSoftmax", ["x"])],
    reference: logSoftmax,
    sizes: orOne,
    lengths: LENGTHS,
  },
  LayerNormalization: {
    nodes: [node("LayerNormalization", ["x", "one"])],
    constants: (n) => ({ one: t("float32", [n], Array(n).fill(1)) }),
    reference: (x) => plainNormalization(x, EPSILON),
    sizes: (x, results) => rowError(x, results, EPSILON),
    lengths: LENGTHS,
  },
  "LayerNormalization of a small epsilon, with gain and shift": {
    nodes: [node("LayerNormalization", ["x", "g", "h"], { epsilon: { f: 1e-12 } })],
    constants: (n) => ({
      g: t(
        "float32",
        [n],
        Array.from({ length: n }, (_, i) => Math.fround(Math.cos(i) * 2)),
      ),
      h: t(
        "float32",
        [n],
        Array.from({ length: n }, (_, i) => Math.fround(Math.sin(i))),
      ),
    }),
    reference: (x, { g, h }) =>
      plainNormalization(x, Math.fround(1e-12)).map((v, i) => v * at(g, i) + at(h, i)),
    sizes: (x, _, { g, h }) =>
      rowError(x, plainNormalization(x, Math.fround(1e-12)), Math.fround(1e-12)).map(
        (v, i) => v * Math.abs(at(g, i)) + Math.abs(at(h, i)),
      ),
    lengths: [3, 32, 200],
  },
  InstanceNormalization: {
    nodes: [unsqueezed, node("InstanceNormalization", ["u", "g", "h"])],
    constants: () => ({ ...axis(), g: t("float32", [1], [1.5]), h: t("float32", [1], [-0.25]) }),
    reference: (x) => plainNormalization(x, EPSILON).map((v) => 1.5 * v - 0.25),
    sizes: (x, results) => rowError(x, results, EPSILON).map((v) => 2 * v),
    lengths: [2, 33],
  },
  RMSNormalization: {
    nodes: [node("RMSNormalization", ["x", "one"])],
    constants: (n) => ({ one: t("float32", [n], Array(n).fill(1)) }),
    reference: (x) => {
      const root = Math.sqrt(sum(x.map((v) => v * v)) / x.length + EPSILON);
      return x.map((v) => v / root);
    },
    sizes: (_, results) => results.map((v) => Math.max(Math.abs(v), 2 ** -16)),
    lengths: LENGTHS,
  },
  Erf: elementwise([node("Erf", ["x"])], erf, one),
  Gelu: elementwise([node("Gelu", ["x"])], gelu, (x) => Math.abs(x)),
  "Gelu, tanh form": elementwise([node("Gelu", ["x"], { approximate: "tanh" })], tanhGelu, (x) =>
    Math.abs(x),
  ),
  "com.microsoft QuickGelu": elementwise(
    [microsoft("QuickGelu", ["x"])],
    (x) => x * sigmoid(Math.fround(1.702) * x),
    (x) => Math.abs(x),
  ),
  Sigmoid: elementwise([node("Sigmoid", ["x"])], sigmoid, one),
  Tanh: elementwise([node("Tanh", ["x"])], Math.tanh, one),
  Exp: elementwise(
    [node("Exp", ["x"])],
    (x) => Math.exp(Math.min(Math.max(x, -86), 88)),
    (x) => Math.exp(Math.min(Math.max(x, -86), 88)),
  ),
  "Pow 3": {
    ...elementwise(
      [node("Pow", ["x", "three"])],
      (x) => x ** 3,
      (x) => Math.abs(x ** 3) + 2 ** -28,
    ),
    constants: () => ({ three: t("float32", [], [3]) }),
  },
};
