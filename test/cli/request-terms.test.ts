import { join } from "node:path";
import { type Address, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { LANE, type ModelId, type Request, type RequestId } from "../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { openLocalSystem, temporaryFolder } from "../support/deploy.ts";
import { registerPrepared } from "../support/executed-models.ts";
import { runnableModel } from "../support/model-inputs.ts";

const PROVER = "0x1111111111111111111111111111111111111111";
const CALLBACK = "0x2222222222222222222222222222222222222222";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let modelId: ModelId;
const folder = temporaryFolder();

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  writeDeployment(join(folder.path, "deployment.json"), system.chain.deployment);
  modelId = await registerPrepared(system.chain, system.sender, runnableModel("sentiment").prepared);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
  folder.remove();
});

const ask = (...args: readonly string[]) =>
  runInProcess(["request", ...args, "--json"], {
    ASSAY_RPC_URL: local.rpcUrl,
    ASSAY_KEY: ANVIL_KEYS[3] as string,
    ASSAY_DATA: join(folder.path, "data"),
    ASSAY_DEPLOYMENT: join(folder.path, "deployment.json"),
    ASSAY_POLL_INTERVAL_MS: "20",
  });

async function filed(...args: readonly string[]): Promise<Request> {
  const { code, stdout, stderr } = await ask(modelId, "--text", "Profit beats forecasts", ...args);
  expect([code, stderr]).toEqual([0, ""]);
  const { requestId } = JSON.parse(stdout) as { requestId: RequestId };
  const requested = (await historyOf(system.chain, requestId)).find(({ name }) => name === "Requested");
  if (requested?.name !== "Requested") throw new Error("no such request");
  return requested.args.request;
}

async function refused(...args: readonly string[]): Promise<string> {
  const { code, stderr } = await ask(...args);
  expect(code).toBeGreaterThan(0);
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
  return `${error.code}: ${error.message}`;
}

describe("assay request", () => {
  test("default: all lanes of the model, nobody alone, no callback", async () => {
    const none = { exclusiveProver: zeroAddress, exclusiveUntil: 0, callback: zeroAddress, deliveryFee: 0n };
    expect(await filed()).toMatchObject({ lanes: LANE.EXECUTION | LANE.BOND, minBond: 0n, ...none });
  });

  test("args: lanes, amounts with units, an exclusive prover, a callback", async () => {
    const terms = ["--lanes", "bond", "--fee", "0.01 ether", "--min-bond", "5gwei", "--delivery-fee", "7"];
    const exclusive = ["--exclusive-prover", PROVER, "--exclusive-seconds", "90"];
    const callback = ["--callback", CALLBACK, "--callback-gas", "123456"];
    const request = await filed(...terms, ...exclusive, ...callback);
    expect(request).toMatchObject({
      ...{ lanes: LANE.BOND, fee: 10n ** 16n, minBond: 5n * 10n ** 9n, deliveryFee: 7n },
      ...{ exclusiveProver: PROVER as Address, callback: CALLBACK as Address, callbackGas: 123_456 },
    });
    expect(request.expiry - request.exclusiveUntil).toBe(3_600 - 90);
  });

  test("error: each says the value and the limit, and nothing is sent", async () => {
    const before = await local.client.getTransactionCount({ address: accountAt(3).address });
    const text = [modelId, "--text", "x"];
    expect([
      await refused(modelId),
      await refused(...text, "--inputs", "inputs.json"),
      await refused(...text, "--lanes", "bonds"),
      await refused(...text, "--lanes", "PROOF"),
      await refused(...text, "--fee", "0.01 finney"),
      await refused(...text, "--delivery-fee", "1gwei"),
      await refused(modelId, "--text", "x".repeat(2_000)),
    ]).toMatchInlineSnapshot(`
      [
        "ARGUMENT_INVALID: --inputs FILE or --text TEXT is missing: it must be one of the two.",
        "ARGUMENT_INVALID: --text is "x": it must be absent where --inputs is given.",
        "ARGUMENT_INVALID: --lanes is "bonds": it must be some of EXECUTION, PROOF, BOND, by commas.",
        "ARGUMENT_INVALID: --lanes is "PROOF": it must be lanes of this model, which has EXECUTION, BOND.",
        "CONFIG_INVALID: fee is "0.01 finney" (from --fee): must be wei, or a number with its unit, such as "0.05 ether", 20gwei or 1000wei.",
        "ARGUMENT_INVALID: --delivery-fee is "1 gwei": it must be given with --callback, whose call it pays.",
        "INPUT_TOO_LONG: The text has 2000 bytes, the model takes at most 1024.",
      ]
    `);
    expect(await local.client.getTransactionCount({ address: accountAt(3).address })).toBe(before);
  });
});
