import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SILENT } from "../../base/log.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import { MAX_SETTLING_RUN_GAS } from "../../protocol/chain/execution/cost.ts";
import { iExecutionLaneAbi } from "../../protocol/rules/generated/abis.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { ExecutionSource } from "../../prover/lanes/execution.ts";
import type { ServedModel } from "../../prover/models.ts";
import { type LocalChain, startLocalChain } from "../support/anvil.ts";
import { openLocalSystem } from "../support/deploy.ts";
import { publishModel } from "../support/executed-models.ts";

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

describe("MAX_SETTLING_RUN_GAS", () => {
  it("default: is the lane's", async () => {
    const address = system.chain.deployment.contracts.executionAdapter as Hex;
    const lane = { address, abi: iExecutionLaneAbi } as const;
    const limit = await system.chain.client.readContract({ ...lane, functionName: "MAX_GAS" });
    expect(limit).toBe(BigInt(MAX_SETTLING_RUN_GAS));
  });
});

describe("ExecutionSource", () => {
  it("behavior: a published model can be settled by execution until somebody halts it", async () => {
    const { modelId, prepared } = await publishModel(system.chain, system.sender, "forecast-vix");
    const model = {
      kind: "program",
      id: modelId,
      name: "forecast-vix",
      lanes: LANE.EXECUTION,
      prepared,
    } as unknown as ServedModel;
    // Nothing runs here: only terms are asked for.
    const canonical = new CanonicalPool(new Map());
    const source = new ExecutionSource(system.chain, canonical, SILENT);
    expect(source.terms(model)).toBeUndefined();
    await source.refresh([model]);
    expect(source.terms(model)).toMatchObject({ method: "execution", lane: LANE.EXECUTION });
    // The first slot of the interpreter's storage says what of a model is halted: 2 is Interpreter.Halt.ALL.
    const slot = keccak256(encodeAbiParameters(parseAbiParameters("bytes32, uint256"), [modelId, 0n]));
    const address = system.chain.deployment.contracts.interpreter as Hex;
    await local.client.request({
      method: "anvil_setStorageAt" as never,
      params: [address, slot, `0x${"2".padStart(64, "0")}`] as never,
    });
    await source.refresh([model]);
    expect(source.terms(model)).toBeUndefined();
    await source.refresh([model]);
    expect(source.terms(model)).toBeUndefined();
  });
});
