/** Operators along rows against their definitions in binary64, where they are hardest: of quantized rows, quantized. */
import type { ImportSettings } from "../../inference/onnx/import.ts";
import { directedRows } from "./directed-rows.ts";
import { calibrated, type Measured, measure, type Quantization, type Quantized } from "./one-unit.ts";
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { node, t } from "./onnx-nodes.ts";
import { createRng, type Rng } from "./rng.ts";
import { scaled } from "./scale.ts";

export interface RowOperator {
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

export const sum = (x: readonly number[]): number => x.reduce((a, b) => a + b, 0);

function softmax(q: readonly number[], scale: number): number[] {
  const top = q.reduce((a, b) => Math.max(a, b));
  const e = q.map((v) => Math.exp(scale * (v - top)));
  const total = sum(e);
  return e.map((v) => v / total);
}

export const EPSILON = Math.fround(1e-5);

function normalized(q: readonly number[], scale: number): number[] {
  const n = q.length;
  const total = sum(q);
  const d = q.map((v) => (n * v - total) / n);
  const variance = (scale * scale * sum(d.map((v) => v * v))) / n;
  return d.map((v) => (scale * v) / Math.sqrt(variance + EPSILON));
}

const at = (constants: Record<string, TestTensor>, name: string, i: number): number =>
  constants[name]?.data[i] as number;

export const NORMALIZING = {
  Softmax: {
    nodes: [node("Softmax", ["r"], {}, "p")],
    reference: softmax,
    lengths: scaled([2, 32, 257, 2048], [1, 2, 32, 128, 255, 256, 257, 1000, 2048, 4096, 8191]),
  },
  LayerNormalization: {
    nodes: [node("LayerNormalization", ["r", "one"], { axis: 1 }, "p")],
    constants: (_, n) => ({ one: t("float32", [n], Array(n).fill(1)) }),
    reference: normalized,
    lengths: scaled([1, 3, 256, 4096], [1, 2, 3, 32, 181, 182, 256, 768, 2048, 8192, 32_767]),
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
} satisfies Readonly<Record<string, RowOperator>>;

/** A power of two, a scale as calibration gives it, a large and a small one. */
const SCALES = [2 ** -4, Math.fround(0.0437), 1, Math.fround(0.00123)];

const BYTES = ["uint8", "int8"] as const;

interface Measuring {
  /** of the rows; default bytes */
  readonly types?: readonly [Quantized, Quantized];
  /** 16-bit integers of a row are within 256 of each other */
  readonly isNear?: boolean;
  readonly settings?: ImportSettings;
}

/** Rows of one length, quantized as calibration on all of them, or on rows of one kind, chooses. */
export function measureLength(
  operator: RowOperator,
  n: number,
  { types = BYTES, isNear = false, settings }: Measuring = {},
): Measured {
  const total: Measured = new Map();
  const rng = createRng(5000 + n);
  const kinds = directedRows(rng, n);
  const isLong = n > 2048;
  const bytes = Object.values(kinds).flatMap((list) => (isLong ? list.slice(0, 2) : list));
  for (const of256 of n > scaled(1000, 2048) ? SCALES.slice(1, isLong ? 2 : 3) : SCALES) {
    const type = rng.pick(types);
    const most = type === "uint16" || type === "int16" ? 65_535 : 255;
    // Over all integers of the type, or close together in the middle of them.
    const stretch = isNear ? 1 : most / 255;
    const rows = bytes.map((row) => row.map((q) => q * stretch + (stretch === 1 ? (most - 255) / 2 : 0)));
    const scale = Math.fround(of256 / stretch);
    const lift = { uint8: 0, int8: 128, uint16: 0, int16: 32_768 }[type];
    const from = { type, scale, zero: rng.int(0, most) - lift };
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
    // Integers hold no results that are far finer than the largest that there can be.
    const parts =
      isLong || settings !== undefined
        ? []
        : [undefined, kindOf("flat", "uint8"), kindOf("one off by one", "int8"), kindOf("random", "int16")];
    const x = rows.flat().map((q) => q - lift);
    for (const to of [...wholes, ...parts]) {
      if (operator.quantizes && to?.type !== from.type) continue;
      const graph = { nodes: operator.nodes, constants, length: n, ...(settings && { settings }) };
      measure({ ...graph, x, from, to, expected, ...(sizes === undefined ? {} : { sizes }) }, total);
    }
  }
  return total;
}
