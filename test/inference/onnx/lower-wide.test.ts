import { describe, expect, it } from "vitest";

import { isBaseError } from "../../../base/errors.ts";
import type { TestNode, TestTensor } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";

const half = t("float32", [], [0.5]);
const wide = t("int16", [], [-7]);
const x = t("float32", [2, 3], [-1e5, -16_380.4, -0.75, 0.25, 16_387.2, 1e5]);
const quantize = node("QuantizeLinear", ["x", "s", "z"], {}, "q");
const dequantize = node("DequantizeLinear", ["q", "s", "z"], {}, "r");

function refusal(f: () => unknown): string {
  try {
    f();
  } catch (error) {
    if (isBaseError(error)) return error.message;
    throw error;
  }
  return "accepted";
}

/** Nodes on q (int16) and r (its numbers). */
const wideRun = (
  nodes: readonly TestNode[],
  output: TestTensor["type"],
  constants: Readonly<Record<string, TestTensor>> = {},
) => run(x, [quantize, dequantize, ...nodes], output, { s: half, z: wide, ...constants });

describe("QuantizeLinear to 16 bits", () => {
  it("default: rounds half to even, adds the zero point, saturates", () => {
    const { outputs } = wideRun([node("Identity", ["q"])], "int16");
    expect(outputs.y).toEqual([-32_768, -32_768, -9, -7, 32_767, 32_767]);
  });
  it("behavior: a constant is folded", () => {
    const nodes = [
      node("QuantizeLinear", ["c", "s", "z"], {}, "cq"),
      node("DequantizeLinear", ["cq", "s", "z"], {}, "cr"),
      node("Max", ["x", "cr"]),
    ];
    const constants = { c: t("float32", [1], [1e6]), s: half, z: wide };
    const { imported, outputs } = run(x, nodes, "float32", constants);
    expect(outputs.y?.slice(0, 4)).toEqual(Array(4).fill((32_767 + 7) / 2));
    expect(imported.model.program.steps.map((s) => s.opcode)).not.toContain("arith");
  });
  it("args: output_dtype names the type where there is no zero point", () => {
    const bytes = (code: number, output: TestTensor["type"]) =>
      run(x, [node("QuantizeLinear", ["x", "s"], { output_dtype: code })], output, { s: half }).outputs.y;
    expect(bytes(0, "uint8")).toEqual([0, 0, 0, 0, 255, 255]);
    expect(bytes(3, "int8")).toEqual([-128, -128, -2, 0, 127, 127]);
    expect(bytes(5, "int16")).toEqual([-32_768, -32_761, -2, 0, 32_767, 32_767]);
  });
  it("error: attributes that say something else", () => {
    const asked = (attributes: TestNode["attributes"]) =>
      refusal(() =>
        run(x, [node("QuantizeLinear", ["x", "s", "z"], attributes)], "int16", { s: half, z: wide }),
      );
    expect(asked({ output_dtype: 3 })).toContain("its output_dtype is int8, its zero point int16");
    expect(asked({ precision: 10 })).toContain("its precision is the type 10. Use float32");
    expect(asked({ block_size: 2 })).toContain("scales by blocks");
    expect(asked({ output_dtype: 21 })).toContain("output_dtype is the type 21");
  });
});

describe("16-bit activations", () => {
  const weights = { w: t("int8", [3, 1], [127, -128, 1]), ws: half, wz: t("int8", [], [0]) };
  const product = [
    node("DequantizeLinear", ["w", "ws", "wz"], {}, "v"),
    node("MatMul", ["r", "v"], {}, "p"),
    node("QuantizeLinear", ["p", "ys", "z"]),
  ];
  it("default: a product has no float step after the input", () => {
    const { imported, outputs } = wideRun(product, "int16", { ...weights, ys: t("float32", [], [128]) });
    const opcodes = imported.model.program.steps.map((s) => s.opcode);
    expect(opcodes.slice(opcodes.indexOf("dot"))).not.toContain("float");
    const q = [-32_768, -32_768, -9, -7, 32_767, 32_767].map((v) => v + 7);
    const sums = [0, 3].map((i) => 127 * (q[i] ?? 0) - 128 * (q[i + 1] ?? 0) + (q[i + 2] ?? 0));
    expect(outputs.y).toEqual(sums.map((sum) => Math.round(sum / 512) - 7));
  });
  it("behavior: two products share the bytes of their activation", () => {
    const bytesOf = (nodes: readonly TestNode[]) =>
      wideRun(nodes, "int16", {
        ...weights,
        ys: t("float32", [], [128]),
      }).imported.model.program.steps.filter((s) => s.type === "u8").length;
    const again = [
      ...product.slice(0, 2),
      node("QuantizeLinear", ["p", "ys", "z"], {}, "y1"),
      node("MatMul", ["r", "v"], {}, "p2"),
      node("QuantizeLinear", ["p2", "s", "z"], {}, "y2"),
      node("Max", ["y1", "y2"]),
    ];
    expect([bytesOf(product), bytesOf(again)]).toEqual([2, 2]);
  });
  it("error: what is refused, and the way out", () => {
    const wideWeights = { ...weights, w: t("int16", [3, 1], [1, 2, 3]), wz: t("int16", [], [0]) };
    expect(refusal(() => wideRun(product, "int16", { ...wideWeights, ys: half }))).toContain(
      "its weights are int16. Quantize weights to int8 or uint8",
    );
    for (const [nodes, output, reason] of [
      [
        [node("DequantizeLinear", ["c", "s", "z"], {}, "u"), node("MatMul", ["u", "r"])],
        "float32",
        "its operand is int16",
      ],
      [[node("MatMulInteger", ["q", "w"])], "int32", "its first operand is int16"],
      [[node("Add", ["q", "q"])], "int16", "it computes in int16, which wraps"],
      [[node("Neg", ["q"])], "int16", "its operand is int16. Cast to int32 first"],
      [[node("Cast", ["q"], { to: 4 })], "uint16", "casts to uint16"],
    ] as const) {
      const constants = { ...weights, c: t("int16", [1, 2], [1, 2]) };
      expect(refusal(() => wideRun(nodes, output, constants))).toContain(reason);
    }
    const input = () => run(t("uint16", [1], [1]), [node("Identity", ["x"])], "uint16");
    expect(refusal(input)).toContain("Input x is uint16; no codec gives uint16");
  });
});

describe("functions of one integer", () => {
  it("behavior: of a transposed tensor they keep its order", () => {
    const bytes = t("uint8", [2, 3], [0, 1, 2, 3, 4, 5]);
    const nodes = [
      node("Transpose", ["x"], { perm: [1, 0] }, "u"),
      node("DequantizeLinear", ["u", "s"], {}, "r"),
      node("Sigmoid", ["r"]),
    ];
    const { outputs } = run(bytes, nodes, "float32", { s: half });
    expect(outputs.y).toEqual([0, 3, 1, 4, 2, 5].map((v) => Math.fround(1 / (1 + Math.exp(-v / 2)))));
  });
});

describe("a vector times a matrix of weights", () => {
  it("default: has the dims that ONNX gives it, of 8 and of 16 bits", () => {
    const constants = {
      s: t("float32", [], [0.5]),
      w: t("int8", [3, 2], [1, 2, 3, 4, 5, 6]),
      one: t("float32", [], [1]),
    };
    for (const [type, dims] of [
      ["uint8", [2]],
      ["int16", [2]],
    ] as const) {
      const nodes = [
        node("QuantizeLinear", ["x", "s", "z"], {}, "q"),
        node("DequantizeLinear", ["q", "s", "z"], {}, "r"),
        node("DequantizeLinear", ["w", "one"], {}, "v"),
        node("MatMul", ["r", "v"], {}, "p"),
        node("QuantizeLinear", ["p", "s", "z"], {}, "o"),
        node("Cast", ["o"], { to: 6 }),
      ];
      const found = run(t("float32", [3], [1, 2, 0.5]), nodes, "int32", {
        ...constants,
        z: t(type, [], [0]),
      });
      expect([type, found.dims.y, found.outputs.y]).toEqual([type, dims, [19, 26]]);
    }
  });
});
