/** What import refuses of operators that are lowered to several steps: each by its reason, and its neighbour is taken. */
import { describe, expect, it } from "vitest";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { onnxFile, type TestNode, type TestTensor } from "../../support/onnx-file.ts";
import { node, range, t } from "../../support/onnx-nodes.ts";

interface Refused {
  readonly node: TestNode;
  readonly constants?: Readonly<Record<string, TestTensor>>;
  readonly x?: readonly [type: "int32" | "uint8" | "float32", dims: readonly number[]];
  readonly why: string;
}

const i64 = (...data: number[]): TestTensor => t("int64", [data.length], data);
const IMAGE = ["uint8", [1, 6, 4, 4]] as const;

const REFUSED: readonly Refused[] = [
  { node: node("Pad", ["x", "p"]), constants: { p: i64(1, 1, 1) }, why: "it has 3 pads" },
  {
    node: node("Pad", ["x", "p"], { mode: "mirror" }),
    constants: { p: i64(1, 1, 1, 1) },
    why: "its mode is mirror",
  },
  {
    node: node("Pad", ["x", "p"], { mode: "edge" }),
    constants: { p: i64(-4, 0, 4, 0) },
    why: "it pads 4 elements by -4 and 4",
  },
  { node: node("Pad", ["x", "p", "x"]), constants: { p: i64(1, 1, 1, 1) }, why: "its pad value is computed" },
  { node: node("DepthToSpace", ["x"], { blocksize: 2 }), x: IMAGE, why: "it has 6 channels for blocks of 4" },
  { node: node("DepthToSpace", ["x"], { blocksize: 2 }), why: "its input is [4,5], its blocksize 2" },
  { node: node("SpaceToDepth", ["x"], { blocksize: 3 }), x: IMAGE, why: "its image is 4x4 for blocks of 3" },
  { node: node("Resize", ["x", "", "s"], { mode: "linear" }), x: IMAGE, why: "its mode is linear" },
  {
    node: node("Resize", ["x", "", "s"], { coordinate_transformation_mode: "tf_crop_and_resize" }),
    x: IMAGE,
    why: "it resizes by tf_crop_and_resize",
  },
  {
    node: node("Resize", ["x", "", "s"], { nearest_mode: "up" }),
    x: IMAGE,
    why: "it resizes by up",
  },
  { node: node("Resize", ["x", "", "tiny"]), x: IMAGE, why: "it resizes axis 2 to 0" },
  {
    node: node("Resize", ["x", "", "", "z"], { keep_aspect_ratio_policy: "not_larger" }),
    x: IMAGE,
    why: "it keeps the aspect ratio",
  },
  { node: node("Trilu", ["x"]), x: ["int32", [7]], why: "its input is [7]" },
  { node: node("OneHot", ["x", "three", "v"]), x: ["float32", [4]], why: "its ids are float32" },
  { node: node("OneHot", ["x", "none", "v"]), why: "its depth is 0" },
  { node: node("Hardmax", ["h"]), why: "its input is constant" },
  { node: node("GatherElements", ["x", "ids"]), why: "its ids are [4,2] for data [4,5]" },
  { node: node("GatherElements", ["x", "real"], { axis: 1 }), why: "its ids are float32" },
  { node: node("TopK", ["x", "none"]), why: "its k is 0 of 5 elements" },
  { node: node("TopK", ["x", "six"]), why: "its k is 6 of 5 elements" },
  { node: node("TopK", ["x", "seventeen"]), x: ["int32", [40]], why: "its k is 17 of 40 elements" },
  { node: node("CumSum", ["x", "axis"]), x: ["float32", [4]], why: "it sums float32" },
  { node: node("Mod", ["x", "d"]), x: ["uint8", [4]], why: "it mixes uint8 and int32" },
  { node: node("Mod", ["x", "h"]), x: ["float32", [2, 2]], why: "it divides float32" },
  { node: node("Mod", ["d", "nought"]), why: "it divides constants by 0" },
  { node: node("PRelu", ["x", "d"]), why: "its operand is int32" },
  { node: node("Einsum", ["x"], { equation: "ab->a" }), why: "sums one operand" },
  { node: node("Einsum", ["x"], { equation: "aa->a" }), why: "its term aa is of [4,5]" },
  { node: node("Einsum", ["x", "x"], { equation: "ab,bc->ac" }), why: "its letter b is 5 and 4" },
  { node: node("Einsum", ["x", "x"], { equation: "ab,ab->ab" }), why: "is no product of matrices" },
  { node: node("Einsum", ["x"], { equation: "ab" }), why: "its equation is ab" },
];

const CONSTANTS: Readonly<Record<string, TestTensor>> = {
  s: t("float32", [4], [1, 1, 2, 2]),
  tiny: t("float32", [4], [1, 1, 0.1, 1]),
  z: i64(1, 6, 8, 8),
  three: t("int32", [], [3]),
  none: i64(0),
  six: i64(6),
  seventeen: i64(17),
  v: t("int32", [2], [0, 1]),
  h: t("float32", [2, 2], [1, 2, 3, 4]),
  ids: t(
    "int32",
    [4, 2],
    range(8).map((i) => i % 4),
  ),
  real: t("float32", [4, 2], range(8)),
  axis: t("int32", [], [0]),
  d: t("int32", [1], [7]),
  nought: t("int32", [1], [0]),
};

describe("importOnnx", () => {
  it.each(REFUSED.map((one) => [`${one.node.op}: ${one.why}`, one] as const))("error: %s", (_, one) => {
    const [type, dims] = one.x ?? ["int32", [4, 5]];
    const graph = {
      nodes: [one.node],
      inputs: { x: { type, dims } },
      outputs: { y: undefined },
      constants: { ...CONSTANTS, ...one.constants },
      opset: 21,
    };
    expect(() => importOnnx(onnxFile(graph))).toThrow(one.why);
  });

  it("error: normalizations of rows that are too long", () => {
    const normalized = (n: number): Uint8Array =>
      onnxFile({
        nodes: [
          node("DequantizeLinear", ["x", "s"], {}, "r"),
          node("RMSNormalization", ["r", "g"], {}, "p"),
          node("QuantizeLinear", ["p", "s"]),
        ],
        inputs: { x: { type: "uint8", dims: [1, n] } },
        outputs: { y: "uint8" },
        constants: { s: t("float32", [], [0.25]), g: t("float32", [n], Array(n).fill(1)) },
        opset: 23,
      });
    expect(() => importOnnx(normalized(32_768))).toThrow("it normalizes 32768 elements");
    expect(importOnnx(normalized(32_767)).model.program.steps.length).toBeGreaterThan(5);
  });
});
