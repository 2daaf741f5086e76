/** Softmax, LayerNormalization and averages against their definitions in binary64, where they are hardest. */
import { describe, expect, it } from "vitest";
import { directedRows } from "../../support/directed-rows.ts";
import {
  calibrated,
  largestOf,
  type Measured,
  measure,
  printed,
  type Quantization,
  type Quantized,
} from "../../support/one-unit.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { microsoft, node, t } from "../../support/onnx-nodes.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

interface RowOperator {
  readonly nodes: readonly TestNode[];
  readonly constants?: (rng: Rng, n: number) => Record<string, TestTensor>;
  /** Of one row of integers `q − zero` and their scale, in which sums and distances are exact in binary64. */
  readonly reference: (
    q: readonly number[],
    scale: number,
    constants: Record<string, TestTensor>,
  ) => number[];
  /** Sizes that an addition takes away, where they are larger than the result. */
  readonly sizes?: (results: readonly number[], constants: Record<string, TestTensor>) => number[];
  readonly lengths: readonly number[];
  /** The operator itself quantizes, to 8 bits. */
  readonly quantizes?: true;
}

const sum = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);

function softmax(q: readonly number[], scale: number): number[] {
  const top = q.reduce((a, b) => Math.max(a, b));
  const e = q.map((v) => Math.exp(scale * (v - top)));
  const total = sum(e);
  return e.map((v) => v / total);
}

const EPSILON = Math.fround(1e-5);

function normalized(q: readonly number[], scale: number): number[] {
  const n = q.length;
  const total = sum(q);
  const d = q.map((v) => (n * v - total) / n);
  const variance = (scale * scale * sum(d.map((v) => v * v))) / n;
  return d.map((v) => (scale * v) / Math.sqrt(variance + EPSILON));
}

const at = (constants: Record<string, TestTensor>, name: string, i: number): number =>
  constants[name]?.data[i] as number;

const OPERATORS: Readonly<Record<string, RowOperator>> = {
  Softmax: {
    nodes: [node("Softmax", ["r"], {}, "p")],
    reference: softmax,
    lengths: scaled([2, 32, 128, 257, 2048, 8191], [1, 2, 32, 128, 255, 256, 257, 1000, 2048, 4096, 8191]),
  },
  LayerNormalization: {
    nodes: [node("LayerNormalization", ["r", "one"], { axis: 1 }, "p")],
    constants: (_, n) => ({ one: t("float32", [n], Array(n).fill(1)) }),
    reference: normalized,
    lengths: scaled([1, 3, 32, 256, 2048, 32_767], [1, 2, 3, 32, 181, 182, 256, 768, 2048, 8192, 32_767]),
  },
  "LayerNormalization with gain and shift": {
    nodes: [node("LayerNormalization", ["r", "g", "h"], { axis: 1 }, "p")],
    constants: (rng, n) => ({
      g: t(
        "float32",
        [n],
        Array.from({ length: n }, () => Math.fround(rng.int(-3000, 3000) / 1000)),
      ),
      h: t(
        "float32",
        [n],
        Array.from({ length: n }, () => Math.fround(rng.int(-2000, 2000) / 1000)),
      ),
    }),
    reference: (q, scale, constants) =>
      normalized(q, scale).map((v, i) => v * at(constants, "g", i) + at(constants, "h", i)),
    sizes: (results, constants) =>
      results.map((v, i) => Math.abs(v) + Math.abs(at(constants, "h", i % (constants.h?.data.length ?? 1)))),
    lengths: scaled([32], [32, 768]),
  },
  ReduceMean: {
    nodes: [node("ReduceMean", ["r", "axes"], { keepdims: 0 }, "p")],
    constants: () => ({ axes: t("int64", [1], [1]) }),
    reference: (q, scale) => [(scale * sum(q)) / q.length],
    lengths: scaled([3, 1000], [1, 3, 32, 1000, 2048]),
  },
  "ReduceSum of bytes": {
    nodes: [node("ReduceSum", ["r", "axes"], { keepdims: 0 }, "p")],
    constants: () => ({ axes: t("int64", [1], [1]) }),
    reference: (q, scale) => [scale * sum(q)],
    lengths: scaled([3, 1000], [1, 3, 32, 1000, 2048]),
  },
  GlobalAveragePool: {
    nodes: [
      node("Unsqueeze", ["r", "axes"], {}, "u"),
      node("GlobalAveragePool", ["u"], {}, "v"),
      node("Squeeze", ["v"], {}, "p"),
    ],
    constants: () => ({ axes: t("int64", [1], [0]) }),
    reference: (q, scale) => [(scale * sum(q)) / q.length],
    lengths: [3, 32, 2048],
  },
  "com.microsoft QLinearGlobalAveragePool": {
    nodes: [
      node("Unsqueeze", ["x", "axes"], {}, "u"),
      { ...microsoft("QLinearGlobalAveragePool", ["u", "xs", "xz", "ys", "yz"]), outputs: ["v"] },
      node("Squeeze", ["v"], {}, "q"),
      node("DequantizeLinear", ["q", "ys", "yz"], {}, "p"),
    ],
    constants: () => ({ axes: t("int64", [1], [0]) }),
    reference: (q, scale) => [(scale * sum(q)) / q.length],
    lengths: [3, 32, 2048],
    quantizes: true,
  },
  "AveragePool with pads that do not count": {
    nodes: [
      node("Unsqueeze", ["r", "axes"], {}, "u"),
      node("AveragePool", ["u"], { kernel_shape: [5], pads: [2, 2] }, "p"),
    ],
    constants: () => ({ axes: t("int64", [1], [0]) }),
    reference: (q, scale) =>
      q.map((_, i) => {
        const inside = q.slice(Math.max(i - 2, 0), i + 3);
        return (scale * sum(inside)) / inside.length;
      }),
    lengths: scaled([40], [3, 40, 300]),
  },
};

/** A power of two, a scale as calibration gives it, a large and a small one. */
const SCALES = [2 ** -4, Math.fround(0.0437), 1, Math.fround(0.00123)];

/** Rows of one length, quantized as calibration on all of them, or on rows of one kind, chooses. */
function measureLength(operator: RowOperator, n: number): Measured {
  const total: Measured = new Map();
  const rng = createRng(5000 + n);
  const kinds = directedRows(rng, n);
  const isLong = n > 2048;
  const rows = Object.values(kinds).flatMap((list) => (isLong ? list.slice(0, 2) : list));
  for (const scale of n > scaled(1000, 2048) ? SCALES.slice(1, isLong ? 2 : 3) : SCALES) {
    const type = rng.pick(["uint8", "int8"] as const);
    const lift = type === "int8" ? 128 : 0;
    const from = { type, scale, zero: rng.int(0, 255) - lift };
    const constants = operator.constants?.(rng, n) ?? {};
    const of = (list: readonly (readonly number[])[]): number[] =>
      list.flatMap((row) =>
        operator.reference(
          row.map((q) => q - lift - from.zero),
          scale,
          constants,
        ),
      );
    const expected = of(rows);
    const sizes = operator.sizes?.(expected, constants);
    const wholes = [
      calibrated(expected, "uint8"),
      calibrated(expected, "int8"),
      calibrated(expected, "uint16"),
    ];
    const kindOf = (name: string, to: Quantized): Quantization => calibrated(of(kinds[name] ?? []), to);
    const parts = isLong
      ? []
      : [kindOf("flat", "uint8"), kindOf("one off by one", "int8"), kindOf("random", "int16")];
    const x = rows.flat().map((q) => q - lift);
    for (const to of [undefined, ...wholes, ...parts]) {
      if (operator.quantizes && to?.type !== from.type) continue;
      const graph = { nodes: operator.nodes, constants, length: n };
      measure({ ...graph, x, from, to, expected, ...(sizes === undefined ? {} : { sizes }) }, total);
    }
  }
  return total;
}

describe("at most one unit off", () => {
  for (const [name, operator] of Object.entries(OPERATORS)) {
    it.each(operator.lengths)(`behavior: ${name} of %i elements`, (n) => {
      const measured = measureLength(operator, n);
      process.stdout.write(`${name}, ${n}: ${printed(measured)}\n`);
      expect(measured.size).toBeGreaterThan(0);
      expect(largestOf(measured)).toBeLessThanOrEqual(1);
    });
  }
});
