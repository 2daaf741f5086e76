/** Powers, products of rows, GatherND and the operators of ai.onnx.ml that prepare features, against plain references. */
import { describe, expect, it } from "vitest";
import type { OnnxType } from "../../../inference/onnx/graph.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const CASES = scaled(40, 400);
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const ints = (rng: Rng, n: number, low: number, high: number): number[] =>
  Array.from({ length: n }, () => rng.int(low, high));
const shape = (rng: Rng, rank: number): number[] => ints(rng, rank, 1, 5);
const f = Math.fround;
const ml = (made: TestNode): TestNode => ({ ...made, domain: "ai.onnx.ml" });
const toReal = node("Cast", ["x"], { to: 1 }, "r");
const toId = node("Cast", ["x"], { to: 7 }, "w");

interface Case {
  readonly x: TestTensor;
  readonly nodes: readonly TestNode[];
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly output: OnnxType;
  readonly expected: readonly number[];
}

const within = (
  rng: Rng,
  low: number,
  high: number,
): { clip: TestNode; bounds: Record<string, TestTensor>; draw: () => number } => ({
  clip: node("Clip", ["x", "lo", "hi"], {}, "c"),
  bounds: { lo: t("int32", [], [low]), hi: t("int32", [], [high]) },
  draw: () => rng.int(low, high),
});

const OPERATORS: Readonly<Record<string, (rng: Rng) => Case>> = {
  "Pow of int32": (rng) => {
    const dims = shape(rng, rng.int(1, 4));
    const power = rng.int(1, 5);
    const { clip, bounds, draw } = within(rng, -40, 40);
    const data = Array.from({ length: count(dims) }, draw);
    const expected = data.map((x) => x ** power);
    const constants = { ...bounds, p: t("int64", [], [power]) };
    return {
      x: t("int32", dims, data),
      nodes: [clip, node("Pow", ["c", "p"])],
      constants,
      output: "int32",
      expected,
    };
  },
  "Pow of float32": (rng) => {
    const dims = shape(rng, 2);
    const power = rng.pick([0.5, 1, 2, 3, -0.5, -1, -2]);
    const { clip, bounds, draw } = within(rng, 1, 3000);
    const data = Array.from({ length: count(dims) }, draw);
    const forms: Record<number, (x: number) => number> = {
      0.5: (x) => f(Math.sqrt(x)),
      1: (x) => x,
      2: (x) => f(x * x),
      3: (x) => f(f(x * x) * x),
      [-0.5]: (x) => f(1 / f(Math.sqrt(x))),
      [-1]: (x) => f(1 / x),
      [-2]: (x) => f(1 / f(x * x)),
    };
    const expected = data.map(forms[power] as (x: number) => number);
    const nodes = [clip, node("Cast", ["c"], { to: 1 }, "r"), node("Pow", ["r", "p"])];
    return {
      x: t("int32", dims, data),
      nodes,
      constants: { ...bounds, p: t("float32", [1], [power]) },
      output: "float32",
      expected,
    };
  },
  ReduceProd: (rng) => {
    const dims = shape(rng, rng.int(1, 4));
    const axis = rng.int(0, dims.length - 1);
    const { clip, bounds, draw } = within(rng, -9, 9);
    const data = Array.from({ length: count(dims) }, draw);
    const [size, tail] = [dims[axis] as number, count(dims.slice(axis + 1))];
    const expected = Array.from({ length: data.length / size }, (_, i) => {
      const outer = Math.floor(i / tail);
      let product = 1;
      for (let p = 0; p < size; p++) product *= data[(outer * size + p) * tail + (i % tail)] as number;
      return product;
    });
    const nodes = [clip, node("ReduceProd", ["c"], { axes: [axis], keepdims: rng.int(0, 1) })];
    return { x: t("int32", dims, data), nodes, constants: bounds, output: "int32", expected };
  },
  GatherND: (rng) => {
    const dims = shape(rng, rng.int(1, 4));
    const depth = rng.int(1, dims.length);
    const picks = rng.int(1, 7);
    const ids = Array.from({ length: picks }, () => dims.slice(0, depth).map((d) => rng.int(-d, d - 1)));
    const type = rng.pick(["uint8", "int32"] as const);
    const data = ints(rng, count(dims), 0, 200);
    const tail = count(dims.slice(depth));
    const expected = ids.flatMap((id) => {
      const at = id.reduce((sum, p, axis) => {
        const dim = dims[axis] as number;
        return sum * dim + ((p + dim) % dim);
      }, 0);
      return data.slice(at * tail, (at + 1) * tail);
    });
    const constants = { g: t("int64", [picks, depth], ids.flat()) };
    return {
      x: t(type, dims, data),
      nodes: [node("GatherND", ["x", "g"])],
      constants,
      output: type,
      expected,
    };
  },
  BatchNormalization: (rng) => {
    const dims = shape(rng, rng.int(2, 4));
    const channels = dims[1] as number;
    const data = ints(rng, count(dims), -200, 200);
    const parameter = (): number[] => ints(rng, channels, 1, 50).map((v) => v / 8);
    const [g, b, m, v] = [parameter(), parameter(), parameter(), parameter()];
    const tail = count(dims.slice(2));
    const expected = data.map((x, i) => {
      const c = Math.floor(i / tail) % channels;
      const gain = (g[c] as number) / Math.sqrt((v[c] as number) + f(0.01));
      return f(f(x * f(gain)) + f((b[c] as number) - (m[c] as number) * gain));
    });
    const vector = (list: number[]): TestTensor => t("float32", [channels], list);
    const constants = { g: vector(g), b: vector(b), m: vector(m), v: vector(v) };
    const norm = node("BatchNormalization", ["r", "g", "b", "m", "v"], { epsilon: { f: f(0.01) } });
    return { x: t("int32", dims, data), nodes: [toReal, norm], constants, output: "float32", expected };
  },
  Scaler: (rng) => {
    const dims = shape(rng, 2);
    const features = dims[1] as number;
    const list = (): number[] => ints(rng, rng.chance(0.3) ? 1 : features, 1, 40).map((v) => v / 8);
    const [offset, scale] = [list(), list()];
    const data = ints(rng, count(dims), -999, 999);
    const expected = data.map((x, i) => {
      const at = (values: number[]): number => values[values.length === 1 ? 0 : i % features] as number;
      return f(f(x - at(offset)) * at(scale));
    });
    const made = ml(node("Scaler", ["x"], { offset: { floats: offset }, scale: { floats: scale } }));
    return { x: t("int32", dims, data), nodes: [made], output: "float32", expected };
  },
  LabelEncoder: (rng) => {
    const dims = shape(rng, rng.int(1, 3));
    const keys = ints(rng, rng.int(1, 9), -6, 6);
    const values = ints(rng, keys.length, -99, 99);
    const data = ints(rng, count(dims), -8, 8);
    const isReal = rng.chance(0.5);
    // The first of equal keys counts.
    const expected = data.map((x) => (keys.includes(x) ? (values[keys.indexOf(x)] as number) : -7));
    const made = isReal
      ? { values_floats: { floats: values }, default_float: { f: -7 } }
      : { values_int64s: values, default_int64: -7 };
    const encoder = ml(node("LabelEncoder", ["w"], { keys_int64s: keys, ...made }));
    return {
      x: t("int32", dims, data),
      nodes: [toId, encoder],
      output: isReal ? "float32" : "int64",
      expected,
    };
  },
  OneHotEncoder: (rng) => {
    const dims = shape(rng, rng.int(1, 2));
    const categories = [...new Set(ints(rng, 5, -5, 5))];
    const data = ints(rng, count(dims), -6, 6);
    const expected = data.flatMap((x) => categories.map((c) => (x === c ? 1 : 0)));
    const encoder = ml(node("OneHotEncoder", ["w"], { cats_int64s: categories }));
    return { x: t("int32", dims, data), nodes: [toId, encoder], output: "float32", expected };
  },
  "Cast to bool": (rng) => {
    const dims = shape(rng, 2);
    const data = ints(rng, count(dims), -2, 2);
    const isReal = rng.chance(0.5);
    const nodes = [toReal, node("Cast", [isReal ? "r" : "x"], { to: 9 })];
    return { x: t("int32", dims, data), nodes, output: "bool", expected: data.map((x) => (x === 0 ? 0 : 1)) };
  },
  "Cast of bytes to bool": (rng) => {
    const type = rng.pick(["uint8", "int8"] as const);
    const dims = shape(rng, 2);
    const data = ints(rng, count(dims), type === "int8" ? -2 : 0, 3);
    const nodes = [node("Cast", ["x"], { to: 9 })];
    return { x: t(type, dims, data), nodes, output: "bool", expected: data.map((x) => (x === 0 ? 0 : 1)) };
  },
  "IsNaN, IsInf": (rng) => {
    const dims = shape(rng, 2);
    const data = ints(rng, count(dims), -2, 2);
    const nodes = [toReal, node(rng.pick(["IsNaN", "IsInf"]), ["r"])];
    return { x: t("int32", dims, data), nodes, output: "bool", expected: data.map(() => 0) };
  },
  Binarizer: (rng) => {
    const dims = shape(rng, 2);
    const data = ints(rng, count(dims), -4, 4);
    const threshold = rng.int(-3, 3);
    const made = ml(node("Binarizer", ["r"], { threshold: { f: threshold } }));
    const expected = data.map((x) => (x > threshold ? 1 : 0));
    return { x: t("int32", dims, data), nodes: [toReal, made], output: "float32", expected };
  },
  Imputer: (rng) => {
    const dims = shape(rng, 2);
    const data = ints(rng, count(dims), -2, 2);
    const imputed = ints(rng, dims[1] as number, 50, 99);
    const made = ml(
      node("Imputer", ["r"], { imputed_value_floats: { floats: imputed }, replaced_value_float: { f: -1 } }),
    );
    const expected = data.map((x, i) => (x === -1 ? (imputed[i % imputed.length] as number) : x));
    return { x: t("int32", dims, data), nodes: [toReal, made], output: "float32", expected };
  },
  "ArrayFeatureExtractor, FeatureVectorizer": (rng) => {
    const [rows, features] = [rng.int(1, 4), rng.int(1, 6)];
    const data = ints(rng, rows * features, -99, 99);
    const columns = ints(rng, rng.int(1, 5), 0, features - 1);
    const expected = Array.from({ length: rows }, (_, row) => {
      const own = data.slice(row * features, (row + 1) * features);
      return [...columns.map((c) => own[c] as number), ...own];
    }).flat();
    const nodes = [
      ml(node("ArrayFeatureExtractor", ["x", "g"], {}, "e")),
      ml(node("FeatureVectorizer", ["e", "x"], { inputdimensions: [columns.length, features] })),
    ];
    const constants = { g: t("int64", [columns.length], columns) };
    return { x: t("int32", [rows, features], data), nodes, constants, output: "float32", expected };
  },
};

describe("powers and features", () => {
  it.each(Object.keys(OPERATORS))("behavior: %s over random shapes", (name) => {
    const rng = createRng(name.length * 37);
    for (let i = 0; i < CASES; i++) {
      const made = (OPERATORS[name] as (rng: Rng) => Case)(rng);
      const { outputs } = run(made.x, made.nodes, made.output, made.constants);
      expect(
        outputs.y?.map((v) => v + 0),
        `${name} of [${made.x.dims}]`,
      ).toEqual(made.expected.map((v) => v + 0));
    }
  });

  it("behavior: reductions of shapes are computed at import", () => {
    const nodes = [
      node("Shape", ["x"], {}, "s"),
      node("ReduceProd", ["s"], { keepdims: 1 }, "p"),
      node("Reshape", ["x", "p"]),
    ];
    const { imported, dims } = run(t("uint8", [2, 3, 4], new Array<number>(24).fill(1)), nodes, "uint8");
    expect(dims.y).toEqual([24]);
    expect(imported.model.program.steps.length).toBeLessThanOrEqual(2);
  });

  it.each([
    [[node("Pow", ["r", "p"])], { p: t("float32", [], [2.5]) }, "it raises float32 to 2.5"],
    [[node("Pow", ["r", "p"])], { p: t("float32", [2], [2, 3]) }, "its exponents differ"],
    [[node("Pow", ["x", "p"])], { p: t("float32", [], [0.5]) }, "it raises int32 to 0.5"],
    [[node("ReduceProd", ["r"], { axes: [1] })], {}, "it multiplies float32"],
    [
      [ml(node("LabelEncoder", ["x"], { keys_strings: { strings: ["a"] }, values_int64s: [1] }))],
      {},
      "its keys are words",
    ],
    [
      [ml(node("OneHotEncoder", ["x"], { cats_strings: { strings: ["a"] } }))],
      {},
      "its categories are words",
    ],
    [
      [ml(node("Scaler", ["x"], { offset: { floats: [1, 2, 3] } }))],
      {},
      "offset has 3 numbers for 2 features",
    ],
  ] as const)("error: %o is refused", (nodes, constants, reason) => {
    const all = nodes.some((n) => n.inputs.includes("r")) ? [toReal, ...nodes] : [...nodes];
    expect(() => run(t("int32", [2, 2], [1, 2, 3, 4]), all, "float32", constants)).toThrow(reason);
  });
});
