import { describe, expect, it } from "vitest";
import { encodeOutput } from "../../../inference/codecs/output.ts";
import { executeTensors } from "../../../inference/executor/execute.ts";
import { prepare } from "../../../inference/executor/prepare.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { isActivationDot, judgeVersionOf, type Tensor } from "../../../inference/program/form.ts";
import { ATTENTION_GRAPHS, COMPUTED_PRODUCTS } from "../../support/attention-graphs.ts";
import { canonicalExecutor, compareCase, Tally } from "../../support/differential.ts";
import { onnxFile } from "../../support/onnx-file.ts";
import { node, tensor } from "../../support/quantized-graphs.ts";
import { createRng } from "../../support/rng.ts";

const PRODUCTS = {
  ...COMPUTED_PRODUCTS,
  QDQ: ATTENTION_GRAPHS[
    "DequantizeLinear, MatMul of both, QuantizeLinear"
  ] as (typeof ATTENTION_GRAPHS)[string],
};

const square = (size: number) =>
  onnxFile({
    nodes: [node("MatMulInteger", ["x", "u"])],
    inputs: { x: { type: "int8", dims: [size, 64] }, u: { type: "uint8", dims: [64, size] } },
    outputs: { y: "int32" },
    constants: { unused: tensor("int32", [1], [0]) },
  });

describe("products of two computed tensors", () => {
  it.each(Object.entries(PRODUCTS))("behavior: %s is one function in both forms", async (name, graphOf) => {
    let dots = 0;
    const tally = new Tally();
    for (let seed = 0; seed < 24; seed++) {
      const file = onnxFile(graphOf(createRng(seed)).graph);
      const pairs = importOnnx(file, { products: "pairs" }).model;
      const dot = importOnnx(file, { products: "dot" }).model;
      expect(pairs.program.steps.some(isActivationDot)).toBe(false);
      dots += dot.program.steps.filter(isActivationDot).length;
      const rng = createRng(seed);
      const inputs = dot.program.steps.flatMap(({ opcode, type, dims }): Tensor[] => {
        if (opcode !== "codec") return [];
        return [{ type, dims, data: rng.bytes(dims.reduce((x, y) => x * y, 1)) }];
      });
      const [x, y] = [pairs, dot].map((model) => {
        const tensors = executeTensors(prepare(model, new Uint8Array(4)), inputs);
        return encodeOutput(model.program, tensors.at(-1) as Tensor);
      });
      expect(y, `${name}, seed ${seed}`).toEqual(x);
      await compareCase(canonicalExecutor, { name, model: dot, runs: [inputs] }, tally);
    }
    expect(dots).toBeGreaterThan(8);
    expect(tally.samples).toEqual([]);
  });

  it("default: 1,024 products are pairs, which the chain can execute, and more are one DOT", () => {
    const small = importOnnx(square(4)).model.program;
    expect(small.steps.some(isActivationDot)).toBe(false);
    expect(judgeVersionOf(small)).toBe(1);
    const large = importOnnx(square(5)).model.program;
    expect(large.steps.filter(isActivationDot)).toHaveLength(1);
    expect(judgeVersionOf(large)).toBe(2);
  });
});
