import { createWalletClient, type Hex, http } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Asked, connect, type Life, openModel, request, watch } from "../../../agent/sdk/index.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { candidateOf } from "../../../protocol/chain/finality.ts";
import { historyOf } from "../../../protocol/chain/history.ts";
import type { Claim } from "../../../protocol/rules/types.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { bytesOutput, claimAction } from "../../support/claims.ts";
import { openLocalSystem } from "../../support/deploy.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

let local: LocalChain;
let proxy: RpcProxy;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let wallet: ReturnType<typeof createWalletClient>;

beforeAll(async () => {
  local = await startLocalChain();
  proxy = await startRpcProxy(local.rpcUrl);
  system = await openLocalSystem(local);
  wallet = createWalletClient({ account: accountAt(2), transport: http(local.rpcUrl) });
});
afterAll(async () => {
  await system?.close();
  await proxy?.stop();
  await local?.stop();
});

async function ask(data: Hex): Promise<Asked> {
  const model = await openModel(system.chain, system.modelId);
  return request(system.chain, wallet, model, { data }, { fee: 1_000n });
}

/** Claims without a journal, which would send again what a re-org takes back. */
async function claim({ request: asked }: Asked, data: Hex): Promise<void> {
  const { to, data: call, value } = await claimAction(system.chain, asked, bytesOutput(data));
  const account = accountAt(3);
  const claimer = createWalletClient({ account, transport: http(local.rpcUrl) });
  await claimer.sendTransaction({ account, chain: null, to, data: call, value });
}

/** Reads lives one at a time, each in a line. */
async function watcher({ requestId }: Asked) {
  const chain = await connect({ rpcUrl: proxy.url, deployment: system.deployment });
  const stop = new AbortController();
  const lives = watch(chain, requestId, { signal: stop.signal, pollIntervalMs: 20 });
  const next = async () => {
    const { value, done } = await lives.next();
    return done === true ? "ended" : lineOf(value);
  };
  return { next, stop: () => stop.abort() };
}

function lineOf(life: Life): string {
  if (life.kind === "disconnected") return "disconnected";
  if (life.kind === "undone") return `undone ${life.events.map(({ name }) => name).join(", ")}`;
  const { name, args } = life.event;
  return name === "Claimed" ? `Claimed ${args.output.slice(-64, -56)}` : name;
}

describe("watch", () => {
  it("default: one request's events and its claims', nobody else's", async () => {
    const [asked, other] = [await ask("0x01010101"), await ask("0x02020202")];
    await claim(other, "0x02020202");
    await claim(asked, "0x01010101");
    const { next, stop } = await watcher(asked);
    expect([await next(), await next()]).toEqual(["Requested", "Claimed 01010101"]);
    stop();
    expect(await next()).toBe("ended");
  });

  it("behavior: follows a re-org, and goes on where it stopped when the node comes back", async () => {
    const asked = await ask("0x03030303");
    await claim(asked, "0xbadbad00");
    const { next, stop } = await watcher(asked);
    expect([await next(), await next()]).toEqual(["Requested", "Claimed badbad00"]);
    await local.control.request({ method: "anvil_reorg", params: [1, []] } as never);
    // A chain that is no longer than the old one may be a node that lags.
    await local.control.mine({ blocks: 1 });
    expect(await next()).toBe("undone Claimed");
    await claim(asked, "0x03030303");
    expect(await next()).toBe("Claimed 03030303");
    proxy.decide = () => ({ error: { code: -32_603, message: "down for a moment" } });
    expect(await next()).toBe("disconnected");
    await local.passTime(asked.request.window + 1);
    const later = next();
    proxy.decide = () => "pass";
    const { to, data, value } = new Actions(system.chain.game).finalize(asked.request, await claimOf(asked));
    await wallet.sendTransaction({ account: accountAt(2), chain: null, to, data, value });
    expect(await later).toBe("Finalized");
    stop();
    expect(await next()).toBe("ended");
  });
});

/** The claim on a request, by its events. */
async function claimOf({ requestId }: Asked): Promise<Claim> {
  const found = candidateOf(await historyOf(system.chain, requestId))?.claim;
  if (found === undefined) throw new Error(`Request ${requestId} has no claim.`);
  return found.terms;
}
