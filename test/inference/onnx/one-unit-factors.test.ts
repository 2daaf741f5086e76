/** Products, element by element, of quantized tensors in integers alone against binary64: at most one unit off. */
import { describe, expect, it } from "vitest";
import { measurePair, operand, SHAPES, TYPES } from "../../support/one-unit-pairs.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { createRng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const INTEGERS = { arithmetic: "integers" } as const;

describe("products in integers", () => {
  it.each(TYPES.flatMap((a) => TYPES.map((b) => [a, b] as const)))(
    "behavior: %s and %s",
    async (...types) => {
      const found = { compared: 0, different: 0, graphs: 0, integers: 0 };
      for (let seed = 0; seed < scaled(1, 12); seed++) {
        for (const [index, shapes] of SHAPES.entries()) {
          const rng = createRng(7000 + 10 * seed + index);
          const [a, b] = [operand(rng, types[0], shapes[0]), operand(rng, types[1], shapes[1])];
          const isConstant = rng.chance(0.4);
          const f = (x: number, y: number): number => x * y;
          for (const one of await measurePair("Mul", [a, b], isConstant, f, seed === 0)) {
            found.compared += one.compared;
            found.different += one.different;
            found.graphs += 1;
            if (!one.opcodes.includes("float")) found.integers += 1;
          }
        }
      }
      process.stdout.write(`${types}: ${JSON.stringify(found)}\n`);
      expect(found.different / found.compared).toBeLessThan(0.05);
      // Two operands of 16 bits with their zero points at an end do not fit, nor do constants beside one.
      const wide = types.filter((type) => type === "uint16" || type === "int16").length;
      if (wide === 0) expect(found.integers).toBe(found.graphs);
      else expect(found.integers).toBeGreaterThan(0);
    },
  );

  it("behavior: constants of other sizes, and what a rotation of positions is made of", () => {
    const x = t("float32", [2, 4], [1, -2, 0.5, 3, -4, 0.25, 7, -7.5]);
    const turn = {
      cos: t(
        "float32",
        [2, 4],
        Array.from({ length: 8 }, (_, i) => Math.fround(Math.cos(i))),
      ),
    };
    const sin = t(
      "float32",
      [2, 4],
      Array.from({ length: 8 }, (_, i) => Math.fround(Math.sin(i))),
    );
    const constants = { s: t("float32", [], [2 ** -12]), z: t("int16", [], [0]), ...turn, sin };
    const nodes = [
      node("QuantizeLinear", ["x", "s", "z"], {}, "i"),
      node("DequantizeLinear", ["i", "s", "z"], {}, "r"),
      node("Mul", ["r", "cos"], {}, "a"),
      node("Mul", ["sin", "r"], {}, "b"),
      node("Add", ["a", "b"], {}, "p"),
      node("QuantizeLinear", ["p", "s", "z"], {}, "q"),
      node("Cast", ["q"], { to: 6 }),
    ];
    const { outputs, imported } = run(x, nodes, "int32", constants, INTEGERS);
    const expected = x.data.map((v, i) => Math.round(Number(v) * (Math.cos(i) + Math.sin(i)) * 2 ** 12));
    for (const [i, value] of expected.entries()) {
      const clamped = Math.min(Math.max(value, -32_768), 32_767);
      expect(Math.abs((outputs.y?.[i] as number) - clamped)).toBeLessThanOrEqual(1);
    }
    const floats = imported.model.program.steps.filter(
      ({ opcode }, i) => opcode === "float" && !imported.nodes[i]?.startsWith("QuantizeLinear#0"),
    );
    expect(floats).toEqual([]);
  });

  it.each([
    ["zeros", [0, 0, 0, 0]],
    ["numbers far apart", [1e-6, 1, 1e6, -1e6]],
    ["huge ones", [1e15, -1e15, 1, 0]],
    ["tiny ones", [1e-20, -2e-20, 0, 3e-20]],
  ])("behavior: %s as constants", (_what, data) => {
    const x = t("float32", [4], [1, -2, 0.5, 3]);
    const most = Math.max(...data.map(Math.abs)) * 4;
    const scale = Math.fround(most / 30_000) || 2 ** -12;
    const constants = {
      ...{
        s: t("float32", [], [2 ** -12]),
        z: t("int16", [], [0]),
        c: t("float32", [4], data.map(Math.fround)),
      },
      ys: t("float32", [], [scale]),
    };
    const nodes = [
      node("QuantizeLinear", ["x", "s", "z"], {}, "i"),
      node("DequantizeLinear", ["i", "s", "z"], {}, "r"),
      node("Mul", ["r", "c"], {}, "p"),
      node("QuantizeLinear", ["p", "ys", "z"], {}, "q"),
      node("Cast", ["q"], { to: 6 }),
    ];
    const { outputs } = run(x, nodes, "int32", constants, INTEGERS);
    for (const [i, v] of x.data.entries())
      expect(Math.abs((outputs.y?.[i] as number) - (Number(v) * (data[i] as number)) / scale)).toBeLessThan(
        1.5,
      );
  });
});
