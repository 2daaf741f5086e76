/** What a challenger follows of promises beside its moves: those that wait in queues, and the end of those that it only
 *  watches. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fromHex } from "../../../base/bytes.ts";
import { SILENT } from "../../../base/log.ts";
import { PROMISES_SCHEMA, WatchedPromises } from "../../../challenger/promises/store.ts";
import { PromiseWatch, type PromiseWatchParts } from "../../../challenger/promises/watch.ts";
import type { FastPath } from "../../../challenger/reexecute.ts";
import { EventFollower } from "../../../protocol/chain/follower.ts";
import { promiseSource } from "../../../protocol/chain/promises/events.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import { openDatabase, type SqliteDatabase } from "../../../protocol/service/journal/database.ts";
import { accountAt, type LocalChain, startLocalChain } from "../../support/anvil.ts";
import { temporaryFolder, tinyInput } from "../../support/deploy.ts";
import { signTiny, tinyOutput } from "../../support/promises/local-promises.ts";
import {
  ETHER,
  openPromiseChallenger,
  type PromiseChallenger,
} from "../../support/promises/promise-challenger.ts";

const PROVER = accountAt(1);
const WRONG = tinyOutput(tinyInput([9, 9, 9, 9]));

let local: LocalChain;
let game: PromiseChallenger;
let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
beforeAll(async () => {
  local = await startLocalChain();
  game = await openPromiseChallenger(local);
  const { system, actions } = game;
  await system.sender.send(actions.deposit(PROVER.address, ETHER, "stake"));
  await system.sender.send(actions.setSigner(PROVER.address, (await local.now()) + 30 * 86_400));
});
afterAll(async () => {
  await game?.close();
  await local?.stop();
});
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(`${folder.path}/assay.sqlite`, [PROMISES_SCHEMA]);
});
afterEach(() => {
  db.close();
  folder.remove();
});

/** One that only watches, as a process that starts on the database. */
function watch(changes: Partial<PromiseWatchParts> = {}) {
  const { chain, covered, canonical, fast } = game;
  const store = new WatchedPromises(db);
  const watching = new PromiseWatch({
    ...{ chain, store, fast, canonical, log: SILENT, nowMs: Date.now, observe: () => {} },
    models: new Map([[covered.id, covered]]),
    ...{ claims: () => undefined, pollIntervalMs: 20, confirmations: 0 },
    ...changes,
  });
  const cursor = store.cursor();
  const source = promiseSource(chain.deployment);
  const follower = new EventFollower(chain, cursor === undefined ? {} : { cursor }, source);
  return {
    ...{ store, watching },
    async follow(): Promise<void> {
      for (let blocks = await follower.next(); blocks !== undefined; blocks = await follower.next()) {
        watching.take(blocks);
        follower.advance(blocks);
        await watching.idle();
      }
    },
  };
}

const sign = async (byte: number, minBond: bigint) =>
  signTiny(game.chain, PROVER, game.system.modelId, [byte, 0, 0, 1], await local.now(), {
    ...{ output: WRONG, salt: BigInt(byte), minBond },
  });

describe("PromiseWatch", () => {
  test("behavior: what waits in a queue and could not be checked is checked again, also by the next process", async () => {
    const { reader, system, actions } = game;
    // The first takes all stake, so that the second waits.
    for (const one of [await sign(1, ETHER), await sign(2, ETHER)]) {
      const { deposit } = await reader.check(one);
      await system.sender.send(actions.open(one, deposit));
    }
    const { head } = await reader.account(PROVER.address);
    if (head === undefined) throw new Error("nothing waits");
    let failures = 0;
    const broken = {
      check: () => {
        failures += 1;
        return Promise.reject(new Error("no memory"));
      },
    };
    const first = watch({ canonical: broken as never });
    await first.follow();
    expect([failures, first.store.has(head)]).toEqual([1, false]);
    for (let tries = 0; tries < 2; tries++) {
      await local.control.mine({ blocks: 2 });
      await first.follow();
    }
    expect(failures).toBeGreaterThan(1);
    await first.watching.stop();
    const second = watch();
    await local.control.mine({ blocks: 64 });
    await second.follow();
    expect(second.store.has(head)).toBe(true);
    await second.watching.stop();
  });

  test("behavior: what waits and is right on the word of workers is checked again once one of them is barred", async () => {
    const { head } = await game.reader.account(PROVER.address);
    if (head === undefined) throw new Error("nothing waits");
    // They agree with what is claimed.
    const fast: FastPath = { run: async () => ({ output: fromHex(WRONG), workers: ["one", "two"] }) };
    const { store, watching, follow } = watch({ fast });
    await follow();
    expect(store.has(head)).toBe(false);
    watching.distrust("three");
    await watching.idle();
    expect(store.has(head)).toBe(false);
    watching.distrust("two");
    await watching.idle();
    expect(store.has(head)).toBe(true);
    await watching.stop();
  });

  test("behavior: the word of workers makes no signed claim right that somebody hands over, nor that of one that is barred", async () => {
    const fast: FastPath = { run: async () => ({ output: fromHex(WRONG), workers: ["one", "two"] }) };
    const { watching, follow } = watch({ fast });
    await follow();
    const wrong = await sign(4, 0n);
    const digest = digestOf(game.at, wrong.claim);
    expect(await watching.check(digest, wrong)).toMatchObject({ kind: "right" });
    const limits = { ofProver: 10, inAll: 10, lasting: 0 };
    expect(await watching.check(digest, wrong, { strength: 1n, limits })).toMatchObject({ kind: "wrong" });
    watching.distrust("two");
    expect(await watching.check(digest, wrong)).toMatchObject({ kind: "wrong" });
    await watching.stop();
  });

  test("behavior: who only watches keeps a wrong promise until it is decided, and no longer", async () => {
    const { store, watching, follow } = watch();
    await local.control.mine({ blocks: 1 });
    await follow();
    const wrong = await sign(3, 0n);
    const before = store.open;
    await watching.check(digestOf(game.at, wrong.claim), wrong);
    expect(store.open).toBe(before + 1);
    await local.passTime(wrong.claim.expiry - (await local.now()));
    await follow();
    expect(store.open).toBe(before + 1);
    await local.passTime(86_400);
    await follow();
    expect(store.open).toBe(0);
    await watching.stop();
  });
});
