/** Deployments by the proxy: the same everywhere, and whatever interrupts, precedes or attacks them. */
import { createWalletClient, type Hex, http, isAddressEqual, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadArtifacts } from "../../../../cli/artifacts.ts";
import { createClient } from "../../../../protocol/chain/connect.ts";
import { DEPLOYED_CONTRACTS, systemAddresses } from "../../../../protocol/chain/deploy/parts.ts";
import { type Step, stepsOf } from "../../../../protocol/chain/deploy/plan.ts";
import { PROXY_ADDRESS, PROXY_CODE } from "../../../../protocol/chain/deploy/proxy.ts";
import { type DeployOptions, deploySystem } from "../../../../protocol/chain/deploy.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../../support/anvil.ts";
import { LOCAL_CONSTANTS } from "../../../support/deploy.ts";
import { type RpcProxy, startRpcProxy, type Verdict } from "../../../support/rpc-proxy.ts";

const artifacts = loadArtifacts();
const { steps } = await stepsOf(artifacts, LOCAL_CONSTANTS, { kind: "proxy" });
const ALL = DEPLOYED_CONTRACTS.length;
/** Has nothing. */
const POOR = privateKeyToAccount(`0x${"77".repeat(32)}`);

let chain: LocalChain;
let rpc: RpcProxy;
/** Transactions that reached the node. */
let sent = 0;

async function open(chainId = 31_337): Promise<void> {
  chain = await startLocalChain({ chainId });
  rpc = await startRpcProxy(chain.rpcUrl);
  sent = 0;
  rpc.decide = ({ method }) => {
    if (method === "eth_sendRawTransaction") sent++;
    return "pass";
  };
}
async function close(): Promise<void> {
  await rpc?.stop();
  await chain?.stop();
}
beforeEach(() => open());
afterEach(close);

const options = (changes: Partial<DeployOptions> = {}): DeployOptions => ({
  client: createClient(rpc.url, 10_000, 0),
  account: accountAt(0),
  artifacts,
  constants: LOCAL_CONSTANTS,
  pollIntervalMs: 20,
  ...changes,
});
const deploy = (changes?: Partial<DeployOptions>) => deploySystem(options(changes));

/** Somebody else creates a contract of the system. */
async function createAs(account: LocalAccount, { to, data }: Step): Promise<void> {
  const wallet = createWalletClient({ account, transport: http(chain.rpcUrl) });
  const hash = await wallet.sendTransaction({ chain: null, to: to as Hex, data });
  await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
}

describe("deploySystem", () => {
  test("default: another chain, another account and another nonce give the same addresses", async () => {
    const first = await deploy();
    await close();
    await open(4_242);
    await createAs(accountAt(3), steps[2] as Step);
    const second = await deploy({ account: accountAt(3) });
    expect(second.contracts).toEqual(first.contracts);
    expect(second.contracts).toEqual(systemAddresses(artifacts, LOCAL_CONSTANTS));
    expect([first.chainId, second.chainId]).toEqual([31_337, 4_242]);
  });

  test.each(["proxy", "account"] as const)(
    "behavior: by the %s each step takes the gas of its plan",
    async (kind) => {
      const account = accountAt(4);
      const nonce = await chain.client.getTransactionCount({ address: account.address });
      const plan = await stepsOf(
        artifacts,
        LOCAL_CONSTANTS,
        kind === "proxy" ? { kind } : { kind, from: account.address, nonce },
      );
      const gas: bigint[] = [];
      const hashes: Hex[] = [];
      const plainCreate = kind === "account";
      const deployment = await deploy({
        ...{ account, plainCreate },
        onDeployed: (_step, hash) => void (hash && hashes.push(hash)),
      });
      for (const hash of hashes) gas.push((await chain.client.getTransactionReceipt({ hash })).gasUsed);
      expect(gas).toEqual(plan.steps.map(({ transactionGas }) => transactionGas));
      expect(deployment.contracts).toEqual(plan.contracts);
      for (const { address, code, made } of plan.steps)
        for (const one of [{ address, code }, ...made])
          expect(await chain.client.getCode({ address: one.address })).toBe(one.code);
    },
  );

  test("behavior: what stands costs nothing, also an account without money", async () => {
    const first = await deploy();
    expect(sent).toBe(ALL);
    await chain.control.mine({ blocks: 7 });
    const again = await deploy({ account: POOR });
    expect([sent, again]).toEqual([ALL, first]);
  });

  test.each([1, 7, ALL])(
    "behavior: interrupted at transaction %i it goes on where it stopped",
    async (at) => {
      rpc.decide = ({ method }) => {
        if (method !== "eth_sendRawTransaction") return "pass";
        return ++sent === at ? "break" : "pass";
      };
      await expect(deploy()).rejects.toMatchObject({ code: "RPC_UNREACHABLE", retryable: true });
      const stood: string[] = [];
      const { contracts } = await deploy({
        onDeployed: ({ name }, hash) => void (hash ?? stood.push(name)),
      });
      // The one that broke was counted, and did not arrive.
      expect(sent).toBe(ALL + 1);
      expect(stood).toEqual(DEPLOYED_CONTRACTS.slice(0, at - 1));
      expect(contracts).toEqual(systemAddresses(artifacts, LOCAL_CONSTANTS));
    },
  );

  test("behavior: a transaction whose answer was lost is waited for, not sent again", async () => {
    await chain.control.setAutomine(false);
    rpc.decide = ({ method }) => {
      if (method !== "eth_sendRawTransaction") return "pass";
      return ++sent === 1 ? "swallow" : "pass";
    };
    const held = new Promise<void>((resolve) => {
      rpc.onSilence = () => resolve();
    });
    const lost = deploy({ client: createClient(rpc.url, 500, 0) });
    await Promise.all([held, expect(lost).rejects.toMatchObject({ code: "RPC_UNREACHABLE" })]);
    const going = deploy();
    await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    await going;
    expect([sent, await chain.client.getTransactionCount({ address: accountAt(0).address })]).toEqual([
      ALL,
      ALL,
    ]);
  });

  test("error: transactions that are never mined", async () => {
    await chain.control.setAutomine(false);
    const wallet = createWalletClient({ account: accountAt(0), transport: http(chain.rpcUrl) });
    await wallet.sendTransaction({ chain: null, to: accountAt(1).address });
    await expect(deploy()).rejects.toMatchObject({
      code: "TRANSACTIONS_PENDING",
      details: { waiting: 1 },
      retryable: true,
    });
    expect(sent).toBe(0);
  });

  test("behavior: somebody is faster with every step: the code is the same, and is used", async () => {
    let next = 0;
    rpc.decide = async ({ method }): Promise<Verdict> => {
      // After the estimate and before the transaction: it fails, and the contract stands all the same.
      if (method === "eth_sendRawTransaction" && ++sent % 2 === 1) {
        await createAs(accountAt(5), steps[next] as Step);
        next += 2;
      }
      return "pass";
    };
    const { contracts, block } = await deploy();
    expect([sent, contracts]).toEqual([ALL, systemAddresses(artifacts, LOCAL_CONSTANTS)]);
    const code = (blockNumber: bigint) => chain.client.getCode({ address: contracts.registry, blockNumber });
    expect(await code(block.number)).toBe(steps[0]?.code);
    expect(await code(block.number - 1n)).toBeUndefined();
  });

  test("behavior: what somebody created in the meantime is not sent, and costs nothing", async () => {
    rpc.decide = async ({ method }): Promise<Verdict> => {
      if (method !== "eth_sendRawTransaction") return "pass";
      // The step after the one that is being sent. Assay cannot be before the proof lane.
      const next = steps[2 * sent++ + 1];
      if (next !== undefined && next.name !== "Assay") await createAs(accountAt(5), next);
      return "pass";
    };
    const { contracts } = await deploy();
    expect([sent, contracts]).toEqual([(ALL + 3) / 2, systemAddresses(artifacts, LOCAL_CONSTANTS)]);
  });

  test("error: constants that a constructor refuses, before anything is sent", async () => {
    const constants = { ...LOCAL_CONSTANTS, answerSeconds: 648_001 };
    await expect(deploy({ constants })).rejects.toMatchObject({
      code: "DEPLOY_FAILED",
      details: { name: "Assay" },
    });
    expect(sent).toBe(0);
  });

  test("error: a base fee above the limit", async () => {
    await expect(deploy({ maxFee: 1n })).rejects.toMatchObject({ code: "FEE_ABOVE_LIMIT" });
    expect(sent).toBe(0);
  });
});

describe("attacks on what stands", () => {
  const places = steps.flatMap(({ name, address, code, made }) => [
    { name, address, code, isMade: false },
    ...made.map((one) => ({ name, ...one, isMade: true })),
  ]);

  test("error: other code at any address of the system, before anything is sent", async () => {
    for (const { name, address, isMade } of places) {
      await chain.control.setCode({ address, bytecode: "0x00" });
      await expect(deploy(), `${name}${isMade ? "'s own" : ""}`).rejects.toMatchObject({
        code: "DEPLOY_CODE_DIFFERS",
        details: { name },
      });
      await chain.control.setCode({ address, bytecode: "0x" });
    }
    expect([places.length, sent]).toEqual([ALL + 3, 0]);
  });

  test("error: one bit of difference, in the code and in an immutable", async () => {
    await deploy();
    const assay = steps.find(({ name }) => name === "Assay") as Step;
    const at = assay.code.indexOf(LOCAL_CONSTANTS.gasBase.toString(16).padStart(64, "0"));
    expect(at).toBeGreaterThan(0);
    for (const index of [4, at + 63, assay.code.length - 1]) {
      const digit = (Number.parseInt(assay.code[index] as string, 16) ^ 1).toString(16);
      const bytecode: Hex = `0x${assay.code.slice(2, index)}${digit}${assay.code.slice(index + 1)}`;
      await chain.control.setCode({ address: assay.address, bytecode });
      await expect(deploy()).rejects.toMatchObject({
        code: "DEPLOY_CODE_DIFFERS",
        details: { name: "Assay" },
      });
    }
    await chain.control.setCode({ address: assay.address, bytecode: assay.code });
    await deploy();
    expect(sent).toBe(ALL);
  });

  test("error: a proxy with other code", async () => {
    await chain.control.setCode({ address: PROXY_ADDRESS, bytecode: `${PROXY_CODE}00` });
    await expect(deploy()).rejects.toMatchObject({ code: "PROXY_DIFFERS" });
    expect(sent).toBe(0);
  });

  test("behavior: code that a node's lie hides is found before the deployment is believed", async () => {
    const [registry] = steps as [Step];
    let isLying = false;
    rpc.decide = ({ method, params }) => {
      if (method === "eth_sendRawTransaction" && ++sent === ALL) isLying = true;
      const isRegistry = method === "eth_getCode" && isAddressEqual(params[0] as Hex, registry.address);
      return isLying && isRegistry ? { result: "0x6001" } : "pass";
    };
    await expect(deploy()).rejects.toMatchObject({ code: "DEPLOY_CODE_DIFFERS" });
    expect(sent).toBe(ALL);
  });
});

describe("a chain without the proxy", () => {
  const remove = () => chain.control.setCode({ address: PROXY_ADDRESS, bytecode: "0x" });

  test("behavior: a local one gets it by its signed transaction", async () => {
    await remove();
    const { contracts } = await deploy();
    expect(await chain.client.getCode({ address: PROXY_ADDRESS })).toBe(PROXY_CODE);
    expect([sent, contracts]).toEqual([ALL + 2, systemAddresses(artifacts, LOCAL_CONSTANTS)]);
  });

  test("error: another one is refused, unless plain creation is asked for", async () => {
    await close();
    await open(4_242);
    await remove();
    await expect(deploy()).rejects.toMatchObject({
      code: "PROXY_MISSING",
      nextStep: expect.stringContaining("--plain-create"),
    });
    expect(sent).toBe(0);
    const { contracts } = await deploy({ plainCreate: true });
    expect(sent).toBe(ALL);
    const elsewhere = Object.values(systemAddresses(artifacts, LOCAL_CONSTANTS));
    for (const address of Object.values(contracts)) expect(elsewhere).not.toContain(address);
  });
});

describe("firstBlock", () => {
  test("default: the block of the registry, found by old states", async () => {
    await chain.control.mine({ blocks: 5 });
    const { block } = await deploy();
    expect(block.number).toBe(6n);
    await chain.control.mine({ blocks: 40 });
    expect((await deploy()).block).toEqual(block);
  });

  test.each<[string, Verdict]>([
    ["an error", { error: { code: -32_000, message: "missing trie node" } }],
    ["empty code", { result: "0x" }],
  ])("error: a node that answers with %s for old states", async (_name, answer) => {
    await deploy();
    await chain.control.mine({ blocks: 40 });
    const head = await chain.client.getBlockNumber();
    rpc.decide = ({ method, params }) => {
      if (method !== "eth_getCode") return "pass";
      const isOld = String(params[1]).startsWith("0x") && BigInt(String(params[1])) < head - 10n;
      return isOld ? answer : "pass";
    };
    await expect(deploy()).rejects.toMatchObject({
      code: "HISTORY_MISSING",
      nextStep: expect.stringContaining("--first-block"),
    });
    expect((await deploy({ firstBlock: 1n })).block.number).toBe(1n);
  });
});
