/** Operators that choose by position, against plain references over random shapes. */
import { describe, expect, it } from "vitest";
import type { OnnxType } from "../../../inference/onnx/graph.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const CASES = scaled(40, 400);
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const ints = (rng: Rng, n: number, low: number, high: number): number[] =>
  Array.from({ length: n }, () => rng.int(low, high));
const shape = (rng: Rng, rank: number): number[] => ints(rng, rank, 1, 5);

/** Positions of all elements, last axis fastest. */
function* positions(dims: readonly number[]): Generator<number[]> {
  const at = dims.map(() => 0);
  for (let i = 0; i < count(dims); i++) {
    yield [...at];
    for (let k = dims.length - 1; k >= 0; k--) {
      at[k] = (at[k] as number) + 1;
      if ((at[k] as number) < (dims[k] as number)) break;
      at[k] = 0;
    }
  }
}
const indexOf = (at: readonly number[], dims: readonly number[]): number =>
  at.reduce((index, p, i) => index * (dims[i] as number) + p, 0);
const i64 = (...data: number[]): TestTensor => t("int64", [data.length], data);

interface Case {
  readonly x: TestTensor;
  readonly node: TestNode;
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly output?: OnnxType;
  readonly expected: readonly number[];
}

const OPERATORS: Readonly<Record<string, (rng: Rng) => Case>> = {
  "Pad of any axes": (rng) => {
    const dims = shape(rng, rng.int(1, 5));
    const pads = ints(rng, 2 * dims.length, 0, 2);
    const type = rng.pick(["uint8", "int8", "int32", "float32"] as const);
    const data = ints(rng, count(dims), 0, 100);
    const out = dims.map((d, i) => d + (pads[i] as number) + (pads[i + dims.length] as number));
    const expected = [...positions(out)].map((at) => {
      const from = at.map((p, i) => p - (pads[i] as number));
      return from.some((p, i) => p < 0 || p >= (dims[i] as number))
        ? 7
        : (data[indexOf(from, dims)] as number);
    });
    const constants = { p: i64(...pads), v: t(type, [], [7]) };
    return { x: t(type, dims, data), node: node("Pad", ["x", "p", "v"]), constants, output: type, expected };
  },
  "Slice of any axes": (rng) => {
    const dims = shape(rng, rng.int(1, 5)).map((d) => d + 1);
    const starts = dims.map((d) => rng.int(0, d - 1));
    const steps = dims.map(() => rng.int(1, 2));
    const data = ints(rng, count(dims), 0, 255);
    const out = dims.map((d, i) => Math.ceil((d - (starts[i] as number)) / (steps[i] as number)));
    const expected = [...positions(out)].map(
      (at) =>
        data[
          indexOf(
            at.map((p, i) => (starts[i] as number) + p * (steps[i] as number)),
            dims,
          )
        ] as number,
    );
    const constants = { s: i64(...starts), e: i64(...dims), a: i64(...dims.keys()), p: i64(...steps) };
    return {
      x: t("uint8", dims, data),
      node: node("Slice", ["x", "s", "e", "a", "p"]),
      constants,
      output: "uint8",
      expected,
    };
  },
  DepthToSpace: (rng) => {
    const [n, c, h, w, b] = [rng.int(1, 2), rng.int(1, 3), rng.int(1, 4), rng.int(1, 4), rng.int(1, 3)];
    const isCrd = rng.chance(0.5);
    const dims = [n, c * b * b, h, w];
    const data = ints(rng, count(dims), 0, 255);
    const expected = [...positions([n, c, h * b, w * b])].map(([i = 0, k = 0, y = 0, x = 0]) => {
      const within = (y % b) * b + (x % b);
      const channel = isCrd ? k * b * b + within : within * c + k;
      return data[indexOf([i, channel, Math.floor(y / b), Math.floor(x / b)], dims)] as number;
    });
    const made = node("DepthToSpace", ["x"], { blocksize: b, mode: isCrd ? "CRD" : "DCR" });
    return { x: t("uint8", dims, data), node: made, output: "uint8", expected };
  },
  SpaceToDepth: (rng) => {
    const [n, c, h, w, b] = [rng.int(1, 2), rng.int(1, 3), rng.int(1, 3), rng.int(1, 3), rng.int(1, 3)];
    const dims = [n, c, h * b, w * b];
    const data = ints(rng, count(dims), 0, 255);
    const expected = [...positions([n, c * b * b, h, w])].map(([i = 0, k = 0, y = 0, x = 0]) => {
      const within = Math.floor(k / c);
      const from = [i, k % c, y * b + Math.floor(within / b), x * b + (within % b)];
      return data[indexOf(from, dims)] as number;
    });
    return {
      x: t("uint8", dims, data),
      node: node("SpaceToDepth", ["x"], { blocksize: b }),
      output: "uint8",
      expected,
    };
  },
  Resize: (rng) => {
    const dims = shape(rng, rng.int(1, 4));
    const factors = dims.map(() => rng.int(1, 3));
    const data = ints(rng, count(dims), 0, 255);
    const out = dims.map((d, i) => d * (factors[i] as number));
    const expected = [...positions(out)].map(
      (at) =>
        data[
          indexOf(
            at.map((p, i) => Math.floor(p / (factors[i] as number))),
            dims,
          )
        ] as number,
    );
    const attributes = { coordinate_transformation_mode: "asymmetric", nearest_mode: "floor" };
    const constants = { s: t("float32", [dims.length], factors) };
    return {
      x: t("uint8", dims, data),
      node: node("Resize", ["x", "", "s"], attributes),
      constants,
      output: "uint8",
      expected,
    };
  },
  Trilu: (rng) => {
    const dims = shape(rng, rng.int(2, 4));
    const [upper, k] = [rng.int(0, 1), rng.int(-4, 4)];
    const data = ints(rng, count(dims), -9, 9);
    const expected = [...positions(dims)].map((at, i) => {
      const [row = 0, column = 0] = at.slice(-2);
      return (upper === 1 ? column - row >= k : column - row <= k) ? (data[i] as number) : 0;
    });
    return {
      x: t("int32", dims, data),
      node: node("Trilu", ["x", "k"], { upper }),
      constants: { k: t("int64", [], [k]) },
      expected,
    };
  },
  OneHot: (rng) => {
    const dims = shape(rng, rng.int(1, 3));
    const [depth, axis] = [rng.int(1, 6), rng.int(0, dims.length)];
    const data = ints(rng, count(dims), -8, 8);
    const expected = [...positions([...dims.slice(0, axis), depth, ...dims.slice(axis)])].map((at) => {
      const id = data[
        indexOf(
          at.filter((_, i) => i !== axis),
          dims,
        )
      ] as number;
      return id === at[axis] || id + depth === at[axis] ? 5 : -3;
    });
    const constants = { d: t("int64", [], [depth]), v: t("int32", [2], [-3, 5]) };
    return {
      x: t("int32", dims, data),
      node: node("OneHot", ["x", "d", "v"], { axis }),
      constants,
      expected,
    };
  },
  Mod: (rng) => {
    const type = rng.pick(["int8", "uint8"] as const);
    const dims = shape(rng, 2);
    const fmod = rng.int(0, 1);
    const data = ints(rng, count(dims), type === "int8" ? -128 : 0, 127);
    const divisors = ints(rng, dims[1] as number, 1, 20).map((d) =>
      type === "int8" && rng.chance(0.4) ? -d : d,
    );
    const expected = data.map((x, i) => {
      const d = divisors[i % divisors.length] as number;
      return fmod === 1 ? x - d * Math.trunc(x / d) : x - d * Math.floor(x / d);
    });
    return {
      x: t(type, dims, data),
      node: node("Mod", ["x", "d"], { fmod }),
      constants: { d: t(type, [divisors.length], divisors) },
      output: type,
      expected,
    };
  },
  PRelu: (rng) => {
    const dims = shape(rng, 3);
    const slope = ints(rng, dims[2] as number, -8, 8).map((s) => s / 4);
    const data = ints(rng, count(dims), -100, 100);
    const expected = data.map((x, i) => (x < 0 ? x * (slope[i % slope.length] as number) : x));
    return {
      x: t("int32", dims, data),
      node: node("PRelu", ["x", "s"]),
      constants: { s: t("float32", [slope.length], slope) },
      output: "float32",
      expected,
    };
  },
};

describe("operators that choose by position", () => {
  it.each(Object.keys(OPERATORS))("behavior: %s over random shapes", (name) => {
    const rng = createRng(name.length * 31);
    for (let i = 0; i < CASES; i++) {
      const made = (OPERATORS[name] as (rng: Rng) => Case)(rng);
      const { output = "int32", constants = {} } = made;
      const isReal = name === "PRelu";
      const nodes = isReal ? [node("Cast", ["x"], { to: 1 }, "r"), node("PRelu", ["r", "s"])] : [made.node];
      const { outputs } = run(made.x, nodes, output, constants);
      expect(
        outputs.y?.map((v) => v + 0),
        `${name} of [${made.x.dims}]`,
      ).toEqual(made.expected.map((v) => v + 0));
    }
  });

  it("behavior: CumSum over random shapes", () => {
    const rng = createRng(8);
    for (let i = 0; i < CASES; i++) {
      const dims = shape(rng, rng.int(1, 3));
      const axis = rng.int(0, dims.length - 1);
      const [exclusive, reverse] = [rng.int(0, 1), rng.int(0, 1)];
      const data = ints(rng, count(dims), -99, 99);
      const expected = [...positions(dims)].map((at) => {
        let sum = 0;
        for (let p = 0; p < (dims[axis] as number); p++) {
          const distance = reverse === 1 ? p - (at[axis] as number) : (at[axis] as number) - p;
          if (distance > 0 || (distance === 0 && exclusive === 0))
            sum += data[
              indexOf(
                at.map((v, k) => (k === axis ? p : v)),
                dims,
              )
            ] as number;
        }
        return sum;
      });
      const graph = {
        nodes: [node("CumSum", ["x", "a"], { exclusive, reverse })],
        inputs: { x: { type: "int32", dims } },
        outputs: { y: "int32" },
        constants: { a: t("int32", [], [axis]) },
      } as const;
      const { outputs } = runGraph(
        graph,
        { x: t("int32", dims, data) },
        { codec: "int16s", output: "int16s" },
      );
      expect(outputs.y).toEqual(expected);
    }
  });

  it.each(["int32", "uint8", "int8", "float32", "dequantized"] as const)(
    "behavior: TopK of %s over random shapes",
    (type) => {
      const rng = createRng(type.length);
      for (let i = 0; i < CASES; i++) {
        const dims = shape(rng, rng.int(1, 3));
        const axis = rng.int(0, dims.length - 1);
        const size = dims[axis] as number;
        const [k, largest] = [rng.int(1, size), rng.int(0, 1)];
        // Few numbers, so that many are equal, and the ends of the type.
        const ends = type === "int32" ? [-(2 ** 31), 2 ** 31 - 1] : type === "int8" ? [-128, 127] : [0, 255];
        const data = Array.from({ length: count(dims) }, () => rng.pick([...ends, 1, 2, 3]));
        const picks = (part: "value" | "index"): number[] =>
          [...positions(dims.map((d, a) => (a === axis ? k : d)))].map((at) => {
            const row = Array.from({ length: size }, (_, p) => [
              data[
                indexOf(
                  at.map((v, a) => (a === axis ? p : v)),
                  dims,
                )
              ] as number,
              p,
            ]) as [number, number][];
            row.sort(([a, p], [b, q]) => (largest === 1 ? b - a : a - b) || p - q);
            return (row[at[axis] as number] as [number, number])[part === "value" ? 0 : 1];
          });
        const isDequantized = type === "dequantized";
        const stored = isDequantized ? "uint8" : type;
        for (const part of ["value", "index"] as const) {
          const outputs = part === "value" ? ["y", ""] : ["", "y"];
          const top = {
            op: "TopK",
            inputs: [isDequantized ? "r" : "x", "k"],
            outputs,
            attributes: { axis, largest },
          };
          const nodes = isDequantized ? [node("DequantizeLinear", ["x", "s"], {}, "r"), top] : [top];
          const output = part === "index" ? "int64" : isDequantized ? "float32" : stored;
          const constants = { k: i64(k), s: t("float32", [], [1]) };
          const found = run(t(stored, dims, data), nodes, output, constants).outputs.y;
          expect(found, `${part} of [${dims}] along ${axis}, k ${k}`).toEqual(picks(part));
        }
      }
    },
  );
});
