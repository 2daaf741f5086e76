/** What a sender makes of transactions that were mined and failed. */
import { createWalletClient, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action } from "../../../protocol/chain/actions.ts";
import { connect } from "../../../protocol/chain/connect.ts";
import { requireAccount } from "../../../protocol/chain/sender.ts";
import { openDataFolder } from "../../../protocol/service/data-folder.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { openLocalSystem, QUICK, temporaryFolder } from "../../support/deploy.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

/** With calldata: sets slot 0. Without: stops, or once slot 0 is set
 *    LOOPS    never ends
 *    REVERTS  reverts without data */
const LOOPS = "0x3615600b576001600055005b600054156017575b6013565b00";
const REVERTS = "0x3615600b576001600055005b6000541560185760006000fd5b00";
const TARGETS = { loops: `0x${"77".repeat(20)}`, reverts: `0x${"78".repeat(20)}` } as const;
const SET = "0x01";
const ZERO: Hex = `0x${"00".repeat(32)}`;

let local: LocalChain;
let proxy: RpcProxy;
let system: Awaited<ReturnType<typeof openLocalSystem>>;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  proxy = await startRpcProxy(local.rpcUrl);
  await local.control.setCode({ address: TARGETS.loops, bytecode: LOOPS });
  await local.control.setCode({ address: TARGETS.reverts, bytecode: REVERTS });
});
afterAll(async () => {
  await proxy?.stop();
  await system?.close();
  await local?.stop();
});

async function opened(index: number) {
  const folder = temporaryFolder();
  const { deployment } = system;
  const chain = requireAccount(await connect({ rpcUrl: proxy.url, deployment, account: accountAt(index) }));
  const own = openDataFolder(folder.path, chain, [], QUICK);
  const close = async () => {
    await own.close();
    folder.remove();
  };
  return { ...own, close };
}

/** Sends what works when it is simulated, and lets somebody be faster whose transaction makes it fail. */
async function overtaken(sender: Awaited<ReturnType<typeof opened>>["sender"], to: Hex, gas?: bigint) {
  const action = { key: `call:${to}:${gas}`, to, data: "0x", value: 0n, doneBy: [] } as const;
  await local.control.setStorageAt({ address: to, index: 0, value: ZERO });
  await local.control.setAutomine(false);
  try {
    const sending = sender.send(gas === undefined ? action : { ...action, gas });
    // In the journal it is before the node has it.
    await expect
      .poll(async () => (await local.control.getTxpoolStatus()).pending, { timeout: 60_000 })
      .toBe(1);
    const faster = createWalletClient({ account: accountAt(9), transport: http(local.rpcUrl) });
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
    await faster.sendTransaction({ to, data: SET, gas: 100_000n, ...fees, chain: null });
    await local.control.mine({ blocks: 1 });
    return { action, result: await sending };
  } finally {
    await local.control.setAutomine(true);
  }
}

describe("Sender, after a transaction failed", () => {
  test("behavior: one that ran out of its estimated gas may be sent again", async () => {
    const { sender, close } = await opened(5);
    const { action, result } = await overtaken(sender, TARGETS.loops);
    expect(result).toMatchObject({ status: "retryable", error: { code: "OUT_OF_GAS" } });
    await local.control.setStorageAt({ address: TARGETS.loops, index: 0, value: ZERO });
    expect(await sender.send(action)).toMatchObject({ status: "sent" });
    await close();
  });

  test("error: one that ran out of a limit that its caller set is refused", async () => {
    const { sender, close } = await opened(6);
    const { result } = await overtaken(sender, TARGETS.loops, 50_000n);
    expect(result).toMatchObject({ status: "refused", revert: { message: "OutOfGas(gas: 50000)" } });
    await close();
  });

  test("error: a node that no longer has the state before it does not hold it up", async () => {
    const { sender, close } = await opened(7);
    proxy.decide = ({ method, params }) =>
      method === "eth_call" && params[1] !== "latest"
        ? { error: { code: -32_000, message: "missing trie node" } }
        : "pass";
    const { result } = await overtaken(sender, TARGETS.reverts);
    proxy.decide = () => "pass";
    expect(result).toMatchObject({ status: "refused", revert: { name: "UnknownRevert" } });
    await close();
  });

  test.each([
    ["the same action, whose transaction is the same again", (action: Action) => action],
    ["another action on the nonce that is free again", (action: Action) => ({ ...action, key: "another" })],
  ])("behavior: after a re-org that took the failure back, sends %s", async (_name, next) => {
    const { sender, db, close } = await opened(8);
    const { action, result } = await overtaken(sender, TARGETS.reverts);
    expect(result).toMatchObject({ status: "refused" });
    await local.control.request({ method: "anvil_rollback", params: [1] } as never);
    await local.control.setStorageAt({ address: TARGETS.reverts, index: 0, value: ZERO });
    expect(await sender.send(next(action))).toMatchObject({ status: "sent" });
    const nonces = db.prepare("SELECT DISTINCT nonce FROM transactions").all();
    expect(nonces).toHaveLength(1);
    await close();
  });
});
