import { join } from "node:path";
import { type Address, createWalletClient, getAddress, getContract, http, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Call, type Validatable, validationStatement } from "../../../agent/sdk/index.ts";
import { loadArtifact } from "../../../cli/artifacts.ts";
import { writeDeployment } from "../../../protocol/chain/deployment-file.ts";
import { claimIdOf } from "../../../protocol/rules/ids.ts";
import { LANE } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { runInProcess } from "../../support/assay.ts";
import { bytesOutput } from "../../support/claims.ts";
import { temporaryFolder } from "../../support/deploy.ts";
import { deployRegistries, IDENTITY, REFERENCE, VALIDATIONS } from "../../support/erc8004.ts";
import { ask, bonded, claim, DATA, local, openLocalSdk, pendingClaim, system } from "../../support/sdk.ts";

openLocalSdk();

const folder = temporaryFolder();
let identity: Address;
let validations: Address;
let validator: Address;
/** of the account that asks, and of a stranger */
const OWN = 0n;
const OTHER = 1n;
const wallet = (index: number) =>
  createWalletClient({ account: accountAt(index), transport: http(local.rpcUrl) });

async function deploy(name: string, file: string | undefined, args: readonly unknown[]): Promise<Address> {
  const hash = await wallet(0).deployContract({ ...loadArtifact(name, file), args, chain: null });
  const { contractAddress } = await local.client.waitForTransactionReceipt({ hash });
  return contractAddress as Address;
}

async function send(index: number, { to, data }: Call): Promise<void> {
  // The registry writes the block's time: an estimate in the second of the request sees no change, and is too low.
  const gas = (await local.client.estimateGas({ account: accountAt(index), to, data })) * 2n;
  const hash = await wallet(index).sendTransaction({ to, data, gas, chain: null });
  expect(await local.client.waitForTransactionReceipt({ hash })).toMatchObject({ status: "success" });
}

const statusOf = (requestHash: `0x${string}`) =>
  local.client.readContract({
    address: validations,
    abi: VALIDATIONS,
    functionName: "getValidationStatus",
    args: [requestHash],
  });

beforeAll(async () => {
  ({ identity, validations } = await deployRegistries(local, REFERENCE));
  const terms = { lanes: LANE.BOND, minBond: 0n, minWindow: 0 };
  validator = await deploy("Erc8004Validator", undefined, [system.chain.game.assay, validations, terms]);
  for (const index of [2, 3]) {
    const registry = getContract({ address: identity, abi: IDENTITY, client: wallet(index) });
    const hash = await registry.write.register({ chain: null, account: accountAt(index) });
    await local.client.waitForTransactionReceipt({ hash });
  }
});
afterAll(() => folder.remove());

async function validatable(more: Partial<Validatable> = {}): Promise<Validatable> {
  const { asked, final } = await bonded();
  if (final.claim === undefined) throw new Error("no claim");
  const { claim: claimed, output } = final;
  return { validator, agentId: OWN, request: asked.request, claim: claimed, output, ...more };
}

describe("validationStatement", () => {
  it("default: the registry files it and the validator answers a hundred", async () => {
    const what = await validatable();
    const built = await validationStatement(system.chain, what);
    expect(built).toMatchObject({ isFiled: false, requestHash: keccak256(built.statement) });
    await send(2, built.requestCall("https://agent.example/statement"));
    await send(3, built.respondCall);
    expect(await statusOf(built.requestHash)).toMatchObject([
      getAddress(validator),
      OWN,
      100,
      expect.anything(),
      "hard",
      expect.anything(),
    ]);
    expect(await validationStatement(system.chain, what)).toMatchObject({ isFiled: true });
  });

  it("behavior: a claim that can still fall gets fifty", async () => {
    const asked = await ask();
    await claim(asked);
    const { claim: claimed } = await pendingClaim(asked);
    if (claimed === undefined) throw new Error("no claim");
    const output = bytesOutput(DATA);
    const what = { validator, agentId: OWN, request: asked.request, claim: claimed, output };
    const built = await validationStatement(system.chain, what);
    await send(2, built.requestCall(""));
    await send(2, built.respondCall);
    expect((await statusOf(built.requestHash)).slice(2, 5)).toMatchObject([50, expect.anything(), "soft"]);
  });

  it("error: a hash that a stranger filed for his agent; another salt is free", async () => {
    const what = await validatable();
    const built = await validationStatement(system.chain, what);
    const { to, data } = built.requestCall("");
    const number = (agent: bigint) => agent.toString(16).padStart(64, "0");
    // The second argument names the agent.
    const at = 10 + 64;
    const taken = `${data.slice(0, at)}${number(OTHER)}${data.slice(at + 64)}` as `0x${string}`;
    await send(3, { to, data: taken });
    await expect(validationStatement(system.chain, what)).rejects.toMatchObject({ code: "STATEMENT_TAKEN" });
    const again = await validationStatement(system.chain, { ...what, salt: 1n });
    await send(2, again.requestCall(""));
    await send(2, again.respondCall);
    expect((await statusOf(again.requestHash))[2]).toBe(100);
    expect((await statusOf(built.requestHash))[2]).toBe(0);
  });

  it("error: what the validator would not answer", async () => {
    const what = await validatable();
    const failing = (more: Partial<Validatable>) => validationStatement(system.chain, { ...what, ...more });
    await expect(failing({ agentId: OTHER })).rejects.toMatchObject({ code: "NOT_OF_AGENT" });
    await expect(failing({ agentId: 99n })).rejects.toMatchObject({ code: "AGENT_UNKNOWN" });
    await expect(failing({ output: "0x00" })).rejects.toMatchObject({ code: "STATEMENT_INCONSISTENT" });
    const other = await deploy("Erc8004Validator", undefined, [
      identity,
      validations,
      { lanes: LANE.BOND, minBond: 0n, minWindow: 0 },
    ]);
    await expect(failing({ validator: other })).rejects.toMatchObject({ code: "VALIDATOR_OTHER_ASSAY" });
  });
});

describe("assay claim statement", () => {
  it("default: prints what the SDK builds", async () => {
    const what = await validatable();
    const { requestHash, statement } = await validationStatement(system.chain, what);
    const deployment = join(folder.path, "deployment.json");
    writeDeployment(deployment, system.deployment);
    const env = { ASSAY_RPC_URL: local.rpcUrl, ASSAY_DEPLOYMENT: deployment };
    const claimId = claimIdOf(system.chain.game, what.claim);
    const args = ["claim", "statement", claimId, "--validator", validator, "--agent", "0"];
    const { code, stdout, stderr } = await runInProcess(
      [...args, "--uri", "https://agent.example", "--json"],
      env,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      requestHash,
      statement,
      isFiled: false,
      requestCall: { to: expect.stringMatching(new RegExp(validations, "i")) },
      respondCall: { to: validator },
    });
    expect((await runInProcess(args, env)).stdout).toContain(`Request hash ${requestHash}`);
    const wrong = await runInProcess([...args.slice(0, -1), "-1", "--json"], env);
    expect(JSON.parse(wrong.stderr).error).toMatchObject({ code: "ARGUMENT_INVALID" });
  });
});
