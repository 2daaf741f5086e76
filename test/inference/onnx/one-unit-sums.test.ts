/** Sums and differences of quantized tensors in integers alone against binary64: at most one unit off. */
import { describe, expect, it } from "vitest";
import type { OnnxType } from "../../../inference/onnx/graph.ts";
import { compareBoth } from "../../support/both-ways.ts";
import { calibrated, type Quantization, type Quantized, quantize } from "../../support/one-unit.ts";
import { onnxFile, type TestGraph, type TestNode, type TestTensor } from "../../support/onnx-file.ts";
import { node, run, t } from "../../support/onnx-nodes.ts";
import { runGraph } from "../../support/onnx-run.ts";
import { createRng, type Rng } from "../../support/rng.ts";
import { scaled } from "../../support/scale.ts";

const INTEGERS = { arithmetic: "integers" } as const;
const LIMITS = { uint8: [0, 255], int8: [-128, 127], uint16: [0, 65_535], int16: [-32_768, 32_767] } as const;
const TYPES = ["uint8", "int8", "uint16", "int16"] as const;
const SHAPES = [
  [[40], [40]],
  [[6, 32], [32]],
  [
    [2, 1, 8],
    [3, 8],
  ],
  [[5, 7], [1]],
  [
    [1, 4],
    [9, 1],
  ],
] as const;

interface Operand {
  readonly quantization: Quantization;
  readonly dims: readonly number[];
  readonly q: readonly number[];
}

function operand(rng: Rng, type: Quantized, dims: readonly number[]): Operand {
  const [low, high] = LIMITS[type];
  const scale = Math.fround((rng.int(1000, 9000) / 1e6) * rng.pick([1, 30]) * (high > 255 ? 2 ** -8 : 1));
  const length = dims.reduce((a, b) => a * b, 1);
  return {
    quantization: { type, zero: rng.pick([low, high, rng.int(low, high)]), scale },
    dims,
    q: Array.from({ length }, () => rng.pick([low, high, rng.int(low, high)])),
  };
}

const real = ({ quantization: { zero, scale }, q }: Operand): number[] => q.map((v) => (v - zero) * scale);

/** Element of each operand for each element of the result. */
function broadcast(a: readonly number[], b: readonly number[]): (readonly [number, number])[] {
  const rank = Math.max(a.length, b.length);
  const padded = [a, b].map((dims) => [...Array<number>(rank - dims.length).fill(1), ...dims]);
  const dims = padded[0]?.map((d, i) => Math.max(d, padded[1]?.[i] ?? 1)) ?? [];
  const total = dims.reduce((x, y) => x * y, 1);
  return Array.from({ length: total }, (_, index) => {
    const places = padded.map((own) => {
      let [rest, at, stride] = [index, 0, 1];
      for (let axis = rank - 1; axis >= 0; axis--) {
        const i = rest % (dims[axis] as number);
        rest = Math.floor(rest / (dims[axis] as number));
        if ((own[axis] as number) > 1) at += i * stride;
        stride *= own[axis] as number;
      }
      return at;
    });
    return places as unknown as readonly [number, number];
  });
}

/** x from the input, u from another one or a constant, their sum or difference quantized. */
function graphOf(op: string, a: Operand, b: Operand, isConstant: boolean, to: Quantization): TestGraph {
  const constants: Record<string, TestTensor> = {};
  for (const [name, { type, scale, zero }] of Object.entries({
    ...{ x: a.quantization, u: b.quantization, p: to },
  })) {
    constants[`${name}s`] = t("float32", [], [scale]);
    constants[`${name}z`] = t(type, [], [zero]);
  }
  const enter = (name: string): TestNode[] => [
    node("QuantizeLinear", [name, `${name}s`, `${name}z`], {}, `${name}q`),
    node("DequantizeLinear", [`${name}q`, `${name}s`, `${name}z`], {}, `${name}r`),
  ];
  const float = { type: "float32" as OnnxType };
  if (isConstant) constants.ur = t("float32", b.dims, real(b).map(Math.fround));
  return {
    nodes: [
      ...enter("x"),
      ...(isConstant ? [] : enter("u")),
      node(op, ["xr", "ur"], {}, "p"),
      node("QuantizeLinear", ["p", "ps", "pz"], {}, "q"),
      node("Cast", ["q"], { to: 6 }),
    ],
    inputs: { x: { ...float, dims: a.dims }, ...(isConstant ? {} : { u: { ...float, dims: b.dims } }) },
    outputs: { y: "int32" },
    constants,
    opset: 21,
  };
}

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
          const [left, right] = [real(a), real(b)];
          const expected = broadcast(a.dims, b.dims).map(
            ([i, j]) => (left[i] as number) + (op === "Add" ? 1 : -1) * (right[j] as number),
          );
          for (const type of TYPES) {
            const to = calibrated(expected, type);
            const graph = graphOf(op, a, b, isConstant, to);
            const input = (of: Operand) => ({
              type: "float32",
              dims: of.dims,
              data: real(of).map(Math.fround),
            });
            const inputs = { x: input(a), ...(isConstant ? {} : { u: input(b) }) };
            const { outputs, imported } = runGraph(graph, inputs, INTEGERS);
            const distances = expected.map((x, i) => Math.abs((outputs.y?.[i] as number) - quantize(x, to)));
            expect([shapes, op, isConstant, type, Math.max(...distances) <= 1]).toEqual([
              ...[shapes, op, isConstant, type, true],
            ]);
            found.compared += distances.length;
            found.different += distances.filter((d) => d > 0).length;
            const { steps } = imported.model.program;
            // What a node is called begins with its operator.
            const own = steps.filter((_, i) => imported.nodes[i]?.startsWith(op));
            found.steps += own.length;
            found.floats += own.filter(({ opcode }) => opcode === "float").length;
            if (seed > 0 || type !== "int16") continue;
            const { emitted } = await compareBoth(op, onnxFile(graph), [inputs], { settings: INTEGERS });
            expect(emitted).toMatchObject({ different: 0 });
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
});
