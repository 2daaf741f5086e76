import { describe, expect, it } from "vitest";

import { isBaseError } from "../../../base/errors.ts";
import type { OnnxType } from "../../../inference/onnx/graph.ts";
import { FUNCTIONS } from "../../../inference/onnx/lower/functions.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { node, range, run, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";

const i64 = (...data: number[]): TestTensor => t("int64", [data.length], data);

/** What the import of a graph of x says. */
function refusal(
  x: TestTensor,
  nodes: readonly TestNode[],
  output: OnnxType,
  constants: Readonly<Record<string, TestTensor>> = {},
): string {
  try {
    run(x, nodes, output, constants);
  } catch (error) {
    if (isBaseError(error, "IMPORT_REFUSED") || isBaseError(error, "PROFILE_UNPROVEN")) return error.message;
    throw error;
  }
  return "accepted";
}

describe("Where", () => {
  const condition = t("bool", [2, 1], [1, 0]);
  it.each<[OnnxType, readonly number[], readonly number[]]>([
    ["int8", [-128, 127, 0], [-1]],
    ["bool", [1, 0, 1], [0]],
  ])("args: %s, which onnxruntime does not select", (type, yes, no) => {
    const constants = { c: t(type, [3], yes), d: t(type, [1], no) };
    const { outputs, dims } = run(condition, [node("Where", ["x", "c", "d"])], type, constants);
    expect(dims.y).toEqual([2, 3]);
    expect(outputs.y).toEqual([...yes, ...no, ...no, ...no]);
  });
  it("behavior: operands of one scale are selected as bytes, others as float32", () => {
    const select = (other: number) =>
      runGraph(
        {
          nodes: [
            node("DequantizeLinear", ["x", "s"], {}, "a"),
            node("DequantizeLinear", ["u", "t"], {}, "b"),
            node("Greater", ["a", "b"], {}, "g"),
            node("Where", ["g", "a", "b"]),
          ],
          inputs: { x: { type: "uint8", dims: [3] }, u: { type: "uint8", dims: [3] } },
          outputs: { y: "float32" },
          constants: { s: t("float32", [], [0.5]), t: t("float32", [], [other]) },
        },
        { x: t("uint8", [3], [4, 9, 6]), u: t("uint8", [3], [3, 10, 6]) },
      );
    expect(select(0.5).outputs.y).toEqual([2, 5, 3]);
    expect(select(1).outputs.y).toEqual([3, 10, 6]);
    const types = select(0.5).imported.model.program.steps.filter((s) => s.opcode === "select");
    expect(types.map((s) => s.type)).toEqual(["u8"]);
  });
});

describe("Floor and Ceil", () => {
  it("behavior: zeros keep the sign that the definition gives them", () => {
    const x = t("float32", [6], [-0.75, -0.25, 0.25, 0.75, 2.5, -2.5]);
    const rounded = (op: string): readonly number[] | undefined =>
      run(x, [node(op, ["x"])], "float32").outputs.y;
    expect(rounded("Ceil")).toEqual([-0, -0, 1, 1, 3, -2]);
    expect(rounded("Floor")).toEqual([-1, -1, 0, 0, 2, -3]);
  });
});

describe("sums of float32", () => {
  const x = t("float32", [3], [0.25, -1, 2 ** -126]);
  it.each([
    ["Add", 1, [1.25, 0, 1]],
    ["Sub", 0.5, [-0.25, -1.5, -0.5]],
    ["Add", 2 ** -90, [0.25, -1, 2 ** -90]],
  ] as const)("behavior: %s of a number of the input and %d is no subnormal number", (op, c, expected) => {
    const { outputs } = run(x, [node(op, ["x", "c"])], "float32", { c: t("float32", [], [c]) });
    expect(outputs.y).toEqual(expected);
  });
  it("behavior: of numbers that nearly cancel, multiples of 2^-50 are taken", () => {
    const near = { c: t("float32", [], [2 ** -104]) };
    const small = t("float32", [3], [1.5, 3 * 2 ** -51, 2 ** -52]);
    const difference = run(small, [node("Sub", ["x", "c"])], "float32", near).outputs.y;
    expect(difference).toEqual([1.5, 2 ** -49, Math.fround(-(2 ** -104))]);
    expect(run(small, [node("Sub", ["x", "x"])], "float32").outputs.y).toEqual([0, 0, 0]);
  });
});

describe("Abs, Neg", () => {
  it("behavior: of s32 they must not leave it", () => {
    const x = t("int32", [2], [-5, 5]);
    expect(refusal(x, [node("Neg", ["x"])], "int32")).toContain("can leave s32");
    expect(refusal(x, [node("Abs", ["x"])], "int32")).toContain("can leave s32");
  });
  it("behavior: of int8 they wrap", () => {
    const x = t("int8", [4], [-128, -127, 0, 127]);
    expect(run(x, [node("Neg", ["x"])], "int8").outputs.y).toEqual([-128, 127, 0, -127]);
    expect(run(x, [node("Abs", ["x"])], "int8").outputs.y).toEqual([-128, 127, 0, 127]);
  });
});

describe("functions of a byte", () => {
  const x = t("uint8", [256], range(256));
  const around = (nodes: readonly TestNode[]): TestNode[] => [
    node("DequantizeLinear", ["x", "s", "z"], {}, "r"),
    ...nodes,
    node("QuantizeLinear", ["p", "s", "z"]),
  ];
  const constants = { s: t("float32", [], [0.25]), z: t("uint8", [], [128]), c: t("float32", [], [3]) };
  it("behavior: a Gelu that is written out is one table", () => {
    const nodes = [
      node("Div", ["r", "c"], {}, "d"),
      node("Erf", ["d"], {}, "e"),
      node("Mul", ["e", "r"], {}, "m"),
      node("Abs", ["m"], {}, "p"),
    ];
    const { imported } = run(x, around(nodes), "uint8", constants);
    expect(imported.model.program.steps.map((s) => s.opcode)).toEqual(["codec", "table"]);
  });
  it("behavior: a reader other than QuantizeLinear gets the number", () => {
    const nodes = [node("Exp", ["r"], {}, "e"), node("Add", ["e", "e"], {}, "p")];
    const small = { ...constants, s: t("float32", [], [0.0625]) };
    const [dequantize] = around([]) as [TestNode, ...TestNode[]];
    const numbers = [dequantize, ...nodes.slice(0, 1), node("Max", ["e", "v"])];
    const { outputs } = run(x, numbers, "float32", { ...small, v: t("float32", [2, 1], [0, 1]) });
    expect(outputs.y?.slice(255, 258)).toEqual([Math.fround(Math.exp(127 / 16)), 1, 1]);
    expect(run(x, around(nodes), "uint8", small).outputs.y?.[128]).toBe(128 + 32);
  });
  it("error: a function that has no number for a byte", () => {
    const message = refusal(x, around([node("Log", ["r"], {}, "p")]), "uint8", constants);
    expect(message).toContain("is NaN for the integer 0");
  });
  it("error: a function of float32 that is no byte and has no table", () => {
    const floats = t("float32", [2], [1, 2]);
    expect(refusal(floats, [node("Softplus", ["x"])], "float32")).toContain("of a byte it becomes a table");
  });
  // Digits of erf from Abramowitz and Stegun, table 7.1, and of erfc at 4.
  it.each([
    [0.5, 0.520499877813],
    [1, 0.84270079295],
    [2, 0.995322265019],
    [2.9999, 0.9999779],
    [3.0001, 0.9999779],
    [4, 1 - 1.541725790028e-8],
    [-1, -0.84270079295],
    [9, 1],
  ])("args: erf of %d", (at, expected) => {
    const erf = FUNCTIONS.Erf?.({} as never);
    expect(erf?.(at)).toBeCloseTo(expected, at > 2 && at < 4 ? 7 : 11);
  });
});

describe("averages", () => {
  it("error: of integers", () => {
    const x = t("int32", [1, 2, 4], range(8));
    expect(refusal(x, [node("ReduceMean", ["x"], { axes: [1] })], "int32")).toContain("it averages int32");
    expect(refusal(x, [node("GlobalAveragePool", ["x"])], "int32")).toContain("its operand is int32");
  });
});

describe("int64", () => {
  it("behavior: is held as s32 between a Cast and a Gather", () => {
    const x = t("uint8", [3], [2, 0, 1]);
    const nodes = [
      node("Cast", ["x"], { to: 7 }, "l"),
      node("Min", ["l", "most"], {}, "m"),
      node("Gather", ["t", "m"], { axis: 1 }),
    ];
    const { outputs, dims } = run(x, nodes, "int32", {
      most: t("int64", [], [2]),
      t: t("int32", [2, 3], [10, 11, 12, 20, 21, 22]),
    });
    expect(outputs.y).toEqual([12, 10, 11, 22, 20, 21]);
    expect(dims.y).toEqual([2, 3]);
  });
});

describe("Split, Expand, Tile", () => {
  const x = t("int32", [2, 5], range(10));
  const split = (attributes: Record<string, number>, outputs: readonly string[]): TestNode => ({
    op: "Split",
    inputs: ["x"],
    outputs,
    attributes,
  });
  it("default: parts as equal as they can be, the last one smaller", () => {
    const { outputs } = run(x, [split({ axis: 1, num_outputs: 2 }, ["a", "y"])], "int32");
    expect(outputs.y).toEqual([3, 4, 8, 9]);
  });
  it("args: a tensor of rank 4 repeated along three axes, more than one MOVE holds", () => {
    const y = t("int32", [2, 3, 1, 2], range(12));
    const { outputs, dims } = run(y, [node("Tile", ["x", "n"])], "int32", { n: i64(2, 2, 3, 2) });
    const expected = range(4).flatMap((i) =>
      range(6).flatMap((j) =>
        range(3).flatMap(() => range(4).map((l) => (i % 2) * 6 + (j % 3) * 2 + (l % 2))),
      ),
    );
    expect(dims.y).toEqual([4, 6, 3, 4]);
    expect(outputs.y).toEqual(expected);
  });
  it("error: sizes that do not sum up, repetitions that do not fit", () => {
    const wrong = { ...split({ axis: 1 }, ["a", "y"]), inputs: ["x", "n"] };
    expect(refusal(x, [wrong], "int32", { n: i64(2, 2) })).toContain("splits 5 into [2,2] for 2 outputs");
    expect(refusal(x, [node("Tile", ["x", "n"])], "int32", { n: i64(2) })).toContain("repeats [2,5] by [2]");
    expect(refusal(x, [node("Expand", ["x", "n"])], "int32", { n: i64(3, 5) })).toContain("do not broadcast");
  });
});

describe("operator sets before 10", () => {
  it("behavior: Slice has its bounds as attributes", () => {
    const graph = {
      nodes: [node("Slice", ["x"], { starts: [1], ends: [3], axes: [1] })],
      inputs: { x: { type: "int32", dims: [2, 4] } },
      outputs: { y: "int32" },
      opset: 7,
    } as const;
    expect(runGraph(graph, { x: t("int32", [2, 4], range(8)) }).outputs.y).toEqual([1, 2, 5, 6]);
  });
});

describe("Dropout", () => {
  it("error: in training mode", () => {
    const x = t("float32", [2], [1, 2]);
    const constants = { r: t("float32", [], [0.5]), m: t("bool", [], [1]) };
    expect(refusal(x, [node("Dropout", ["x", "r", "m"])], "float32", constants)).toContain("training mode");
    const off = { ...constants, m: t("bool", [], [0]) };
    const sum = [node("Dropout", ["x", "r", "m"], {}, "d"), node("Max", ["d", "d"])];
    expect(run(x, sum, "float32", off).outputs.y).toEqual([1, 2]);
  });
});

describe("outputs", () => {
  it("error: larger than any codec", () => {
    const x = t("int32", [20_000], range(20_000));
    const tile = node("Tile", ["x", "n"]);
    const raw = t(
      "uint8",
      [40_000],
      range(40_000).map(() => 1),
    );
    expect(() => run(raw, [tile], "uint8", { n: i64(2) })).toThrow("The outputs have 80000 bytes");
    expect(() => run(x, [tile], "int32", { n: i64(1) })).toThrow("codec raw holds 65536");
  });
});

describe("operators without a lowering", () => {
  it("error: names the way out", () => {
    const x = t("float32", [2], [1, 2]);
    expect(refusal(x, [node("GRU", ["x"])], "float32")).toContain("Unroll it");
    expect(refusal(x, [node("Loop", ["x"])], "float32")).toContain("Unroll it");
  });
});
