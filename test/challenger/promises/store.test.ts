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

const cursor = (block: number) => [{ number: BigInt(block), hash: hashOf(block) }];

describe("WatchedPromises", () => {
  test("default: batches come by the end of their window, and go with their check", () => {
    store.advance(cursor(3), () => {
      store.addBatch(posted(1, 1, 300));
      store.addBatch(posted(2, 2, 100));
      store.addBatch(posted(3, 3, 200));
    });
    expect(store.nextBatch(new Set())).toEqual(posted(2, 2, 100));
    expect(store.nextBatch(new Set([id(2)]))?.id).toBe(id(3));
    store.addLeaves(id(2), [leaf(2, 1)], false);
    expect([store.unchecked, store.keysOf(id(2))]).toEqual([3, [keyOfLeaf(id(2), 1)]]);
    store.addLeaves(id(2), [leaf(2, 1), leaf(2, 3)], true);
    expect([store.unchecked, store.keysOf(id(2)).length]).toEqual([2, 2]);
    expect(store.dropBatches(200)).toEqual([id(3)]);
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
    expect([store.deposits, store.open, store.origins()]).toEqual([2n ** 90n, 1, [ZERO_ADDRESS]]);
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

  test("behavior: a re-org takes back posts, openings and ends above its ancestor, and no signed claim", () => {
    const key = (i: number) => keyOfLeaf(id(i), 0);
    store.advance(cursor(10), () => {
      store.addSigned(signed);
      for (const i of [1, 2, 3]) store.addBatch(posted(i, 5 * i, 1_000));
    });
    for (const i of [1, 2]) store.addLeaves(id(i), [leaf(i, 0)], true);
    store.claimed(key(1), hashOf(50) as ClaimId, 11n);
    store.over(key(1), { number: 12n });
    store.over(signed.digest, { number: 12n });
    expect(store.origins()).toEqual([id(2)]);
    store.advance(cursor(9), () => store.takeBack(9n));
    expect([store.has(key(1)), store.has(key(2)), store.unchecked]).toEqual([true, false, 0]);
    expect(store.get(key(1))?.claimId).toBeUndefined();
    expect(new Set(store.origins())).toEqual(new Set([id(1), ZERO_ADDRESS]));
    // A batch that is not there any more leaves no leaves.
    store.addLeaves(id(3), [leaf(3, 0)], true);
    expect(store.has(key(3))).toBe(false);
  });

  test("behavior: what is over is forgotten when it is deep", () => {
    store.addSigned(signed);
    store.over(signed.digest, { number: 12n });
    store.forget(12n);
    expect(store.has(signed.digest)).toBe(true);
    store.forget(13n);
    expect(store.has(signed.digest)).toBe(false);
  });

  test("behavior: a batch and its cursor are written together or not at all", () => {
    expect(() =>
      store.advance(cursor(4), () => {
        store.addBatch(posted(1, 1, 300));
        throw new Error("killed");
      }),
    ).toThrow("killed");
    expect([store.cursor(), store.unchecked]).toEqual([undefined, 0]);
  });
});
