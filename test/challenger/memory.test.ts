/** What a challenger remembers of claims, counted; docs/BENCHMARKS.md has the bytes. */

import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { type Logger, SILENT } from "../../base/log.ts";
import { AttentionTests } from "../../challenger/attention.ts";
import type { Notice } from "../../challenger/notices.ts";
import type { CoveredModel, FastPath } from "../../challenger/reexecute.ts";
import type { TransactionSender } from "../../challenger/transaction-sender.ts";
import { VERDICTS_SCHEMA, VerdictStore } from "../../challenger/verdicts.ts";
import { Challenger } from "../../challenger/watch.ts";
import { commitWeights } from "../../inference/commit/commitments.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import { type ClaimId, type ModelId, NO_CLAIM, type RequestId } from "../../protocol/rules/types.ts";
import { openDatabase, type SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { ChainClock } from "../../protocol/service/metrics/chain-clock.ts";
import { EventStore } from "../../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA } from "../../protocol/service/store/events-schema.ts";
import { accountAt } from "../support/anvil.ts";
import { blocks, eventIn, hashOf, rollback } from "../support/batches.ts";
import { TINY_MODEL, TINY_SELECTOR, temporaryFolder, tinyInput } from "../support/deploy.ts";

const prepared = prepare(TINY_MODEL, TINY_SELECTOR);
const MODEL = hashOf(7) as ModelId;
const covered: CoveredModel = { id: MODEL, name: "tiny", prepared, weights: commitWeights(TINY_MODEL) };
const OWN = accountAt(1).address;
/** Blocks after which nothing is taken back. */
const DEEP = 256;

const request = (i: number) => hashOf(1_000_000 + i) as RequestId;
const claim = (i: number) => hashOf(2_000_000 + i) as ClaimId;
const inputOf = (i: number) => tinyInput([i & 255, i >> 8, 1, 2]);
const asks = (block: number, i: number): ChainEvent =>
  eventIn(block, 2 * i, "Requested", { requestId: request(i), request: {}, input: inputOf(i) });
function claims(block: number, i: number, isWrong = false): ChainEvent {
  const output = execute(prepared, fromHex(inputOf(i)));
  if (isWrong) output[0] = (output[0] as number) ^ 1;
  const terms = { ...NO_CLAIM, requestId: request(i), modelId: MODEL, bond: 5n };
  const args = { claimId: claim(i), requestId: request(i), claim: terms, windowEnd: 10 ** 9 };
  return eventIn(block, 2 * i + 1, "Claimed", { ...args, output: toHex(output) });
}
const about = (
  block: number,
  name: "Challenged" | "Collected" | "Demanded" | "Fell" | "Finalized" | "TraceCommitted",
  i: number,
  more = {},
) => eventIn(block, 0, name, { claimId: claim(i), requestId: request(i), ...more });

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

const IDLE_HAND: TransactionSender = {
  address: OWN,
  exposure: 0n,
  act: async () => false,
  move: async () => ({ status: "withheld", reason: "nothing is sent" }),
  gasPrice: async () => 0n,
  lost: () => undefined,
  holds: () => undefined,
  isTripped: false,
  tidy: () => {},
  stop: async () => {},
};
const canonical = new CanonicalPool(new Map([[MODEL, { model: TINY_MODEL, selector: TINY_SELECTOR }]]));
afterAll(() => canonical.close());
const fast: FastPath = { run: async (_model, input) => ({ output: execute(prepared, input) }) };

function open(
  more: {
    sender?: TransactionSender;
    fast?: FastPath;
    attention?: AttentionTests;
    db?: SqliteDatabase;
    log?: Logger;
  } = {},
) {
  const folder = temporaryFolder();
  folders.push(folder);
  const { db = openDatabase(`${folder.path}/assay.sqlite`, [EVENTS_SCHEMA, VERDICTS_SCHEMA]), ...rest } =
    more;
  const store = new EventStore(db);
  const notices: Notice[] = [];
  const challenger = new Challenger({
    // Nothing here asks the chain: a dispute's step would fail, and be logged.
    chain: { game: {}, constants: { answerSeconds: 10 } } as unknown as Chain,
    store,
    verdicts: new VerdictStore(db),
    models: new Map([[MODEL, covered]]),
    ...{ fast, canonical, width: 4, clock: new ChainClock(Date.now), nowMs: Date.now, log: SILENT },
    observe: (notice) => void notices.push(notice),
    ...rest,
  });
  const count = (kind: Notice["kind"]) => notices.filter((notice) => notice.kind === kind).length;
  const checked = (expected: number) =>
    vi.waitUntil(() => challenger.unchecked === 0 && count("verdict") === expected, {
      timeout: 240_000,
      interval: 5,
    });
  return { db, store, challenger, count, checked };
}

/** Files that many requests and claims in each of some blocks, and has them checked. */
async function fileAll({ challenger, checked }: ReturnType<typeof open>, inBlock: number, last: number) {
  const most = { entries: 0, asked: 0 };
  for (let block = 1; block <= last; block += 1) {
    const numbers = Array.from({ length: inBlock }, (_, i) => (block - 1) * inBlock + i);
    challenger.take(
      blocks(
        2 * block - 1,
        numbers.map((i) => asks(2 * block - 1, i)),
      ),
    );
    most.asked = Math.max(most.asked, challenger.entriesHeld);
    challenger.take(
      blocks(
        2 * block,
        numbers.map((i) => claims(2 * block, i)),
      ),
    );
    most.entries = Math.max(most.entries, challenger.entriesHeld);
    await checked(block * inBlock);
  }
  challenger.take(blocks(2 * last + 1, []));
  return most;
}

describe("Challenger", () => {
  test("behavior: right claims leave memory at the next block, however many may still be disputed", async () => {
    const system = open();
    const most = await fileAll(system, 20, 25);
    const { index } = system.store;
    expect([system.challenger.entriesHeld, index.requests.size, index.claims.size]).toEqual([0, 0, 0]);
    // Those of one block, and when each was first seen.
    expect(most).toEqual({ asked: 0, entries: 40 });
    // All of them are known still.
    expect(new EventStore(system.db).eventsOf(claim(3))).toHaveLength(1);
    expect(new VerdictStore(system.db).get(claim(499))).toEqual({ kind: "right" });
  });

  test("behavior: what a worker found right is checked again here once it is barred, also at rest, and nothing else", async () => {
    // Workers agree with what is claimed of requests 1, 2 and 4, which is wrong.
    const workersOf = new Map<string, readonly [string, string]>([
      [inputOf(1), ["liar", "other"]],
      [inputOf(2), ["honest", "other"]],
      [inputOf(4), ["third", "liar"]],
    ]);
    const lying: FastPath = {
      run: async (_model, input) => {
        const output = execute(prepared, input).slice();
        const workers = workersOf.get(toHex(input));
        if (workers === undefined) return { output };
        output[0] = (output[0] as number) ^ 1;
        return { output, workers };
      },
    };
    const { challenger, store, db, checked } = open({ fast: lying });
    const verdicts = new VerdictStore(db);
    challenger.take(
      blocks(
        1,
        [1, 2, 3, 4].map((i) => asks(1, i)),
      ),
    );
    challenger.take(blocks(2, [claims(2, 1, true), claims(2, 2, true), claims(2, 3)]));
    await checked(3);
    challenger.take(blocks(3, []));
    expect([verdicts.get(claim(1))?.kind, store.index.claims.size]).toEqual(["right", 0]);
    challenger.distrust("liar");
    await checked(4);
    expect([1, 2, 3].map((i) => verdicts.get(claim(i))?.kind)).toEqual(["wrong", "right", "right"]);
    expect(store.index.claims.has(claim(1))).toBe(true);
    // An answer of it that was on its way.
    challenger.take(blocks(4, [claims(4, 4, true)]));
    await checked(5);
    expect(verdicts.get(claim(4))?.kind).toBe("wrong");
  });

  test("behavior: the claim on a request that rested is checked, and so is the next one after its fall", async () => {
    const { challenger, checked, store } = open();
    challenger.take(blocks(1, [asks(1, 1)]));
    expect(store.index.requests.size).toBe(0);
    challenger.take(blocks(2, [claims(2, 1)]));
    await checked(1);
    challenger.take(blocks(3, []));
    expect(store.index.requests.size).toBe(0);
    const second = { ...claims(4, 1, true), args: { ...claims(4, 1, true).args, claimId: claim(2) } };
    challenger.take(blocks(4, [about(4, "Fell", 1, { reason: 1 }), second as ChainEvent]));
    await checked(2);
    expect(challenger.disputes().map((dispute) => dispute.claim)).toEqual([claim(2)]);
    challenger.take(blocks(5, []));
    expect(store.index.claims.has(claim(2))).toBe(true);
  });

  test("behavior: a right claim stays while it owes an answer, and is looked at until somebody ended it", async () => {
    const stepped: string[] = [];
    const log = {
      ...SILENT,
      error: (fields: object) => void stepped.push(String((fields as { claim?: string }).claim)),
    };
    const { challenger, checked, store } = open({ sender: IDLE_HAND, log });
    challenger.take(blocks(1, [asks(1, 1), claims(1, 1)]));
    await checked(1);
    challenger.take(blocks(2, []));
    expect(store.index.claims.size).toBe(0);
    // Somebody else's ticket brings it back: the trace is owed.
    challenger.take(blocks(3, [about(3, "Challenged", 1, { challenger: accountAt(2).address })]));
    challenger.take(blocks(4, []));
    expect(store.index.claims.size).toBe(1);
    // A step needs a chain, which is not here: it was tried for this claim.
    await vi.waitUntil(() => stepped.includes(claim(1)));
    challenger.take(blocks(5, [about(5, "TraceCommitted", 1, { traceRoot: hashOf(3), tops: [] })]));
    expect([store.index.claims.size, challenger.entriesHeld]).toEqual([0, 0]);
    const demanded = { challenger: accountAt(2).address, position: 7n, deadline: 20 };
    challenger.take(blocks(6, [about(6, "Demanded", 1, demanded)]));
    challenger.take(blocks(7, []));
    expect(store.index.claims.size).toBe(1);
    challenger.take(blocks(8, [about(8, "Fell", 1, { reason: 2 })]));
    expect([store.index.claims.size, challenger.entriesHeld]).toEqual([0, 0]);
    await challenger.stop();
  });

  test("behavior: wrong claims, uncovered ones and their marks stay until they are over for long", async () => {
    const { challenger, checked, store, count } = open();
    const foreign = claims(1, 2);
    Object.assign(foreign.args, { claim: { ...NO_CLAIM, requestId: request(2), modelId: hashOf(8) } });
    challenger.take(blocks(1, [asks(1, 1), claims(1, 1, true), asks(1, 2), foreign]));
    await checked(1);
    challenger.take(blocks(2, []));
    expect([store.index.claims.size, count("uncovered")]).toEqual([2, 1]);
    // Their requests are old by now; what ended them is not.
    challenger.take(blocks(900, [about(900, "Finalized", 1), about(900, "Finalized", 2)]));
    challenger.take(blocks(900 + DEEP - 1, []));
    expect(store.index.claims.size).toBe(2);
    challenger.take(blocks(900 + DEEP, []));
    expect([store.index.claims.size, challenger.entriesHeld]).toEqual([0, 0]);
  });

  test("behavior: a re-org of what ended an old wrong claim finds it still known", async () => {
    const { challenger, checked } = open();
    challenger.take(blocks(1, [asks(1, 1), claims(1, 1, true)]));
    await checked(1);
    challenger.take(blocks(900, [about(900, "Fell", 1, { reason: 6 }), about(900, "Finalized", 1)]));
    challenger.take(blocks(901, []));
    expect(challenger.disputes()).toEqual([]);
    challenger.take(rollback(899));
    challenger.take(blocks(902, []));
    expect(challenger.disputes().map((dispute) => dispute.claim)).toEqual([claim(1)]);
  });

  test("behavior: marks about claims that a re-org took away go with them", async () => {
    const { challenger, checked } = open();
    vi.spyOn(fast, "run").mockResolvedValueOnce({ output: new Uint8Array() });
    const unreadable = asks(1, 1);
    Object.assign(unreadable.args, { input: "0x00" });
    challenger.take(blocks(1, [unreadable, claims(1, 1)]));
    await checked(1);
    // The claim, when it was first seen, and when it is tried again.
    expect(challenger.entriesHeld).toBe(3);
    challenger.take(rollback(0));
    expect(challenger.entriesHeld).toBe(0);
  });

  test("behavior: the challenger's ticket that is not collected keeps its claim", async () => {
    const { challenger, checked, store } = open({ sender: IDLE_HAND });
    const ticket = about(1, "Challenged", 1, { challenger: OWN });
    challenger.take(blocks(1, [asks(1, 1), claims(1, 1), ticket]));
    await checked(1);
    challenger.take(blocks(2, []));
    expect(store.index.claims.size).toBe(1);
    const truth = [about(3, "Fell", 1, { reason: 6 }), about(3, "Finalized", 1, { claimId: hashOf(0) })];
    challenger.take(blocks(3, truth));
    challenger.take(blocks(3 + 2 * DEEP, []));
    expect(store.index.claims.get(claim(1))?.status).toBe("fallen");
    challenger.take(blocks(600, [about(600, "Collected", 1, { owner: OWN })]));
    challenger.take(blocks(600 + DEEP, []));
    expect(store.index.claims.size).toBe(0);
    await challenger.stop();
  });

  test("behavior: an attention test outlives the claim that it was made of", async () => {
    const attention = new AttentionTests({ everyMs: 0, nowMs: Date.now, randomBelow: () => 0 });
    const { challenger, checked, count } = open({ attention });
    challenger.take(blocks(1, [asks(1, 1), claims(1, 1)]));
    await checked(1);
    challenger.take(blocks(2, []));
    await vi.waitUntil(() => count("attention") === 1, { timeout: 240_000 });
  });
});
