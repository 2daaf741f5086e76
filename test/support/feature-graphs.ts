/** Random ONNX graphs of powers, reductions by products, and of the operators of ai.onnx.ml that prepare features. */
import { i64, real, vector, WIDE, whole } from "./graph-parts.ts";
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { type Generator, LIMITS, middle, node, scalar, scale, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

const ml = (
  op: string,
  inputs: readonly string[],
  attributes: NonNullable<TestNode["attributes"]> = {},
  output = "y",
): TestNode => ({ ...node(op, inputs, attributes, output), domain: "ai.onnx.ml" });

const floats = (rng: Rng, n: number, size: number): number[] =>
  Array.from({ length: n }, () => scale(rng, size));

/** Keys and values of which some are met by numbers of ±300. */
const keyed = (rng: Rng) => {
  const keys = [...new Set(Array.from({ length: 40 }, () => rng.int(-300, 300)))];
  return { keys, values: keys.map(() => rng.int(-1000, 1000)) };
};

const toPower = (power: number): Generator =>
  real([node("Pow", ["r", "p"])], [1, 300], () => ({ p: scalar("float32", power) }));

/** Computed by onnxruntime as by import, on every element. */
export const FEATURE_GRAPHS: Readonly<Record<string, Generator>> = {
  "Pow 2 float32": real([node("Pow", ["r", "p"])], WIDE, () => ({ p: scalar("float32", 2) })),
  "Pow 3 float32": real([node("Pow", ["r", "p"])], [-300, 300], () => ({ p: scalar("int64", 3) })),
  "Pow −1 float32": toPower(-1),
  "Pow int32": whole([node("Clip", ["i", "a", "b"], {}, "c"), node("Pow", ["c", "p"])], (rng) => ({
    a: scalar("int32", -30),
    b: scalar("int32", 30),
    p: scalar("int32", rng.int(1, 6)),
  })),
  ReduceProd: whole(
    [node("Clip", ["i", "l", "u"], {}, "c"), node("ReduceProd", ["c"], { axes: [1], keepdims: 0 })],
    () => ({}),
    "int32",
    [4, 7, 10],
  ),
  ReduceSumSquare: whole(
    [node("Clip", ["i", "a", "b"], {}, "c"), node("ReduceSumSquare", ["c"], { axes: [1], keepdims: 1 })],
    () => ({ a: scalar("int32", -300), b: scalar("int32", 300) }),
    "int32",
    [7, 6, 10],
  ),
  GatherND: whole([node("GatherND", ["i", "g"])], (rng) => ({
    g: tensor(
      "int64",
      [5, 9, 2],
      Array.from({ length: 90 }, (_, i) => (i % 2 === 0 ? rng.int(-4, 3) : rng.int(-6, 5))),
    ),
  })),
  "Gather, GatherElements float32": (rng) => {
    const picks = tensor("float32", [50, 6], floats(rng, 300, rng.pick([-3, 3])));
    return real(
      [
        node("ReduceSum", ["i", "a"], { keepdims: 0 }, "w"),
        node("Mod", ["w", "d"], {}, "j"),
        node("Gather", ["r", "j"], { axis: 1 }, "g"),
        node("Unsqueeze", ["j", "e"], {}, "k"),
        node("Expand", ["k", "v"], {}, "n"),
        node("GatherElements", ["q", "n"], { axis: 0 }, "o"),
        node("Mul", ["g", "o"]),
      ],
      [-300, 300],
      () => ({ a: i64(1), d: scalar("int32", 50), e: i64(0), v: i64(6, 6), q: picks }),
    )(rng);
  },
  "IsNaN, IsInf": real(
    [node("IsNaN", ["r"], {}, "n"), node("IsInf", ["r"], {}, "i1"), node("Or", ["n", "i1"])],
    WIDE,
    vector,
    "bool",
  ),
  "Cast to bool": real(
    [
      node("Round", ["r"], {}, "w"),
      node("Cast", ["w"], { to: 9 }, "m"),
      node("Cast", ["i"], { to: 9 }, "n"),
      node("Xor", ["m", "n"]),
    ],
    [-60, 60],
    vector,
    "bool",
  ),
  Scaler: (rng) =>
    real(
      [
        ml("Scaler", ["r"], {
          offset: { floats: floats(rng, 50, 3) },
          scale: { floats: floats(rng, 50, 0.1) },
        }),
      ],
      WIDE,
      vector,
    )(rng),
  "Scaler of int32, one number": (rng) =>
    whole(
      [
        node("Reshape", ["i", "s"], {}, "f"),
        ml("Scaler", ["f"], { offset: { floats: [scale(rng, 3)] }, scale: { floats: [scale(rng, 0.1)] } }),
      ],
      () => ({ s: i64(24, 10) }),
      "float32",
    )(rng),
  Binarizer: real([ml("Binarizer", ["r"], { threshold: { f: 2.5 } })], [-1000, 1000], vector),
  "Imputer of one number": real(
    [
      node("Round", ["r"], {}, "w"),
      ml("Imputer", ["w"], { imputed_value_floats: { floats: [7.5] }, replaced_value_float: { f: -1 } }),
    ],
    [-300, 300],
    vector,
  ),
  "LabelEncoder int64 to float32": (rng) => {
    const { keys, values } = keyed(rng);
    const attributes = { keys_int64s: keys, values_floats: { floats: values }, default_float: { f: -0.5 } };
    return whole(
      [
        node("Clip", ["i", "a", "b"], {}, "c"),
        node("Cast", ["c"], { to: 7 }, "w"),
        ml("LabelEncoder", ["w"], attributes),
      ],
      () => ({ a: scalar("int32", -320), b: scalar("int32", 320) }),
      "float32",
    )(rng);
  },
  "LabelEncoder float32 to int64": (rng) => {
    const { keys, values } = keyed(rng);
    const attributes = { keys_floats: { floats: keys.map((key) => key / 2) }, values_int64s: values };
    return whole(
      [
        node("Clip", ["i", "a", "b"], {}, "c"),
        node("Cast", ["c"], { to: 1 }, "w"),
        node("Div", ["w", "d"], {}, "h"),
        ml("LabelEncoder", ["h"], attributes),
      ],
      () => ({ a: scalar("int32", -320), b: scalar("int32", 320), d: scalar("float32", 2) }),
      "int64",
    )(rng);
  },
  OneHotEncoder: (rng) =>
    whole(
      [
        node("Clip", ["i", "l", "u"], {}, "c"),
        node("Cast", ["c"], { to: 7 }, "w"),
        ml("OneHotEncoder", ["w"], {
          cats_int64s: rng.pick([
            [-3, 3, 0],
            [2, -1],
            [9, 3, 1, 0, -2],
          ]),
        }),
      ],
      () => ({}),
      "float32",
      [4, 25],
    )(rng),
  "ArrayFeatureExtractor, FeatureVectorizer": real(
    [
      ml("ArrayFeatureExtractor", ["r", "g"], {}, "e"),
      ml("FeatureVectorizer", ["e", "r"], { inputdimensions: [4, 50] }),
    ],
    WIDE,
    (rng) => ({ g: i64(...Array.from({ length: 4 }, () => rng.int(0, 49))) }),
  ),
};

/** A float32 function of dequantized bytes that is quantized again. */
const ofBytes =
  (
    make: (rng: Rng) => {
      readonly dims: readonly number[];
      readonly nodes: readonly TestNode[];
      readonly constants: Readonly<Record<string, TestTensor>>;
      readonly opset?: number;
    },
    size = 0.05,
  ): Generator =>
  (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const { dims, nodes, constants, ...rest } = make(rng);
    const s = scale(rng, size);
    return {
      graph: {
        nodes: [
          node("DequantizeLinear", ["x", "s", "z"], {}, "d"),
          ...nodes,
          node("QuantizeLinear", ["n", "t", "z"]),
        ],
        inputs: { x: { type, dims } },
        outputs: { y: type },
        constants: {
          s: scalar("float32", s),
          t: scalar("float32", s * 1.25),
          z: scalar(type, middle(rng, type)),
          ...constants,
        },
        ...rest,
      },
      ranges: { x: LIMITS[type] },
    };
  };

const resized = (mode: "linear" | "cubic"): Generator =>
  ofBytes((rng) => {
    const dims = [1, rng.int(1, 3), rng.int(2, 7), rng.int(2, 7)];
    const bySizes = rng.chance(0.5);
    const factor = (): number => rng.pick([2, 3, 1.5, 1.7, 0.5, 4]);
    const attributes = {
      mode,
      coordinate_transformation_mode: rng.pick([
        "half_pixel",
        "asymmetric",
        "pytorch_half_pixel",
        ...(bySizes ? ["align_corners"] : []),
      ]),
      ...(mode === "cubic"
        ? { cubic_coeff_a: { f: rng.pick([-0.5, -0.75]) }, exclude_outside: rng.int(0, 1) }
        : {}),
    };
    const sizes = i64(1, dims[1] as number, rng.int(2, 15), rng.int(2, 15));
    return {
      dims,
      nodes: [node("Resize", ["d", "", bySizes ? "" : "f", ...(bySizes ? ["g"] : [])], attributes, "n")],
      constants: bySizes ? { g: sizes } : { f: tensor("float32", [4], [1, 1, factor(), factor()]) },
    };
  });

const channels = (rng: Rng, n: number, size: number): TestTensor =>
  tensor("float32", [n], floats(rng, n, size));

/** At most one unit off, node by node. */
export const NEAR_FEATURE_GRAPHS: Readonly<Record<string, Generator>> = {
  "Resize linear": resized("linear"),
  "Resize cubic": resized("cubic"),
  BatchNormalization: ofBytes((rng) => ({
    dims: [2, 3, 5, 7],
    nodes: [node("BatchNormalization", ["d", "g", "b", "m", "v"], { epsilon: { f: 0.001 } }, "n")],
    constants: {
      g: channels(rng, 3, 0.7),
      b: channels(rng, 3, 0.2),
      m: channels(rng, 3, 0.3),
      v: channels(rng, 3, 0.9),
    },
  })),
  "Pow of bytes": ofBytes(
    (rng) => ({
      dims: [8, 40],
      nodes: [
        node("Abs", ["d"], {}, "a"),
        node("Add", ["a", "e"], {}, "b"),
        node("Pow", ["b", "p"], {}, "n"),
      ],
      constants: { e: scalar("float32", 0.01), p: scalar("float32", rng.pick([0.3, 1.7, 0.5, -0.5])) },
    }),
    0.01,
  ),
  "trigonometric functions of bytes": ofBytes(
    () => ({
      dims: [8, 40],
      nodes: [
        node("Sin", ["d"], {}, "sine"),
        node("Mul", ["sine", "e"], {}, "w"),
        ...["Acos", "Asin", "Atan", "Atanh", "Cos", "Cosh", "Sinh", "Tan"].map((op) =>
          node(op, ["w"], {}, op),
        ),
        node("Acosh", ["Cosh"], {}, "m"),
        node("Asinh", ["Sinh"], {}, "k"),
        node("Sum", ["m", "k", "Acos", "Asin", "Atan", "Atanh", "Cos", "Tan"], {}, "n"),
      ],
      constants: { e: scalar("float32", 0.875) },
    }),
    0.025,
  ),
  "Pow 0.5, −0.5 float32": real(
    [
      node("Pow", ["r", "p"], {}, "a"),
      node("Pow", ["r", "q"], {}, "b"),
      node("Mul", ["a", "b"], {}, "m"),
      node("Mul", ["m", "r"], {}, "e"),
      node("QuantizeLinear", ["e", "u", "o"]),
    ],
    [1, 300],
    () => ({
      p: scalar("float32", 0.5),
      q: scalar("float32", -0.5),
      u: scalar("float32", 1 / 32),
      o: scalar("uint8", 0),
    }),
    "uint8",
  ),
};
