import { encodeFunctionData } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../../base/bytes.ts";
import { commitModel } from "../../../../inference/commit/commitments.ts";
import { Actions } from "../../../../protocol/chain/actions.ts";
import { connect } from "../../../../protocol/chain/connect.ts";
import {
  estimateFastGas,
  estimateInferenceGas,
  MAX_TRANSACTION_GAS,
} from "../../../../protocol/chain/execution/cost.ts";
import { contractOf, inferOnChain } from "../../../../protocol/chain/execution/infer.ts";
import {
  planPublication,
  publishWeights,
  rowsOfCall,
} from "../../../../protocol/chain/execution/publication.ts";
import { registerModel } from "../../../../protocol/chain/register.ts";
import { requireAccount } from "../../../../protocol/chain/sender.ts";
import {
  iFastInterpreterAbi,
  iInterpreterAbi,
  iWeightStoreAbi,
} from "../../../../protocol/rules/generated/abis.ts";
import { LANE, type ModelId } from "../../../../protocol/rules/types.ts";
import { openDataFolder } from "../../../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { openLocalSystem, QUICK, temporaryFolder, tinyRequest } from "../../../support/deploy.ts";
import {
  countDifferences,
  type ExecutedModel,
  publishModel,
  registerPrepared,
} from "../../../support/executed-models.ts";
import { MLP, realInput, runnableModel, SHIPPED } from "../../../support/model-inputs.ts";
import { createRng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
const models = new Map<string, ExecutedModel>();

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  for (const name of [MLP, ...SHIPPED]) {
    models.set(name, await publishModel(system.chain, system.sender, name));
  }
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});

const modelOf = (name: string) => models.get(name) as ExecutedModel;
const inputOf = (name: string, seed = 1) => {
  const { program, selector } = modelOf(name).prepared;
  return realInput(createRng(seed), program, selector);
};

describe("planPublication", () => {
  it("default: chunks of the stream, rows within a call's gas", () => {
    const plan = planPublication(runnableModel("sentiment").prepared.model);
    expect(plan.chunks.map((chunk) => chunk.length)).toEqual([...Array(16).fill(24_544), 884]);
    expect(plan.tensors[0]).toEqual({ rows: 4096, rowGas: 1780 });
    expect(rowsOfCall(plan, 0, 0)).toBeGreaterThan(4096);
    expect(rowsOfCall({ ...plan, tensors: [{ rows: 1e6, rowGas: 10_000 }] }, 0, 500)).toBe(999);
    // As many tensors as a program can have: test/contracts/execution/PublishGas.t.sol folds as many a call.
    const most = Array.from({ length: 2048 }, () => ({ rows: 1, rowGas: 1_260 }));
    expect(rowsOfCall({ ...plan, tensors: most }, 0, 0)).toBe(1317);
    expect(rowsOfCall({ ...plan, tensors: [{ rows: 9, rowGas: 1e9 }] }, 0, 0)).toBe(1);
  });
});

describe("publishWeights", () => {
  it("behavior: harmless to repeat", async () => {
    const { prepared, modelId } = modelOf("sentiment");
    const again = await publishWeights(system.chain, system.sender, modelId, planPublication(prepared.model));
    expect(again).toEqual({ isNew: false, transactions: 0, gasUsed: 0n });
  });

  it("behavior: another account goes on where the first stopped, near the estimate", async () => {
    const other = await startLocalChain();
    const first = await openLocalSystem(other, accountAt(1));
    const [folder, account] = [temporaryFolder(), accountAt(2)];
    try {
      const model = modelOf("sentiment");
      const plan = planPublication(model.prepared.model);
      const messages: string[] = [];
      const stop = (message: string) => {
        messages.push(message);
        if (messages.length === 6) throw new Error("killed");
      };
      const { deployment } = first;
      // Registers by the first account, then stops between two chunks.
      const { selector } = model.prepared;
      const identity = {
        ...commitModel(model.prepared.model),
        selector,
        lanes: 5,
        vkHash: new Uint8Array(32),
      };
      await registerModel(first.chain, first.sender, model.program, identity);
      await expect(publishWeights(first.chain, first.sender, model.modelId, plan, stop)).rejects.toThrow(
        "killed",
      );
      const second = requireAccount(await connect({ rpcUrl: other.rpcUrl, deployment, account }));
      const opened = openDataFolder(folder.path, second, [], QUICK);
      const result = await publishWeights(second, opened.sender, model.modelId, plan, (m) =>
        messages.push(m),
      );
      await opened.close();
      expect(result).toMatchObject({ isNew: true, transactions: 14 });
      expect(messages.slice(6)[0]).toBe("store chunk 6 of 17, 24544 bytes");
      expect(messages.slice(-2)).toEqual(["fold rows 1 to 4104 of 4104", "write the plan"]);
      // The first account paid for five of the chunks.
      const estimate = plan.gas - 5 * 225 * 24_544;
      expect(Number(result.gasUsed) / estimate).toBeGreaterThan(0.8);
      expect(Number(result.gasUsed) / estimate).toBeLessThan(1.2);
      const largest = await maxGas(other);
      expect(largest).toBeLessThan(MAX_TRANSACTION_GAS);
    } finally {
      await first.close();
      await other.stop();
      folder.remove();
    }
  });
});

/** Gas of the most expensive transaction on the chain. */
async function maxGas({ client }: LocalChain): Promise<number> {
  const head = await client.getBlockNumber();
  let most = 0;
  for (let i = 0n; i <= head; i++) {
    const { gasUsed } = await client.getBlock({ blockNumber: i });
    most = Math.max(most, Number(gasUsed));
  }
  return most;
}

/** The same program and weights as another model, which nobody published. */
const unpublished = (): Promise<ModelId> =>
  registerPrepared(system.chain, system.sender, modelOf("forecast-vix").prepared, LANE.EXECUTION);

describe("inferOnChain", () => {
  // 12,000 in all when deep.
  const COUNTS = { "forecast-hourly": scaled(15, 500), sentiment: scaled(40, 1500) } as Record<
    string,
    number
  >;
  it.each([MLP, ...SHIPPED])("behavior: %s as the executor computes it", async (name) => {
    expect(await countDifferences(system.chain, modelOf(name), COUNTS[name] ?? scaled(50, 2000), 5)).toBe(0);
  });

  it("args: weights that come along", async () => {
    const { weights, run } = modelOf("forecast-vix");
    const input = inputOf("forecast-vix");
    const modelId = await unpublished();
    const output = await inferOnChain(system.chain, modelId, toHex(input), toHex(weights));
    expect(output).toBe(toHex(run(input)));
  });

  it("behavior: a published model reads its published weights, whatever comes along", async () => {
    const { modelId, run } = modelOf("forecast-vix");
    const input = inputOf("forecast-vix");
    const other = toHex(modelOf("forecast-btc").weights);
    expect(await inferOnChain(system.chain, modelId, toHex(input), other)).toBe(toHex(run(input)));
  });

  it("error: calldata of another form, weights of another model, a model that is not there", async () => {
    const { modelId } = modelOf("forecast-vix");
    const input = toHex(inputOf("forecast-vix"));
    const attempt = (id: ModelId, calldata: typeof input, weights?: typeof input) =>
      inferOnChain(system.chain, id, calldata, weights);
    await expect(attempt(modelId, `${input}00`)).rejects.toMatchObject({
      code: "EXECUTION_REFUSED",
      details: { revert: "InputNotCanonical" },
    });
    const other = toHex(modelOf("forecast-btc").weights);
    await expect(attempt(await unpublished(), input, other)).rejects.toMatchObject({
      code: "EXECUTION_REFUSED",
    });
    await expect(attempt(`0x${"11".repeat(32)}` as ModelId, input)).rejects.toMatchObject({
      details: { revert: "UnknownModel" },
    });
    await expect(attempt(system.modelId, input)).rejects.toMatchObject({
      details: { revert: "NotExecutable" },
    });
  });
});

describe("estimateInferenceGas", () => {
  it.each([MLP, ...SHIPPED])("behavior: %s within a third of what it takes, plain and fast", async (name) => {
    const { modelId, prepared } = modelOf(name);
    const args = [modelId, toHex(inputOf(name, 3))] as const;
    const plain = encodeFunctionData({ abi: iInterpreterAbi, functionName: "infer", args });
    expectNear(estimateInferenceGas(prepared.program) / (await gasOf("interpreter", plain)));
    const fast = encodeFunctionData({ abi: iFastInterpreterAbi, functionName: "inferFast", args });
    expectNear(estimateFastGas(prepared.program) / (await gasOf("fastInterpreter", fast)));
  });
});

function expectNear(ratio: number): void {
  expect(ratio).toBeGreaterThan(0.66);
  expect(ratio).toBeLessThan(1.5);
}

/** Gas of a transaction without that of its calldata. */
async function gasOf(name: "interpreter" | "fastInterpreter", data: `0x${string}`): Promise<number> {
  const bytes = (data.length - 2) / 2;
  const nonzero =
    data
      .slice(2)
      .match(/../g)
      ?.filter((b) => b !== "00").length ?? 0;
  const used = await system.chain.client.estimateGas({ to: contractOf(system.chain, name), data });
  return Number(used) - 4 * (bytes - nonzero) - 16 * nonzero;
}

describe("settle by execution", () => {
  it.each([MLP, ...SHIPPED])("behavior: %s, the right output and no other", async (name) => {
    const { modelId, run } = modelOf(name);
    const input = inputOf(name, 2);
    const output = run(input);
    const request = {
      ...tinyRequest(accountAt(1), modelId, toHex(input), await local.now()),
      lanes: LANE.EXECUTION,
    };
    const actions = new Actions(system.chain.game);
    expect((await system.sender.send(actions.request(request, toHex(input)))).status).toBe("sent");
    const wrong = output.slice();
    wrong[wrong.length - 1] = (wrong[wrong.length - 1] as number) ^ 1;
    const settle = (bytes: Uint8Array) =>
      system.sender.send(
        actions.settle(request, undefined, LANE.EXECUTION, toHex(input), toHex(bytes), "0x"),
      );
    expect(await settle(wrong)).toMatchObject({ status: "refused", revert: { name: "EvidenceRejected" } });
    expect((await settle(output)).status).toBe("sent");
  });
});

describe("contractOf", () => {
  it("default: the store knows what is published", async () => {
    const store = { address: contractOf(system.chain, "weightStore"), abi: iWeightStoreAbi } as const;
    const published = await system.chain.client.readContract({
      ...store,
      functionName: "isPublished",
      args: [modelOf(MLP).modelId],
    });
    expect(published).toBe(true);
  });
});
