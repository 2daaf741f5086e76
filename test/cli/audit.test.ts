import { join } from "node:path";
import { numberToHex, type RpcLog, toEventSelector } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Actions } from "../../protocol/chain/actions.ts";
import { auditChain } from "../../protocol/chain/audit/read.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { readIndex } from "../../protocol/chain/past.ts";
import { PromiseActions } from "../../protocol/chain/promises/actions.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { LeafModel } from "../../protocol/rules/promises/leaf.ts";
import type { Request } from "../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { bytesOutput, claimOutput } from "../support/claims.ts";
import { openLocalSystem, tinyInput, tinyRequest } from "../support/deploy.ts";
import { signTiny, tinyBatch } from "../support/promises/local-promises.ts";
import { type RpcProxy, startRpcProxy, type Verdict } from "../support/rpc-proxy.ts";

const ETHER = 10n ** 18n;

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let proxy: RpcProxy;
const input = tinyInput([1, 2, 3, 4]);

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  proxy = await startRpcProxy(local.rpcUrl);
  writeDeployment(join(system.folder, "deployment.json"), system.deployment);
  for (const salt of [1n, 2n]) await finalized(salt);
  await system.sender.send(new Actions(system.chain.game).withdraw(accountAt(1).address, "all"));
});
afterAll(async () => {
  await proxy?.stop();
  await system?.close();
  await local?.stop();
});

/** A request that becomes final by time. */
async function finalized(salt: bigint): Promise<void> {
  const { chain, sender } = system;
  const actions = new Actions(chain.game);
  const request = tinyRequest(accountAt(1), system.modelId, input, await local.now(), { salt });
  await sender.send(actions.request(request, input));
  await claimOutput(chain, sender, request, bytesOutput("0x01020304"));
  const [claim] = [...(await readIndex(chain)).claims.values()].slice(-1);
  await local.passTime(request.window + 1);
  await sender.send(actions.finalize(request, (claim as ClaimEntry).claim));
}

/** Stake, a batch, and a signed claim that becomes a claim and ends. */
async function promised(): Promise<void> {
  const { chain, sender, modelId, deployment } = system;
  const prover = accountAt(1);
  const actions = new PromiseActions(promisesOf(deployment), chain.game);
  const word = (await new StateReader(chain).model(modelId)) as LeafModel;
  const must = async (action: Parameters<typeof sender.send>[0]) =>
    expect(await sender.send(action)).toMatchObject({ status: "sent" });
  await must(actions.deposit(prover.address, ETHER, "audited"));
  await must(actions.setSigner(prover.address, (await local.now()) + 100_000));
  const signed = await signTiny(chain, prover, modelId, [1, 2, 3, 4], await local.now());
  await must(actions.open(signed, ETHER / 10n));
  const answer = { input: signed.input, output: signed.output };
  const { batch, data } = tinyBatch(word, prover, modelId, [answer, answer], 20);
  await must(actions.post(batch, { ...batch, leafBond: 0n, data }));
  await local.passTime(signed.claim.expiry);
  const [claim] = [...(await readIndex(chain)).claims.values()].slice(-1) as [ClaimEntry];
  const request = (await readIndex(chain)).requests.get(claim.claim.requestId)?.request as Request;
  await must(actions.close(request, claim.claim));
  await must(actions.release(batch));
  await must(actions.withdraw(prover.address, "audited"));
}

const audit = (args: readonly string[] = [], url = proxy.url) =>
  runInProcess(["audit", ...args], {
    ASSAY_RPC_URL: url,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, "other"),
  });

/** Lets the node's logs be others than they are. */
function forge(change: (logs: readonly RpcLog[]) => readonly RpcLog[]): void {
  proxy.decide = async ({ method, params }): Promise<Verdict> => {
    if (method !== "eth_getLogs") return "pass";
    const logs = await local.client.request({ method, params: params as [never] });
    return { result: change(logs as readonly RpcLog[]) };
  };
}

describe("assay audit", () => {
  test("default: in order, exit code 0", async () => {
    proxy.decide = () => "pass";
    const { code, stdout } = await audit();
    expect(stdout).toContain("In order: ");
    expect(stdout).toContain("requests   2 DONE");
    expect(stdout).toContain("as booked");
    expect(code).toBe(0);
  });

  test("args: --json, and blocks", async () => {
    const head = await local.client.getBlockNumber();
    const { stdout } = await audit(["--json", "--to", `${head - 1n}`]);
    const whole = JSON.parse(stdout);
    expect(whole).toMatchObject({ isInOrder: true, isWhole: true, requests: { DONE: 2 } });
    const { stdout: part } = await audit(["--json", "--from", `${head - 3n}`]);
    expect(JSON.parse(part)).toMatchObject({ isInOrder: true, isWhole: false });
  });

  test("behavior: an event that breaks a rule is named, exit code 4", async () => {
    forge((logs) => {
      const at = logs.findLastIndex(({ topics }) => topics.length === 3);
      return logs.toSpliced(at - 1, 1);
    });
    const { code, stdout } = await audit(["--json"]);
    const { breach, isInOrder } = JSON.parse(stdout);
    expect([code, isInOrder]).toEqual([4, false]);
    expect(breach).toMatchObject({
      rule: expect.any(String),
      event: {
        name: expect.any(String),
        logIndex: expect.any(Number),
        transactionHash: expect.stringMatching(/^0x/),
      },
    });
    const { stdout: text } = await audit();
    expect(text).toContain(`BROKEN (${breach.rule})`);
    expect(text).toContain(breach.event.transactionHash);
  });

  test("behavior: less than the books in the contract is a finding, more is not", async () => {
    const { assay } = system.chain.game;
    proxy.decide = () => "pass";
    const held = await local.client.getBalance({ address: assay });
    await local.control.setBalance({ address: assay, value: held + 1n });
    await local.control.mine({ blocks: 1 });
    expect((await audit()).stdout).toMatch(/1 wei above the books/);
    forge((logs) => logs.slice(0, -1));
    const { code, stdout } = await audit();
    expect(stdout).toContain("NOT in order");
    expect(code).toBe(4);
    await local.control.setBalance({ address: assay, value: held });
    await local.control.mine({ blocks: 1 });
  });

  test("behavior: promises are covered; what the contract holds otherwise than its events say is named", async () => {
    proxy.decide = () => "pass";
    await promised();
    const { code, stdout } = await audit();
    expect(stdout).toContain("Promises\n  events     8\n  signed     1 CLOSED of those that were opened");
    expect(stdout).toContain("batches    1 posted, 0 fallen");
    expect(stdout.match(/as booked/g)).toHaveLength(2);
    expect(code).toBe(0);
    const { stdout: json } = await audit(["--json"]);
    const { promises, promisesBalance } = JSON.parse(json);
    expect(promises).toMatchObject({
      events: 8,
      signedClaims: { CLOSED: 1 },
      money: { away: "0", lost: "0" },
    });
    expect(promisesBalance.held).toBe(promisesBalance.booked);

    // A deposit whose event the node leaves out, and one that never was.
    const { promises: contract } = system.deployment.contracts;
    const deposited = toEventSelector("Deposited(address,address,uint256)");
    forge((logs) => logs.filter(({ topics }) => topics[0] !== deposited));
    expect(JSON.parse((await audit(["--json"])).stdout).breach).toMatchObject({
      ...{ rule: "moves", why: expect.stringContaining("must wait for stake") },
      event: { name: "Opened", contract, transactionHash: expect.stringMatching(/^0x/) },
    });
    forge((logs) =>
      logs.map((log) =>
        log.topics[0] === deposited ? { ...log, data: numberToHex(2n * ETHER, { size: 32 }) } : log,
      ),
    );
    const forged = await audit(["--json"]);
    expect(forged.code).toBe(4);
    expect(JSON.parse(forged.stdout).breach).toMatchObject({
      rule: "held",
      why: expect.stringMatching(/^the free stake of 0x\w+ in the contract is \d+, it must be \d+$/),
      event: { name: "Withdrawn", contract, block: { number: expect.any(String) } },
    });
  });

  test("error: blocks that are not there, no number, no node", async () => {
    proxy.decide = () => "pass";
    for (const [args, code, expected] of [
      [["--to", "99999999"], 1, "99999999"],
      [["--from", "9", "--to", "8"], 1, "Blocks 9 to 8"],
      [["--from", "0x10"], 2, "a block number"],
    ] as const) {
      const answered = await audit(args);
      expect([args, answered.code]).toEqual([args, code]);
      expect(answered.stderr).toContain(expected);
    }
    expect((await audit([], "http://127.0.0.1:9")).code).toBe(3);
  });
});

describe("auditChain", () => {
  test("behavior: page by page, and again where the node fails", async () => {
    const chain = await connect({ rpcUrl: proxy.url, deployment: system.deployment });
    let failures = 0;
    proxy.decide = ({ method }) => {
      if (method !== "eth_getLogs" || failures % 2 === 1) return "pass";
      failures += 1;
      return { error: { code: -32_000, message: "header not found" } };
    };
    const pages: bigint[] = [];
    const small = await auditChain(chain, { pageBlocks: 3, onPage: (to) => pages.push(to) });
    proxy.decide = () => "pass";
    expect(pages.length).toBeGreaterThan(3);
    expect(failures).toBeGreaterThan(0);
    expect(small).toEqual(await auditChain(system.chain));
  });

  test("behavior: a model that was registered before the first block is read from the registry", async () => {
    await finalized(3n);
    const from = (await local.client.getBlockNumber()) - 3n;
    const report = await auditChain(system.chain, { from });
    expect(report.breach).toBeUndefined();
    expect(report.requests).toEqual({ DONE: 1 });
  });
});
