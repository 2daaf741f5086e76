/** Functions of 16-bit integers in integers alone (`--arithmetic integers`), as exporters write them: against binary64. */
import { describe, expect, it } from "vitest";
import { erf } from "../../../inference/onnx/lower/functions.ts";
import { compareBoth } from "../../support/both-ways.ts";
import { calibrated, type Quantization, type Quantized, quantize } from "../../support/one-unit.ts";
import { onnxFile, type TestGraph, type TestNode, type TestTensor } from "../../support/onnx-file.ts";
import { node, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const INTEGERS = { arithmetic: "integers" } as const;
const WIDE = ["uint16", "int16"] as const;
const TYPES = ["uint8", "int8", ...WIDE] as const;
const LIMITS = { uint16: [0, 65_535], int16: [-32_768, 32_767] } as const;
const DIMS = [3, 4, 25];

interface Part {
  /** from r to p */
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly f: (x: number) => number;
  /** how it is computed */
  readonly by: "lookup" | "rescale";
}

const scalar = (value: number): TestTensor => t("float32", [], [Math.fround(value)]);
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

const PARTS: Readonly<Record<string, Part>> = {
  "Gelu by Erf": {
    nodes: [
      node("Div", ["r", "root"], {}, "scaled"),
      node("Erf", ["scaled"], {}, "e"),
      node("Add", ["e", "one"], {}, "more"),
      node("Mul", ["r", "more"], {}, "twice"),
      node("Mul", ["twice", "half"], {}, "p"),
    ],
    constants: { root: scalar(Math.SQRT2), one: scalar(1), half: scalar(0.5) },
    f: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
    by: "lookup",
  },
  "SiLU by Sigmoid": {
    nodes: [node("Sigmoid", ["r"], {}, "gate"), node("Mul", ["gate", "r"], {}, "p")],
    f: (x) => x * sigmoid(x),
    by: "lookup",
  },
  "Gelu by Tanh": {
    nodes: [
      node("Pow", ["r", "three"], {}, "cube"),
      node("Mul", ["cube", "small"], {}, "part"),
      node("Add", ["r", "part"], {}, "inner"),
      node("Mul", ["inner", "root"], {}, "scaled"),
      node("Tanh", ["scaled"], {}, "curve"),
      node("Add", ["curve", "one"], {}, "more"),
      node("Mul", ["r", "half"], {}, "less"),
      node("Mul", ["less", "more"], {}, "p"),
    ],
    constants: {
      ...{ three: scalar(3), small: scalar(0.044715), root: scalar(Math.sqrt(2 / Math.PI)) },
      ...{ one: scalar(1), half: scalar(0.5) },
    },
    f: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
    by: "lookup",
  },
  "a square plus one, its root": {
    nodes: [
      node("Mul", ["r", "r"], {}, "square"),
      node("Add", ["square", "one"], {}, "more"),
      node("Sqrt", ["more"], {}, "p"),
    ],
    constants: { one: scalar(1) },
    f: (x) => Math.sqrt(x * x + 1),
    by: "lookup",
  },
  Abs: { nodes: [node("Abs", ["r"], {}, "p")], f: Math.abs, by: "lookup" },
  Relu: { nodes: [node("Relu", ["r"], {}, "p")], f: (x) => Math.max(x, 0), by: "rescale" },
  Clip: {
    nodes: [node("Clip", ["r", "low", "high"], {}, "p")],
    constants: { low: scalar(-1), high: scalar(2) },
    f: (x) => Math.min(Math.max(x, -1), 2),
    by: "rescale",
  },
  "another scale": { nodes: [node("Identity", ["r"], {}, "p")], f: (x) => x, by: "rescale" },
  "the axes in another order": {
    nodes: [node("Identity", ["r"], {}, "same"), node("Sigmoid", ["same"], {}, "p")],
    f: sigmoid,
    by: "lookup",
  },
};

function graphOf({ nodes, constants = {} }: Part, from: Quantization, to: Quantization): TestGraph {
  return {
    nodes: [
      node("QuantizeLinear", ["x", "xs", "xz"], {}, "stored"),
      node("Transpose", ["stored"], { perm: [2, 0, 1] }, "turned"),
      node("DequantizeLinear", ["turned", "xs", "xz"], {}, "r"),
      ...nodes,
      node("QuantizeLinear", ["p", "ys", "yz"], {}, "q"),
      node("Transpose", ["q"], { perm: [1, 2, 0] }, "back"),
      node("Cast", ["back"], { to: 6 }),
    ],
    inputs: { x: { type: "float32", dims: DIMS } },
    outputs: { y: "int32" },
    constants: {
      ...{ xs: scalar(from.scale), xz: t(from.type, [], [from.zero]) },
      ...{ ys: scalar(to.scale), yz: t(to.type, [], [to.zero]) },
      ...constants,
    },
    opset: 21,
  };
}

const inputOf = (seed: number, type: (typeof WIDE)[number]) => {
  const rng = createRng(seed);
  const [low, high] = LIMITS[type];
  const scale = Math.fround((rng.int(1, 20) * 2 ** -12) / rng.int(1, 9));
  const zero = rng.pick([low, high, 0, rng.int(low, high)]);
  const length = DIMS.reduce((a, b) => a * b);
  const q = Array.from({ length }, (_, i) => [low, high, zero][i] ?? rng.int(low, high));
  return { from: { type, scale, zero }, q };
};

/** Of all steps but those that quantize x. */
const opcodesOf = ({ imported }: ReturnType<typeof runGraph>): readonly string[] =>
  imported.model.program.steps.flatMap(({ opcode }, i) =>
    imported.nodes[i]?.startsWith("QuantizeLinear#0") ? [] : [opcode],
  );

describe.each(Object.entries(PARTS))("%s", (name, part) => {
  it.each(WIDE.flatMap((from) => TYPES.map((to): [(typeof WIDE)[number], Quantized] => [from, to])))(
    "behavior: %s to %s, one unit off at most",
    async (type, toType) => {
      for (let seed = 0; seed < scaled(2, 40); seed++) {
        const { from, q } = inputOf(100 * seed + name.length, type);
        const reals = q.map((v) => (v - from.zero) * from.scale);
        const expected = reals.map(part.f);
        // Where all results are 0 their scale would be finer than RESCALE makes of integers: import says so.
        const found = calibrated(expected, toType);
        const to = { ...found, scale: Math.max(found.scale, from.scale * 2 ** -14) };
        const graph = graphOf(part, from, to);
        const x = { type: "float32", dims: DIMS, data: reals.map(Math.fround) } as const;
        const ran = runGraph(graph, { x }, INTEGERS);
        const off = expected.map((value, i) =>
          Math.abs((ran.outputs.y?.[i] as number) - quantize(value, to)),
        );
        expect([seed, Math.max(...off) <= 1]).toEqual([seed, true]);
        const opcodes = opcodesOf(ran);
        const isWide = toType === "uint16" || toType === "int16";
        if (part.by === "lookup") expect(opcodes.filter((one) => one === "lookup")).toHaveLength(1);
        if (part.by === "rescale" && isWide) expect(opcodes).toContain("rescale");
        // Bytes are quantized from integers as ONNX does it, in float32.
        if (part.by === "lookup" || isWide) expect(opcodes).not.toContain("float");
        if (seed > 0) continue;
        const { emitted } = await compareBoth(name, onnxFile(graph), [{ x }], { settings: INTEGERS });
        expect(emitted).toMatchObject({ different: 0 });
      }
    },
  );
});

it("error: a function that has no number for one of the integers", () => {
  const part = { nodes: [node("Log", ["r"], {}, "p")], f: Math.log, by: "lookup" } as const;
  const from = { type: "int16", scale: 2 ** -12, zero: 0 } as const;
  const x = { type: "float32", dims: DIMS, data: Array(300).fill(1) } as const;
  expect(() => runGraph(graphOf(part, from, from), { x }, INTEGERS)).toThrow(
    "its function of 16 bits is NaN for the integer -32768",
  );
});

it("error: more functions than an import makes tables of", () => {
  const names = Array.from({ length: 600 }, (_, i) => `v${i}`);
  const nodes = names.map((name, i) => node("Mul", [i === 0 ? "r" : `v${i - 1}`, "one"], {}, name));
  const part = {
    nodes: [...nodes, node("Identity", [`v${names.length - 1}`], {}, "p")],
    ...{ constants: { one: scalar(1) }, f: (x: number) => x, by: "lookup" as const },
  };
  const from = { type: "int16", scale: 2 ** -12, zero: 0 } as const;
  const x = { type: "float32", dims: DIMS, data: Array(300).fill(1) } as const;
  expect(() => runGraph(graphOf(part, from, from), { x }, INTEGERS)).toThrow(
    /more than 1073741824 units of work/,
  );
});

it.each([
  ["min", [Number.POSITIVE_INFINITY, 1]],
  ["max", [-1, Number.NEGATIVE_INFINITY]],
  ["min", [Number.NaN, 1]],
])("error: Clip whose %s leaves no number", (name, [low = 0, high = 0]) => {
  const clip = node("Clip", ["r", "low", "high"], {}, "p");
  const constants = { low: t("float32", [], [low]), high: t("float32", [], [high]) };
  const from = { type: "int16", scale: 2 ** -12, zero: 0 } as const;
  const x = { type: "float32", dims: DIMS, data: Array(300).fill(1) } as const;
  const graph = graphOf({ nodes: [clip], constants, f: (v) => v, by: "rescale" }, from, from);
  for (const settings of [INTEGERS, {}])
    expect(() => runGraph(graph, { x }, settings)).toThrow(`its ${name} is ${name === "min" ? low : high}`);
});
