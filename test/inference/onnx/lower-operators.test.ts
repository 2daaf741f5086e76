import { describe, expect, it } from "vitest";

import { isBaseError } from "../../../base/errors.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { microsoft, node, range, run, t } from "../../support/onnx-nodes.ts";

const f = Math.fround;

function halfEven(v: number): number {
  const floor = Math.floor(v);
  return v - floor > 0.5 || (v - floor === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}
const quant = (v: number, s: number, z: number): number =>
  Math.min(Math.max(halfEven(f(v / f(s))) + z, 0), 255);
const dequant = (q: number, s: number, z: number): number => f((q - z) * f(s));

describe("element-wise operators on int32", () => {
  const x = t("int32", [2, 3], [-5, 4, 0, 7, -8, 100]);
  const constants = {
    c: t("int32", [3], [2, -3, 10]),
    k: t("int32", [], [7]),
    d: t("int32", [3], [2, 3, 7]),
  };
  const clipped = { a: t("int32", [], [-100]), b: t("int32", [], [100]) };
  const small = node("Clip", ["x", "a", "b"], {}, "s");
  it.each<[string, (a: number, i: number) => number]>([
    ["Add", (a, i) => a + ([2, -3, 10][i % 3] as number)],
    ["Sub", (a, i) => a - ([2, -3, 10][i % 3] as number)],
    ["Mul", (a, i) => a * ([2, -3, 10][i % 3] as number)],
    ["Min", (a, i) => Math.min(a, [2, -3, 10][i % 3] as number)],
    ["Max", (a, i) => Math.max(a, [2, -3, 10][i % 3] as number)],
  ])("default: %s", (op, expected) => {
    const { outputs } = run(x, [small, node(op, ["s", "c"])], "int32", { ...constants, ...clipped });
    expect(outputs.y).toEqual(x.data.map(expected));
  });
  it("default: Div truncates toward zero", () => {
    const { outputs } = run(x, [node("Div", ["x", "d"])], "int32", constants);
    expect(outputs.y).toEqual([-2, 1, 0, 3, -2, 14]);
  });
  it("default: Relu, Clip and variadic Max", () => {
    expect(run(x, [node("Relu", ["x"])], "int32").outputs.y).toEqual([0, 4, 0, 7, 0, 100]);
    expect(
      run(x, [node("Clip", ["x", "a", "b"])], "int32", { a: t("int32", [], [-6]), b: t("int32", [], [5]) })
        .outputs.y,
    ).toEqual([-5, 4, 0, 5, -6, 5]);
    expect(run(x, [node("Max", ["x", "c", "k"])], "int32", constants).outputs.y).toEqual([
      7, 7, 10, 7, 7, 100,
    ]);
  });
  it("error: overflow and divisors below 1 are named by node", () => {
    for (const [op, what] of [
      ["Mul", "can leave s32"],
      ["Div", "divisor can be below 1"],
    ] as const) {
      try {
        run(x, [{ ...node(op, ["x", "x"]), name: "risky" }], "int32");
        expect.unreachable();
      } catch (error) {
        if (!isBaseError(error, "PROFILE_UNPROVEN")) throw error;
        expect(error.message).toContain("node risky");
        expect(error.message).toContain(what);
      }
    }
  });
});

describe("element-wise operators on float32", () => {
  const x = t("int32", [4], [1, 9, 250, 77]);
  const cast = [node("Clip", ["x", "lo", "hi"], {}, "c"), node("Cast", ["c"], { to: 1 }, "r")];
  const constants = {
    lo: t("int32", [], [1]),
    hi: t("int32", [], [1000]),
    h: t("float32", [], [0.3]),
    z: t("float32", [], [0.125]),
    n: t("int32", [], [0]),
  };
  const through = (nodes: readonly TestNode[], g: (v: number) => number): void => {
    const quantize = node("QuantizeLinear", ["v", "z", "zp"]);
    const { outputs } = run(x, [...cast, ...nodes, quantize], "uint8", {
      ...constants,
      zp: t("uint8", [], [3]),
    });
    expect(outputs.y).toEqual(x.data.map((v) => quant(g(v), 0.125, 3)));
  };
  it("default: Add, Sub, Mul, Div, Sqrt, Min, Max", () => {
    through([node("Add", ["r", "h"], {}, "v")], (v) => f(v + f(0.3)));
    through([node("Sub", ["h", "r"], {}, "v")], (v) => f(f(0.3) - v));
    through([node("Mul", ["r", "h"], {}, "v")], (v) => f(v * f(0.3)));
    through([node("Div", ["h", "r"], {}, "v")], (v) => f(f(0.3) / v));
    through([node("Sqrt", ["r"], {}, "v")], (v) => f(Math.sqrt(v)));
    through([node("Min", ["r", "h"], {}, "v")], (v) => Math.min(v, f(0.3)));
    through([node("Max", ["r", "h"], {}, "v")], (v) => Math.max(v, f(0.3)));
  });
  it("error: roots of negative numbers and divisors of 0", () => {
    const raw = t("float32", [1], [1]);
    for (const [nodes, what] of [
      [[node("Sqrt", ["x"])], "square root"],
      [[node("Div", ["one", "x"])], "divisor can be 0"],
    ] as const) {
      expect(() => run(raw, nodes, "float32", { one: t("float32", [], [1]) })).toThrow(what);
    }
  });
});

describe("com.microsoft", () => {
  const a = t("uint8", [2, 4], [0, 17, 128, 255, 3, 99, 200, 77]);
  const q = (s: string, z: string): string[] => [s, z];
  const constants = {
    as: t("float32", [], [0.02]),
    az: t("uint8", [], [100]),
    bs: t("float32", [], [0.013]),
    bz: t("uint8", [], [7]),
    ys: t("float32", [], [0.03]),
    yz: t("uint8", [], [90]),
    b: t("uint8", [4], [9, 200, 31, 128]),
  };
  it("default: QLinearAdd is dequantize, add, quantize in binary32", () => {
    const { outputs } = run(
      a,
      [microsoft("QLinearAdd", ["x", ...q("as", "az"), "b", ...q("bs", "bz"), ...q("ys", "yz")])],
      "uint8",
      constants,
    );
    const expected = a.data.map((v, i) =>
      quant(f(dequant(v, 0.02, 100) + dequant(constants.b.data[i % 4] as number, 0.013, 7)), 0.03, 90),
    );
    expect(outputs.y).toEqual(expected);
  });
  it("default: QLinearSigmoid and QLinearLeakyRelu are tables", () => {
    const sigmoid = run(
      a,
      [microsoft("QLinearSigmoid", ["x", ...q("as", "az"), ...q("ys", "yz")])],
      "uint8",
      constants,
    );
    expect(sigmoid.outputs.y).toEqual(
      a.data.map((v) => quant(f(1 / (1 + Math.exp(-dequant(v, 0.02, 100)))), 0.03, 90)),
    );
    const leaky = run(
      a,
      [microsoft("QLinearLeakyRelu", ["x", ...q("as", "az"), ...q("ys", "yz")], { alpha: { f: 0.1 } })],
      "uint8",
      constants,
    );
    const slope = f(0.1);
    expect(leaky.outputs.y).toEqual(
      a.data.map((v) => {
        const r = dequant(v, 0.02, 100);
        return quant(r >= 0 ? r : f(r * slope), 0.03, 90);
      }),
    );
    expect(leaky.imported.model.program.steps.map((s) => s.opcode)).toEqual(["codec", "table"]);
  });
  it("default: QLinearConcat requantizes each part", () => {
    const { outputs } = run(
      a,
      [microsoft("QLinearConcat", ["as", "az", "x", "as", "az", "x", "bs", "bz"], { axis: 1 })],
      "uint8",
      constants,
    );
    const part = (row: number): number[] => a.data.slice(4 * row, 4 * row + 4);
    const other = (v: number): number => quant(dequant(v, 0.013, 7), 0.02, 100);
    expect(outputs.y).toEqual([0, 1].flatMap((row) => [...part(row), ...part(row).map(other)]));
  });
});

describe("reductions", () => {
  const x = t(
    "int32",
    [2, 3, 4],
    range(24).map((i) => ((i * 7919) % 41) - 20),
  );
  const value = (i: number, j: number, k: number): number => x.data[(i * 3 + j) * 4 + k] as number;
  const axes = (...list: number[]): Record<string, TestTensor> => ({
    axes: t("int64", [list.length], list),
    lo: t("int32", [], [-20]),
    hi: t("int32", [], [20]),
  });
  const clip = node("Clip", ["x", "lo", "hi"], {}, "c");
  it("default: ReduceSum over any axes", () => {
    const middle = run(x, [clip, node("ReduceSum", ["c", "axes"], { keepdims: 0 })], "int32", axes(1));
    expect(middle.outputs.y).toEqual(
      [0, 1].flatMap((i) => range(4).map((k) => value(i, 0, k) + value(i, 1, k) + value(i, 2, k))),
    );
    expect(middle.dims.y).toEqual([2, 4]);
    const outer = run(x, [clip, node("ReduceSum", ["c", "axes"], { keepdims: 1 })], "int32", axes(0, -1));
    expect(outer.outputs.y).toEqual(
      range(3).map((j) => [0, 1].flatMap((i) => range(4).map((k) => value(i, j, k))).reduce((a, b) => a + b)),
    );
    expect(outer.dims.y).toEqual([1, 3, 1]);
  });
  it("default: ReduceMax, ArgMax with first and last index of equal values", () => {
    expect(run(x, [node("ReduceMax", ["x"], { axes: [0], keepdims: 0 })], "int32").outputs.y).toEqual(
      range(12).map((i) => Math.max(x.data[i] as number, x.data[i + 12] as number)),
    );
    const ties = t("int32", [2, 5], [3, 9, 9, 1, 9, -4, -4, -9, -4, -5]);
    expect(run(ties, [node("ArgMax", ["x"], { axis: 1, keepdims: 0 })], "int64").outputs.y).toEqual([1, 0]);
    expect(run(ties, [node("ArgMax", ["x"], { axis: 1, select_last_index: 1 })], "int64").outputs.y).toEqual([
      4, 3,
    ]);
    expect(run(ties, [node("ArgMax", ["x"], { axis: 0, keepdims: 0 })], "int64").outputs.y).toEqual([
      0, 0, 0, 0, 0,
    ]);
  });
  it("args: rows above 1,024 bytes are reduced in parts", () => {
    const long = t(
      "int32",
      [2, 700],
      range(1400).map((i) => (i * 31) % 1000),
    );
    const constants = { ...axes(1), hi: t("int32", [], [1000]) };
    const sums = run(long, [clip, node("ReduceSum", ["c", "axes"], { keepdims: 0 })], "int32", constants);
    expect(sums.outputs.y).toEqual(
      [0, 1].map((r) => long.data.slice(700 * r, 700 * r + 700).reduce((a, b) => a + b)),
    );
    const tops = run(long, [node("ReduceMax", ["x"], { axes: [1], keepdims: 0 })], "int32");
    expect(tops.outputs.y).toEqual([0, 1].map((r) => Math.max(...long.data.slice(700 * r, 700 * r + 700))));
  });
});

describe("MaxPool", () => {
  it("default: pads are below every value", () => {
    const x = t(
      "int8",
      [1, 2, 5, 4],
      range(40).map((i) => ((i * 37) % 256) - 128),
    );
    const pool = node("MaxPool", ["x"], { kernel_shape: [3, 2], strides: [2, 1], pads: [1, 0, 1, 1] });
    const { outputs, dims } = run(x, [pool], "int8");
    const expected: number[] = [];
    for (const c of [0, 1]) {
      for (const i of [0, 1, 2]) {
        for (const j of range(4)) {
          let best = -128;
          for (let r = 2 * i - 1; r < 2 * i + 2; r++) {
            for (let s = j; s < j + 2; s++)
              if (r >= 0 && r < 5 && s < 4) best = Math.max(best, x.data[(c * 5 + r) * 4 + s] as number);
          }
          expected.push(best);
        }
      }
    }
    expect(outputs.y).toEqual(expected);
    expect(dims.y).toEqual([1, 2, 3, 4]);
  });
});
