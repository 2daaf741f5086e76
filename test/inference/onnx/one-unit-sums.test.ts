/** Sums and differences of quantized tensors in integers alone against binary64: at most one unit off. */
import { describe, expect, it } from "vitest";
import type { Quantized } from "../../support/one-unit.ts";
import { measurePair, operand, SHAPES, TYPES } from "../../support/one-unit-pairs.ts";
import type { TestGraph, TestTensor } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const INTEGERS = { arithmetic: "integers" } as const;
describe("sums in integers", () => {
  it.each(TYPES.flatMap((a) => TYPES.map((b) => [a, b] as const)))(
    "behavior: %s and %s",
    async (...types) => {
      const found = { compared: 0, different: 0, steps: 0, floats: 0 };
      for (let seed = 0; seed < scaled(1, 12); seed++) {
        for (const [index, shapes] of SHAPES.entries()) {
          const rng = createRng(9000 + 10 * seed + index);
          const [a, b] = [operand(rng, types[0], shapes[0]), operand(rng, types[1], shapes[1])];
          const [op, isConstant] = [rng.pick(["Add", "Sub"] as const), rng.chance(0.3)];
          const f = (x: number, y: number): number => (op === "Add" ? x + y : x - y);
          for (const one of await measurePair(op, [a, b], isConstant, f, seed === 0)) {
            found.compared += one.compared;
            found.different += one.different;
            found.steps += one.opcodes.length;
            found.floats += one.opcodes.filter((opcode) => opcode === "float").length;
          }
        }
      }
      process.stdout.write(`${types}: ${found.different} of ${found.compared} different\n`);
      expect(found.different / found.compared).toBeLessThan(0.05);
      // A byte and one number are one table, which a float32 result of it would be read from.
      expect(found.floats).toBe(0);
      expect(found.steps).toBeGreaterThan(10);
    },
  );

  it("behavior: a mask of large constants stays in float32, and what it is added to keeps its digits", () => {
    const x = t("float32", [1, 4], [1, -2, 0.5, 3]);
    const wide = { s: t("float32", [], [2 ** -12]), z: t("int16", [], [0]) };
    const nodes = [
      node("QuantizeLinear", ["x", "s", "z"], {}, "i"),
      node("DequantizeLinear", ["i", "s", "z"], {}, "r"),
      node("Add", ["r", "mask"], {}, "p"),
      node("QuantizeLinear", ["p", "s", "z"], {}, "q"),
      node("Cast", ["q"], { to: 6 }),
    ];
    const added = (mask: readonly number[]) =>
      run(x, nodes, "int32", { ...wide, mask: t("float32", [4], mask) }, INTEGERS);
    const far = added([0, -1e9, 0, -1e9]);
    expect(far.outputs.y).toEqual([4096, -32_768, 2048, -32_768]);
    const floatsOf = ({ imported }: ReturnType<typeof run>) =>
      imported.model.program.steps.filter(
        ({ opcode }, i) => opcode === "float" && imported.nodes[i]?.startsWith("Add"),
      ).length;
    expect(floatsOf(far)).toBeGreaterThan(0);
    const near = added([0.25, -1, 0, 2.5]);
    expect([near.outputs.y, floatsOf(near)]).toEqual([[5120, -12_288, 2048, 22_528], 0]);
  });

  const enter = (from: string, scale: number, type: Quantized, zero: number, to: string) => ({
    nodes: [node("DequantizeLinear", [from, `${to}s`, `${to}z`], {}, to)],
    constants: { [`${to}s`]: t("float32", [], [scale]), [`${to}z`]: t(type, [], [zero]) },
  });

  it("behavior: what stands for 0 becomes 0, and each operand is off by half a unit", () => {
    for (let zero = 3; zero < 40; zero++) {
      const scale = Math.fround(0.001 + zero * 0.00037);
      const { nodes, constants } = enter("x", scale, "uint8", zero, "r");
      const x = [zero, 0, 255, 100];
      const c = t("float32", [4], [0, 0, 0, 0]);
      const { outputs } = run(
        t("uint8", [4], x),
        [...nodes, node("Add", ["r", "c"])],
        "float32",
        { ...constants, c },
        INTEGERS,
      );
      const unit = 2 ** -Math.floor(24 - Math.log2((255 - zero) * scale));
      expect(outputs.y?.[0]).toBe(0);
      x.forEach((q, i) => {
        expect(Math.abs((outputs.y?.[i] as number) - (q - zero) * scale)).toBeLessThan(0.52 * unit);
      });
    }
  });

  it("behavior: an operand that is 0 as a whole has no size, whatever its scale", () => {
    const [none, other] = [enter("n", 10, "uint8", 5, "r"), enter("x", 1e-6, "uint8", 5, "v")];
    const nodes = [
      node("Min", ["x", "o"], {}, "m"),
      node("Max", ["m", "o"], {}, "n"),
      ...[...none.nodes, ...other.nodes],
      node("Add", ["r", "v"]),
    ];
    const constants = { o: t("uint8", [], [5]), ...none.constants, ...other.constants };
    const { outputs } = run(t("uint8", [2], [1, 200]), nodes, "float32", constants, INTEGERS);
    expect(outputs.y?.map((y) => Math.round(y * 1e9))).toEqual([-4000, 195_000]);
  });

  it("behavior: beside a far larger operand the sum stays in float32", () => {
    const given = enter("x", 1e-3, "int8", 0, "r");
    const constants = { rs: given.constants.rs as TestTensor, c: t("float32", [2], [0.5, 1]) };
    const nodes = [node("DequantizeLinear", ["x", "rs"], {}, "r"), node("Add", ["r", "c"])];
    const { outputs } = run(t("int32", [2], [100, -250]), nodes, "float32", constants, INTEGERS);
    expect(outputs.y).toEqual([0.6, 0.75].map(Math.fround));
    for (const scale of [1e4 / 255, 2 ** 60]) {
      const mask = enter("u", Math.fround(scale), "uint8", 255, "v");
      const [s, z] = [t("float32", [], [2 ** -12]), t("int16", [], [0])];
      const graph: TestGraph = {
        nodes: [
          node("QuantizeLinear", ["x", "s", "z"], {}, "i"),
          node("DequantizeLinear", ["i", "s", "z"], {}, "r"),
          ...mask.nodes,
          node("Add", ["r", "v"], {}, "p"),
          node("QuantizeLinear", ["p", "s", "z"], {}, "q"),
          node("Cast", ["q"], { to: 6 }),
        ],
        inputs: { x: { type: "float32", dims: [3] }, u: { type: "uint8", dims: [3] } },
        outputs: { y: "int32" },
        constants: { s, z, ...mask.constants },
        opset: 21,
      };
      const inputs = { x: t("float32", [3], [1, 2, 0.3]), u: t("uint8", [3], [255, 0, 255]) };
      expect(runGraph(graph, inputs, INTEGERS).outputs.y).toEqual([4096, -32_768, 1229]);
    }
  });

  it("behavior: a product of bytes takes any constant", () => {
    const [x, w] = [enter("x", 2 ** -4, "uint8", 3, "r"), enter("wq", 2 ** -8, "int8", 0, "v")];
    const constants = {
      ...x.constants,
      ...w.constants,
      wq: t("int8", [3, 2], [1, 2, 3, 4, 5, 6]),
      s: t("float32", [], [2 ** -12]),
      z: t("int16", [], [0]),
      c: t("float32", [2], [0.5, -0.25]),
      f: t("float32", [2, 2], [0.5, -0.25, 1, 2]),
    };
    const results = [
      ["Add", "p", "c"],
      ["Sub", "p", "c"],
      ["Sub", "c", "p"],
      ["Add", "p", "f"],
    ].map(([op = "", ...operands]) => {
      const nodes = [
        ...[...x.nodes, ...w.nodes],
        node("MatMul", ["r", "v"], {}, "p"),
        node(op, operands, {}, "a"),
        node("QuantizeLinear", ["a", "s", "z"], {}, "q"),
        node("Cast", ["q"], { to: 6 }),
      ];
      return run(t("uint8", [1, 3], [1, 2, 3]), nodes, "int32", constants, INTEGERS).outputs.y;
    });
    // The products are -5 and -8 in units of 2^-12.
    expect(results).toEqual([
      [2043, -1032],
      [-2053, 1016],
      [2053, -1016],
      [2043, -1032, 4091, 8184],
    ]);
  });
});
