/** Wrong leaves on real contracts: opened, kept moving in their queues, and booked at their end. */

import { describe, expect, test, vi } from "vitest";
import { keyOfLeaf } from "../../../challenger/promises/store.ts";
import { readClaim } from "../../../protocol/chain/past.ts";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import { PROMISE_LIMITS, turnSeconds } from "../../../protocol/rules/promises/limits.ts";
import { accountAt } from "../../support/anvil.ts";
import { endings, movesSuite } from "../../support/promises/moves-suite.ts";
import { ETHER } from "../../support/promises/promise-challenger.ts";

const DAY = 86_400;
const PATIENCE = { timeout: 240_000, interval: 50 };
const PROVER = accountAt(1);

const suite = movesSuite();
const { begin, bondOfLeaf } = suite;

describe("leaves", () => {
  test("default: of a full batch the wrong ones are opened, as far as slots and stake go", async () => {
    const game = await begin(10n * ETHER);
    const wrong = [0, 511, 512, PROMISE_LIMITS.maxLeaves - 1];
    const { id } = await game.post(PROMISE_LIMITS.maxLeaves, wrong);
    await game.settle();
    const leaves = game.notices.find(({ kind }) => kind === "leaves");
    expect(leaves).toMatchObject({
      right: PROMISE_LIMITS.maxLeaves - wrong.length,
      wrong: wrong.length,
      unchecked: 0,
    });
    for (const index of wrong) expect(await game.leaf(id, index)).toBe("OPEN");
    expect(await game.reader.batch(id)).toMatchObject({ open: wrong.length, idle: 0 });
    for (const index of wrong) await game.fall(await game.claimOf(id, index));
    await game.settle();
    expect(await game.reader.batch(id)).toMatchObject({ open: 0, fallen: true });
    expect(endings(game)).toEqual(wrong.map(() => "fallen"));
  });

  test("behavior: without stake two are opened, and the others wait until the batch has fallen", async () => {
    const bond = await bondOfLeaf();
    const game = await begin((bond * 5n) / 2n);
    const { id } = await game.post(8, [1, 2, 3, 4]);
    await game.settle();
    expect(await Promise.all([1, 2, 3, 4].map((i) => game.leaf(id, i)))).toEqual([
      ...["OPEN", "OPEN", "NONE", "NONE"],
    ]);
    for (const index of [1, 2]) await game.fall(await game.claimOf(id, index));
    await game.settle();
    expect(await game.reader.batch(id)).toMatchObject({ open: 0, fallen: true });
    await suite.local.passTime(3 * DAY);
    await game.settle();
    expect(endings(game)).toEqual(["fallen", "fallen", "fallen", "fallen"]);
  });

  test("behavior: all leaves opened by somebody else: the wrong one is brought forward", async () => {
    const bond = await bondOfLeaf();
    const game = await begin((bond * 5n) / 2n);
    const made = await game.post(6, [5]);
    const { sender } = game.system;
    for (let i = 0; i < 6; i++) {
      const { deposit } = await game.reader.leafBonds(made.batch);
      const action = game.actions.openLeaf(made.batch, i, made.payload(i), made.path(i), deposit);
      expect(await sender.send(action)).toMatchObject({ status: "sent" });
    }
    await game.settle();
    expect(await Promise.all([0, 1, 2, 5].map((i) => game.leaf(made.id, i)))).toEqual([
      ...["OPEN", "OPEN", "QUEUED", "QUEUED"],
    ]);
    // Stake for the rest: each next leaf by the payload of its event.
    await sender.send(game.actions.deposit(PROVER.address, 4n * bond, "more"));
    await game.settle();
    expect(await game.leaf(made.id, 5)).toBe("OPEN");
    await game.fall(await game.claimOf(made.id, 5));
    await game.settle();
    expect(endings(game)).toEqual(["fallen"]);
  });

  test("invariant: right leaves that a cheat holds open, six tenths of a bond of theirs burning, keep no wrong one closed", async () => {
    const game = await begin(10n * ETHER);
    const made = await game.post(7, [6]);
    for (let i = 0; i < 6; i++) {
      const { deposit } = await game.reader.leafBonds(made.batch);
      const action = game.actions.openLeaf(made.batch, i, made.payload(i), made.path(i), deposit);
      expect(await game.system.sender.send(action)).toMatchObject({ status: "sent" });
    }
    await game.settle();
    expect(await game.leaf(made.id, 6)).toBe("OPEN");
    await game.fall(await game.claimOf(made.id, 6));
    await game.settle();
    expect(endings(game)).toEqual(["fallen"]);
    expect(await game.reader.batch(made.id)).toMatchObject({ fallen: true });
  });

  test("behavior: a wrong leaf that stands keeps those before it from being opened for nothing", async () => {
    const bond = await bondOfLeaf();
    const game = await begin((bond * 5n) / 2n);
    const made = await game.post(6, [1, 5]);
    // The last leaf takes a slot, and right ones that wait raise what the next deposit is.
    for (const i of [5, 0, 2, 3]) {
      const { deposit } = await game.reader.leafBonds(made.batch);
      const action = game.actions.openLeaf(made.batch, i, made.payload(i), made.path(i), deposit);
      expect(await game.system.sender.send(action)).toMatchObject({ status: "sent" });
    }
    await game.settle();
    expect(await Promise.all([5, 2, 1].map((i) => game.leaf(made.id, i)))).toEqual([
      "OPEN",
      "QUEUED",
      "NONE",
    ]);
    expect(game.running.sender.exposure).toBe(0n);
  });

  test("behavior: its own leaf that waits in a batch that fell is dropped, and the deposit comes back", async () => {
    const bond = await bondOfLeaf();
    const game = await begin((bond * 5n) / 2n);
    const made = await game.post(4, [2]);
    // Right ones take both slots: nothing else stands for the batch, so the wrong one is opened and waits.
    for (const i of [0, 1]) {
      const { deposit } = await game.reader.leafBonds(made.batch);
      await game.system.sender.send(
        game.actions.openLeaf(made.batch, i, made.payload(i), made.path(i), deposit),
      );
    }
    await game.settle();
    expect(await game.leaf(made.id, 2)).toBe("QUEUED");
    // The prover does not even defend a right one.
    await game.fall(await game.claimOf(made.id, 0));
    const { claim, request } = await readClaim(game.chain, await game.claimOf(made.id, 0));
    await game.system.sender.send(game.actions.close(request.request, claim.claim));
    await game.settle();
    expect(await game.leaf(made.id, 2)).toBe("CLOSED");
    expect([endings(game), game.running.sender.exposure]).toEqual([["fallen"], 0n]);
    // Two deposits of it were noted, and came back.
    expect(game.running.counted()).toBe(bond / 10n / 2n);
  });

  test("behavior: one in the last second is opened, one after it is over, and says so", async () => {
    const game = await begin(10n * ETHER);
    const shortest = turnSeconds(game.chain.constants.answerSeconds);
    const { id } = await game.post(2, [1], shortest);
    const { windowEnd } = (await game.reader.batch(id)) as { windowEnd: number };
    await suite.local.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd - 2) });
    await suite.local.control.mine({ blocks: 1 });
    // The block of the opening is the last one of the window.
    await suite.local.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd - 1) });
    await game.settle();
    expect(await game.leaf(id, 1)).toBe("OPEN");
    const late = await game.post(3, [2], shortest);
    await suite.local.passTime(shortest);
    await game.settle();
    expect(await game.leaf(late.id, 2)).toBe("NONE");
    expect(game.running.store.has(keyOfLeaf(late.id, 2))).toBe(false);
  });

  test("behavior: after a re-org a batch that was posted again is checked and opened again", async () => {
    const game = await begin(10n * ETHER);
    await game.settle();
    const snapshot = await suite.local.control.snapshot();
    const { id } = await game.post(3, [1]);
    await game.settle();
    expect(await game.leaf(id, 1)).toBe("OPEN");
    await suite.local.control.revert({ id: snapshot });
    await suite.local.control.mine({ blocks: 12 });
    // Both senders bring theirs again; where the opening came first it was refused, and is tried some blocks later.
    await vi.waitUntil(async () => {
      await suite.local.control.mine({ blocks: 1 });
      await game.settle();
      return (await game.reader.batch(id)) !== undefined && (await game.leaf(id, 1)) === "OPEN";
    }, PATIENCE);
    const opened = (await promiseHistory(game.chain, id)).filter(({ name }) => name === "LeafOpened");
    expect(opened).toHaveLength(1);
    expect(game.running.store.has(keyOfLeaf(id, 1))).toBe(true);
  });
});
