/** Random ONNX graphs of products that are lowered by way of another one: transposed and grouped convolutions, Gemm with
 *  a computed addend, Einsum. */
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { type Generator, LIMITS, middle, node, random, scalar, scale, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

/** Beside these no CPU saturates a pair of products in the original file. */
const SAFE = { uint8: [64, 191], int8: [-64, 63] } as const;
type Byte = keyof typeof SAFE;

interface Layer {
  readonly dims: readonly number[];
  readonly weights: readonly number[];
  readonly node: TestNode;
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly nodes?: readonly TestNode[];
  readonly inputs?: Readonly<Record<string, { type: Byte; dims: readonly number[] }>>;
}

/** Dequantized x and weights w (as a and b), the layer (as p), and its result quantized. */
const quantized =
  (make: (rng: Rng, type: Byte) => Layer): Generator =>
  (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const layer = make(rng, type);
    const inputs = { x: { type, dims: layer.dims }, ...layer.inputs };
    return {
      graph: {
        nodes: [
          node("DequantizeLinear", ["x", "s", "z"], {}, "a"),
          node("DequantizeLinear", ["w", "t", "v"], {}, "b"),
          ...(layer.nodes ?? []),
          layer.node,
          node("QuantizeLinear", ["p", "u", "o"]),
        ],
        inputs,
        outputs: { y: "uint8" },
        constants: {
          s: scalar("float32", scale(rng, 0.02)),
          z: scalar(type, middle(rng, type)),
          w: random(rng, "int8", layer.weights, SAFE.int8),
          t: scalar("float32", scale(rng, 0.01)),
          v: scalar("int8", 0),
          u: scalar("float32", scale(rng, 0.05)),
          o: scalar("uint8", 128),
          ...layer.constants,
        },
      },
      ranges: Object.fromEntries(
        Object.entries(inputs).map(([name, { type: t }]) => [name, LIMITS[t as Byte]]),
      ),
    };
  };

const convTranspose = (axes: 1 | 2): Generator =>
  quantized((rng) => {
    const groups = rng.pick([1, 1, 2]);
    const list = (low: number, high: number, n: number = axes): number[] =>
      Array.from({ length: n }, () => rng.int(low, high));
    const [inner, outer] = [groups * rng.int(1, 3), rng.int(1, 3)];
    const [kernel, strides, dilations] = [list(2, 3), list(1, 3), list(1, 2)];
    const attributes = {
      strides,
      dilations,
      group: groups,
      pads: list(0, 1, 2 * axes),
      output_padding: strides.map((s) => (s > 1 ? rng.int(0, 1) : 0)),
    };
    const dims = [rng.int(1, 2), inner, ...list(4, 6)];
    return {
      dims,
      weights: [inner, outer, ...kernel],
      node: node("ConvTranspose", ["a", "b"], attributes, "p"),
    };
  });

const EQUATIONS = [
  ["bsk,kn->bsn", [2, 3, 8], [8, 7]],
  ["ik,jk->ij", [6, 9], [11, 9]],
  ["ki,kj->ji", [8, 6], [8, 7]],
  ["bhqd,hdk->bhqk", [1, 3, 4, 6], [3, 6, 5]],
] as const;

export const PRODUCT_GRAPHS: Readonly<Record<string, Generator>> = {
  "ConvTranspose of one axis": convTranspose(1),
  ConvTranspose: convTranspose(2),
  "Conv in groups of several images": quantized((rng) => {
    const groups = rng.int(2, 3);
    const perGroup = rng.int(1, 2);
    const attributes = { group: groups, pads: [1, 0, 1, 1], strides: [rng.int(1, 2), 1] };
    return {
      dims: [rng.int(2, 4), groups * perGroup, 5, 6],
      weights: [groups * rng.int(1, 2), perGroup, 3, 2],
      node: node("Conv", ["a", "b"], attributes, "p"),
    };
  }),
  "Gemm with a computed addend": quantized((rng, type) => {
    const [m, k, n] = [rng.int(3, 6), rng.int(5, 12), rng.int(6, 9)];
    return {
      dims: [m, k],
      weights: [n, k],
      nodes: [node("DequantizeLinear", ["c", "s", "z"], {}, "d")],
      inputs: { c: { type, dims: rng.chance(0.5) ? [m, n] : [1, n] } },
      node: node(
        "Gemm",
        ["a", "b", "d"],
        { transB: 1, alpha: { f: rng.pick([1, 0.5]) }, beta: { f: rng.pick([1, 0.25]) } },
        "p",
      ),
    };
  }),
  "Gemm with alpha and a constant addend": quantized((rng) => {
    const [m, k, n] = [rng.int(3, 6), rng.int(5, 12), rng.int(6, 9)];
    return {
      dims: [m, k],
      weights: [k, n],
      constants: {
        h: tensor(
          "float32",
          [n],
          Array.from({ length: n }, () => scale(rng, 0.5)),
        ),
      },
      node: node("Gemm", ["a", "b", "h"], { alpha: { f: 0.7 }, beta: { f: 1.5 } }, "p"),
    };
  }),
  ...Object.fromEntries(
    EQUATIONS.map(([equation, dims, weights]) => [
      `Einsum ${equation}`,
      quantized(() => ({ dims, weights, node: node("Einsum", ["a", "b"], { equation }, "p") })),
    ]),
  ),
};
