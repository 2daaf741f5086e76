/** Functions of one byte against their definitions in binary64: whole ranges, tails alone, and the neighbourhood of 0. */
import { describe, expect, it } from "vitest";
import { calibrated, largestOf, type Measured, measure, printed } from "../../support/one-unit.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { microsoft, node, t } from "../../support/onnx-nodes.ts";
import { erf, gelu, mish, sigmoid, softplus, tanhGelu } from "../../support/real-functions.ts";

interface ByteFunction {
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly f: (x: number) => number;
  /** Terms that nearly cancel, where the function adds them. */
  readonly size?: (x: number) => number;
}

const one = (op: string, f: ByteFunction["f"], attributes: TestNode["attributes"] = {}): ByteFunction => ({
  nodes: [node(op, ["r"], attributes, "p")],
  f,
});
const ours = (op: string, f: ByteFunction["f"], attributes: TestNode["attributes"] = {}): ByteFunction => ({
  nodes: [{ ...microsoft(op, ["r"], attributes), outputs: ["p"] }],
  f,
});
const f32 = Math.fround;
const SELU = [f32(1.6732631921768188), f32(1.0507010221481323)] as const;
const clamp01 = (x: number): number => Math.min(Math.max(x, 0), 1);

const FUNCTIONS: Readonly<Record<string, ByteFunction>> = {
  Celu: one("Celu", (x) => (x > 0 ? x : 1.5 * Math.expm1(x / 1.5)), { alpha: { f: 1.5 } }),
  Elu: one("Elu", (x) => (x > 0 ? x : 0.75 * Math.expm1(x)), { alpha: { f: 0.75 } }),
  Erf: one("Erf", erf),
  Exp: one("Exp", Math.exp),
  Gelu: one("Gelu", gelu),
  "Gelu tanh": one("Gelu", tanhGelu, { approximate: "tanh" }),
  HardSigmoid: one("HardSigmoid", (x) => clamp01(0.25 * x + 0.5), { alpha: { f: 0.25 } }),
  HardSwish: one("HardSwish", (x) => (x * Math.min(Math.max(x + 3, 0), 6)) / 6),
  LeakyRelu: one("LeakyRelu", (x) => (x < 0 ? 0.125 * x : x), { alpha: { f: 0.125 } }),
  Log: {
    nodes: [node("Clip", ["r", "least"], {}, "c"), node("Log", ["c"], {}, "p")],
    constants: { least: t("float32", [], [0.25]) },
    f: (x) => Math.log(Math.max(x, 0.25)),
  },
  Mish: one("Mish", mish),
  Selu: one("Selu", (x) => SELU[1] * (x > 0 ? x : SELU[0] * Math.expm1(x))),
  Shrink: one("Shrink", (x) => (Math.abs(x) > 0.5 ? x - 0.25 * Math.sign(x) : 0), {
    bias: { f: 0.25 },
    lambd: { f: 0.5 },
  }),
  Sigmoid: one("Sigmoid", sigmoid),
  Softplus: one("Softplus", softplus),
  Softsign: one("Softsign", (x) => x / (1 + Math.abs(x))),
  Tanh: one("Tanh", Math.tanh),
  ThresholdedRelu: one("ThresholdedRelu", (x) => (x > 0.5 ? x : 0), { alpha: { f: 0.5 } }),
  "com.microsoft Gelu": ours("Gelu", gelu),
  "com.microsoft FastGelu": ours("FastGelu", tanhGelu),
  "com.microsoft QuickGelu": ours("QuickGelu", (x) => x * sigmoid(f32(1.702) * x)),
};

const WIDTH = 32;
const bytesFrom = (least: number): number[] => Array.from({ length: WIDTH }, (_, i) => least + i);
/** Rows of bytes: eight cover all of them, one lies around the zero point. */
const rowsAround = (zero: number): number[][] => [
  ...Array.from({ length: 8 }, (_, i) => bytesFrom(WIDTH * i)),
  bytesFrom(Math.min(Math.max(zero - WIDTH / 2, 0), 256 - WIDTH)),
];
/** Scale and zero point: the usual range, both sides far out, one side alone, a narrow range. */
const INPUTS = [
  [f32(0.04), 128],
  [f32(0.07), 100],
  [f32(0.035), 255],
  [f32(0.035), 0],
  [f32(0.001), 128],
] as const;

function measureFunction({ nodes, constants = {}, f }: ByteFunction): Measured {
  const total: Measured = new Map();
  for (const [scale, zero] of INPUTS) {
    const rows = rowsAround(zero);
    const real = (row: readonly number[]): number[] => row.map((q) => f(f32((q - zero) * scale)));
    const expected = rows.flatMap(real);
    const from = { type: "uint8", scale, zero } as const;
    const graph = { nodes, constants, length: WIDTH, x: rows.flat(), from, expected };
    measure({ ...graph, to: undefined }, total);
    for (const list of [expected, ...rows.map(real)]) {
      for (const type of ["uint8", "int8", "uint16"] as const) {
        measure({ ...graph, to: calibrated(list, type) }, total);
      }
    }
  }
  return total;
}

describe("at most one unit off", () => {
  it.each(Object.entries(FUNCTIONS))("behavior: %s of a byte", (name, byteFunction) => {
    const measured = measureFunction(byteFunction);
    process.stdout.write(`${name}: ${printed(measured)}\n`);
    expect(largestOf(measured)).toBeLessThanOrEqual(1);
  });
});
