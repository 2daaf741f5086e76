/** Random ONNX graphs of what attention is made of: products of two inputs, Softmax, LayerNormalization. */
import type { TestNode, TestTensor } from "./onnx-file.ts";
import {
  type Generator,
  LIMITS,
  middle,
  node,
  type OperatorGraph,
  random,
  scalar,
  scale,
  tensor,
} from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

type Byte = "uint8" | "int8";
/** Beside these no CPU saturates a pair of products in the original file. */
const SAFE = { uint8: [64, 191], int8: [-64, 63] } as const;

interface Factors {
  readonly a: Byte;
  readonly b: Byte;
  readonly inputs: OperatorGraph["graph"]["inputs"];
  readonly ranges: OperatorGraph["ranges"];
  readonly k: number;
}

/** Two inputs whose matrices fit, with batch dims that broadcast; now and then a vector. */
function factors(rng: Rng): Factors {
  const [a, b] = rng.pick([
    ["uint8", "uint8"],
    ["uint8", "int8"],
    ["int8", "int8"],
  ] as const);
  const [m, k, n] = [rng.int(1, 12), rng.int(1, 40), rng.int(1, 12)];
  const [x, u] = rng.pick([
    [
      [m, k],
      [k, n],
    ],
    [
      [2, m, k],
      [2, k, n],
    ],
    [
      [2, 3, m, k],
      [2, 3, k, n],
    ],
    [
      [2, 1, m, k],
      [3, k, n],
    ],
    [
      [m, k],
      [3, k, n],
    ],
    [[2, m, k], [k]],
    [[k], [2, k, n]],
  ] as const);
  return {
    a,
    b,
    inputs: { x: { type: a, dims: x }, u: { type: b, dims: u } },
    ranges: { x: LIMITS[a], u: a === "uint8" && b === "uint8" ? LIMITS.uint8 : SAFE[b] },
    k,
  };
}

function quantization(rng: Rng, { a, b, k }: Factors): Record<string, TestTensor> {
  const [xs, us] = [scale(rng, 0.01), scale(rng, 0.02)];
  return {
    xs: scalar("float32", xs),
    xz: scalar(a, middle(rng, a)),
    us: scalar("float32", us),
    uz: scalar(b, middle(rng, b)),
    ys: scalar("float32", (xs * us * 74 * 60 * Math.sqrt(k)) / rng.int(30, 60)),
    yz: scalar(a, middle(rng, a)),
  };
}

const product =
  (nodes: readonly TestNode[], quantized = true): Generator =>
  (rng) => {
    const both = factors(rng);
    const { inputs, ranges } = both;
    const outputs = { y: quantized ? both.a : "int32" } as const;
    return { graph: { nodes, inputs, outputs, constants: quantization(rng, both) }, ranges };
  };

export const COMPUTED_PRODUCTS: Readonly<Record<string, Generator>> = {
  "QLinearMatMul, both computed": product([
    node("QLinearMatMul", ["x", "xs", "xz", "u", "us", "uz", "ys", "yz"]),
  ]),
  "MatMulInteger, both computed": product([node("MatMulInteger", ["x", "u", "xz", "uz"])], false),
  "MatMulInteger, first operand constant": (rng) => {
    const both = factors(rng);
    const w = random(rng, both.a, [9, both.k], LIMITS[both.a]);
    return {
      graph: {
        nodes: [node("MatMulInteger", ["w", "u", "xz", "uz"])],
        inputs: { u: { type: both.b, dims: [both.k, 60] } },
        outputs: { y: "int32" },
        constants: { ...quantization(rng, both), w },
      },
      ranges: { u: both.ranges.u as readonly [number, number] },
    };
  },
};

const dequantize = (name: string, to: string): TestNode =>
  node("DequantizeLinear", [name, `${name}s`, `${name}z`], {}, to);

/** Nodes from the dequantized bytes r to p, whose quantization is y's. */
const normalized =
  (
    nodes: readonly TestNode[],
    dims: readonly number[],
    make: (rng: Rng, type: Byte) => Record<string, TestTensor>,
    opset = 17,
  ): Generator =>
  (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    return {
      graph: {
        nodes: [dequantize("x", "r"), ...nodes, node("QuantizeLinear", ["p", "ys", "yz"])],
        inputs: { x: { type, dims } },
        outputs: { y: type },
        constants: {
          xs: scalar("float32", scale(rng, 0.05)),
          xz: scalar(type, middle(rng, type)),
          ...make(rng, type),
        },
        opset,
      },
      ranges: { x: LIMITS[type] },
    };
  };

/** A probability in 256 parts. */
const unit = (_: Rng, type: Byte): Record<string, TestTensor> => ({
  ys: scalar("float32", 2 ** -8),
  yz: scalar(type, type === "uint8" ? 0 : -128),
});

/** Softmax of what a mask leaves: by Add, or by Where before or behind its constant. In each row something is left, unless
 *  `empty` is true. */
const maskedSoftmax =
  (form: "Add" | "Where" | "Where not", axis: number, empty = false): Generator =>
  (rng) => {
    const dims = [2, 3, 7, 7];
    const masks = rng.pick([
      [7, 7],
      [3, 1, 7],
      [2, 1, 7, 7],
      [1, 1, 7, 7],
    ]);
    const left = Array.from({ length: masks.reduce((a, b) => a * b, 1) }, (_, i) =>
      Number(rng.chance(0.5) || (!empty && i % 8 === 0) || (!empty && masks.length === 3)),
    );
    const lowest = rng.pick([-10_000, -65_504]);
    const mask =
      form === "Add"
        ? tensor(
            "float32",
            masks,
            left.map((is) => (is === 1 ? 0 : lowest)),
          )
        : tensor(
            "bool",
            masks,
            left.map((is) => (form === "Where" ? is : 1 - is)),
          );
    const operands = { Add: ["r", "m"], Where: ["m", "r", "l"], "Where not": ["m", "l", "r"] }[form];
    const nodes = [
      node(form === "Add" ? "Add" : "Where", operands, {}, "a"),
      node("Softmax", ["a"], { axis }, "p"),
    ];
    return normalized(nodes, dims, (own, type) => ({
      ...unit(own, type),
      m: mask,
      // Of more axes than the value it gives the result these, too.
      l: tensor("float32", own.chance(0.3) ? [1, 1, 1, 1, 1] : [], [lowest]),
    }))(rng);
  };

const layer = (dims: readonly number[], count: number, axis: number): Generator =>
  normalized([node("LayerNormalization", ["r", "g", "h"], { axis }, "p")], dims, (rng, type) => ({
    g: tensor(
      "float32",
      dims.slice(axis),
      Array.from({ length: count }, () => scale(rng, 0.7)),
    ),
    h: tensor(
      "float32",
      dims.slice(axis),
      Array.from({ length: count }, () => scale(rng, 0.2)),
    ),
    ys: scalar("float32", scale(rng, 0.03)),
    yz: scalar(type, middle(rng, type)),
  }));

const byte = (rng: Rng, name: string, size: number): Record<string, TestTensor> => ({
  [`${name}s`]: scalar("float32", scale(rng, size)),
  [`${name}z`]: scalar("uint8", middle(rng, "uint8")),
});
const quantize = (from: string, to: string): TestNode =>
  node("QuantizeLinear", [from, `${to}s`, `${to}z`], {}, to);

/** `softmax(x·uᵀ)·v` with every value quantized, one head. */
const attention: Generator = (rng) => {
  const dims = [2, 10, 16];
  return {
    graph: {
      nodes: [
        dequantize("x", "q"),
        dequantize("u", "k"),
        dequantize("v", "w"),
        node("Transpose", ["k"], { perm: [0, 2, 1] }, "t"),
        node("MatMul", ["q", "t"], {}, "m"),
        quantize("m", "s"),
        dequantize("s", "d"),
        node("Softmax", ["d"], {}, "e"),
        quantize("e", "p"),
        dequantize("p", "f"),
        node("MatMul", ["f", "w"], {}, "o"),
        quantize("o", "y"),
      ],
      inputs: {
        x: { type: "uint8", dims },
        u: { type: "uint8", dims },
        v: { type: "uint8", dims },
      },
      outputs: { y: "uint8" },
      constants: {
        ...byte(rng, "x", 0.01),
        ...byte(rng, "u", 0.01),
        ...byte(rng, "v", 0.02),
        ...byte(rng, "s", 0.04),
        ...byte(rng, "y", 0.02),
        ps: scalar("float32", 2 ** -8),
        pz: scalar("uint8", 0),
      },
    },
    ranges: { x: LIMITS.uint8, u: LIMITS.uint8, v: LIMITS.uint8 },
  };
};

export const ATTENTION_GRAPHS: Readonly<Record<string, Generator>> = {
  "DequantizeLinear, MatMul of both, QuantizeLinear": product([
    dequantize("x", "r"),
    dequantize("u", "v"),
    node("MatMul", ["r", "v"], {}, "p"),
    node("QuantizeLinear", ["p", "ys", "yz"]),
  ]),
  Softmax: normalized([node("Softmax", ["r"], {}, "p")], [3, 4, 20], unit),
  "Softmax of an inner axis": normalized([node("Softmax", ["r"], { axis: 1 }, "p")], [3, 300, 2], unit),
  "Softmax before operator set 13": normalized(
    [node("Softmax", ["r"], { axis: 1 }, "p")],
    [4, 5, 8],
    unit,
    12,
  ),
  "Softmax, masked by Add": maskedSoftmax("Add", -1),
  "Softmax, masked by Where": maskedSoftmax("Where", -1),
  "Softmax of an inner axis, masked by Where": maskedSoftmax("Where not", 2),
  "Softmax, whole rows masked": maskedSoftmax("Add", -1, true),
  "Softmax of long rows": normalized([node("Softmax", ["r"], {}, "p")], [2, 1000], unit),
  LayerNormalization: layer([6, 48], 48, 1),
  "LayerNormalization of two axes": layer([4, 12, 20], 240, 1),
  "LayerNormalization of long rows": layer([2, 768], 768, 1),
};

/** The same, and LayerNormalization of what comes of it. */
const normalizedAttention: Generator = (rng) => {
  const { graph, ranges } = attention(rng);
  const numbers = (most: number) =>
    tensor(
      "float32",
      [16],
      Array.from({ length: 16 }, () => scale(rng, most)),
    );
  return {
    graph: {
      ...graph,
      nodes: [
        ...graph.nodes.slice(0, -1),
        quantize("o", "a"),
        dequantize("a", "b"),
        node("LayerNormalization", ["b", "g", "h"], {}, "c"),
        quantize("c", "y"),
      ],
      constants: {
        ...graph.constants,
        ...byte(rng, "a", 0.02),
        ...byte(rng, "y", 0.02),
        g: numbers(0.7),
        h: numbers(0.2),
      },
      opset: 17,
    },
    ranges,
  };
};

/** One head of 16-bit integers, a product with weights and a bias, and what goes by it; the result of its normalization is
 *  a byte. */
const wideAttention: Generator = (rng) => {
  const dims = [2, 10, 16];
  const input = { type: "float32", dims } as const;
  const wide = (name: string, most: number): Record<string, TestTensor> => ({
    [`${name}s`]: scalar("float32", Math.fround(most / 32_768)),
    [`${name}z`]: scalar("int16", rng.pick([0, rng.int(-2000, 2000)])),
    // What was an integer from -100 to 100 counts as a fiftieth of it in a product.
    [`${name}t`]: scalar("float32", Math.fround(most / 32_768 / (most > 50 ? 50 : 1))),
  });
  const inner = (from: string, to: string): TestNode[] => [
    quantize(from, to),
    node("DequantizeLinear", [to, `${to}t`, `${to}z`], {}, `${to}r`),
  ];
  return {
    graph: {
      nodes: [
        ...inner("x", "q"),
        ...inner("u", "k"),
        ...inner("v", "w"),
        node("Transpose", ["kr"], { perm: [0, 2, 1] }, "t"),
        node("MatMul", ["qr", "t"], {}, "m"),
        ...inner("m", "d"),
        node("Softmax", ["dr"], {}, "e"),
        ...inner("e", "p"),
        node("MatMul", ["pr", "wr"], {}, "o"),
        ...inner("o", "f"),
        node("DequantizeLinear", ["i", "is"], {}, "c"),
        node("MatMul", ["fr", "c"], {}, "j"),
        node("Add", ["j", "h"], {}, "n"),
        node("Add", ["n", "qr"], {}, "a"),
        ...inner("a", "b"),
        node("LayerNormalization", ["br", "g"], {}, "l"),
        quantize("l", "y"),
      ],
      inputs: { x: input, u: input, v: input },
      outputs: { y: "uint8" },
      constants: {
        ...wide("q", 107),
        ...wide("k", 107),
        ...wide("w", 107),
        ...wide("d", 40),
        ...wide("p", 1.1),
        ...wide("f", 2.2),
        ...wide("b", 12),
        i: random(rng, "int8", [16, 16], LIMITS.int8),
        is: scalar("float32", 2 ** -9),
        h: tensor(
          "float32",
          [16],
          Array.from({ length: 16 }, () => scale(rng, 0.3)),
        ),
        ...byte(rng, "y", 0.02),
        g: tensor("float32", [16], Array(16).fill(0.7)),
      },
      opset: 21,
    },
    ranges: { x: [-100, 100], u: [-100, 100], v: [-100, 100] },
  };
};

/** Each node may be one unit off, and the next one may enlarge that. */
export const CHAINS: Readonly<Record<string, Generator>> = {
  Attention: attention,
  "Attention and LayerNormalization": normalizedAttention,
  "Attention of 16 bits and LayerNormalization": wideAttention,
};
