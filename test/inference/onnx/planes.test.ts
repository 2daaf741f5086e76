import { describe, expect, it } from "vitest";
import type { ArithmeticForm, ProductForm } from "../../../inference/onnx/named-settings.ts";
import { DOT_VARIANTS } from "../../../inference/program/form.ts";
import type { TestTensor } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const real = (...values: number[]): TestTensor =>
  t("float32", values.length === 1 ? [] : [values.length], values.map(Math.fround));

interface Graph {
  readonly x: TestTensor;
  readonly type: "uint16" | "int16";
  readonly zero: number;
  /** bounds of the operand of 16 bits, in its own steps from its zero point */
  readonly clip: readonly [number, number];
  readonly first: readonly number[];
  readonly second: readonly number[];
  /** steps of the result */
  readonly scale: number;
}

const STEP = Math.fround(1e-4);
const INNER = 4;

/** A product of bytes, clipped, of which each element has an interval of its own; then the product of 16 bits. */
function outputs(graph: Graph, arithmetic: ArithmeticForm, products: ProductForm) {
  const { x, type, zero, clip, first, second, scale } = graph;
  const length = second.length;
  const constants = {
    ...{ xs: real(1 / 64), xz: t("uint8", [], [0]), s: real(STEP), z: t(type, [], [zero]) },
    ...{
      a: t("int8", [INNER, length], first),
      as: real(0.01),
      low: real(clip[0] * STEP),
      high: real(clip[1] * STEP),
    },
    ...{ b: t("int8", [length, 1], second), bs: real(0.01), ys: real(scale), yz: t("int16", [], [0]) },
  };
  const nodes = [
    node("DequantizeLinear", ["x", "xs", "xz"], {}, "xf"),
    node("DequantizeLinear", ["a", "as"], {}, "af"),
    node("MatMul", ["xf", "af"], {}, "p"),
    node("Clip", ["p", "low", "high"], {}, "c"),
    node("QuantizeLinear", ["c", "s", "z"], {}, "q"),
    node("DequantizeLinear", ["q", "s", "z"], {}, "qf"),
    node("DequantizeLinear", ["b", "bs"], {}, "bf"),
    node("MatMul", ["qf", "bf"], {}, "m"),
    node("QuantizeLinear", ["m", "ys", "yz"]),
  ];
  const { outputs: found, imported } = run(x, nodes, "int16", constants, { arithmetic, products });
  const forms = imported.model.program.steps.flatMap(({ opcode, variant }) =>
    opcode === "dot" ? [DOT_VARIANTS[variant]] : [],
  );
  return { y: found.y, isPlanes: forms.includes("planes") };
}

/** Weights whose sum lies far from 0 or near it, operands near their zero point or far from it, of one part or two. */
function randomGraph(rng: Rng): Graph {
  const length = rng.pick([1, 31, 820, 992, 1_000, 1_984]);
  const type = rng.pick(["uint16", "int16"] as const);
  const [least, most] = type === "uint16" ? [0, 65_535] : [-32_768, 32_767];
  const zero = rng.pick([least, most, 0, rng.int(least, most)]);
  const bounds = [rng.int(least, most) - zero, rng.int(least, most) - zero].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const middle = rng.pick([0, -110, 110]);
  const second = Array.from({ length }, (_, i) =>
    rng.chance(0.5) && i >= 992 ? -middle : Math.max(-127, Math.min(127, middle + rng.int(-17, 17))),
  );
  const lean = rng.pick([-100, 0, 80]);
  const first = Array.from({ length: INNER * length }, () => lean + rng.int(-20, 20));
  const x = t(
    "uint8",
    [2, INNER],
    Array.from({ length: 2 * INNER }, () => rng.int(0, 255)),
  );
  return { x, type, zero, clip: bounds, first, second, scale: rng.pick([0.01, 1, 4]) };
}

describe("products of 16 bits as planes", () => {
  it("behavior: equal those of pairs of bytes, whatever the weights sum up to and however far operands are from 0", () => {
    let planes = 0;
    const count = scaled(80, 1_000, 5_000);
    for (let seed = 0; seed < count; seed++) {
      const graph = randomGraph(createRng(seed));
      const found = outputs(graph, "integers", "auto");
      expect(found.y, `seed ${seed}`).toEqual(outputs(graph, "integers", "pairs").y);
      planes += Number(found.isPlanes);
    }
    expect(planes).toBeGreaterThan(count / 4);
    expect(planes).toBeLessThan(count);
  });

  it("behavior: sums that all lie outside s32 are not taken for what is left of them", () => {
    const graph: Graph = {
      x: t("uint8", [2, INNER], [60, 70, 80, 50, 90, 40, 200, 10]),
      type: "int16",
      zero: 0,
      clip: [-32_500, -23_000],
      scale: 1,
      first: Array.from({ length: INNER * 820 }, (_, i) => -100 + ((i * 37) % 20)),
      second: Array.from({ length: 820 }, (_, i) => (i < 190 ? 120 : 119)),
    };
    expect(outputs(graph, "integers", "auto")).toEqual({ y: [-3_178, -3_178], isPlanes: false });
  });

  it("behavior: each part of a long row is proven, not their sum alone", () => {
    const graph: Graph = {
      x: t("uint8", [1, INNER], [60, 70, 80, 50]),
      type: "int16",
      zero: 0,
      clip: [-3_000, 3_000],
      scale: 0.01,
      first: Array.from({ length: INNER * 1_984 }, (_, i) => -100 + ((i * 37) % 200)),
      second: Array.from({ length: 1_984 }, (_, i) => (i < 992 ? 100 : -100)),
    };
    expect(outputs(graph, "integers", "auto")).toEqual({ y: [-208], isPlanes: false });
  });
});
