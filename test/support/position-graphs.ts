/** Random ONNX graphs of operators that choose or lay out elements by position, and of normalizations. */
import { i64, numbers, real, vector, WIDE, whole } from "./graph-parts.ts";
import type { TestNode } from "./onnx-file.ts";
import { type Generator, LIMITS, middle, node, scalar, scale, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

/** A graph of an older or newer operator set. */
const at =
  (opset: number, generator: Generator): Generator =>
  (rng) => {
    const made = generator(rng);
    return { ...made, graph: { ...made.graph, opset } };
  };

const image =
  (
    make: (rng: Rng) => { nodes: readonly TestNode[]; dims: readonly number[]; constants?: object },
  ): Generator =>
  (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const { nodes, dims, constants = {} } = make(rng);
    return {
      graph: { nodes, inputs: { x: { type, dims } }, outputs: { y: type }, constants: { ...constants } },
      ranges: { x: LIMITS[type] },
    };
  };

const resize: Generator = image((rng) => {
  const dims = [1, rng.int(1, 3), rng.int(2, 7), rng.int(2, 7)];
  const bySizes = rng.chance(0.5);
  const attributes = {
    mode: "nearest",
    coordinate_transformation_mode: rng.pick([
      "half_pixel",
      "asymmetric",
      "align_corners",
      "pytorch_half_pixel",
    ]),
    nearest_mode: rng.pick(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]),
  };
  const sizes = [1, dims[1] as number, rng.int(8, 15), rng.int(8, 15)];
  const factor = (): number => rng.pick([2, 3, 2.5, 1.7, 4]);
  return {
    nodes: [node("Resize", ["x", "", bySizes ? "" : "s", ...(bySizes ? ["z"] : [])], attributes)],
    dims,
    constants: bySizes ? { z: i64(...sizes) } : { s: tensor("float32", [4], [1, 1, factor(), factor()]) },
  };
});

const topK: Generator = (rng) => {
  const axis = rng.int(0, 2);
  const graph = whole(
    [
      node("Clip", ["i", "l", "u"], {}, "c"),
      {
        op: "TopK",
        inputs: [rng.pick(["i", "c"]), "k"],
        outputs: ["y", "j"],
        attributes: { axis, largest: rng.int(0, 1) },
      },
    ],
    () => ({ k: i64(rng.int(1, 4)) }),
  )(rng);
  return { ...graph, graph: { ...graph.graph, outputs: { y: "int32", j: "int64" } } };
};

export const POSITION_GRAPHS: Readonly<Record<string, Generator>> = {
  Resize: resize,
  "Resize by an axis list": at(
    18,
    image((rng) => ({
      nodes: [node("Resize", ["x", "", "s"], { axes: [2, 3], nearest_mode: "floor" })],
      dims: [1, 4, 5, 6],
      constants: { s: tensor("float32", [2], [rng.pick([2, 3]), rng.pick([1, 2])]) },
    })),
  ),
  Upsample: at(
    9,
    image((rng) => ({
      nodes: [node("Upsample", ["x", "s"], { mode: "nearest" })],
      dims: [2, 3, 4, 5],
      constants: { s: tensor("float32", [4], [1, 1, rng.int(1, 3), rng.int(2, 3)]) },
    })),
  ),
  DepthToSpace: image((rng) => {
    const b = rng.int(1, 3);
    const mode = rng.pick(["DCR", "CRD"]);
    const dims = [rng.int(1, 2), b * b * rng.int(1, 3), rng.int(3, 4), rng.int(3, 5)];
    return { nodes: [node("DepthToSpace", ["x"], { blocksize: b, mode })], dims };
  }),
  SpaceToDepth: image((rng) => {
    const b = rng.int(1, 3);
    const dims = [rng.int(1, 2), rng.int(2, 3), b * rng.int(2, 4), b * rng.int(2, 4)];
    return { nodes: [node("SpaceToDepth", ["x"], { blocksize: b })], dims };
  }),
  "Pad of five axes": image((rng) => ({
    nodes: [node("Pad", ["x", "p"])],
    dims: [2, 3, 2, 3, 2],
    constants: { p: i64(...Array.from({ length: 10 }, () => rng.int(0, 1))) },
  })),
  Trilu: whole([node("Trilu", ["i", "k"], { upper: 0 }, "t"), node("Trilu", ["t", "m"])], (rng) => ({
    k: tensor("int64", [], [rng.int(-3, 5)]),
    m: tensor("int64", [], [rng.int(-5, 3)]),
  })),
  OneHot: whole(
    [node("Clip", ["i", "a", "b"], {}, "c"), node("OneHot", ["c", "d", "v"], { axis: -1 })],
    (rng) => ({
      a: scalar("int32", -5),
      b: scalar("int32", 5),
      d: tensor("int32", [], [rng.int(3, 7)]),
      v: tensor("float32", [2], [rng.int(-9, 9), rng.int(-9, 9)]),
    }),
    "float32",
    [3, 20],
  ),
  Hardmax: real([node("Hardmax", ["r"], { axis: 1 })], [-3, 3], vector),
  "Mod int32": whole([node("Mod", ["i", "h"])], (rng) => ({
    h: tensor(
      "int32",
      [10],
      Array.from({ length: 10 }, () => rng.pick([1, -1]) * rng.int(1, 300)),
    ),
  })),
  "Mod int32, fmod": whole([node("Mod", ["i", "h"], { fmod: 1 })], numbers(1, 300)),
  CumSum: whole(
    [node("CumSum", ["i", "a"], { exclusive: 1, reverse: 1 }, "c"), node("CumSum", ["c", "b"])],
    (rng) => ({
      a: tensor("int32", [], [rng.int(0, 2)]),
      b: tensor("int32", [], [-1]),
    }),
  ),
  TopK: topK,
  PRelu: real([node("PRelu", ["r", "h"])], WIDE, vector),
  CastLike: at(
    15,
    whole([node("CastLike", ["i", "v"])], () => ({ v: scalar("float32", 1) }), "float32"),
  ),
  "LeakyRelu, ThresholdedRelu float32": real(
    [
      node("LeakyRelu", ["r"], { alpha: { f: 0.2 } }, "l"),
      node("ThresholdedRelu", ["l"], { alpha: { f: 0.5 } }),
    ],
    WIDE,
    vector,
  ),
};

/** Bytes that are dequantized, normalized and quantized. */
const normalization =
  (
    op: string,
    inputs: readonly string[],
    dims: readonly number[],
    parameters: readonly number[],
    attributes = {},
  ): Generator =>
  (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const unit = rng.chance(0.5) ? 0.05 : 0.02;
    const vectorOf = (size: number): number[] =>
      Array.from({ length: parameters.reduce((a, b) => a * b, 1) }, () =>
        Math.fround(size * (0.5 + rng.int(0, 100) / 100)),
      );
    return {
      graph: {
        nodes: [
          node("DequantizeLinear", ["x", "s", "z"], {}, "d"),
          node(op, ["d", ...inputs], attributes, "n"),
          node("QuantizeLinear", ["n", "t", "z"]),
        ],
        inputs: { x: { type, dims } },
        outputs: { y: type },
        constants: {
          s: scalar("float32", scale(rng, 0.1)),
          t: scalar("float32", unit),
          z: scalar(type, middle(rng, type)),
          g: tensor("float32", parameters, vectorOf(1)),
          b: tensor("float32", parameters, vectorOf(0.3)),
        },
        opset: op === "RMSNormalization" ? 23 : 17,
      },
      ranges: { x: LIMITS[type] },
    };
  };

const qLinearSoftmax: Generator = (rng) => {
  const type = rng.pick(["uint8", "int8"] as const);
  return {
    graph: {
      nodes: [
        {
          ...node("QLinearSoftmax", ["x", "s", "z", "t", "w"], { axis: rng.pick([1, 2]), opset: 13 }),
          domain: "com.microsoft",
        },
      ],
      inputs: { x: { type, dims: [2, 9, 12] } },
      outputs: { y: type },
      constants: {
        s: scalar("float32", scale(rng, 0.05)),
        z: scalar(type, middle(rng, type)),
        t: scalar("float32", 1 / 256),
        w: scalar(type, type === "uint8" ? 0 : -128),
      },
    },
    ranges: { x: LIMITS[type] },
  };
};

export const NORMALIZATION_GRAPHS: Readonly<Record<string, Generator>> = {
  InstanceNormalization: normalization("InstanceNormalization", ["g", "b"], [2, 3, 5, 7], [3]),
  RMSNormalization: normalization("RMSNormalization", ["g"], [6, 40], [40], { axis: -1 }),
  QLinearSoftmax: qLinearSoftmax,
  "Mean float32": real(
    [node("Mean", ["r", "h", "r"], {}, "m"), node("QuantizeLinear", ["m", "u", "o"])],
    [-300, 300],
    (rng) => ({ ...vector(rng), u: scalar("float32", 1 / 32), o: scalar("uint8", 128) }),
    "uint8",
  ),
  "HardSigmoid, HardSwish float32": (rng) => {
    const graph = real(
      [
        node("HardSwish", ["r"], {}, "w"),
        node("HardSigmoid", ["w"], { alpha: { f: 0.15 } }, "v"),
        node("Softsign", ["v"], {}, "g"),
        node("QuantizeLinear", ["g", "u", "o"]),
      ],
      [-600, 600],
      () => ({ u: scalar("float32", 1 / 256), o: scalar("uint8", 0) }),
      "uint8",
    )(rng);
    return graph;
  },
};
