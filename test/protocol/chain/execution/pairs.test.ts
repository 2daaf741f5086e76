/** Products of two computed tensors as pairs, on the chain. */
import { encodeFunctionData } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { execute } from "../../../../inference/executor/execute.ts";
import { prepare } from "../../../../inference/executor/prepare.ts";
import { importOnnx } from "../../../../inference/onnx/import.ts";
import { MOST_PAIRS } from "../../../../inference/onnx/lower/activations.ts";
import { isActivationDot } from "../../../../inference/program/form.ts";
import { selfTestCalldata } from "../../../../inference/self-test.ts";
import { estimateInferenceGas, MAX_SETTLING_RUN_GAS } from "../../../../protocol/chain/execution/cost.ts";
import { contractOf } from "../../../../protocol/chain/execution/infer.ts";
import { iInterpreterAbi } from "../../../../protocol/rules/generated/abis.ts";
import { type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem, TINY_SELECTOR } from "../../../support/deploy.ts";
import { publishPrepared } from "../../../support/executed-models.ts";
import { onnxFile } from "../../../support/onnx-file.ts";
import { node, tensor } from "../../../support/quantized-graphs.ts";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

/** Heads, rows, inner dim, columns. */
type Shape = readonly [heads: number, m: number, k: number, n: number];

function product([heads, m, k, n]: Shape) {
  const file = onnxFile({
    nodes: [node("MatMulInteger", ["x", "u", "z", "z"])],
    inputs: { x: { type: "uint8", dims: [heads, m, k] }, u: { type: "uint8", dims: [heads, k, n] } },
    outputs: { y: "int32" },
    constants: { z: tensor("uint8", [], [128]) },
  });
  return prepare(importOnnx(file).model, TINY_SELECTOR);
}

const AT_THE_LIMIT: readonly Shape[] = [
  [1, 8, 16, 8],
  [1, 1, 32, 32],
  [1, 1, 1024, 1],
  [1, 2, 256, 2],
  [4, 8, 4, 8],
  [8, 2, 32, 2],
  [128, 2, 1, 4],
];

describe("products as pairs", () => {
  it.each(AT_THE_LIMIT)(
    "behavior: %i × %i × %i × %i at the limit of an import fits into a run that settles",
    async (...shape) => {
      expect(shape.reduce((count, dim) => count * dim)).toBe(MOST_PAIRS);
      const prepared = product(shape);
      const { program } = prepared.model;
      expect(program.steps.some(isActivationDot)).toBe(false);
      const modelId = await publishPrepared(system.chain, system.sender, prepared);
      const input = selfTestCalldata(program, TINY_SELECTOR, 3);
      const data = encodeFunctionData({
        abi: iInterpreterAbi,
        functionName: "infer",
        args: [modelId, toHex(input)],
      });
      const call = { to: contractOf(system.chain, "interpreter"), data };
      const { data: output = "0x" } = await local.client.call({ ...call, gas: BigInt(MAX_SETTLING_RUN_GAS) });
      expect(output).toContain(toHex(execute(prepared, input)).slice(2));
      const ratio = estimateInferenceGas(program) / Number(await local.client.estimateGas(call));
      expect(ratio).toBeGreaterThan(0.85);
      expect(ratio).toBeLessThan(1.15);
    },
  );

  it("behavior: one more is DOT activations, which nothing has to run", () => {
    expect(product([1, 8, 16, 9]).model.program.steps.filter(isActivationDot)).toHaveLength(1);
  });
});
