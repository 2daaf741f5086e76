import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { type RpcProxy, startRpcProxy, type Verdict } from "../support/rpc-proxy.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake: the test lets the time pass, without a block. */
const ANSWER_SECONDS = 120;
const [STALLS, STALLS_REVEAL] = [ROLES.cheat, ROLES.cheat + 1];

/** A receipt arrives after the block that holds it was seen: a node may be slow to answer. */
const RECEIPT_DELAY_MS = 500;

let system: System;
let slowNode: RpcProxy;
let seed = 300;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS, blocks: "on-demand" });
  slowNode = await startRpcProxy(system.rpcUrl);
  slowNode.decide = async ({ method }): Promise<Verdict> => {
    if (method === "eth_getTransactionReceipt") await setTimeout(RECEIPT_DELAY_MS);
    return "pass";
  };
  const defend = ["challenger", "defend"];
  await Promise.all([
    system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up"),
    system.cheat("stalls", STALLS, "stall").logged("prover is up"),
    system.cheat("stalls-reveal", STALLS_REVEAL, "stall-reveal").logged("prover is up"),
    system
      .daemon("challenger", ROLES.challenger, defend, { rpcUrl: slowNode.url })
      .logged("challenger is up"),
  ]);
});

afterAll(async () => {
  await system?.stop();
  await slowNode?.stop();
});

/** A request that this account has claimed. */
async function claimBy(index: number) {
  const model = system.model("sentiment");
  seed += 2;
  const calldata = selfTestCalldata(model.model.program, model.selector, seed);
  const asked = await system.ask({ model, calldata, prover: systemAccount(index).address });
  const { claimId } = await system.events.until("Claimed", ({ requestId }) => requestId === asked.requestId);
  const isOf = (event: { claimId: string }): boolean => event.claimId === claimId;
  return { ...asked, isOf };
}

/** Moves the clock; no block tells of it. */
async function passTimeAlone(seconds: number): Promise<void> {
  const before = await system.client.getBlockNumber();
  await system.control.increaseTime({ seconds });
  expect(await system.client.getBlockNumber()).toBe(before);
}

describe("a chain that makes blocks on demand only", () => {
  it("behavior: a claim whose window ended is finalized", async () => {
    const { request, isOf } = await claimBy(ROLES.prover);
    await passTimeAlone(request.window);
    await system.events.until("Finalized", isOf);
  });

  it("behavior: a trace that does not come is timed out", async () => {
    const { isOf } = await claimBy(STALLS);
    await system.events.until("Challenged", isOf);
    await passTimeAlone(ANSWER_SECONDS + 1);
    const { reason } = await system.events.until("Fell", isOf);
    expect(FALL_REASONS[reason]).toBe("TRACE_TIMEOUT");
    await system.events.until("Collected", isOf);
  });

  it("behavior: a reveal that does not come is timed out", async () => {
    const { isOf } = await claimBy(STALLS_REVEAL);
    await system.events.until("Demanded", isOf);
    await passTimeAlone(ANSWER_SECONDS + 1);
    const { reason } = await system.events.until("Fell", isOf);
    expect(FALL_REASONS[reason]).toBe("DEMAND_TIMEOUT");
  });
});
