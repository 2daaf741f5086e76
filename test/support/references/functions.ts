/** References of functions of one number: in binary64 where they become tables of a byte, in binary32, operation by
 *  operation, where they become steps. */
import type { TestNode, TestTensor } from "../onnx-file.ts";
import { erf, gelu, mish, sigmoid, softplus, tanhGelu } from "../real-functions.ts";
import {
  bounded,
  build,
  caseOf,
  drawn,
  f32,
  joined,
  node,
  type Reference,
  readWide,
  scalar,
  shape,
} from "./plain.ts";
import { operand, quantized } from "./quantized.ts";

export interface ByteFunction {
  /** Nodes from r to p. */
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly f: (x: number) => number;
}

type Attributes = NonNullable<TestNode["attributes"]>;
const one = (op: string, f: ByteFunction["f"], attributes: Attributes = {}): ByteFunction => ({
  nodes: [node(op, ["r"], attributes, "p")],
  f,
});
const ours = (op: string, f: ByteFunction["f"]): ByteFunction => ({
  nodes: [{ ...node(op, ["r"], {}, "p"), domain: "com.microsoft" }],
  f,
});
const SELU = [f32(1.6732631921768188), f32(1.0507010221481323)] as const;
const clamp01 = (x: number): number => Math.min(Math.max(x, 0), 1);

export const BYTE_FUNCTIONS: Readonly<Record<string, ByteFunction>> = {
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
    constants: { least: scalar("float32", 0.25) },
    f: (x) => Math.log(Math.max(x, 0.25)),
  },
  Mish: one("Mish", mish),
  PRelu: {
    nodes: [node("PRelu", ["r", "slope"], {}, "p")],
    constants: { slope: scalar("float32", -0.375) },
    f: (x) => (x < 0 ? -0.375 * x : x),
  },
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

const ofByte =
  ({ nodes, constants = {}, f }: ByteFunction): Reference =>
  (rng) => {
    const x = operand(rng, "x", shape(rng, rng.int(1, 4), 6), { size: rng.pick([0.005, 0.04, 0.07]) });
    const real = build(x.real.dims, (at) => f(f32(readWide(x.real, at))));
    const y = quantized(rng, real);
    return caseOf({
      inputs: { x: x.bytes },
      nodes: [{ ...x.node, outputs: ["r"] }, ...nodes, y.node],
      constants: { ...x.constants, ...y.constants, ...constants },
      outputs: { y: y.type },
      expected: { y: y.expected },
    });
  };

interface RealFunction {
  readonly node: TestNode;
  readonly f: (x: number) => number;
  readonly isNear?: true;
}

const hardSigmoid = (x: number, alpha: number, beta: number): number =>
  clamp01(f32(f32(f32(alpha) * x) + f32(beta)));

/** Of numbers that are no functions of a byte. */
const REAL_FUNCTIONS: Readonly<Record<string, RealFunction>> = {
  HardSigmoid: {
    node: node("HardSigmoid", ["r"], { alpha: { f: 0.15 }, beta: { f: 0.4 } }),
    f: (x) => hardSigmoid(x, 0.15, 0.4),
  },
  HardSwish: { node: node("HardSwish", ["r"]), f: (x) => f32(x * hardSigmoid(x, 1 / 6, 0.5)) },
  LeakyRelu: {
    node: node("LeakyRelu", ["r"], { alpha: { f: 0.3 } }),
    f: (x) => (x < 0 ? f32(x * f32(0.3)) : x),
  },
  Softsign: { node: node("Softsign", ["r"]), f: (x) => f32(x / f32(1 + Math.abs(x))), isNear: true },
  ThresholdedRelu: {
    node: node("ThresholdedRelu", ["r"], { alpha: { f: 0.75 } }),
    f: (x) => (x > 0.75 ? x : 0),
  },
};

/** int32 x as float32 eighths r. */
const eighths = () => {
  const { nodes, constants } = bounded(-4000, 4000);
  return {
    nodes: [...nodes, node("Cast", ["i"], { to: 1 }, "c"), node("Mul", ["c", "eighth"], {}, "r")],
    constants: { ...constants, eighth: scalar("float32", 1 / 8) },
  };
};

const ofReal =
  ({ node: made, f, isNear }: RealFunction): Reference =>
  (rng) => {
    const drawnX = drawn(rng, "int32", shape(rng, rng.int(1, 4)));
    const x = { ...drawnX, data: drawnX.data.map((v) => v % (rng.chance(0.5) ? 40 : 4000)) };
    const { nodes, constants } = eighths();
    return caseOf({
      inputs: { x },
      nodes: [...nodes, made],
      constants,
      outputs: { y: "float32" },
      expected: { y: { dims: x.dims, data: x.data.map((v) => f(v / 8)), ...(isNear ? { isNear } : {}) } },
    });
  };

const pRelu: Reference = (rng) => {
  const dims = shape(rng, rng.int(1, 4));
  const wide = dims.slice(rng.int(0, dims.length)).map((d) => (rng.chance(0.3) ? 1 : d));
  const slope = { type: "float32" as const, ...build(wide, () => f32(rng.int(-30, 30) / 10)) };
  const x = drawn(rng, "int32", dims);
  const small = { ...x, data: x.data.map((v) => v % 4000) };
  const { nodes, constants } = eighths();
  const expected = build(joined(dims, wide), (at) => {
    const v = readWide(small, at) / 8;
    return v < 0 ? f32(v * readWide(slope, at)) : v;
  });
  return caseOf({
    inputs: { x: small },
    nodes: [...nodes, node("PRelu", ["r", "slope"])],
    constants: { ...constants, slope },
    outputs: { y: "float32" },
    expected: { y: expected },
  });
};

const named = <T>(all: Readonly<Record<string, T>>, suffix: string, reference: (one: T) => Reference) =>
  Object.fromEntries(Object.entries(all).map(([name, one_]) => [`${name} ${suffix}`, reference(one_)]));

export const FUNCTIONS: Readonly<Record<string, Reference>> = {
  PRelu: pRelu,
  ...named(REAL_FUNCTIONS, "of float32", ofReal),
  ...named(BYTE_FUNCTIONS, "of bytes", ofByte),
};
