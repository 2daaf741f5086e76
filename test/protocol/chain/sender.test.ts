import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../../cli/anvil.ts";
import { toJson } from "../../../cli/output.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { connect } from "../../../protocol/chain/connect.ts";
import { writeDeployment } from "../../../protocol/chain/deployment-file.ts";
import { MAX_TRANSACTION_GAS } from "../../../protocol/chain/execution/cost.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { requireAccount, type SenderOptions } from "../../../protocol/chain/sender.ts";
import { requestIdOf } from "../../../protocol/rules/ids.ts";
import type { Request } from "../../../protocol/rules/types.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { openSqlite } from "../../../protocol/service/journal/sqlite.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { openLocalSystem, QUICK, temporaryFolder, tinyInput, tinyRequest } from "../../support/deploy.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";

/** How long a poll may take on any machine. */
const SLOW = { timeout: 120_000 };

describe("Sender", () => {
  let local: LocalChain;
  let system: Awaited<ReturnType<typeof openLocalSystem>>;
  let salt = 0;

  beforeAll(async () => {
    local = await startLocalChain();
    system = await openLocalSystem(local);
  });
  afterAll(async () => {
    await system?.close();
    await local?.stop();
  });

  const input = tinyInput([1, 2, 3, 4]);
  const actions = () => new Actions(system.chain.game);
  async function newRequest(account = accountAt(1), changes: Partial<Request> = {}): Promise<Request> {
    salt += 1;
    const own = BigInt(salt);
    return tinyRequest(account, system.modelId, input, await local.now(), { salt: own, ...changes });
  }
  /** A sender of its own for another key. */
  async function openFor(index: number, options: SenderOptions = QUICK, rpcUrl = local.rpcUrl) {
    const folder = temporaryFolder();
    const chain = requireAccount(
      await connect({ rpcUrl, deployment: system.deployment, account: accountAt(index) }),
    );
    return { ...openDataFolder(folder.path, chain, [], options), chain, folder };
  }
  const countOf = (index: number) => local.client.getTransactionCount({ address: accountAt(index).address });

  test("default: sends, and the same key never twice", async () => {
    const before = await countOf(1);
    const action = actions().request(await newRequest(), input);
    const results = await Promise.all([system.sender.send(action), system.sender.send(action)]);
    expect(results.map(({ status }) => status)).toEqual(["sent", "sent"]);
    expect(await system.sender.send(action)).toMatchObject({ status: "already-done" });
    expect(await countOf(1)).toBe(before + 1);
  });

  test("behavior: many at once take nonces without a gap", async () => {
    const before = await countOf(1);
    const requests = await Promise.all(Array.from({ length: 12 }, () => newRequest()));
    const results = await Promise.all(
      requests.map((request) => system.sender.send(actions().request(request, input))),
    );
    expect(results.every(({ status }) => status === "sent")).toBe(true);
    expect(await countOf(1)).toBe(before + 12);
  });

  test("behavior: a refused action costs nothing and may be sent again once it is right", async () => {
    const before = await countOf(1);
    const request = await newRequest();
    const right = actions().request(request, input);
    const refused = await system.sender.send({ ...right, value: 1n });
    expect(refused).toMatchObject({ status: "refused", revert: { name: "ValueWrong", args: { value: 1n } } });
    expect(await countOf(1)).toBe(before);
    expect(await system.sender.send(right)).toMatchObject({ status: "sent" });
  });

  test("behavior: what fits a transaction is sent, though the room above its estimate does not fit", async () => {
    // A loop of 26 gas, 538,461 times: some 14,000,000. PUSH3 count; JUMPDEST, subtract 1, jump while it is not 0; STOP.
    const to = "0x00000000000000000000000000000000000b19a5";
    await local.control.setCode({ address: to, bytecode: "0x6208375d5b60019003806004570000" });
    const action = { key: "burn", to, data: "0x", value: 0n, doneBy: [] } as const;
    const result = await system.sender.send(action);
    if (result.status !== "sent") throw new Error(`it was ${result.status}`);
    expect(result.inclusion.gasUsed).toBeGreaterThan(14_000_000n);
    const { gas } = await local.client.getTransaction({ hash: result.inclusion.hash });
    expect(gas).toBe(BigInt(MAX_TRANSACTION_GAS));
  });

  test("behavior: an effect of another sender is already done", async () => {
    const other = await openFor(2);
    const request = await newRequest(accountAt(2), { expiry: (await local.now()) + 100 });
    await other.sender.send(actions().request(request, input));
    await local.passTime(200);
    expect(await system.sender.send(actions().refund(request))).toMatchObject({ status: "sent" });
    // Anybody may refund; the second one finds the request closed.
    expect(await other.sender.send(actions().refund(request))).toMatchObject({
      status: "refused",
      revert: { name: "RequestNotOpen" },
    });
    const withdraw = actions().withdraw(accountAt(2).address, "once");
    expect(await other.sender.send(withdraw)).toMatchObject({ status: "sent" });
    expect(await other.sender.send(actions().withdraw(accountAt(2).address, "twice"))).toEqual({
      status: "already-done",
    });
    await other.close();
    other.folder.remove();
  });

  test("behavior: a stuck transaction is replaced at the same nonce, and one of the two is mined", async () => {
    const other = await openFor(3, { pollIntervalMs: 20, stuckAfterMs: 60 });
    await local.control.setAutomine(false);
    try {
      const before = await countOf(3);
      const sending = other.sender.send(actions().request(await newRequest(accountAt(3)), input));
      const count = other.db.prepare<[], { n: number }>("SELECT count(*) AS n FROM transactions");
      await expect.poll(() => count.get()?.n, SLOW).toBeGreaterThanOrEqual(3);
      await local.control.mine({ blocks: 1 });
      expect(await sending).toMatchObject({ status: "sent" });
      expect(await countOf(3)).toBe(before + 1);
    } finally {
      await local.control.setAutomine(true);
      await other.close();
      other.folder.remove();
    }
  });

  test("behavior: a re-org that drops a mined transaction brings it back", async () => {
    const other = await openFor(4);
    const request = await newRequest(accountAt(4));
    const id = requestIdOf(other.chain.game, request);
    expect(await other.sender.send(actions().request(request, input))).toMatchObject({ status: "sent" });
    const reader = new StateReader(other.chain);
    await local.control.setAutomine(false);
    try {
      const snapshotBlock = await local.client.getBlockNumber();
      await local.control.request({ method: "anvil_reorg", params: [1, []] } as never);
      expect((await reader.requestWord(id)).state).toBe("NONE");
      expect(await local.client.getBlockNumber()).toBe(snapshotBlock);
      await expect.poll(() => other.sender.unmined().map(({ key }) => key), SLOW).toEqual([`request:${id}`]);
    } finally {
      await local.control.setAutomine(true);
    }
    await local.control.mine({ blocks: 1 });
    await expect.poll(async () => (await reader.requestWord(id)).state, SLOW).toBe("OPEN");
    await expect.poll(() => other.sender.unmined(), SLOW).toEqual([]);
    await other.close();
    other.folder.remove();
  });

  test("behavior: a transaction that the node loses before it is mined is sent again at once", async () => {
    const never = 3_600_000;
    const other = await openFor(4, { pollIntervalMs: 20, stuckAfterMs: never });
    await local.control.setAutomine(false);
    try {
      const sending = other.sender.send(actions().request(await newRequest(accountAt(4)), input));
      const pool = async () => (await local.control.getTxpoolStatus()).pending;
      await expect.poll(pool, SLOW).toBe(1);
      const lost = other.db.prepare<[], { hash: Hex }>("SELECT hash FROM transactions").get();
      await local.control.dropTransaction({ hash: lost?.hash ?? "0x" });
      await expect.poll(pool, SLOW).toBe(1);
      await local.control.mine({ blocks: 1 });
      expect(await sending).toMatchObject({ status: "sent" });
    } finally {
      await local.control.setAutomine(true);
      await other.close();
      other.folder.remove();
    }
  });

  test("error: what the balance does not pay for beside what is on its way gets no nonce, and blocks nothing", async () => {
    const other = await openFor(9);
    const { address } = accountAt(9);
    await local.control.setAutomine(false);
    try {
      const balance = await local.client.getBalance({ address });
      const to = accountAt(8).address;
      const most = { key: "most", to, data: "0x", value: balance - 10n ** 18n, doneBy: [] } as const;
      const sending = other.sender.send(most);
      await expect.poll(() => other.sender.unmined().length, SLOW).toBe(1);
      const request = await newRequest(accountAt(9), { fee: 2n * 10n ** 18n });
      const costly = { ...actions().request(request, input), gas: 500_000n };
      expect(await other.sender.send(costly)).toMatchObject({
        status: "retryable",
        error: { code: "BALANCE_TOO_LOW", shortMessage: expect.stringContaining("takes 2 ether and gas") },
      });
      const free = other.sender.send({ key: "free", to, data: "0x", value: 0n, doneBy: [] });
      // Journalled is not yet in the node's pool; one block takes what is.
      await expect.poll(async () => (await local.control.getTxpoolStatus()).pending, SLOW).toBe(2);
      await local.control.mine({ blocks: 1 });
      expect(await Promise.all([sending, free])).toMatchObject([{ status: "sent" }, { status: "sent" }]);
      // What stays is asked for without anything on its way too.
      const left = { ...most, key: "left", value: 10n ** 17n };
      const result = await other.sender.send({ ...left, leaves: 10n ** 18n });
      expect(result).toMatchObject({ status: "retryable", error: { code: "BALANCE_TOO_LOW" } });
      expect(other.sender.unmined()).toEqual([]);
    } finally {
      await local.control.setAutomine(true);
      await other.close();
      other.folder.remove();
    }
  });

  test("error: a node that does not answer is retryable, and nothing is journalled", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    const other = await openFor(5, QUICK, proxy.url);
    await proxy.stop();
    const result = await other.sender.send(actions().request(await newRequest(accountAt(5)), input));
    expect(result).toMatchObject({
      status: "retryable",
      error: { code: "RPC_UNREACHABLE", retryable: true },
    });
    expect(other.db.prepare("SELECT count(*) AS n FROM actions").get()).toEqual({ n: 0 });
    await other.close();
    other.folder.remove();
  });

  test("behavior: a send whose transaction is mined ends, though the node then fails about another one", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    const other = await openFor(5, QUICK, proxy.url);
    await local.control.setAutomine(false);
    try {
      const first = other.sender.send(actions().request(await newRequest(accountAt(5)), input));
      await expect.poll(() => other.sender.unmined().length, SLOW).toBe(1);
      const second = other.sender.send(actions().request(await newRequest(accountAt(5)), input));
      await expect.poll(() => other.sender.unmined().length, SLOW).toBe(2);
      const unmined = other.db.prepare<[], { hash: Hex }>(
        "SELECT hash FROM transactions ORDER BY nonce DESC",
      );
      const hash = unmined.get()?.hash;
      proxy.decide = ({ method, params }) =>
        method === "eth_getTransactionReceipt" && params[0] === hash
          ? { error: { code: -32_603, message: "the database is busy" } }
          : "pass";
      await local.control.mine({ blocks: 1 });
      expect(await first).toMatchObject({ status: "sent" });
      proxy.decide = () => "pass";
      expect(await second).toMatchObject({ status: "sent" });
    } finally {
      await local.control.setAutomine(true);
      await other.close();
      await proxy.stop();
      other.folder.remove();
    }
  });

  test("error: a nonce taken by another program is reported, and sending again works", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    const other = await openFor(6, QUICK, proxy.url);
    // The signed transaction is lost, and another one of the same key takes its nonce.
    proxy.decide = ({ method }) => (method === "eth_sendRawTransaction" ? "hold" : "pass");
    const action = actions().request(await newRequest(accountAt(6)), input);
    const sending = other.sender.send(action);
    await expect.poll(() => other.sender.unmined().length, SLOW).toBe(1);
    const raw = await accountAt(6).signTransaction({
      type: "eip1559",
      chainId: 31337,
      to: accountAt(6).address,
      nonce: await countOf(6),
      gas: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
    });
    await local.client.sendRawTransaction({ serializedTransaction: raw });
    proxy.decide = () => "pass";
    await proxy.stop();
    await other.close();
    expect(await sending).toMatchObject({ status: "retryable" });
    const again = await reopen(other.folder.path, 6);
    await expect.poll(() => again.sender.unmined(), SLOW).toEqual([]);
    expect(await again.sender.send(action)).toMatchObject({ status: "sent" });
    await again.close();
    other.folder.remove();
  });

  test("behavior: a transaction that the journal gave up, and the chain took, is journalled as mined", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    const other = await openFor(6, QUICK, proxy.url);
    let raw: Hex | undefined;
    proxy.decide = ({ method, params }) => {
      if (method !== "eth_sendRawTransaction") return "pass";
      raw = params[0] as Hex;
      return "hold";
    };
    const before = await countOf(6);
    const action = actions().request(await newRequest(accountAt(6)), input);
    const sending = other.sender.send(action);
    await expect.poll(() => raw, SLOW).toBeDefined();
    await proxy.stop();
    await other.close();
    expect(await sending).toMatchObject({ status: "retryable" });
    // As when another daemon of the key holds the nonce in the shared journal, which the folder took over from it.
    const journal = openSqlite(join(other.folder.path, "assay.sqlite"));
    journal.prepare("UPDATE actions SET state = 'displaced'").run();
    journal.close();
    const hash = await local.client.sendRawTransaction({ serializedTransaction: raw as Hex });
    const again = await reopen(other.folder.path, 6);
    await expect.poll(() => again.sender.isFollowed(action.key), SLOW).toBe(true);
    expect(await again.sender.send(action)).toMatchObject({ status: "already-done", inclusion: { hash } });
    expect(await countOf(6)).toBe(before + 1);
    await again.close();
    other.folder.remove();
  });

  test("behavior: stopping waits for a send that is under way", async () => {
    const proxy = await startRpcProxy(local.rpcUrl);
    const other = await openFor(8, QUICK, proxy.url);
    proxy.decide = ({ method }) => (method === "eth_sendRawTransaction" ? "hold" : "pass");
    let ended = false;
    const sending = other.sender
      .send(actions().request(await newRequest(accountAt(8)), input))
      .finally(() => {
        ended = true;
      });
    await expect.poll(() => other.sender.unmined().length, SLOW).toBe(1);
    const closing = other.close().then(() => ended);
    // The held transaction breaks with its connection; only then may the journal's database close.
    await proxy.stop();
    expect(await closing).toBe(true);
    expect(await sending).toMatchObject({ status: "retryable" });
    other.folder.remove();
  });

  async function reopen(folder: string, index: number) {
    const chain = requireAccount(
      await connect({ rpcUrl: local.rpcUrl, deployment: system.deployment, account: accountAt(index) }),
    );
    return openDataFolder(folder, chain, [], QUICK);
  }

  test("error: one process at a time, one key and one deployment a folder", async () => {
    expect(() => openDataFolder(system.folder, system.chain)).toThrow(
      expect.objectContaining({ code: "DATA_FOLDER_BUSY" }),
    );
    const other = await openFor(7);
    await other.close();
    await expect(reopen(other.folder.path, 8)).rejects.toMatchObject({ code: "JOURNAL_OWNER_MISMATCH" });
    other.folder.remove();
  });

  // What is killed when: before the node has the transaction, and after, before the process knows.
  test.each([
    ["before the node has the transaction", "hold", 8],
    ["after the node has it, before the process knows", "swallow", 9],
  ] as const)("behavior: kill -9 %s", async (_when, verdict, index) => {
    const folder = temporaryFolder();
    const proxy = await startRpcProxy(local.rpcUrl);
    const request = await newRequest(accountAt(index));
    const deploymentFile = join(folder.path, "deployment.json");
    const orderFile = join(folder.path, "order.json");
    const data = join(folder.path, "data");
    writeDeployment(deploymentFile, system.deployment);
    writeFileSync(orderFile, toJson({ request, input }));
    const start = (url: string) =>
      spawn(
        process.execPath,
        ["--import", "tsx", "test/support/sender-child.ts", url, deploymentFile, data, orderFile],
        { env: { ...process.env, ASSAY_KEY: ANVIL_KEYS[index] }, stdio: ["ignore", "pipe", "inherit"] },
      );
    const before = await countOf(index);
    const reached = new Promise<void>((resolve) => {
      let isSent = false;
      proxy.decide = ({ method }) => {
        // From here on the process learns nothing more of the chain; what shares a batch is still passed on.
        if (method !== "eth_sendRawTransaction") return isSent ? "swallow" : "pass";
        isSent = true;
        resolve();
        return verdict;
      };
    });
    const first = start(proxy.url);
    await reached;
    const after = verdict === "hold" ? before : before + 1;
    await expect.poll(() => countOf(index), SLOW).toBe(after);
    first.kill("SIGKILL");
    await new Promise((resolve) => first.once("exit", resolve));
    const db = openSqlite(join(data, "assay.sqlite"), { readonly: true });
    expect(db.prepare("SELECT state FROM actions").all()).toEqual([{ state: "signed" }]);
    db.close();
    expect(await countOf(index)).toBe(after);

    const second = start(local.rpcUrl);
    const output: string[] = [];
    second.stdout.on("data", (part: Buffer) => output.push(part.toString()));
    expect(await new Promise((resolve) => second.once("exit", resolve))).toBe(0);
    expect(output.join("")).toMatch(/^(sent|already-done)\n$/);
    expect(await countOf(index)).toBe(before + 1);
    const id = requestIdOf(system.chain.game, request);
    expect((await new StateReader(system.chain).requestWord(id)).state).toBe("OPEN");
    await proxy.stop();
    folder.remove();
  });
});
