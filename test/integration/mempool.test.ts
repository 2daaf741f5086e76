import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fileCase } from "../support/cases.ts";
import { type PendingMove, watchMempool } from "../support/mempool.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

let system: System;

beforeAll(async () => {
  // Each transaction is mined at once, as it is for a watcher that a busy machine holds up for the time of a block.
  system = await startSystem({ models: ["sentiment"], answerSeconds: 120, blocks: "on-demand" });
});

afterAll(() => system?.stop());

describe("watchMempool", () => {
  it("behavior: shows what a block had before anybody could look, once", async () => {
    const moves: PendingMove[] = [];
    let goOn = () => {};
    const heldUp = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const stop = watchMempool(system, (move) => void moves.push(move), heldUp);
    await fileCase(system);
    await fileCase(system);
    goOn();
    await vi.waitUntil(() => moves.length >= 2, { timeout: 20_000 });
    await stop();
    const from = systemAccount(ROLES.requester).address;
    expect(moves.map((one) => [one.move, one.from, one.isMined])).toEqual([
      ["request", from, true],
      ["request", from, true],
    ]);
  });
});
