import { describe, expect, it } from "vitest";

import { isBaseError } from "../../../base/errors.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { node, range, run, t } from "../../support/onnx-nodes.ts";

const scale = t("float32", [], [0.5]);
const dequantize = node("DequantizeLinear", ["x", "s", "z"], {}, "r");

/** float32 result of nodes on dequantized bytes, scale 1/2. */
const real = (
  x: TestTensor,
  zero: number,
  nodes: readonly TestNode[],
  constants: Readonly<Record<string, TestTensor>> = {},
) => run(x, [dequantize, ...nodes], "float32", { s: scale, z: t(x.type, [], [zero]), ...constants });

function refusal(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    if (isBaseError(error, "IMPORT_REFUSED") || isBaseError(error, "PROFILE_UNPROVEN")) return error.message;
    throw error;
  }
  return "accepted";
}

describe("Softmax", () => {
  const x = t("uint8", [2, 3], [10, 12, 9, 255, 0, 255]);
  it("default: the stated quotient of binary32 numbers, its sum in units of 2^-18", () => {
    const { outputs } = real(x, 7, [node("Softmax", ["r"])]);
    const expected = [0, 1].flatMap((row) => {
      const q = x.data.slice(3 * row, 3 * row + 3);
      const e = q.map((v) => Math.exp(-0.5 * (Math.max(...q) - v)));
      const parts = e.map((v) => Math.round(2 ** 36 * v));
      const wholes = parts.reduce((sum, v) => sum + Math.floor(v / 2 ** 18), 0);
      const rests = parts.reduce((sum, v) => sum + (v % 2 ** 18), 0);
      const divisor = Math.fround(Math.fround(wholes) + Math.fround(rests) * 2 ** -18);
      return e.map((v) => (v < 2 ** -100 ? 0 : Math.fround(Math.fround(2 ** 18 * v) / divisor)));
    });
    expect(outputs.y).toEqual(expected);
    expect(expected.slice(3)).toEqual([0.5, 0, 0.5]);
  });
  it("behavior: what is below 2^-100 of the largest is 0", () => {
    // exp(−69) is above 2^-100, exp(−70) below.
    const { outputs } = real(t("uint8", [1, 3], [60, 62, 200]), 0, [node("Softmax", ["r"])]);
    expect(outputs.y).toEqual([0, Math.fround(Math.fround(2 ** 18 * Math.exp(-69)) / 2 ** 18), 1]);
  });
  it("error: rows whose sums could leave s32", () => {
    const long = t(
      "uint8",
      [1, 8192],
      range(8192).map(() => 1),
    );
    expect(refusal(() => real(long, 0, [node("Softmax", ["r"])]))).toContain("can leave s32");
  });
  it("behavior: of float32, what is masked is 0 and a row that is masked as a whole is even", () => {
    const x = t("float32", [2, 3], [1, 1, 0, 0, 0, 0]);
    const masked = [
      node("Equal", ["x", "zero"], {}, "absent"),
      node("Where", ["absent", "least", "x"], {}, "scores"),
      node("Softmax", ["scores"]),
    ];
    const constants = { zero: t("float32", [], [0]), least: t("float32", [], [Number.NEGATIVE_INFINITY]) };
    const { outputs, imported } = run(x, masked, "float32", constants);
    const third = Math.fround(1 / 3);
    expect(outputs.y).toEqual([0.5, 0.5, 0, third, third, third]);
    expect(imported.notes.join()).toContain("stands for the infinite numbers");
  });
  it("error: of integers", () => {
    const integers = t("int32", [1, 2], [1, 2]);
    expect(refusal(() => run(integers, [node("Softmax", ["x"])], "float32"))).toContain(
      "its operand is int32",
    );
  });
});

describe("LayerNormalization", () => {
  const x = t("int8", [1, 4], [-128, -127, 126, 127]);
  const g = t("float32", [4], [1, 1, 2, 1]);
  it("default: of a row that is symmetric to its mean, whatever the zero point", () => {
    for (const zero of [-128, 5]) {
      const { outputs } = real(x, zero, [node("LayerNormalization", ["r", "g"])], { g });
      const [a = 0, b = 0, c = 0, d = 0] = outputs.y ?? [];
      expect([a, 2 * b]).toEqual([-d, -c]);
      expect(d).toBeCloseTo(127.5 / Math.sqrt((127.5 ** 2 + 126.5 ** 2) / 2), 6);
    }
  });
  it("behavior: a row of equal numbers is 0", () => {
    const flat = t("uint8", [1, 4], [9, 9, 9, 9]);
    const { outputs } = real(flat, 0, [node("LayerNormalization", ["r", "g"])], { g });
    expect(outputs.y?.map(Math.abs)).toEqual([0, 0, 0, 0]);
  });
  it("error: a gain that is computed or too short, its other outputs", () => {
    const own = node("LayerNormalization", ["r", "r"]);
    expect(refusal(() => real(x, 0, [own]))).toContain("no float32 constant of 4 elements");
    const short = node("LayerNormalization", ["r", "g"]);
    expect(refusal(() => real(x, 0, [short], { g: t("float32", [1], [1]) }))).toContain("of 4 elements");
    const mean = { ...node("LayerNormalization", ["r", "g"]), outputs: ["n", "y"] };
    expect(refusal(() => real(x, 0, [mean], { g }))).toContain("its output y is used");
  });
});

describe("products of two computed operands", () => {
  it("default: an outer product of vectors as matrices", () => {
    const x = t("uint8", [3, 1], [1, 2, 255]);
    const nodes = [node("Transpose", ["x"], { perm: [1, 0] }, "u"), node("MatMulInteger", ["x", "u", "z"])];
    const { outputs } = run(x, nodes, "int32", { z: t("uint8", [], [1]) });
    expect(outputs.y).toEqual([0, 0, 0, 1, 2, 255, 254, 508, 254 * 255]);
  });
  it("error: as pairs more products than a step holds, and inner dims that do not fit", () => {
    const [m, k] = [300, 200];
    const x = t(
      "uint8",
      [m, k],
      range(m * k).map(() => 0),
    );
    const turned = node("Transpose", ["x"], { perm: [1, 0] }, "u");
    const nodes = [turned, node("MatMulInteger", ["x", "u"], {}, "p"), node("ReduceMax", ["p"])];
    expect(refusal(() => run(x, nodes, "int32", {}, { products: "pairs" }))).toContain(
      "dims [1,300,300,200], above rank 6, 16777215 elements",
    );
    const small = t("uint8", [2, 3], range(6));
    expect(refusal(() => run(small, [node("MatMulInteger", ["x", "x"])], "int32"))).toContain("inner dims");
  });
  it("error: an operand with a scale for each column", () => {
    const x = t("uint8", [2, 2], [1, 2, 3, 4]);
    const nodes = [
      node("DequantizeLinear", ["x", "v"], { axis: 1 }, "a"),
      node("MatMul", ["a", "a"], {}, "p"),
      node("QuantizeLinear", ["p", "s", "z"]),
    ];
    const constants = { v: t("float32", [2], [0.5, 1]), s: scale, z: t("uint8", [], [0]) };
    expect(refusal(() => run(x, nodes, "uint8", constants))).toContain("one scale");
  });
});
