import { describe, expect, it } from "vitest";
import { isBaseError } from "../../../../base/errors.ts";
import { importOnnx } from "../../../../inference/onnx/import.ts";
import type { Model } from "../../../../inference/program/form.ts";
import { circuitSize } from "../../../../prover/proof/groth16/compile.ts";
import { determinism, givenWires } from "../../../../prover/proof/groth16/determinism.ts";
import { satisfies } from "../../../../prover/proof/groth16/satisfies.ts";
import { CircuitPair } from "../../../support/circuit-run.ts";
import { onnxFile } from "../../../support/onnx-file.ts";
import { node, t } from "../../../support/onnx-nodes.ts";
import { EXACT, NEAR } from "../../../support/operator-graphs.ts";
import { createRng } from "../../../support/rng.ts";
import { TREE_GRAPHS } from "../../../support/tree-ensembles.ts";
import { NEAR_WIDE } from "../../../support/wide-graphs.ts";

/** DOT activations has no circuit. */
const SETTINGS = { nudge: true, products: "pairs" } as const;

/** Constraints of a model's circuit, or the code of its refusal. */
function circuitOf(model: Model): number | string {
  try {
    return circuitSize(model).constraints;
  } catch (error) {
    if (isBaseError(error, "NO_CIRCUIT") || isBaseError(error, "NO_PUBLIC_SIGNALS")) return error.code;
    throw error;
  }
}

/** What docs/EXACT.md says of the lane PROOF in its table of operators. */
describe("circuits of imported operators", () => {
  it.each(Object.entries({ ...EXACT, ...NEAR, ...NEAR_WIDE, ...TREE_GRAPHS }))(
    "behavior: %s has one if and only if no float32 is left",
    (_, generate) => {
      const { model } = importOnnx(onnxFile(generate(createRng(0)).graph), SETTINGS);
      const { steps } = model.program;
      const isInteger = steps.every(({ opcode, type }) => opcode !== "float" && type !== "f32");
      expect(typeof circuitOf(model)).toBe(isInteger ? "number" : "string");
    },
  );

  it("behavior: 16-bit activations between bytes are proven like any other integers", () => {
    const scale = (value: number) => t("float32", [], [value]);
    const [zero, wide] = [t("uint8", [], [128]), t("int16", [], [-5])];
    const weights = (data: readonly number[]) => t("int8", [3, 3], data);
    const graph = {
      nodes: [
        node("DequantizeLinear", ["x", "xs", "z"], {}, "a"),
        node("DequantizeLinear", ["v", "vs", "vz"], {}, "b"),
        node("MatMul", ["a", "b"], {}, "c"),
        node("QuantizeLinear", ["c", "hs", "h"], {}, "q"),
        node("DequantizeLinear", ["q", "hs", "h"], {}, "d"),
        node("DequantizeLinear", ["w", "vs", "vz"], {}, "e"),
        node("MatMul", ["d", "e"], {}, "f"),
        node("QuantizeLinear", ["f", "ys", "z"]),
      ],
      inputs: { x: { type: "uint8" as const, dims: [1, 3] } },
      outputs: { y: "uint8" as const },
      constants: {
        v: weights([127, -3, 40, -128, 0, 9, 77, -77, 1]),
        w: weights([-20, 5, 99, 3, 127, -128, 64, 1, -2]),
        xs: scale(0.02),
        vs: scale(0.01),
        vz: t("int8", [], [0]),
        hs: scale(0.0003),
        h: wide,
        z: zero,
        ys: scale(0.063),
      },
      opset: 21,
    };
    const { model } = importOnnx(onnxFile(graph), SETTINGS);
    const pair = new CircuitPair(model);
    const rng = createRng(9);
    for (let i = 0; i < 20; i++) {
      const { witness, expected } = pair.random(rng);
      expect(satisfies(pair.circuit.r1cs, witness)).toEqual({ satisfied: true });
      expect(witness.slice(1, 1 + expected.length)).toEqual(expected);
    }
    const { r1cs, signals, bindingWires } = pair.circuit;
    const given = givenWires(signals.output.first, bindingWires);
    expect(determinism(r1cs, given)).toEqual({ free: [], idle: [] });
  });
});
