/** Softmax, LayerNormalization and averages against their definitions in binary64, where they are hardest. */
import { describe, expect, it } from "vitest";
import { largestOf, printed } from "../../support/one-unit.ts";
import { microsoft, node, t } from "../../support/onnx-nodes.ts";
import { measureLength, NORMALIZING, type RowOperator, sum } from "../../support/row-operators.ts";
import { scaled } from "../../support/scale.ts";

const OPERATORS: Readonly<Record<string, RowOperator>> = {
  ...NORMALIZING,
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
