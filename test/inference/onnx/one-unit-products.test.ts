/** Products with constant weights, and sums and products of two byte tensors, against binary64. */
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
import { sigmoid } from "../../support/real-functions.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const f32 = Math.fround;
const COLUMNS = 3;

/** Weights as uint8: small ones, extreme ones, and ones whose products cancel. */
const WEIGHTS: Readonly<Record<string, (rng: Rng, k: number, column: number) => number>> = {
  random: (rng) => rng.int(0, 255),
  extreme: (_, __, column) => (column === 0 ? 255 : column === 1 ? 0 : 129),
  // Of any element one column has a large weight, another one a small one.
  cancelling: (_, k, column) => {
    const size = ((k >> 1) + column) % 2 === 0 ? 127 : 2;
    return 128 + (k % 2 === 0 ? size : -size);
  },
};
const WEIGHT_ZERO = 128;

interface Case {
  readonly length: number;
  readonly weights: keyof typeof WEIGHTS;
  /** Bits of the activation. */
  readonly bits: 8 | 16;
  readonly bias: boolean;
}

/** A 16-bit activation is 257 times the byte, so that its ends are the type's. */
function activation(bits: 8 | 16, from: Quantization): { nodes: TestNode[]; scale: number; name: string } {
  if (bits === 8) return { nodes: [], scale: from.scale, name: "r" };
  const scale = f32(from.scale / 257);
  const nodes = [
    node("QuantizeLinear", ["r", "as", "az"], {}, "a16"),
    node("DequantizeLinear", ["a16", "as", "az"], {}, "a"),
  ];
  return { nodes, scale, name: "a" };
}

function measureProduct({ length, weights, bits, bias }: Case, total: Measured): void {
  const rng = createRng(length + 10 * bits);
  const kinds = directedRows(rng, length);
  const rows = Object.values(kinds).flat();
  const x = rows.flat();
  for (const xScale of scaled([f32(0.0437)], [2 ** -6, f32(0.0437)])) {
    const from: Quantization = { type: "uint8", scale: xScale, zero: rng.int(0, 255) };
    const { nodes, scale, name } = activation(bits, from);
    const per = bits === 8 ? 1 : 257;
    const w = Array.from({ length: length * COLUMNS }, (_, i) =>
      (WEIGHTS[weights] as (typeof WEIGHTS)[string])(rng, Math.floor(i / COLUMNS), i % COLUMNS),
    );
    const wScales = Array.from({ length: COLUMNS }, () => f32(rng.int(1000, 9000) / 1e6));
    const biases = wScales.map(() => (bias ? rng.int(-(2 ** 20), 2 ** 20) : 0));
    const biasScales = wScales.map((s) => f32(scale * s));
    const of = (list: readonly (readonly number[])[]): number[] =>
      list.flatMap((row) =>
        wScales.map((s, n) => {
          const sum = row.reduce(
            (acc, q, k) => acc + per * (q - from.zero) * ((w[k * COLUMNS + n] as number) - WEIGHT_ZERO),
            0,
          );
          return sum * scale * s + (biases[n] as number) * (biasScales[n] as number);
        }),
      );
    const expected = of(rows);
    const zeros = (zero: number): TestTensor => t("uint8", [COLUMNS], Array(COLUMNS).fill(zero));
    const constants = {
      as: t("float32", [], [scale]),
      az: t("uint16", [], [257 * from.zero]),
      w: t("uint8", [length, COLUMNS], w),
      ws: t("float32", [COLUMNS], wScales),
      wz: zeros(WEIGHT_ZERO),
      b: t("int32", [COLUMNS], biases),
      bs: t("float32", [COLUMNS], biasScales),
    };
    const product = bias
      ? [node("DequantizeLinear", ["b", "bs"], { axis: 0 }, "c"), node("Gemm", [name, "v", "c"], {}, "p")]
      : [node("MatMul", [name, "v"], {}, "p")];
    const graph = {
      nodes: [...nodes, node("DequantizeLinear", ["w", "ws", "wz"], { axis: 1 }, "v"), ...product],
      constants,
      length,
      x,
      from,
      expected,
    };
    const kindOf = (kind: string, to: Quantized): Quantization => calibrated(of(kinds[kind] ?? []), to);
    const wholes = (["uint8", "int8", "uint16", "int16"] as const).map((to) => calibrated(expected, to));
    // Narrower scales of 16 bits are refused: the rescaled sums of other rows could leave s32.
    const parts = [kindOf("one off by one", "uint8"), kindOf("half off by one", "int8")];
    for (const to of [...wholes, ...parts].filter((target) => target.scale > 2 ** -40)) {
      measure({ ...graph, to }, total);
    }
  }
}

describe("products with constant weights", () => {
  it.each(
    ([8, 16] as const).flatMap((bits) => Object.keys(WEIGHTS).map((weights) => [bits, weights] as const)),
  )("behavior: %i-bit activations, %s weights: at most one unit off", (bits, weights) => {
    const total: Measured = new Map();
    for (const length of scaled([31, 1500], [1, 2, 31, 300, 768, 1500, 4096])) {
      for (const bias of [false, true]) measureProduct({ length, weights, bits, bias }, total);
    }
    process.stdout.write(`products, ${bits} bits, ${weights}: ${printed(total)}\n`);
    expect(largestOf(total)).toBeLessThanOrEqual(1);
  });
});

const BINARY: Readonly<Record<string, (a: number, b: number) => number>> = {
  QLinearAdd: (a, b) => a + b,
  QLinearMul: (a, b) => a * b,
};

describe("com.microsoft sums and products of bytes", () => {
  it.each(Object.entries(BINARY))("behavior: %s of all pairs: at most one unit off", (op, f) => {
    const total: Measured = new Map();
    const second = Array.from({ length: 256 }, (_, q) => q);
    for (const [scale, zero, uScale, uZero] of [
      [f32(0.02), 128, f32(0.02), 128],
      [f32(0.0437), 7, f32(0.0012), 255],
      [1, 0, f32(0.1), 200],
    ] as const) {
      const expected = second.flatMap((q) =>
        second.map((u) => f(f32((q - zero) * scale), f32((u - uZero) * uScale))),
      );
      for (const to of [
        calibrated(expected, "uint8"),
        calibrated(expected.slice(256 * 100, 256 * 101), "uint8"),
        calibrated(expected.slice(0, 9), "uint8"),
      ]) {
        // Through the operator itself, which quantizes: r is not read.
        const constants = {
          u: t("uint8", [1, 256], second),
          us: t("float32", [], [uScale]),
          uz: t("uint8", [], [uZero]),
        };
        const own = { ...microsoft(op, ["x", "xs", "xz", "u", "us", "uz", "ys", "yz"]), outputs: ["q"] };
        const nodes = [own, node("DequantizeLinear", ["q", "ys", "yz"], {}, "p")];
        const from: Quantization = { type: "uint8", scale, zero };
        measure({ nodes, constants, length: 1, x: second, from, to, expected }, total);
      }
    }
    process.stdout.write(`${op}: ${printed(total)}\n`);
    expect(largestOf(total)).toBeLessThanOrEqual(1);
  });
});

const UNARY: Readonly<
  Record<string, readonly [attributes: TestNode["attributes"], f: (x: number) => number]>
> = {
  QLinearSigmoid: [{}, sigmoid],
  QLinearLeakyRelu: [{ alpha: { f: 0.125 } }, (x) => (x < 0 ? 0.125 * x : x)],
};

describe("com.microsoft functions of bytes", () => {
  it.each(Object.entries(UNARY))("behavior: %s: at most one unit off", (op, [attributes, f]) => {
    const total: Measured = new Map();
    const x = Array.from({ length: 256 }, (_, q) => q);
    for (const [scale, zero] of [
      [f32(0.04), 128],
      [f32(0.07), 255],
      [f32(0.001), 128],
    ] as const) {
      const expected = x.map((q) => f(f32((q - zero) * scale)));
      for (const part of [expected, expected.slice(0, 9), expected.slice(120, 136)]) {
        const own = { ...microsoft(op, ["x", "xs", "xz", "ys", "yz"], attributes), outputs: ["q"] };
        const nodes = [own, node("DequantizeLinear", ["q", "ys", "yz"], {}, "p")];
        const from: Quantization = { type: "uint8", scale, zero };
        measure({ nodes, length: 1, x, from, to: calibrated(part, "uint8"), expected }, total);
      }
    }
    process.stdout.write(`${op}: ${printed(total)}\n`);
    expect(largestOf(total)).toBeLessThanOrEqual(1);
  });
});
