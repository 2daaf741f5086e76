import { describe, expect, it } from "vitest";

import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { node, range, run, t } from "../../support/onnx-nodes.ts";
import { type GraphRun, runGraph } from "../../support/onnx-run.ts";

describe("Gather", () => {
  const ids = t("int32", [2, 3], [0, 3, 1, 2, 2, 0]);
  const table = t("int8", [4, 2], [0, 0, 5, -6, 7, 8, -128, 127]);
  const sum = [
    node("Gather", ["t", "x"], {}, "g"),
    node("Cast", ["g"], { to: 6 }, "i"),
    node("ReduceSum", ["i", "axes"], { keepdims: 0 }),
  ];
  const axes = t("int64", [1], [1]);
  it("behavior: Gather, Cast, ReduceSum of a table with row 0 zero is one LOOKUP", () => {
    const { outputs, imported } = run(ids, sum, "int32", { t: table, axes });
    expect(outputs.y).toEqual([-123, 121, 14, 16]);
    expect(imported.model.program.steps.map((s) => s.opcode)).toEqual(["codec", "lookup"]);
    expect(imported.notes[0]).toContain("ids outside are clamped");
  });
  it("behavior: a table with another row 0, and more ids than a LOOKUP takes", () => {
    const shifted = t("int8", [4, 2], [1, 1, 5, -6, 7, 8, -128, 127]);
    expect(run(ids, sum, "int32", { t: shifted, axes }).outputs.y).toEqual([-122, 122, 15, 17]);
    const many = t(
      "int32",
      [1, 40],
      range(40).map((i) => i % 4),
    );
    expect(run(many, sum, "int32", { t: table, axes }).outputs.y).toEqual([
      10 * (5 + 7 - 128),
      10 * (-6 + 8 + 127),
    ]);
  });
  it("default: constant indices of an activation", () => {
    const pick = (indices: TestTensor, axis: number): readonly number[] | undefined =>
      run(ids, [node("Gather", ["x", "i"], { axis })], "int32", { i: indices }).outputs.y;
    expect(pick(t("int64", [], [-1]), 0)).toEqual([2, 2, 0]);
    expect(pick(t("int64", [2], [2, 0]), 1)).toEqual([1, 0, 0, 2]);
    expect(pick(t("int64", [4], [2, 0, 0, 1]), 1)).toEqual([1, 0, 0, 3, 0, 2, 2, 2]);
  });
});

describe("moves", () => {
  const x = t("int32", [2, 3, 4], range(24));
  const one = (n: TestNode, constants: Record<string, TestTensor> = {}): GraphRun =>
    run(x, [n], "int32", constants);
  it("default: Transpose of every order", () => {
    for (const perm of [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ]) {
      const dims = perm.map((p) => x.dims[p] as number);
      const expected = range(24).map((i) => {
        const at = [
          Math.floor(i / ((dims[1] ?? 1) * (dims[2] ?? 1))),
          Math.floor(i / (dims[2] ?? 1)) % (dims[1] ?? 1),
          i % (dims[2] ?? 1),
        ];
        const source = [0, 0, 0];
        perm.forEach((p, k) => {
          source[p] = at[k] as number;
        });
        return ((source[0] ?? 0) * 3 + (source[1] ?? 0)) * 4 + (source[2] ?? 0);
      });
      expect(one(node("Transpose", ["x"], { perm })).outputs.y).toEqual(expected);
    }
  });
  it("default: Slice with steps and open ends, Pad, Concat, Reshape, Squeeze, Unsqueeze, Flatten", () => {
    const i64 = (...data: number[]): TestTensor => t("int64", [data.length], data);
    const sliced = one(node("Slice", ["x", "s", "e", "a", "p"]), {
      s: i64(-1, 0),
      e: i64(-99, 2 ** 40),
      a: i64(2, 1),
      p: i64(-2, 2),
    });
    expect(sliced.outputs.y).toEqual([3, 1, 11, 9, 15, 13, 23, 21]);
    const padded = one(node("Pad", ["x", "p", "v"]), { p: i64(0, 1, 0, 0, 0, 1), v: t("int32", [], [-7]) });
    expect(padded.dims.y).toEqual([2, 4, 5]);
    expect(padded.outputs.y?.slice(0, 10)).toEqual([-7, -7, -7, -7, -7, 0, 1, 2, 3, -7]);
    const joined = one(node("Concat", ["x", "c", "x"], { axis: 1 }), {
      c: t("int32", [2, 1, 4], range(8, 100)),
    });
    expect(joined.outputs.y?.slice(0, 16)).toEqual([...range(12), ...range(4, 100)]);
    expect(joined.dims.y).toEqual([2, 7, 4]);
    expect(one(node("Reshape", ["x", "s"]), { s: i64(0, -1, 2) }).dims.y).toEqual([2, 6, 2]);
    expect(one(node("Unsqueeze", ["x", "s"]), { s: i64(0, -1) }).dims.y).toEqual([1, 2, 3, 4, 1]);
    expect(one(node("Flatten", ["x"], { axis: 2 })).dims.y).toEqual([6, 4]);
  });
  it("behavior: a slice of a padded slice is one MOVE", () => {
    const i64 = (...data: number[]): TestTensor => t("int64", [data.length], data);
    const { outputs, imported } = run(
      t("int32", [4, 3], range(12, 1)),
      [
        node("Slice", ["x", "s", "e", "a"], {}, "c"),
        node("Pad", ["c", "p"], {}, "d"),
        node("Slice", ["d", "z", "n", "r"]),
      ],
      "int32",
      { s: i64(1), e: i64(3), a: i64(1), p: i64(1, 0, 0, 0), z: i64(0), n: i64(4), r: i64(0) },
    );
    expect(outputs.y).toEqual([0, 0, 2, 3, 5, 6, 8, 9]);
    expect(imported.model.program.steps.map((s) => s.opcode)).toEqual(["codec", "move"]);
  });
});

describe("several inputs and outputs", () => {
  it("default: raw joins both in declared order", () => {
    const graph = {
      nodes: [node("Add", ["a", "b"], {}, "s"), node("Cast", ["u"], { to: 6 }, "c")],
      inputs: {
        a: { type: "uint8", dims: [2] },
        u: { type: "int8", dims: [3] },
        b: { type: "uint8", dims: [2] },
      },
      outputs: { s: "int32", c: "int32" },
    } as const;
    const widened = {
      ...graph,
      nodes: [
        node("Cast", ["a"], { to: 6 }, "a32"),
        node("Cast", ["b"], { to: 6 }, "b32"),
        node("Add", ["a32", "b32"], {}, "s"),
        graph.nodes[1] as TestNode,
      ],
    };
    const inputs = {
      a: t("uint8", [2], [250, 1]),
      u: t("int8", [3], [-128, 0, 127]),
      b: t("uint8", [2], [10, 2]),
    };
    const { outputs, imported } = runGraph(widened, inputs);
    expect(outputs).toEqual({ s: [260, 3], c: [-128, 0, 127] });
    expect(imported.model.program.inputSize).toBe(7);
    expect(imported.model.program.outputCodec).toBe("raw");
  });
});
