/** `assay deploy` on a chain that says it is Base, with its contract for data fees. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import type { SourceEntry, StandardInput } from "../../cli/deploy/sources.ts";
import { DEPLOYED_CONTRACTS, systemAddresses } from "../../protocol/chain/deploy/parts.ts";
import { PROXY_ADDRESS, PROXY_CODE } from "../../protocol/chain/deploy/proxy.ts";
import { readDeployment } from "../../protocol/chain/deployment-file.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { OP_PRICES, placeDataFee } from "../support/data-fee.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

const BASE = 8_453;
const NOWHERE = "http://127.0.0.1:9";
const ALL = DEPLOYED_CONTRACTS.length;
const measured = JSON.parse(readFileSync("protocol/rules/generated/gas.json", "utf8")) as {
  gasBase: number;
  gasPerDemand: number;
};
const constants = {
  answerSeconds: 43_200,
  gasPriceFloor: 10n ** 9n,
  gasBase: BigInt(measured.gasBase),
  gasPerDemand: BigInt(measured.gasPerDemand),
};
const expected = systemAddresses(loadArtifacts(), constants);

let chain: LocalChain;
let rpc: RpcProxy;
let folder: ReturnType<typeof temporaryFolder>;
let sent = 0;

beforeAll(async () => {
  chain = await startLocalChain({ chainId: BASE });
  const set = await placeDataFee(chain, "OpGasPriceOracle");
  await set("setUpgrade", true);
  await set("setPrices", ...OP_PRICES);
  rpc = await startRpcProxy(chain.rpcUrl);
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "deployments"));
});
afterAll(async () => {
  await rpc?.stop();
  await chain?.stop();
  folder?.remove();
});
beforeEach(() => {
  sent = 0;
  rpc.decide = ({ method }) => {
    if (method === "eth_sendRawTransaction" || method === "eth_sendTransaction") sent++;
    return "pass";
  };
});

const path = (name: string) => join(folder.path, name);
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runInProcess(["deploy", ...args], {
    ASSAY_RPC_URL: rpc.url,
    ASSAY_DEPLOYMENT: path("deployments"),
    ASSAY_POLL_INTERVAL_MS: "20",
    // No block comes without a transaction.
    ASSAY_CONFIRMATIONS: "1",
    ...env,
  });
const withKey = { ASSAY_KEY: ANVIL_KEYS[0] as string };

interface Printed {
  readonly steps: readonly {
    name: string;
    address: Hex;
    state: string;
    gas: string;
    gasWei?: string;
    dataWei?: string;
    link?: string;
  }[];
  readonly contracts: Record<string, Hex>;
  readonly total: { transactions: number; gas: string; gasWei?: string; dataWei?: string };
  readonly account?: { balanceWei: string; neededWei: string };
  readonly obstacles: readonly string[];
  readonly notes: readonly string[];
}
async function dryRun(args: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run(["--dry-run", "--json", ...args], env);
  const error = stderr === "" ? undefined : JSON.parse(stderr).error;
  return { code, error, result: (stdout === "" ? undefined : JSON.parse(stdout)) as Printed };
}
const sum = (values: readonly (string | undefined)[]): string =>
  `${values.reduce((total, value) => total + BigInt(value as string), 0n)}`;

describe("assay deploy --dry-run", () => {
  test("default: without a key, every step with address, gas, cost and link; nothing is sent", async () => {
    const { code, result } = await dryRun(["--chain", "base"]);
    expect([code, sent, result.obstacles, result.notes]).toEqual([0, 0, [], []]);
    expect(result.contracts).toEqual(expected);
    expect(result.steps.map(({ name }) => name)).toEqual(DEPLOYED_CONTRACTS);
    for (const step of result.steps) {
      expect(step).toMatchObject({ state: "missing", link: `https://basescan.org/address/${step.address}` });
      expect(BigInt(step.gasWei as string)).toBeGreaterThan(0n);
      expect(BigInt(step.dataWei as string)).toBeGreaterThan(0n);
    }
    expect(result.total).toEqual({
      transactions: ALL,
      gas: sum(result.steps.map(({ gas }) => gas)),
      gasWei: sum(result.steps.map(({ gasWei }) => gasWei)),
      dataWei: sum(result.steps.map(({ dataWei }) => dataWei)),
    });
    const { stdout } = await run(["--dry-run", "--chain", "8453"]);
    const lines = stdout.trim().split("\n");
    expect(lines[0]).toBe("Base (chain 8453): T = 43,200 s, gas price floor 1 gwei");
    expect(lines).toHaveLength(ALL + 5);
    expect(lines.at(-1)).toBe("Nothing was sent.");
  });

  test("args: --from, whose balance is looked at", async () => {
    const rich = await dryRun(["--from", accountAt(1).address]);
    expect(rich).toMatchObject({ code: 0, result: { account: { address: accountAt(1).address } } });
    const poor = await dryRun(["--from", `0x${"12".repeat(20)}`]);
    expect(poor).toMatchObject({ code: 4, result: { account: { balanceWei: "0" } } });
    expect(poor.result.obstacles).toEqual([expect.stringContaining("lacks 0.")]);
    expect(BigInt(poor.result.account?.neededWei ?? 0)).toBeGreaterThan(
      BigInt(poor.result.total.gasWei ?? 0),
    );
  });

  test("behavior: without a node, addresses and gas are the same, and fees are not known", async () => {
    const asked = await dryRun(["--chain", "base"]);
    const { code, result } = await dryRun(["--chain", "base"], { ASSAY_RPC_URL: NOWHERE });
    expect([code, result.contracts, result.total]).toEqual([
      ...[0, asked.result.contracts],
      { transactions: ALL, gas: asked.result.total.gas },
    ]);
    expect(result.steps.map(({ state }) => state)).toEqual(Array(ALL).fill("unknown"));
    expect(result.notes).toEqual([expect.stringMatching(/127\.0\.0\.1:9.*fees are today is not known/)]);
    expect(await dryRun([], { ASSAY_RPC_URL: NOWHERE })).toMatchObject({
      code: 3,
      error: { code: "RPC_UNREACHABLE" },
    });
  });

  test("behavior: a data fee that cannot be read is said, and not taken for none", async () => {
    rpc.decide = ({ method, params }) =>
      method === "eth_call" && JSON.stringify(params).includes("420000000000000000000000000000000000000")
        ? { error: { code: -32_000, message: "no" } }
        : "pass";
    const { result } = await dryRun();
    expect(result.notes).toEqual([expect.stringContaining("The data fee is not known")]);
    expect(result.total.dataWei).toBeUndefined();
  });

  test("behavior: a chain without the proxy is an obstacle", async () => {
    await chain.control.setCode({ address: PROXY_ADDRESS, bytecode: "0x" });
    const { code, result } = await dryRun();
    await chain.control.setCode({ address: PROXY_ADDRESS, bytecode: PROXY_CODE });
    expect([code, result.obstacles]).toEqual([4, [expect.stringContaining("--plain-create")]]);
  });

  test("args: --plain-create needs an account, for its addresses are the account's", async () => {
    expect(await dryRun(["--plain-create"])).toMatchObject({ code: 2, error: { code: "ARGUMENT_INVALID" } });
    const { result } = await dryRun(["--plain-create", "--from", accountAt(6).address]);
    expect(result.contracts.registry).not.toBe(expected.registry);
    expect(sent).toBe(0);
  });
});

describe("assay deploy", () => {
  test.each([["--dry-run"], []])("error: a node on another chain than the named one %s", async (...flags) => {
    const { code, stderr } = await run([...flags, "--chain", "op", "--json"], withKey);
    expect([code, JSON.parse(stderr).error.code, sent]).toEqual([1, "CHAIN_MISMATCH", 0]);
  });

  test("error: a chain that has no name", async () => {
    const { code, stderr } = await run(["--chain", "bse", "--json"], withKey);
    expect([code, JSON.parse(stderr).error.code, sent]).toEqual([2, "CONFIG_INVALID", 0]);
  });

  test("default: what the dry run said, for what it said at most", async () => {
    const before = await dryRun();
    const balance = () => chain.client.getBalance({ address: accountAt(0).address });
    const had = await balance();
    const { code, stdout } = await run(["--chain", "base"], withKey);
    expect([code, sent]).toEqual([0, ALL]);
    expect(stdout).toContain(`https://basescan.org/address/${expected.assay}`);
    // The chain of the test asks no data fee, whatever its contract says.
    expect(had - (await balance())).toBeLessThanOrEqual(BigInt(before.result.total.gasWei ?? 0));
    const file = path(`deployments/${BASE}.json`);
    expect(readDeployment(file)).toMatchObject({ chainId: BASE, contracts: expected, constants });

    const { code: again, result } = await dryRun();
    expect([again, result.total]).toEqual([0, { transactions: 0, gas: "0", gasWei: "0", dataWei: "0" }]);
    expect(result.steps.every(({ state }) => state === "standing")).toBe(true);
    const poor = await run(["--force", "--json"], { ASSAY_KEY: `0x${"77".repeat(32)}` });
    expect([poor.code, sent]).toEqual([0, ALL]);
    expect(JSON.parse(poor.stdout).deployment.contracts).toEqual(expected);
  });

  test("behavior: the sources of each contract stand beside the deployment", async () => {
    const sources = path(`deployments/${BASE}.sources`);
    const entries = JSON.parse(readFileSync(join(sources, "index.json"), "utf8")) as SourceEntry[];
    const names = entries.map(({ contract }) => contract.split(":")[1]);
    const made = ["Courier", "EzklVerifiers", "PromiseReader"];
    expect(names.filter((name) => !made.includes(name as string))).toEqual(DEPLOYED_CONTRACTS);
    expect(names).toHaveLength(ALL + made.length);
    for (const { address, compiler, input, contract, constructorArguments } of entries) {
      expect(await chain.client.getCode({ address })).toBeDefined();
      expect(compiler).toMatch(/^v0\.8\.\d+\+commit\.[0-9a-f]{8}$/);
      expect(constructorArguments).toMatch(/^([0-9a-f]{64})*$/);
      const { sources: held } = JSON.parse(readFileSync(join(sources, input), "utf8")) as StandardInput;
      const [file] = contract.split(":") as [string];
      expect(keccak256(toHex(held[file]?.content ?? ""))).toBe(keccak256(toHex(readFileSync(file, "utf8"))));
    }
  });

  test("behavior: doctor warns of an answer time in which the chain cannot be forced", async () => {
    const args = ["--answer-seconds", "60", "--deployment", path("short.json")];
    expect(await run(args, withKey)).toMatchObject({ code: 0 });
    // All but Assay and Promises stood.
    expect(sent).toBe(2);
    const { stdout } = await runInProcess(["doctor"], {
      ASSAY_RPC_URL: rpc.url,
      ASSAY_DEPLOYMENT: path("short.json"),
    });
    expect(stdout).toMatch(
      /answer time is 60 s, forcing a transaction into Base \(chain 8453\) takes up to 43200 s/,
    );
  });
});
