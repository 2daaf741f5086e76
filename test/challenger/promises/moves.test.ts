/** Wrong signed claims on real contracts: opened, kept moving in their queues, and booked at their end. */
import { describe, expect, test } from "vitest";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { accountAt } from "../../support/anvil.ts";
import { longTest } from "../../support/long-test.ts";
import { endings, movesSuite } from "../../support/promises/moves-suite.ts";
import { ETHER } from "../../support/promises/promise-challenger.ts";
import { WRONG } from "../../support/promises/wrong-promises.ts";

const DAY = 86_400;
const PROVER = accountAt(1);

const suite = movesSuite();
const { begin, bondOfOne } = suite;

describe("signed claims", () => {
  test("default: a wrong one is opened, falls, is closed and forgotten; a right one is left alone", async () => {
    const game = await begin(10n * ETHER);
    const [right, wrong] = [await game.sign(1), await game.sign(2, { output: WRONG })];
    expect(await game.submit(right)).toBe("right");
    expect(await game.submit(wrong)).toBe("wrong");
    expect([await game.status(right), await game.status(wrong)]).toEqual(["NONE", "OPEN"]);
    const held = game.running.sender.exposure;
    expect(held).toBeGreaterThan(0n);
    await game.fall(await game.claimOf(game.digest(wrong)));
    await game.settle();
    expect(await game.status(wrong)).toBe("CLOSED");
    expect(endings(game)).toEqual(["fallen"]);
    expect([game.running.store.open, game.running.sender.exposure]).toEqual([0, 0n]);
    expect(await game.reader.credit(accountAt(3).address)).toBeGreaterThanOrEqual(held);
    await suite.local.control.mine({ blocks: 300 });
    await game.settle();
    expect(game.running.store.has(game.digest(wrong))).toBe(false);
  });

  test("behavior: a restart at any point opens nothing twice and forgets nothing", async () => {
    const game = await begin(10n * ETHER);
    const wrong = await game.sign(2, { output: WRONG });
    // Kept, and killed before anything is sent: no block was seen yet, so there was nothing to decide from.
    await game.running.watch.check(game.digest(wrong), wrong);
    await game.challenger.restart();
    await game.settle();
    expect(await game.status(wrong)).toBe("OPEN");
    await game.challenger.restart();
    await suite.local.control.mine({ blocks: 1 });
    await game.settle();
    const opened = (await promiseHistory(game.chain, game.digest(wrong))).filter(
      ({ name }) => name === "Opened",
    );
    expect(opened).toHaveLength(1);
    await game.fall(await game.claimOf(game.digest(wrong)));
    await game.challenger.restart();
    await game.settle();
    expect(await game.status(wrong)).toBe("CLOSED");
  });

  test("behavior: while stake is away a wrong one waits, is opened when it comes home, and taken back when it is used up", async () => {
    // A bond and a half: one fits, then half of a bond is left.
    const bond = await bondOfOne();
    const game = await begin((bond * 3n) / 2n);
    const [a, b] = [await game.sign(2, { output: WRONG }), await game.sign(3, { output: WRONG })];
    // The cheat's own, of which nobody else knows that it is wrong.
    await game.system.sender.send(game.actions.open(a, (await game.reader.check(a)).deposit));
    await game.submit(b);
    expect([await game.status(a), await game.status(b)]).toEqual(["OPEN", "QUEUED"]);
    const counted = game.running.counted();
    expect(counted).toBe(bond / 10n);
    await game.fall(await game.claimOf(game.digest(a)));
    await game.settle();
    // What is left is below the least bond of all times: the deposit comes back, and a quarter of it counts.
    expect([await game.status(a), await game.status(b)]).toEqual(["CLOSED", "NONE"]);
    expect([game.running.sender.exposure, game.running.counted()]).toEqual([0n, counted / 4n]);
    await suite.local.passTime(DAY + 1);
    await game.settle();
    expect(endings(game)).toEqual(["unopened"]);
    // More stake comes, and the same again goes on to its fall.
    await game.system.sender.send(game.actions.deposit(PROVER.address, 3n * bond, "more"));
    const [c, d] = [
      await game.sign(4, { output: WRONG, minBond: 3n * bond }),
      await game.sign(5, { output: WRONG, minBond: 3n * bond }),
    ];
    await game.submit(c);
    await game.submit(d);
    expect([await game.status(c), await game.status(d)]).toEqual(["OPEN", "NONE"]);
    await game.system.sender.send(game.actions.deposit(PROVER.address, 4n * bond, "again"));
    await game.settle();
    expect(await game.status(d)).toBe("OPEN");
  });

  test("behavior: what somebody else opened and what waits behind it moves on", async () => {
    const bond = await bondOfOne();
    const game = await begin((bond * 3n) / 2n);
    const { sender } = game.system;
    // The prover's own, right ones, before the wrong one of somebody else.
    const [first, second] = [await game.sign(1), await game.sign(2)];
    const wrong = await game.sign(3, { output: WRONG });
    for (const presented of [first, second, wrong]) {
      const { deposit } = await game.reader.check(presented);
      expect(await sender.send(game.actions.open(presented, deposit))).toMatchObject({ status: "sent" });
    }
    await game.settle();
    expect(await Promise.all([first, second, wrong].map(game.status))).toEqual(["OPEN", "QUEUED", "QUEUED"]);
    expect(game.running.store.has(game.digest(wrong))).toBe(true);
    expect(game.running.store.has(game.digest(second))).toBe(false);
    await game.system.sender.send(game.actions.deposit(PROVER.address, 2n * bond, "more"));
    await game.settle();
    expect(await Promise.all([second, wrong].map(game.status))).toEqual(["OPEN", "OPEN"]);
    await game.fall(await game.claimOf(game.digest(wrong)));
    await game.settle();
    // The deposit is another's: so is closing it.
    expect([await game.status(wrong), endings(game)]).toEqual(["OPEN", ["fallen"]]);
  });

  test("behavior: a cheat that leaves what is over unbooked does not keep its stake from a wrong one", async () => {
    const bond = await bondOfOne();
    const game = await begin((bond * 3n) / 2n);
    const own = await game.sign(1);
    await game.system.sender.send(game.actions.open(own, (await game.reader.check(own)).deposit));
    const wrong = await game.sign(2, { output: WRONG });
    await game.submit(wrong);
    expect([await game.status(own), await game.status(wrong)]).toEqual(["OPEN", "QUEUED"]);
    await suite.local.passTime(2 * DAY);
    await game.challenger.restart();
    await game.settle();
    expect([await game.status(own), await game.status(wrong)]).toEqual(["CLOSED", "OPEN"]);
  });

  longTest("behavior: nor does one that never releases its batch", async () => {
    const bond = await bondOfOne();
    const game = await begin((bond * 5n) / 2n);
    const wrong = await game.sign(2, { output: WRONG });
    const { id } = await game.post(1, [], DAY);
    await game.submit(wrong);
    expect(await game.status(wrong)).toBe("QUEUED");
    await suite.local.passTime(DAY);
    await game.settle();
    expect([await game.status(wrong), (await game.reader.batch(id))?.idle]).toEqual(["OPEN", 0]);
  });

  longTest(
    "behavior: nor does one whose wrong one was opened with a small stake, and names a large one",
    async () => {
      const bond = await bondOfOne();
      const game = await begin((bond * 3n) / 2n);
      const shield = await game.sign(1, { output: WRONG, minBond: 1_000n * bond });
      await game.submit(shield);
      await game.system.sender.send(game.actions.deposit(PROVER.address, 9n * bond, "more"));
      const wrong = await game.sign(2, { output: WRONG });
      await game.submit(wrong);
      expect([await game.status(shield), await game.status(wrong)]).toEqual(["OPEN", "OPEN"]);
    },
  );

  test.each([["the limit of exposure", { maxExposure: 1n }, "--max-exposure"]])(
    "behavior: %s keeps it from being opened, and it says so",
    async (_name, limits, reason) => {
      const game = await begin(10n * ETHER, limits);
      const wrong = await game.sign(2, { output: WRONG });
      await game.submit(wrong);
      expect(await game.status(wrong)).toBe("NONE");
      const withheld = game.notices.find(({ kind }) => kind === "promise-withheld");
      expect(withheld).toMatchObject({
        promise: game.digest(wrong),
        reason: expect.stringContaining(reason),
      });
      expect([game.running.sender.exposure, game.running.store.open]).toEqual([0n, 1]);
    },
  );

  test("behavior: many wrong promises on one small stake are opened as far as it goes, and stop nobody", async () => {
    const bond = await bondOfOne();
    const stake = (bond * 5n) / 2n;
    const game = await begin(stake, { maxExposure: stake / 2n });
    const wrong: Presented[] = [];
    for (let i = 0; i < 8; i++) wrong.push(await game.sign(i, { output: WRONG, salt: BigInt(i) }));
    for (const one of wrong) await game.running.watch.check(game.digest(one), one);
    await game.settle();
    const statuses = async () => (await Promise.all(wrong.map(game.status))).filter((is) => is !== "NONE");
    // Two take what is there, and leave less than a bond.
    expect(await statuses()).toEqual(["OPEN", "OPEN"]);
    expect(game.running.sender.exposure).toBeLessThanOrEqual((4n * bond) / 10n);
    for (const one of wrong.slice(0, 2)) await game.fall(await game.claimOf(game.digest(one)));
    await game.settle();
    // The stake is gone, and with it the reason to open the others.
    expect(await statuses()).toHaveLength(2);
    expect([game.running.sender.exposure, game.running.sender.isTripped]).toEqual([0n, false]);
  });

  test("behavior: what does not pay is not opened until it does", async () => {
    const game = await begin(10n * ETHER);
    const wrong = await game.sign(2, { output: WRONG });
    // A tip so high that gas costs more than the share; the bond goes by the base fee.
    await suite.local.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
    const { sender } = game.running;
    let price = 10n ** 13n;
    Object.assign(sender, { gasPrice: async () => price });
    await game.submit(wrong);
    expect(await game.status(wrong)).toBe("NONE");
    expect(game.notices).toContainEqual(
      expect.objectContaining({
        kind: "promise-withheld",
        reason: expect.stringMatching(/would bring .* and cost/),
      }),
    );
    price = 10n ** 9n;
    await suite.local.control.mine({ blocks: 6 });
    await game.settle();
    expect(await game.status(wrong)).toBe("OPEN");
  });
});

describe("in the last T before its end", () => {
  test("behavior: what was withheld is tried again in the next block", async () => {
    const game = await begin(10n * ETHER);
    await game.settle();
    const { sender, watch } = game.running;
    let price = 10n ** 13n;
    Object.assign(sender, { gasPrice: async () => price });
    const { answerSeconds } = game.chain.constants;
    const expiry = (await suite.local.now()) + answerSeconds;
    const wrong = await game.sign(2, { output: WRONG, expiry });
    await watch.check(game.digest(wrong), wrong);
    await watch.idle();
    expect(await game.status(wrong)).toBe("NONE");
    price = 10n ** 9n;
    await suite.local.control.mine({ blocks: 1 });
    await game.running.follow();
    expect(await game.status(wrong)).toBe("OPEN");
  });
});
