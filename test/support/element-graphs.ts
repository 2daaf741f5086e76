/** Random ONNX graphs of element-wise operators, logic, moves and picks, which are exact. */
import type { OnnxType } from "../../inference/onnx/graph.ts";
import { i64, numbers, real, vector, WIDE, whole } from "./graph-parts.ts";
import type { TestNode, TestTensor } from "./onnx-file.ts";
import { type Generator, LIMITS, middle, node, random, scalar, scale, tensor } from "./quantized-graphs.ts";
import type { Rng } from "./rng.ts";

/** Two bool inputs, the second one broadcast. */
const logic =
  (op: string, one = false): Generator =>
  (rng) => {
    const u = rng.pick([[4, 6, 10], [10], [6, 1], [4, 1, 10]] as const);
    return {
      graph: {
        nodes: [node(op, one ? ["x"] : rng.chance(0.5) ? ["x", "u"] : ["u", "x"])],
        inputs: { x: { type: "bool", dims: [4, 6, 10] }, ...(one ? {} : { u: { type: "bool", dims: u } }) },
        outputs: { y: "bool" },
      },
      ranges: { x: [0, 1], u: [0, 1] },
    };
  };

const COMPARISONS = ["Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"];

/** Few values, so that equal ones meet. */
const compareIntegers = (op: string): Generator =>
  whole([node("Clip", ["i", "l", "u"], {}, "s"), node(op, ["s", "h"])], numbers(-3, 3), "bool");
const compareReals = (op: string): Generator =>
  real(
    [node(op, ["r", "h"])],
    WIDE,
    (rng) => ({ h: random(rng, "float32", [50], [-3, 3]), f: scalar("float32", 1) }),
    "bool",
  );
const compareBytes =
  (op: string): Generator =>
  (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const [s, z] = [scalar("float32", scale(rng, 0.02)), scalar(type, middle(rng, type))];
    const nodes = [
      node("DequantizeLinear", ["x", "s", "z"], {}, "a"),
      node("DequantizeLinear", ["u", "t", "z"], {}, "b"),
      node(op, ["a", "b"]),
    ];
    return {
      graph: {
        nodes,
        inputs: { x: { type, dims: [5, 40] }, u: { type, dims: [40] } },
        outputs: { y: "bool" },
        constants: { s, z, t: rng.chance(0.5) ? s : scalar("float32", scale(rng, 0.02)) },
      },
      ranges: { x: LIMITS[type], u: LIMITS[type] },
    };
  };

const where =
  (type: OnnxType, range: readonly [number, number]): Generator =>
  (rng) => ({
    graph: {
      nodes: [rng.chance(0.5) ? node("Where", ["x", "u", "c"]) : node("Where", ["x", "c", "u"])],
      inputs: { x: { type: "bool", dims: [6, 1, 20] }, u: { type, dims: [5, 20] } },
      outputs: { y: type },
      constants: { c: random(rng, type, rng.pick([[20], [5, 1], []]), range) },
    },
    ranges: { x: [0, 1], u: range },
  });

/** Of halves, where rounding has ties. */
const rounding = (op: string): Generator =>
  real([node("Mul", ["r", "q"], {}, "v"), node(op, ["v"])], [-90, 90], (rng) => ({
    f: scalar("float32", 1),
    q: scalar("float32", rng.pick([0.5, 0.25, scale(rng, 0.3)])),
  }));

const bytesOf =
  (op: string, types: readonly ("uint8" | "int8")[]): Generator =>
  (rng) => {
    const type = rng.pick(types);
    return {
      graph: { nodes: [node(op, ["x"])], inputs: { x: { type, dims: [20, 30] } }, outputs: { y: type } },
      ranges: { x: LIMITS[type] },
    };
  };

export const ELEMENT_GRAPHS: Readonly<Record<string, Generator>> = {
  And: logic("And"),
  Or: logic("Or"),
  Xor: logic("Xor"),
  Not: logic("Not", true),
  ...Object.fromEntries(COMPARISONS.map((op) => [`${op} int32`, compareIntegers(op)])),
  ...Object.fromEntries(COMPARISONS.map((op) => [`${op} float32`, compareReals(op)])),
  ...Object.fromEntries(["Less", "Equal"].map((op) => [`${op} of dequantized bytes`, compareBytes(op)])),
  "Where int32": where("int32", [-(2 ** 31), 2 ** 31 - 1]),
  "Where uint8": where("uint8", LIMITS.uint8),
  "Where float32": where("float32", [-(2 ** 20), 2 ** 20]),
  "Neg int32": whole([node("Neg", ["i"])]),
  "Abs int32": whole([node("Abs", ["i"])]),
  "Sign int32": whole([node("Clip", ["i", "l", "u"], {}, "s"), node("Sign", ["s"])], numbers(0, 0)),
  "Neg float32": real([node("Neg", ["r"])], WIDE, vector),
  "Abs float32": real([node("Abs", ["r"])], WIDE, vector),
  "Sign float32": real([node("Sign", ["r"])], [-3, 3], vector),
  "Reciprocal float32": real([node("Reciprocal", ["r"])], [1, 30_000], vector),
  "Sum float32": real([node("Sum", ["r", "h", "r"])], WIDE, vector),
  ...Object.fromEntries(["Round", "Floor", "Ceil"].map((op) => [`${op} float32`, rounding(op)])),
  "Abs bytes": bytesOf("Abs", ["uint8", "int8"]),
  "Neg int8": bytesOf("Neg", ["int8"]),
};

const split: Generator = whole(
  [
    { op: "Split", inputs: ["i", "n"], outputs: ["a", "b", "c"], attributes: { axis: 1 } },
    node("Concat", ["c", "a", "b"], { axis: 1 }),
  ],
  (rng) => ({ n: rng.pick([i64(1, 3, 2), i64(2, 2, 2), i64(4, 1, 1)]) }),
);

/** What exporters write for a reshape to a computed shape. */
const shapes: Generator = whole(
  [
    node("Shape", ["i"], {}, "s"),
    node("Gather", ["s", "first"], {}, "d"),
    node("Mul", ["d", "five"], {}, "m"),
    node("ConstantOfShape", ["n"], { value: tensor("int64", [1], [-1]) }, "minus"),
    node("Equal", ["asked", "minus"], {}, "open"),
    node("Where", ["open", "m", "asked"], {}, "w"),
    node("Reshape", ["i", "w"]),
  ],
  () => ({ first: i64(1), five: i64(5), n: i64(2), asked: tensor("int64", [2], [8, -1]) }),
);

const pad = (mode: string): Generator =>
  whole([node("Pad", ["i", "p"], { mode })], (rng) => ({
    p: i64(rng.int(0, 3), rng.int(0, 5), 1, 0, rng.int(0, 3), rng.int(-2, 3)),
  }));

export const MOVE_GRAPHS: Readonly<Record<string, Generator>> = {
  "Constant, Range, Size, Dropout, Identity": whole(
    [
      node("Range", ["zero", "ten", "one"], {}, "k"),
      node("Size", ["k"], {}, "n"),
      node("Cast", ["n"], { to: 6 }, "n32"),
      node(
        "Constant",
        [],
        {
          value: tensor(
            "int32",
            [10],
            Array.from({ length: 10 }, (_, i) => i * i),
          ),
        },
        "c",
      ),
      node("Cast", ["i"], { to: 1 }, "f"),
      node("Dropout", ["f"], {}, "d"),
      node("Cast", ["d"], { to: 6 }, "e"),
      node("Identity", ["e"], {}, "same"),
      node("Add", ["same", "k"], {}, "a"),
      node("Mul", ["a", "n32"], {}, "b"),
      node("Sub", ["b", "c"]),
    ],
    () => ({ zero: scalar("int32", 0), ten: scalar("int32", 10), one: scalar("int32", 1) }),
  ),
  Split: split,
  Expand: whole([node("Slice", ["i", "b", "e", "a"], {}, "s"), node("Expand", ["s", "n"])], (rng) => ({
    b: i64(2),
    e: i64(3),
    a: i64(1),
    n: rng.pick([i64(5, 1), i64(2, 1, 3, 1), i64(10)]),
  })),
  Tile: whole([node("Tile", ["i", "n"])], (rng) => ({ n: i64(rng.int(1, 2), rng.int(1, 3), rng.int(1, 2)) })),
  "Transpose, Tile": whole(
    [node("Transpose", ["i"], { perm: [1, 2, 0] }, "t"), node("Tile", ["t", "n"])],
    () => ({ n: i64(2, 1, 3) }),
  ),
  "Shape, Gather, Where, Reshape": shapes,
  "Pad edge": pad("edge"),
  "Pad reflect": pad("reflect"),
};

/** Ids of an axis with `size` positions, some counted from its end. */
const ids = (rng: Rng, dims: readonly number[], size: number): TestTensor =>
  random(rng, "int32", dims, [-size, size - 1]);

/** A constant table on any axis, computed ids. */
const gatherAxis: Generator = (rng) => {
  const axis = rng.int(0, 2);
  const dims = [5, 6, 7];
  return {
    graph: {
      nodes: [node("Gather", ["t", "x"], { axis })],
      inputs: { x: { type: "int32", dims: rng.pick([[4, 8], [30], [2, 3, 4]]) } },
      outputs: { y: "int32" },
      constants: { t: random(rng, "int32", dims, [-(2 ** 31), 2 ** 31 - 1]) },
    },
    ranges: { x: [0, (dims[axis] as number) - 1] },
  };
};

const computedIds =
  (
    make: (
      axis: number,
      dims: readonly number[],
      rng: Rng,
    ) => { nodes: readonly TestNode[]; ids: readonly number[] },
  ): Generator =>
  (rng) => {
    const [axis, dims, type] = [
      rng.int(0, 2),
      [4, 5, 6],
      rng.pick(["int32", "uint8", "int8", "bool"] as const),
    ];
    const size = dims[axis] as number;
    const { nodes, ids: idDims } = make(axis, dims, rng);
    const range =
      type === "int32"
        ? ([-(2 ** 31), 2 ** 31 - 1] as const)
        : type === "bool"
          ? ([0, 1] as const)
          : LIMITS[type];
    return {
      graph: {
        nodes: [node("Clip", ["u", "lo", "hi"], {}, "i"), ...nodes],
        inputs: { x: { type, dims }, u: { type: "int32", dims: idDims } },
        outputs: { y: type },
        constants: { lo: scalar("int32", -size), hi: scalar("int32", size - 1) },
      },
      ranges: { x: range, u: [-size - 2, size + 2] },
    };
  };

export const PICK_GRAPHS: Readonly<Record<string, Generator>> = {
  "ReduceMax float32": real(
    [node("ReduceMax", ["r"], { axes: [1], keepdims: 1 }, "m"), node("Sub", ["m", "r"])],
    WIDE,
    vector,
  ),
  "ReduceMin float32": real([node("ReduceMin", ["r"], { axes: [0], keepdims: 0 })], WIDE, vector),
  "ArgMax float32": real(
    [node("Round", ["r"], {}, "q"), node("ArgMax", ["q"], { axis: 0 })],
    [-90, 90],
    vector,
    "int64",
  ),
  "MaxPool float32": real(
    [
      node("Reshape", ["r", "image"], {}, "q"),
      node("MaxPool", ["q"], { kernel_shape: [3, 2], pads: [1, 1, 0, 0], strides: [1, 2], ceil_mode: 1 }),
    ],
    WIDE,
    () => ({ image: i64(1, 3, 10, 10) }),
  ),
  "Gather on any axis": gatherAxis,
  "Gather, both computed": computedIds((axis, _, rng) => ({
    nodes: [node("Gather", ["x", "i"], { axis })],
    ids: rng.pick([[3, 2], [5], []]),
  })),
  GatherElements: computedIds((axis, dims, rng) => ({
    nodes: [node("GatherElements", ["x", "i"], { axis })],
    ids: dims.map((d, i) => (i === axis ? rng.int(1, 8) : d)),
  })),
  "GatherElements, ids constant": (rng) => ({
    graph: {
      nodes: [node("GatherElements", ["x", "i"], { axis: 1 })],
      inputs: { x: { type: "int32", dims: [9, 12] } },
      outputs: { y: "int32" },
      constants: { i: ids(rng, [9, 7], 12) },
    },
    ranges: { x: [-1000, 1000] },
  }),
  ReduceMin: whole([node("ReduceMin", ["i"], { axes: [0, 2], keepdims: 0 })], undefined, "int32", [6, 60, 9]),
  ArgMin: whole(
    [node("Clip", ["i", "l", "u"], {}, "s"), node("ArgMin", ["s"], { axis: 2, keepdims: 0 })],
    numbers(0, 0),
    "int64",
    [9, 8, 7],
  ),
  GlobalMaxPool: (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const nodes = [
      node("DequantizeLinear", ["x", "s", "z"], {}, "r"),
      node("GlobalMaxPool", ["r"], {}, "p"),
      node("QuantizeLinear", ["p", "s", "z"]),
    ];
    const constants = { s: scalar("float32", scale(rng, 0.02)), z: scalar(type, middle(rng, type)) };
    return {
      graph: { nodes, inputs: { x: { type, dims: [2, 16, 5, 4] } }, outputs: { y: type }, constants },
      ranges: { x: LIMITS[type] },
    };
  },
};
