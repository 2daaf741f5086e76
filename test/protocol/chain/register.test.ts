import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commitModel } from "../../../inference/commit/commitments.ts";
import { importOnnx } from "../../../inference/onnx/import.ts";
import { encodeProgram } from "../../../inference/program/encode.ts";
import { registerModel } from "../../../protocol/chain/register.ts";
import { LANE } from "../../../protocol/rules/types.ts";
import { type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { COMPUTED_PRODUCTS } from "../../support/attention-graphs.ts";
import { openLocalSystem, TINY_SELECTOR } from "../../support/deploy.ts";
import { onnxFile } from "../../support/onnx-file.ts";
import type { Generator } from "../../support/quantized-graphs.ts";
import { createRng } from "../../support/rng.ts";

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

const { graph } = (COMPUTED_PRODUCTS["QLinearMatMul, both computed"] as Generator)(createRng(3));
function register(products: "pairs" | "dot", judgeVersion: number) {
  const { model } = importOnnx(onnxFile(graph), { products });
  const own = { selector: TINY_SELECTOR, lanes: LANE.BOND, vkHash: new Uint8Array(32) };
  const chain = { ...system.chain, deployment: { ...system.deployment, judgeVersion } };
  return registerModel(chain, system.sender, encodeProgram(model.program), { ...commitModel(model), ...own });
}

describe("registerModel", () => {
  test("error: a program that the deployment's judge is too old for costs no transaction", async () => {
    const transactions = () => local.client.getTransactionCount({ address: system.chain.account.address });
    const before = await transactions();
    await expect(register("dot", 1)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[BaseError: The program needs judge version 2, the deployment has 1. Use a deployment of this version, or import the model again with --products pairs and --arithmetic float32.]`,
    );
    expect(await transactions()).toBe(before);
  });

  test("default: one that needs the first version is registered by each, one that needs the second by that", async () => {
    expect(await register("pairs", 1)).toMatchObject({ isNew: true });
    expect(await register("pairs", 2)).toMatchObject({ isNew: false });
    // The registry computes the same id, or this fails.
    expect(await register("dot", 2)).toMatchObject({ isNew: true });
  });
});
