/** Random ONNX graphs with 16-bit activations, as onnxruntime's static quantization writes them. */
import type { OnnxType } from "../../inference/onnx/graph.ts";
import { real, WIDE } from "./graph-parts.ts";
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { type Generator, node, random, scalar, scale, scales, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

type Wide = "uint16" | "int16";
type Quantized = Wide | "uint8";

const MIDDLE = { uint16: 32_768, int16: 0, uint8: 128 } as const;
const COUNT = { uint16: 65_536, int16: 65_536, uint8: 256 } as const;

/** Scale and zero point that cover ±size; now and then one half of it. */
function covering(
  rng: Rng,
  name: string,
  type: Quantized,
  size: number,
): Readonly<Record<string, TestTensor>> {
  const count = COUNT[type];
  const offset = rng.pick([0, 0, Math.round(0.01 * count), -count / 2, count / 2 - 1]);
  return {
    [`${name}s`]: scalar("float32", scale(rng, (1.3 * size) / count)),
    [`${name}z`]: scalar(type, MIDDLE[type] + offset),
  };
}

const quantize = (from: string, name: string, to = name): TestNode =>
  node("QuantizeLinear", [from, `${name}s`, `${name}z`], {}, to);
const dequantize = (name: string, to: string, from = name): TestNode =>
  node("DequantizeLinear", [from, `${name}s`, `${name}z`], {}, to);

interface Middle {
  readonly nodes: readonly TestNode[];
  readonly constants?: (rng: Rng, input: Readonly<Record<string, TestTensor>>) => Record<string, TestTensor>;
  /** Size of the numbers before and after the nodes. */
  readonly sizes: readonly [number, number];
  readonly output?: OnnxType;
  /** Shape of the nodes' input a; 300 elements. */
  readonly dims?: readonly number[];
}

/** float32 r → 16 bits → a → nodes → p → 16 or 8 bits. */
const around =
  ({ nodes, constants, sizes, dims = [6, 50] }: Middle, byteInput = false): Generator =>
  (rng) => {
    const [from, to] = [
      byteInput ? ("uint8" as const) : rng.pick(["uint16", "int16"] as const),
      byteInput ? rng.pick(["uint16", "int16"] as const) : rng.pick(["uint16", "int16", "uint8"] as const),
    ];
    const step = (3 * sizes[0]) / 60_000;
    const make = (): Record<string, TestTensor> => {
      const input = covering(rng, "q", from, 2 * sizes[0]);
      return {
        shape: tensor("int64", [dims.length], dims),
        f: scalar("float32", Math.fround(step)),
        ...input,
        ...covering(rng, "y", to, sizes[1]),
        ...constants?.(rng, input),
      };
    };
    const before = [node("Reshape", ["r", "shape"], {}, "w0"), quantize("w0", "q"), dequantize("q", "a")];
    const made = real([...before, ...nodes, quantize("p", "y")], WIDE, make, to)(rng);
    return { ...made, graph: { ...made.graph, opset: 21 } };
  };

/** int8 weights w of [axis] scaled channels, and an int32 bias of the product's scale. */
const weights =
  (dims: readonly number[], axis: number, bias: boolean) =>
  (rng: Rng, input: Readonly<Record<string, TestTensor>>): Record<string, TestTensor> => {
    const channels = dims[axis] as number;
    const perChannel = rng.chance(0.5);
    const ws = scales(rng, 0.003, perChannel ? channels : 0);
    const zeros = tensor("int8", perChannel ? [channels] : [], Array(perChannel ? channels : 1).fill(0));
    const factor = input.qs?.data[0] as number;
    const list = Array.from({ length: channels }, (_, i) => ws.data[perChannel ? i : 0] as number);
    return {
      w: random(rng, "int8", dims, [-127, 127]),
      ws,
      wz: zeros,
      ...(bias && {
        e: random(rng, "int32", [channels], [-400_000, 400_000]),
        es: tensor(
          "float32",
          [channels],
          list.map((s) => Math.fround(s * factor)),
        ),
        ez: tensor("int32", [channels], Array(channels).fill(0)),
      }),
    };
  };

const byChannel = (name: string, axis: number, to: string): TestNode =>
  node("DequantizeLinear", [name, `${name}s`, `${name}z`], { axis }, to);
const product = (
  op: string,
  dims: readonly number[],
  axis: number,
  attributes: TestNode["attributes"] = {},
): Pick<Middle, "nodes" | "constants"> => ({
  nodes: [
    byChannel("w", axis, "v"),
    byChannel("e", 0, "d"),
    node(op, ["a", "v", "d"], attributes, "h"),
    node("Relu", ["h"], {}, "p"),
  ],
  constants: weights(dims, axis, true),
});
const matMul = (k: number, n: number): Pick<Middle, "nodes" | "constants"> => ({
  nodes: [byChannel("w", 1, "v"), node("MatMul", ["a", "v"], {}, "p")],
  constants: weights([k, n], 1, false),
});
const one = (op: string, attributes: TestNode["attributes"] = {}, inputs = ["a"]): readonly TestNode[] => [
  node(op, inputs, attributes, "p"),
];
const other = (rng: Rng): Record<string, TestTensor> => covering(rng, "u", "int16", 4);
/** The input's mirror image, quantized otherwise. */
const twice = (op: string): readonly TestNode[] => [
  node("Mul", ["a", "minus"], {}, "n"),
  quantize("n", "u"),
  dequantize("u", "b"),
  ...one(op, {}, ["a", "b"]),
];
const minus = { minus: scalar("float32", -0.7) };

/** Bit for bit. */
export const EXACT_WIDE: Readonly<Record<string, Generator>> = {
  "16-bit QuantizeLinear": around({ nodes: one("Identity", {}, ["r"]), sizes: [2, 2] }),
  "16-bit requantization": around({ nodes: one("Identity"), sizes: [2, 2] }),
  "16-bit Relu, Clip": around({
    nodes: [node("Relu", ["a"], {}, "h"), ...one("Clip", {}, ["h", "lo1", "hi1"])],
    constants: () => ({ lo1: scalar("float32", 0.25), hi1: scalar("float32", 1.5) }),
    sizes: [2, 2],
  }),
  "16-bit Add": around({
    nodes: twice("Add"),
    constants: (rng) => ({ ...other(rng), ...minus }),
    sizes: [2, 4],
  }),
  "16-bit Mul": around({
    nodes: twice("Mul"),
    constants: (rng) => ({ ...other(rng), ...minus }),
    sizes: [2, 4],
  }),
  "16-bit MaxPool": around({
    nodes: one("MaxPool", { kernel_shape: [3, 2], strides: [2, 1], pads: [1, 0, 1, 1] }),
    dims: [1, 3, 10, 10],
    sizes: [2, 2],
  }),
  "16-bit Transpose, Concat": around({
    nodes: [node("Transpose", ["a"], { perm: [1, 0] }, "h"), ...one("Concat", { axis: 1 }, ["h", "h"])],
    sizes: [2, 2],
  }),
};

/** At most one unit off. */
export const NEAR_WIDE: Readonly<Record<string, Generator>> = {
  "16-bit MatMul": around({ ...matMul(50, 30), sizes: [2, 6] }),
  "16-bit MatMul of rows that leave s32": around({
    nodes: [
      node("Concat", Array(8).fill("a"), { axis: 1 }, "l"),
      byChannel("w", 1, "v"),
      node("MatMul", ["l", "v"], {}, "p"),
    ],
    constants: weights([2400, 30], 1, false),
    dims: [1, 300],
    sizes: [2, 60],
  }),
  "MatMul from 8 to 16 bits": around({ ...matMul(50, 30), sizes: [2, 6] }, true),
  "16-bit Gemm": around({ ...product("Gemm", [30, 50], 0, { transB: 1 }), sizes: [2, 6] }),
  "16-bit Conv": around({
    ...product("Conv", [12, 1, 3, 3], 0, { pads: [1, 1, 0, 1], group: 3 }),
    dims: [1, 3, 10, 10],
    sizes: [2, 3],
  }),
  "16-bit Conv, one axis": around({
    ...product("Conv", [8, 6, 5], 0, { pads: [2, 2], dilations: [1] }),
    dims: [1, 6, 50],
    sizes: [2, 5],
  }),
  "16-bit AveragePool": around({
    nodes: one("AveragePool", { kernel_shape: [2, 3], pads: [1, 0, 0, 1], count_include_pad: 1 }),
    dims: [1, 3, 10, 10],
    sizes: [2, 2],
  }),
  "16-bit GlobalAveragePool": around({ nodes: one("GlobalAveragePool"), dims: [5, 3, 4, 5], sizes: [2, 1] }),
  "16-bit ReduceMean": around({
    nodes: one("ReduceMean", {}, ["a", "axes"]),
    constants: () => ({ axes: tensor("int64", [1], [1]) }),
    dims: [30, 10],
    sizes: [2, 1],
  }),
  "16-bit Sigmoid": around({ nodes: one("Sigmoid"), sizes: [4, 1] }),
  "16-bit SiLU": around({
    nodes: [node("Sigmoid", ["a"], {}, "h"), ...one("Mul", {}, ["a", "h"])],
    sizes: [4, 4],
  }),
};
