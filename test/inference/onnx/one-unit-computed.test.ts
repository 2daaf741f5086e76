/** Products of two computed tensors of 8 and 16 bits against binary64, in both forms: at most one unit off. */
import { describe, expect, it } from "vitest";
import { importOnnx } from "../../../inference/onnx/import.ts";
import type { ProductForm } from "../../../inference/onnx/named-settings.ts";
import { isActivationDot } from "../../../inference/program/form.ts";
import { calibrated, type Quantization, type Quantized, quantize } from "../../support/one-unit.ts";
import { onnxFile } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const [ROWS, COLUMNS] = [6, 5];
const LIMITS = { uint8: [0, 255], int8: [-128, 127], uint16: [0, 65_535], int16: [-32_768, 32_767] } as const;

/** Integers of one row: random, at one end, near the zero point, or of both ends in turn, so that sums cancel. */
function row(rng: Rng, length: number, { type, zero }: Quantization, kind: number): number[] {
  const [low, high] = LIMITS[type];
  const near = (by: number) => Math.min(Math.max(zero + by, low), high);
  const at = [
    () => rng.int(low, high),
    () => high,
    () => low,
    () => near(rng.int(-3, 3)),
    (i: number) => (i % 2 === 0 ? high : low),
    (i: number) => (i === 0 ? high : near(0)),
  ][kind % 6] as (i: number) => number;
  return Array.from({ length }, (_, i) => at(i));
}

const IN = ["int16", "uint16", "int8", "uint8"] as const;
const CASES = IN.flatMap((a) => IN.map((b) => [a, b] as const)).filter(([a, b]) => (a + b).includes("16"));
const LENGTHS = scaled([1, 31, 200, 1024], [1, 2, 31, 64, 200, 511, 1000, 1024]);

function measure(types: readonly [Quantized, Quantized], length: number, products: ProductForm) {
  const rng = createRng(7000 + length);
  const found = { compared: 0, different: 0, largest: 0, dots: 0 };
  for (const isCentred of [true, false]) {
    const quantization = (type: Quantized): Quantization => {
      const [low, high] = LIMITS[type];
      const zero = isCentred ? (low + high + 1) / 2 : rng.int(low, high);
      return { type, zero, scale: Math.fround(rng.int(1000, 9000) / 1e6 / (type.endsWith("16") ? 256 : 1)) };
    };
    const [from, other] = types.map(quantization) as [Quantization, Quantization];
    const x = Array.from({ length: ROWS }, (_, i) => row(rng, length, from, i));
    const u = Array.from({ length: COLUMNS }, (_, i) => row(rng, length, other, i));
    const expected = x.flatMap((left) =>
      u.map(
        (right) =>
          left.reduce((sum, q, i) => sum + (q - from.zero) * ((right[i] as number) - other.zero), 0) *
          from.scale *
          other.scale,
      ),
    );
    const real = (rows: readonly number[][], { zero, scale }: Quantization) =>
      rows.flat().map((q) => Math.fround((q - zero) * scale));
    for (const to of (["uint8", "int8", "uint16", "int16"] as const).map((type) =>
      calibrated(expected, type),
    )) {
      const constants = Object.entries({ x: from, u: other, p: to }).flatMap(
        ([name, { type, scale, zero }]) => [
          [`${name}s`, t("float32", [], [scale])] as const,
          [`${name}z`, t(type, [], [zero])] as const,
        ],
      );
      const graph = {
        nodes: [
          ...["x", "u"].flatMap((name) => [
            node("QuantizeLinear", [name, `${name}s`, `${name}z`], {}, `${name}q`),
            node("DequantizeLinear", [`${name}q`, `${name}s`, `${name}z`], {}, `${name}r`),
          ]),
          node("Transpose", ["ur"], { perm: [1, 0] }, "turned"),
          node("MatMul", ["xr", "turned"], {}, "p"),
          node("QuantizeLinear", ["p", "ps", "pz"], {}, "q"),
          node("Cast", ["q"], { to: 6 }),
        ],
        inputs: {
          x: { type: "float32", dims: [ROWS, length] },
          u: { type: "float32", dims: [COLUMNS, length] },
        },
        outputs: { y: "int32" },
        constants: Object.fromEntries(constants),
        opset: 21,
      } as const;
      const inputs = {
        x: { type: "float32", dims: [ROWS, length], data: real(x, from) },
        u: { type: "float32", dims: [COLUMNS, length], data: real(u, other) },
      };
      const { outputs, imported } = runGraph(graph, inputs, { products });
      found.dots = imported.model.program.steps.filter(isActivationDot).length;
      outputs.y?.forEach((value, i) => {
        const distance = Math.abs(value - quantize(expected[i] as number, to));
        found.compared++;
        if (distance > 0) found.different++;
        found.largest = Math.max(found.largest, distance);
      });
    }
  }
  return found;
}

describe("products of two computed tensors, one of 16 bits at least", () => {
  it.each(CASES)("behavior: %s times %s", (a, b) => {
    for (const length of LENGTHS) {
      for (const products of length < 300 ? (["dot", "pairs"] as const) : (["dot"] as const)) {
        const found = measure([a, b], length, products);
        process.stdout.write(
          `${a} × ${b}, ${length}, ${products}: ${found.different} of ${found.compared}\n`,
        );
        expect([length, products, found.largest <= 1]).toEqual([length, products, true]);
        expect(found.compared).toBe(8 * ROWS * COLUMNS);
        const parts = (a.endsWith("16") ? 2 : 1) * (b.endsWith("16") ? 2 : 1);
        expect(found.dots).toBe(products === "dot" ? parts : 0);
      }
    }
  });
});

const NAMES = ["x", "u"] as const;

/** A product of [1, k] and [k, 4] whose quantized result is a byte. */
const product = (
  types: readonly [Quantized, Quantized],
  zeros: readonly [number, number],
  k: number,
  to: number,
) =>
  ({
    nodes: [
      ...NAMES.flatMap((name) => [
        node("QuantizeLinear", [name, "s", `${name}z`], {}, `${name}q`),
        node("DequantizeLinear", [`${name}q`, "s", `${name}z`], {}, `${name}r`),
      ]),
      node("MatMul", ["xr", "ur"], {}, "p"),
      node("QuantizeLinear", ["p", "t", "yz"]),
    ],
    inputs: { x: { type: "float32", dims: [1, k] }, u: { type: "float32", dims: [k, 4] } },
    outputs: { y: "uint8" },
    constants: {
      s: t("float32", [], [1]),
      t: t("float32", [], [to]),
      xz: t(types[0], [], [zeros[0]]),
      uz: t(types[1], [], [zeros[1]]),
      yz: t("uint8", [], [0]),
    },
    opset: 21,
  }) as const;

describe("sums that fill 32 bits", () => {
  it.each([
    ["uint16", 0, "uint16", 0],
    ["uint16", 65_535, "uint16", 65_535],
    ["uint16", 65_535, "uint16", 0],
    ["int16", 0, "uint16", 0],
    ["int16", 32_767, "uint16", 0],
    ["uint16", 0, "int16", -32_768],
    ["int16", -32_768, "int16", -32_768],
  ] as const)("behavior: %s with zero point %i times %s with zero point %i", (a, aZero, b, bZero) => {
    for (const k of [127, 255, 256, 511, 512, 1023, 1024]) {
      // The numbers that are farthest from the zero points, and one that is half as far.
      const [x, u] = [LIMITS[a], LIMITS[b]].map(([low, high], i) => {
        const zero = i === 0 ? aZero : bZero;
        return high - zero > zero - low ? high - zero : low - zero;
      }) as [number, number];
      const sign = x * u < 0 ? -1 : 1;
      const inputs = {
        x: { type: "float32", dims: [1, k], data: Array(k).fill(x) },
        u: {
          type: "float32",
          dims: [k, 4],
          data: Array.from({ length: 4 * k }, (_, i) => (i % 2 ? u : Math.trunc(u / 2))),
        },
      };
      const to = Math.fround((Math.abs(x * u) * k) / 200);
      const { outputs } = runGraph(product([a, b], [aZero, bZero], k, to), inputs, { products: "dot" });
      expect([k, outputs.y]).toEqual([k, sign < 0 ? [0, 0, 0, 0] : [100, 200, 100, 200]]);
    }
  });
});

describe("the form that import chooses", () => {
  const dots = (a: Quantized, b: Quantized, k: number): number =>
    importOnnx(onnxFile(product([a, b], [0, 0], k, 1))).model.program.steps.filter(isActivationDot).length;
  it("behavior: pairs while all products of bytes together are at most 1,024", () => {
    expect([dots("uint8", "uint8", 256), dots("uint8", "uint8", 257)]).toEqual([0, 1]);
    expect([dots("int16", "uint8", 128), dots("int16", "uint8", 129)]).toEqual([0, 2]);
    expect([dots("uint16", "int16", 64), dots("uint16", "int16", 65)]).toEqual([0, 4]);
  });
});
