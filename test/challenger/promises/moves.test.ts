/** Wrong promises on real contracts: opened, kept moving in their queues, and booked at their end. */
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { leafModelOf } from "../../../challenger/promises/leaves.ts";
import { keyOfLeaf } from "../../../challenger/promises/store.ts";
import { readClaim } from "../../../protocol/chain/past.ts";
import { promiseHistory } from "../../../protocol/chain/promises/events.ts";
import { type BatchId, batchIdOf, MAX_LEAVES } from "../../../protocol/rules/promises/batch.ts";
import type { LeafModel } from "../../../protocol/rules/promises/leaf.ts";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { tinyInput } from "../../support/deploy.ts";
import { signTiny, tinyBatch, tinyOutput } from "../../support/promises/local-promises.ts";
import {
  ETHER,
  openPromiseChallenger,
  type PromiseChallenger,
} from "../../support/promises/promise-challenger.ts";

const DAY = 86_400;
const PATIENCE = { timeout: 240_000, interval: 50 };
const PROVER = accountAt(1);
const WRONG = tinyOutput(tinyInput([9, 9, 9, 9]));

let local: LocalChain;
let open: PromiseChallenger | undefined;
beforeAll(async () => {
  local = await startLocalChain();
});
afterEach(async () => {
  await open?.close();
  open = undefined;
});
afterAll(() => local?.stop());

/** A system whose prover has this stake, and a key of its own that is bound. */
async function begin(stake: bigint, limits = {}) {
  const challenger = await openPromiseChallenger(local, limits);
  open = challenger;
  const { system, actions, at } = challenger;
  await system.sender.send(actions.deposit(PROVER.address, stake, "stake"));
  await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 30 * DAY));
  const word: LeafModel = leafModelOf(challenger.covered);
  const sign = async (byte: number, changes: Parameters<typeof signTiny>[5] = {}) =>
    signTiny(challenger.chain, PROVER, system.modelId, [byte, 0, 0, 1], await local.now(), {
      ...{ expiry: (await local.now()) + DAY, ...changes },
    });
  const digest = ({ claim }: Presented) => digestOf(at, claim);
  /** Hands it over, and lets all be done that can be done. */
  const hand = async (presented: Presented) => {
    const verdict = await challenger.running.watch.check(digest(presented), presented);
    await challenger.settle();
    await challenger.running.watch.idle();
    await challenger.settle();
    return verdict?.kind;
  };
  /** @param wrong indices of wrong leaves */
  const post = async (count: number, wrong: readonly number[], window = 3 * DAY) => {
    const answers = Array.from({ length: count }, (_, i) => {
      const input = tinyInput([i & 255, i >> 8, 2, 3]);
      return { input, output: wrong.includes(i) ? WRONG : tinyOutput(input) };
    });
    const made = tinyBatch(word, PROVER, system.modelId, answers, window);
    const { batch, data } = made;
    const posting = { prover: PROVER.address, modelId: system.modelId, window, leafBond: 0n, data };
    const sent = await system.sender.send(actions.post(batch, posting));
    expect(sent.status).toBe("sent");
    return { ...made, id: batchIdOf(at, batch) };
  };
  const status = async (presented: Presented) => (await challenger.reader.signed(digest(presented))).status;
  const claimOf = async (id: Hex, index?: number) => {
    for (const event of await promiseHistory(challenger.chain, id)) {
      if (event.name === "Opened") return event.args.claimId;
      if (event.name === "LeafOpened" && Number(event.args.index) === index) return event.args.claimId;
    }
    throw new Error(`${id} is no claim`);
  };
  const leaf = async (id: BatchId, index: number) => (await challenger.reader.leaf(id, index)).status;
  return { ...challenger, challenger, sign, hand, post, status, claimOf, leaf, digest };
}

const endings = ({ notices }: Pick<PromiseChallenger, "notices">) =>
  notices.flatMap((notice) => (notice.kind === "promise-over" ? [notice.ending] : []));

describe("signed claims", () => {
  test("default: a wrong one is opened, falls, is closed and forgotten; a right one is left alone", async () => {
    const game = await begin(10n * ETHER);
    const [right, wrong] = [await game.sign(1), await game.sign(2, { output: WRONG })];
    expect(await game.hand(right)).toBe("right");
    expect(await game.hand(wrong)).toBe("wrong");
    expect([await game.status(right), await game.status(wrong)]).toEqual(["NONE", "OPEN"]);
    const held = game.running.sender.exposure;
    expect(held).toBeGreaterThan(0n);
    await game.fall(await game.claimOf(game.digest(wrong)));
    await game.settle();
    expect(await game.status(wrong)).toBe("CLOSED");
    expect(endings(game)).toEqual(["fallen"]);
    expect([game.running.store.open, game.running.sender.exposure]).toEqual([0, 0n]);
    expect(await game.reader.credit(accountAt(3).address)).toBeGreaterThanOrEqual(held);
    await local.control.mine({ blocks: 300 });
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
    await local.control.mine({ blocks: 1 });
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
    const probe = await begin(10n * ETHER);
    const first = await probe.sign(1, { output: WRONG });
    const { bond } = await probe.reader.check(first);
    await probe.close();
    open = undefined;
    const game = await begin((bond * 3n) / 2n);
    const [a, b] = [await game.sign(2, { output: WRONG }), await game.sign(3, { output: WRONG })];
    await game.hand(a);
    await game.hand(b);
    expect([await game.status(a), await game.status(b)]).toEqual(["OPEN", "QUEUED"]);
    await game.fall(await game.claimOf(game.digest(a)));
    await game.settle();
    // What is left is below the least bond of all times: the deposit comes back.
    expect([await game.status(a), await game.status(b)]).toEqual(["CLOSED", "NONE"]);
    expect(game.running.sender.exposure).toBe(0n);
    await local.passTime(DAY + 1);
    await game.settle();
    expect(endings(game)).toEqual(["fallen", "unopened"]);
    // More stake comes, and the same again goes on to its fall.
    await game.system.sender.send(game.actions.deposit(PROVER.address, 3n * bond, "more"));
    const [c, d] = [
      await game.sign(4, { output: WRONG, minBond: 3n * bond }),
      await game.sign(5, { output: WRONG, minBond: 3n * bond }),
    ];
    await game.hand(c);
    await game.hand(d);
    expect([await game.status(c), await game.status(d)]).toEqual(["OPEN", "QUEUED"]);
    await game.system.sender.send(game.actions.deposit(PROVER.address, 4n * bond, "again"));
    await game.settle();
    expect(await game.status(d)).toBe("OPEN");
  });

  test("behavior: what somebody else opened and what waits behind it moves on", async () => {
    const probe = await begin(10n * ETHER);
    const { bond } = await probe.reader.check(await probe.sign(1, { output: WRONG }));
    await probe.close();
    open = undefined;
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

  test.each([
    ["the limit of exposure", { maxExposure: 1n }, "--max-exposure"],
    ["a circuit breaker", { maxTicketsPerHour: 0 }, "until a person has looked"],
  ])("behavior: %s keeps it from being opened, and it says so", async (_name, limits, reason) => {
    const game = await begin(10n * ETHER, limits);
    const wrong = await game.sign(2, { output: WRONG });
    await game.hand(wrong);
    expect(await game.status(wrong)).toBe("NONE");
    const withheld = game.notices.find(({ kind }) => kind === "promise-withheld");
    expect(withheld).toMatchObject({ promise: game.digest(wrong), reason: expect.stringContaining(reason) });
    expect([game.running.sender.exposure, game.running.store.open]).toEqual([0n, 1]);
  });

  test("behavior: what does not pay is not opened until it does", async () => {
    const game = await begin(10n * ETHER);
    const wrong = await game.sign(2, { output: WRONG });
    // A tip so high that gas costs more than the share; the bond goes by the base fee.
    await local.control.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n });
    const { sender } = game.running;
    let price = 10n ** 13n;
    Object.assign(sender, { gasPrice: async () => price });
    await game.hand(wrong);
    expect(await game.status(wrong)).toBe("NONE");
    expect(game.notices).toContainEqual(
      expect.objectContaining({
        kind: "promise-withheld",
        reason: expect.stringMatching(/would bring .* and cost/),
      }),
    );
    price = 10n ** 9n;
    await local.control.mine({ blocks: 6 });
    await game.settle();
    expect(await game.status(wrong)).toBe("OPEN");
  });
});

describe("leaves", () => {
  test("default: of a full batch the wrong ones are opened, as far as slots and stake go", async () => {
    const game = await begin(10n * ETHER);
    const wrong = [0, 511, 512, MAX_LEAVES - 1];
    const { id } = await game.post(MAX_LEAVES, wrong);
    await game.settle();
    const leaves = game.notices.find(({ kind }) => kind === "leaves");
    expect(leaves).toMatchObject({ right: MAX_LEAVES - wrong.length, wrong: wrong.length, unchecked: 0 });
    for (const index of wrong) expect(await game.leaf(id, index)).toBe("OPEN");
    expect(await game.reader.batch(id)).toMatchObject({ open: wrong.length, idle: 0 });
    for (const index of wrong) await game.fall(await game.claimOf(id, index));
    await game.settle();
    expect(await game.reader.batch(id)).toMatchObject({ open: 0, fallen: true });
    expect(endings(game)).toEqual(wrong.map(() => "fallen"));
  });

  test("behavior: without stake two are opened, and the others wait until the batch has fallen", async () => {
    const probe = await begin(10n * ETHER);
    const made = await probe.post(2, [1]);
    const { bond } = await probe.reader.leafBonds(made.batch);
    await probe.close();
    open = undefined;
    const game = await begin((bond * 5n) / 2n);
    const { id } = await game.post(8, [1, 2, 3, 4]);
    await game.settle();
    expect(await Promise.all([1, 2, 3, 4].map((i) => game.leaf(id, i)))).toEqual([
      ...["OPEN", "OPEN", "NONE", "NONE"],
    ]);
    for (const index of [1, 2]) await game.fall(await game.claimOf(id, index));
    await game.settle();
    expect(await game.reader.batch(id)).toMatchObject({ open: 0, fallen: true });
    await local.passTime(3 * DAY);
    await game.settle();
    expect(endings(game)).toEqual(["fallen", "fallen", "fallen", "fallen"]);
  });

  test("behavior: all leaves opened by somebody else: the wrong one is brought forward", async () => {
    const probe = await begin(10n * ETHER);
    const { bond } = await probe.reader.leafBonds((await probe.post(2, [1])).batch);
    await probe.close();
    open = undefined;
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

  test("behavior: its own leaf that waits in a batch that fell is dropped, and the deposit comes back", async () => {
    const probe = await begin(10n * ETHER);
    const { bond } = await probe.reader.leafBonds((await probe.post(2, [1])).batch);
    await probe.close();
    open = undefined;
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
  });

  test("behavior: one in the last second is opened, one after it is over, and says so", async () => {
    const game = await begin(10n * ETHER);
    const { id } = await game.post(2, [1], 100);
    const { windowEnd } = (await game.reader.batch(id)) as { windowEnd: number };
    await local.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd - 2) });
    await local.control.mine({ blocks: 1 });
    // The block of the opening is the last one of the window.
    await local.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd - 1) });
    await game.settle();
    expect(await game.leaf(id, 1)).toBe("OPEN");
    const late = await game.post(3, [2], 100);
    await local.passTime(100);
    await game.settle();
    expect(await game.leaf(late.id, 2)).toBe("NONE");
    expect(game.running.store.has(keyOfLeaf(late.id, 2))).toBe(false);
  });

  test("behavior: after a re-org a batch that was posted again is checked and opened again", async () => {
    const game = await begin(10n * ETHER);
    await game.settle();
    const snapshot = await local.control.snapshot();
    const { id } = await game.post(3, [1]);
    await game.settle();
    expect(await game.leaf(id, 1)).toBe("OPEN");
    await local.control.revert({ id: snapshot });
    await local.control.mine({ blocks: 12 });
    // Both senders bring theirs again; where the opening came first it was refused, and is tried some blocks later.
    await vi.waitUntil(async () => {
      await local.control.mine({ blocks: 1 });
      await game.settle();
      return (await game.reader.batch(id)) !== undefined && (await game.leaf(id, 1)) === "OPEN";
    }, PATIENCE);
    const opened = (await promiseHistory(game.chain, id)).filter(({ name }) => name === "LeafOpened");
    expect(opened).toHaveLength(1);
    expect(game.running.store.has(keyOfLeaf(id, 1))).toBe(true);
  });
});
