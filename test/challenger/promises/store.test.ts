import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  keyOfLeaf,
  PROMISES_SCHEMA,
  WatchedPromises,
  type WrongLeaf,
  type WrongSigned,
} from "../../../challenger/promises/store.ts";
import type { BatchId } from "../../../protocol/rules/promises/batch.ts";
import type { Digest } from "../../../protocol/rules/promises/signed-claim.ts";
import { type ClaimId, type ModelId, ZERO_ADDRESS } from "../../../protocol/rules/types.ts";
import { openDatabase, type SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { hashOf } from "../../support/batches.ts";
import { temporaryFolder } from "../../support/deploy.ts";

const id = (i: number) => hashOf(i) as BatchId;
const batch = { prover: ZERO_ADDRESS, modelId: hashOf(7) as ModelId, window: 100, count: 4, root: hashOf(8) };
const posted = (i: number, block: number, windowEnd: number) => ({
  ...{ id: id(i), batch, block: BigInt(block), windowEnd, data: Buffer.of(i) },
});
const leaf = (i: number, index: number): WrongLeaf => ({
  ...{ kind: "leaf", batchId: id(i), batch, index, payload: "0x01", path: [hashOf(9)] },
});
const signed: WrongSigned = {
  kind: "signed",
  digest: hashOf(99) as Digest,
  presented: {
    claim: {
      ...{ prover: ZERO_ADDRESS, modelId: hashOf(7) as ModelId, inputHash: hashOf(1), outputHash: hashOf(2) },
      ...{ requester: ZERO_ADDRESS, issuedAt: 1, expiry: 2, minBond: 2n ** 95n, salt: 2n ** 63n },
    },
    ...{ signature: "0x03", input: "0x04", output: "0x05" },
  },
};

let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
let store: WatchedPromises;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(`${folder.path}/assay.sqlite`, [PROMISES_SCHEMA]);
  store = new WatchedPromises(db);
});
afterEach(() => {
  db.close();
  folder.remove();
});

const POSTPONED = { isDone: false, workers: new Set<string>() };
const DONE = { isDone: true, workers: new Set<string>() };
const cursor = (block: number) => [{ number: BigInt(block), hash: hashOf(block) }];

describe("WatchedPromises", () => {
  test("default: batches come by the end of their window, and go with their check", () => {
    store.advance(cursor(3), () => {
      store.batches.add(posted(1, 1, 300));
      store.batches.add(posted(2, 2, 100));
      store.batches.add(posted(3, 3, 200));
    });
    expect(store.batches.next(new Set())).toEqual(posted(2, 2, 100));
    expect(store.batches.next(new Set([id(2)]))?.id).toBe(id(3));
    store.addLeaves(id(2), [leaf(2, 1)], POSTPONED);
    expect([store.unchecked, store.keysOf(id(2))]).toEqual([3, [keyOfLeaf(id(2), 1)]]);
    store.addLeaves(id(2), [leaf(2, 1), leaf(2, 3)], DONE);
    expect([store.unchecked, store.keysOf(id(2)).length]).toEqual([2, 2]);
    expect(store.batches.drop(200)).toEqual([id(3)]);
    expect(store.cursor()).toEqual(cursor(3));
  });

  test("behavior: what comes of another process is the same", () => {
    store.addSigned(signed);
    const other = new WatchedPromises(db);
    expect(other.get(signed.digest)).toEqual({
      ...{ key: signed.digest, promise: signed, claimId: undefined, deposit: 0n },
    });
    other.deposited(signed.digest, 2n ** 90n);
    other.addSigned(signed);
    expect([[...store.deposits.values()], store.open, store.origins()]).toEqual([
      [2n ** 90n],
      1,
      [ZERO_ADDRESS],
    ]);
  });

  test("behavior: what was kept without a signature gets one, and keeps the one that it has", () => {
    const withSignature = (signature: Hex): WrongSigned => ({
      ...signed,
      presented: { ...signed.presented, signature },
    });
    store.addSigned(withSignature("0x"));
    store.deposited(signed.digest, 5n);
    expect(store.lacksSignature(signed.digest)).toBe(true);
    for (const signature of ["0x03", "0x04"] as const) store.addSigned(withSignature(signature));
    expect(store.lacksSignature(signed.digest)).toBe(false);
    expect(store.get(signed.digest)).toMatchObject({ promise: withSignature("0x03"), deposit: 5n });
  });

  describe("addReported", () => {
    const prover = (i: number) => `0x${i.toString(16).padStart(40, "0")}` as const;
    /** The n-th promise of a prover. */
    const reported = (n: number, of = 1): WrongSigned => ({
      ...{ kind: "signed", digest: hashOf(1_000 * of + n) as Digest },
      presented: { ...signed.presented, claim: { ...signed.presented.claim, prover: prover(of) } },
    });
    const limits = { ofProver: 2, inAll: 4, lasting: 1_000 };
    const add = (n: number, strength: bigint, of = 1) => store.addReported(reported(n, of), strength, limits);
    const kept = (of = 1) => store.keysOf(prover(of));

    test("default: a prover has its places, and only what is stronger takes one", () => {
      expect([add(1, 5n), add(2, 10n), add(3, 5n), add(4, 4n)]).toEqual([true, true, false, false]);
      expect(kept()).toEqual([1, 2].map((n) => reported(n).digest));
      // As text 9 would be above 10.
      expect([add(5, 9n), add(6, 10n)]).toEqual([true, true]);
      expect(kept()).toEqual([2, 6].map((n) => reported(n).digest));
      expect([store.hasRoom(reported(7), 10n, limits), store.hasRoom(reported(7), 11n, limits)]).toEqual([
        false,
        true,
      ]);
    });

    test("behavior: however many provers there are, the strongest stay", () => {
      const all = [1, 2, 3].flatMap((of) => [add(1, BigInt(of), of), add(2, BigInt(of), of)]);
      expect(all).toEqual([true, true, true, true, true, true]);
      // The first one's were the weakest.
      expect([kept(1), kept(2).length, kept(3).length, store.open]).toEqual([[], 2, 2, 4]);
      expect(add(1, 2n, 4)).toBe(false);
    });

    test("behavior: what ends sooner takes no place, however strong it is, and what is kept already none either", () => {
      add(1, 1n);
      add(2, 2n);
      const { claim } = reported(3).presented;
      const ending = (n: number, expiry: number): WrongSigned => {
        const { digest, presented } = reported(n);
        return { kind: "signed", digest, presented: { ...presented, claim: { ...claim, expiry } } };
      };
      // Unless it has time enough to be opened: weak ones that live long shut nothing out.
      expect(store.hasRoom(ending(3, claim.expiry - 1), 9n, { ...limits, lasting: 1 })).toBe(true);
      expect(store.hasRoom(ending(3, claim.expiry - 1), 9n, limits)).toBe(false);
      expect(store.addReported(ending(3, claim.expiry - 1), 9n, limits)).toBe(false);
      expect(store.addReported(ending(4, claim.expiry + 1), 9n, limits)).toBe(true);
      expect(store.addReported(ending(4, claim.expiry + 1), 9n, limits)).toBe(true);
      expect(kept()).toEqual([2, 4].map((n) => reported(n).digest));
    });

    test("behavior: what is on its way to the chain, or there, makes no room and takes none", () => {
      add(1, 1n);
      add(2, 1n);
      store.deposited(reported(1).digest, 7n);
      const { claim, input, output } = reported(2).presented;
      const { digest } = reported(2);
      store.queued({ digest, claim, input, output, block: 1n, transactionHash: hashOf(5) });
      expect(store.queue.at({ number: 1n })).toEqual([]);
      expect([add(3, 2n), add(4, 3n), add(5, 3n)]).toEqual([true, true, false]);
      expect(kept()).toEqual([1, 2, 4].map((n) => reported(n).digest));
    });
  });

  test("behavior: what waits in a queue is compared later and later, until it could be, or a re-org took it", () => {
    const { claim, input, output } = signed.presented;
    const { digest } = signed;
    const queued = { digest, claim, input, output, block: 7n, transactionHash: hashOf(5) };
    store.advance(cursor(7), () => store.queued(queued));
    const due = (block: number) => new WatchedPromises(db).queue.at({ number: BigInt(block) });
    expect(due(7)).toEqual([queued]);
    const pauses: number[] = [];
    for (let at = 7, tries = 0; tries < 9; tries++) {
      store.queue.postpone(digest, { number: BigInt(at) });
      let next = at;
      while (due(next).length === 0) next++;
      pauses.push(next - at);
      at = next;
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 64, 64]);
    store.advance(cursor(6), () => store.takeBack(6n));
    expect(due(1_000)).toEqual([]);
    store.queued(queued);
    store.queue.drop(digest);
    expect(due(1_000)).toEqual([]);
  });

  test("behavior: what is right on the word of a worker stays until its window ends, and is unchecked once that is barred", () => {
    const { digest, presented } = signed;
    store.queued({ digest, ...presented, block: 1n, transactionHash: "0x06" });
    store.advance(cursor(1), () => {
      for (const i of [1, 2, 3]) store.batches.add(posted(i, 1, 100 * i));
    });
    store.addLeaves(id(1), [], { isDone: true, workers: new Set(["liar", "other"]) });
    store.addLeaves(id(2), [], { isDone: true, workers: new Set(["other", "third"]) });
    store.addLeaves(id(3), [], { isDone: true, workers: new Set(["liar", "other"]) });
    store.words.add(digest, ["other", "liar"]);
    store.queue.keep(digest);
    expect([store.unchecked, store.batches.next(new Set())]).toEqual([0, undefined]);
    expect(store.queue.at({ number: 1_000n })).toEqual([]);
    // One that was checked is not missed.
    expect(store.batches.drop(100)).toEqual([]);
    expect([store.words.distrust("nobody"), store.words.distrust("liar")]).toEqual([0, 2]);
    expect(store.batches.next(new Set())).toEqual({ ...posted(3, 1, 300), mustRunHere: true });
    expect(store.queue.at({ number: 1_000n })).toMatchObject([{ digest, mustRunHere: true }]);
    expect([store.words.distrust("liar"), store.unchecked]).toEqual([0, 1]);
    store.addLeaves(id(3), [leaf(3, 0)], DONE);
    store.queue.drop(digest);
    expect(store.words.distrust("other")).toBe(1);
    expect(store.batches.drop(300)).toEqual([id(2)]);
    expect(db.prepare("SELECT count(*) AS count FROM words").get()).toEqual({ count: 0 });
  });

  test("behavior: who only watches forgets what could be opened until then at most", () => {
    store.advance(cursor(1), () => store.batches.add(posted(1, 1, 300)));
    store.addLeaves(id(1), [leaf(1, 0)], DONE);
    store.addSigned(signed);
    store.endBefore(2, { number: 5n });
    expect(store.open).toBe(2);
    store.endBefore(3, { number: 5n });
    expect(store.origins()).toEqual([id(1)]);
    store.endBefore(301, { number: 6n });
    store.forget(7n, 400);
    expect([store.open, store.has(signed.digest)]).toEqual([0, false]);
  });

  test("behavior: a re-org takes back posts, openings and ends above its ancestor, and no signed claim", () => {
    const key = (i: number) => keyOfLeaf(id(i), 0);
    store.advance(cursor(10), () => {
      store.addSigned(signed);
      for (const i of [1, 2, 3]) store.batches.add(posted(i, 5 * i, 1_000));
    });
    for (const i of [1, 2]) store.addLeaves(id(i), [leaf(i, 0)], DONE);
    store.claimed(key(1), hashOf(50) as ClaimId, 11n);
    store.over(key(1), { number: 12n });
    store.over(signed.digest, { number: 12n });
    expect(store.origins()).toEqual([id(2)]);
    store.advance(cursor(9), () => store.takeBack(9n));
    expect([store.has(key(1)), store.has(key(2)), store.unchecked]).toEqual([true, false, 0]);
    expect(store.get(key(1))?.claimId).toBeUndefined();
    expect(new Set(store.origins())).toEqual(new Set([id(1), ZERO_ADDRESS]));
    // A batch that is not there any more leaves no leaves.
    store.addLeaves(id(3), [leaf(3, 0)], DONE);
    expect(store.has(key(3))).toBe(false);
  });

  test("behavior: what is over is forgotten when it is deep", () => {
    store.addSigned(signed);
    store.over(signed.digest, { number: 12n });
    store.forget(12n, 0);
    expect(store.has(signed.digest)).toBe(true);
    store.forget(13n, 0);
    expect(store.has(signed.digest)).toBe(false);
  });

  test("behavior: what holds stake is known until it is booked, and again after a re-org", () => {
    const { stakes } = store;
    const [claim, ofLeaf] = [hashOf(60), hashOf(61)] as [ClaimId, ClaimId];
    const { batch } = posted(1, 5, 1_000);
    const apply = (block: bigint, name: string, args: object) =>
      stakes.apply({ name, args, block: { number: block, hash: hashOf(0) } } as never);
    apply(5n, "Posted", { batchId: id(1), prover: ZERO_ADDRESS, batch, windowEnd: 1_000 });
    apply(6n, "Opened", { claimId: claim, prover: ZERO_ADDRESS });
    apply(7n, "LeafOpened", { claimId: ofLeaf, batchId: id(1) });
    const all = [
      { kind: "batch", batchId: id(1), batch },
      { kind: "claim", claimId: claim },
      { kind: "claim", claimId: ofLeaf },
    ];
    expect(stakes.of(ZERO_ADDRESS)).toEqual(all);
    apply(8n, "Closed", { claimId: claim });
    // Nothing was idle: slots that are in claims come back to it.
    apply(8n, "Released", { batchId: id(1), amount: 0n });
    apply(9n, "Released", { batchId: id(1), amount: 2n });
    expect(stakes.of(ZERO_ADDRESS)).toEqual(all.slice(2));
    store.advance(cursor(8), () => store.takeBack(8n));
    expect(stakes.of(ZERO_ADDRESS)).toEqual([all[0], all[2]]);
    apply(9n, "Released", { batchId: id(1), amount: 2n });
    // A leaf may still be opened: the batch says whose stake it takes.
    stakes.forget(100n, 999);
    apply(12n, "LeafOpened", { claimId: claim, batchId: id(1) });
    expect(stakes.of(ZERO_ADDRESS)).toEqual([all[2], all[1]]);
    stakes.forget(100n, 1_000);
    apply(13n, "LeafOpened", { claimId: hashOf(62), batchId: id(1) });
    expect(stakes.of(ZERO_ADDRESS)).toHaveLength(2);
  });

  test("behavior: a batch and its cursor are written together or not at all", () => {
    expect(() =>
      store.advance(cursor(4), () => {
        store.batches.add(posted(1, 1, 300));
        throw new Error("killed");
      }),
    ).toThrow("killed");
    expect([store.cursor(), store.unchecked]).toEqual([undefined, 0]);
  });
});
