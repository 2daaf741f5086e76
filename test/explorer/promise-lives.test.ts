/** Rows of batches and signed claims from made events: what takes days on a chain, or fees that rise. */
import { zeroHash } from "viem";
import { describe, expect, it } from "vitest";
import type { BatchState } from "../../explorer/api/types.ts";
import { batchLifeOf } from "../../explorer/index/batch-life.ts";
import type { Delta } from "../../explorer/index/deltas.ts";
import { promiseMoveOf, seqOf } from "../../explorer/index/moves.ts";
import { accountDeltasOf, type ClosedClaim, type TimedPromise } from "../../explorer/index/promise-deltas.ts";
import { signedLifeOf } from "../../explorer/index/signed-life.ts";
import { Tables } from "../../explorer/index/tables.ts";
import { batchPage, batchView, finalLeaves } from "../../explorer/read/batches.ts";
import { type AnswerParts, atOneBlock } from "../../explorer/read/parts.ts";
import type { PromiseEventName } from "../../protocol/chain/promises/events.ts";
import { eventIn, hashOf } from "../support/batches.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { batchOf, ExplorerIndex, NO_FACTS, openExplorerStore } from "../support/explorer.ts";
import { addressOf } from "../support/game-table.ts";

const PROVER = addressOf(1);
const OPENER = addressOf(2);
const OTHER = addressOf(3);
const PROMISES = addressOf(4);
const [ID, CLAIM, SECOND] = [hashOf(900), hashOf(901), hashOf(902)];
const SIGNED = {
  ...{ prover: PROVER, modelId: zeroHash, inputHash: zeroHash, outputHash: zeroHash, requester: OTHER },
  ...{ issuedAt: 1, expiry: 99, minBond: 5n, salt: 7n },
};

/** An event in a block of its own, which is its second too. */
const at = (block: number, name: PromiseEventName, args: object): TimedPromise => ({
  event: {
    ...{ name, args, logIndex: 0, transactionHash: zeroHash },
    block: { number: BigInt(block), hash: hashOf(block) },
  } as unknown as TimedPromise["event"],
  time: block,
});
/** With a ticket bond of 3 and one ticket: its prover gains 1 if it stands. */
const claimOf = (): ClosedClaim => ({
  claim: { prover: PROMISES, bond: 100n, ticketBond: 3n } as ClosedClaim["claim"],
  tickets: 1,
});
const isNew = () => true;
const sumOf = (deltas: readonly Delta[], scope: string, id: string, name: string) =>
  deltas
    .filter((delta) => delta.scope === scope && delta.id === id)
    .reduce((sum, { add }) => sum + (add[name] ?? 0n), 0n);

describe("signedLifeOf", () => {
  const queued = (block: number, opener = OPENER) =>
    at(block, "Queued", { digest: ID, prover: PROVER, opener, deposit: 11n, signed: SIGNED });
  const opened = (block: number, opener = OPENER) =>
    at(block, "Opened", { digest: ID, prover: PROVER, opener, deposit: 11n, signed: SIGNED, claimId: CLAIM });

  it("default: waits, is too dear, goes to the end, and becomes a claim with the deposit that was put down once", () => {
    const events = [
      queued(10),
      at(20, "HeadTooDear", { prover: PROVER, digest: ID }),
      at(30, "Passed", { prover: PROVER, digest: ID }),
      opened(40),
      at(50, "Closed", { claimId: CLAIM, origin: ID, fallen: false }),
    ];
    const rows = events.map((_, i) => signedLifeOf(events.slice(0, i + 1), isNew, claimOf).row);
    expect(rows.map((row) => [row?.state, row?.joined, row?.tooDearSince, row?.passes])).toEqual([
      ["QUEUED", seqOf(10, 0), undefined, 0],
      ["QUEUED", seqOf(10, 0), 20, 0],
      ["QUEUED", seqOf(30, 0), undefined, 1],
      ["OPEN", undefined, undefined, 1],
      ["STOOD", undefined, undefined, 1],
    ]);
    expect(rows.at(-1)).toMatchObject({ shownAt: 10, claimId: CLAIM, endedAt: 50, seq: seqOf(10, 0) });
    const { deltas, paid } = signedLifeOf(events, isNew, claimOf);
    expect(paid).toEqual([seqOf(10, 0)]);
    // Half of the deposit, 5, and of the ticket, 1, are the prover's; 6 burn.
    expect(sumOf(deltas, "account", PROVER, "stake")).toBe(6n);
    expect(sumOf(deltas, "account", PROVER, "result")).toBe(6n);
    expect(sumOf(deltas, "account", PROMISES, "result")).toBe(-1n);
    expect(sumOf(deltas, "account", OPENER, "result")).toBe(-11n);
    expect(sumOf(deltas, "account", OPENER, "deposits")).toBe(0n);
    expect(sumOf(deltas, "total", "", "promise:burned")).toBe(6n);
    expect(sumOf(deltas, "total", "", "promise:signed")).toBe(1n);
  });

  it("behavior: what was taken back is opened again by another, and falls", () => {
    const events = [
      queued(10),
      at(20, "TakenBack", { prover: PROVER, digest: ID }),
      opened(30, OTHER),
      at(40, "Closed", { claimId: CLAIM, origin: ID, fallen: true }),
    ];
    expect(signedLifeOf(events.slice(0, 2), isNew, claimOf).row).toMatchObject({ state: "TAKEN_BACK" });
    const { row, deltas, paid } = signedLifeOf(events, isNew, claimOf);
    expect(row).toMatchObject({ state: "FELL", opener: OTHER, shownAt: 10, endedAt: 40 });
    expect(paid).toEqual([seqOf(10, 0), seqOf(30, 0)]);
    for (const opener of [OPENER, OTHER]) {
      expect(sumOf(deltas, "account", opener, "deposits")).toBe(0n);
      expect(sumOf(deltas, "account", opener, "result")).toBe(0n);
    }
    expect(sumOf(deltas, "account", PROVER, "result")).toBe(-100n);
    expect(sumOf(deltas, "account", PROMISES, "result")).toBe(100n);
    expect(sumOf(deltas, "total", "", "promise:deposits")).toBe(0n);
  });

  it("behavior: only new events add", () => {
    const events = [queued(10), opened(20)];
    const { deltas } = signedLifeOf(events, ({ time }) => time > 10, claimOf);
    expect(deltas).toEqual([]);
  });
});

describe("accountDeltasOf", () => {
  it("default: what leaves is the prover's stake, whoever receives it", () => {
    const exited = at(10, "Exited", { prover: PROVER, to: OTHER, amount: 7n });
    const deltas = accountDeltasOf(exited);
    expect(sumOf(deltas, "account", PROVER, "stake")).toBe(-7n);
    expect(sumOf(deltas, "total", "", "promise:stake")).toBe(-7n);
    expect(deltas.filter(({ id }) => id === OTHER)).toEqual([]);
    expect(promiseMoveOf(exited.event)).toMatchObject({
      account: PROVER,
      money: [{ account: OTHER, amount: 7n, kind: "stake" }],
    });
  });

  it("default: what is put behind a prover's promises is its stake, whoever pays", () => {
    const deltas = accountDeltasOf(at(10, "Deposited", { prover: PROVER, from: OTHER, amount: 7n }));
    expect(sumOf(deltas, "account", PROVER, "stake")).toBe(7n);
    expect(deltas.filter(({ id }) => id === OTHER)).toEqual([]);
  });

  it("default: credit is booked to its account, by whatever address it is taken", () => {
    const deltas = [
      ...accountDeltasOf(at(10, "Credited", { account: OPENER, amount: 9n })),
      ...accountDeltasOf(at(11, "Withdrawn", { account: OPENER, to: OTHER, amount: 4n })),
    ];
    expect(sumOf(deltas, "account", OPENER, "promiseCredit")).toBe(5n);
    expect(sumOf(deltas, "total", "", "promise:credits")).toBe(5n);
    expect(deltas.filter(({ id }) => id === OTHER)).toEqual([]);
  });
});

describe("promiseMoveOf", () => {
  it("default: what opens a promise takes its deposit; what waited becomes a claim without another", () => {
    const args = { digest: ID, prover: PROVER, opener: OPENER, deposit: 11n, signed: SIGNED };
    const { event } = at(10, "Opened", { ...args, claimId: CLAIM });
    expect(promiseMoveOf(event, { isPaid: true }).money).toEqual([
      { account: OPENER, amount: -11n, kind: "deposit" },
    ]);
    expect(promiseMoveOf(event)).toMatchObject({ money: [], claimId: CLAIM, account: OPENER });
  });
});

const posted = at(10, "Posted", {
  ...{ batchId: ID, prover: PROVER, modelId: zeroHash, bond: 100n, windowEnd: 60, data: "0x0102" },
  batch: { prover: PROVER, modelId: zeroHash, window: 50, count: 4, root: zeroHash },
});

describe("batchLifeOf", () => {
  const leaf = (block: number, name: "LeafQueued" | "LeafOpened", index: bigint, claimId = CLAIM) =>
    at(block, name, {
      ...{ batchId: ID, index, opener: OPENER, deposit: 11n },
      ...(name === "LeafOpened" ? { claimId } : { payload: "0x01" }),
    });
  const closed = (block: number, claimId: string, fallen: boolean) =>
    at(block, "Closed", { claimId, origin: ID, fallen });

  it("default: final at the end of its window, or of the last leaf that was opened", () => {
    const events = [posted, leaf(20, "LeafOpened", 1n), closed(70, CLAIM, false)];
    const rows = events.map((_, i) => batchLifeOf(events.slice(0, i + 1), isNew, claimOf).row);
    expect(rows.map((row) => row?.finalAt)).toEqual([60, undefined, 70]);
    expect(rows[2]).toMatchObject({
      bytes: 2,
      count: 4,
      leaves: [{ index: 1, status: "STOOD", endedAt: 70 }],
    });
    const waiting = batchLifeOf([posted, leaf(20, "LeafQueued", 1n)], isNew, claimOf);
    expect(waiting.row).toMatchObject({ leaves: [{ status: "QUEUED" }] });
    expect(waiting.row?.finalAt).toBeUndefined();
    const early = batchLifeOf([...events.slice(0, 2), closed(50, CLAIM, false)], isNew, claimOf);
    expect(early.row?.finalAt).toBe(60);
  });

  it("behavior: it falls with a leaf; one that waited becomes a claim or is dropped, and pays once", () => {
    const events = [
      posted,
      leaf(20, "LeafOpened", 1n),
      leaf(21, "LeafQueued", 2n),
      leaf(22, "LeafQueued", 3n),
      leaf(23, "LeafOpened", 2n, SECOND),
      closed(30, CLAIM, true),
      at(31, "LeafDropped", { batchId: ID, index: 3n }),
      closed(40, SECOND, true),
    ];
    const { row, deltas, paid } = batchLifeOf(events, isNew, claimOf);
    expect(row).toMatchObject({ fellAt: 30 });
    expect(row?.finalAt).toBeUndefined();
    expect(row?.leaves.map(({ index, status, shownAt }) => [index, status, shownAt])).toEqual([
      [1, "FELL", 20],
      [2, "FELL", 21],
      [3, "DROPPED", 22],
    ]);
    expect(paid).toEqual([20, 21, 22].map((block) => seqOf(block, 0)));
    expect(sumOf(deltas, "account", OPENER, "deposits")).toBe(0n);
    expect(sumOf(deltas, "account", OPENER, "opened")).toBe(3n);
    expect(sumOf(deltas, "account", PROVER, "result")).toBe(-200n);
    expect(sumOf(deltas, "account", PROVER, "batchesFallen")).toBe(1n);
    expect(sumOf(deltas, "total", "", "promise:leaves")).toBe(4n);
  });
});

describe("batchPage", () => {
  it("behavior: a batch is final when its window ends, and not one second before", async () => {
    const folder = temporaryFolder();
    const store = openExplorerStore(`${folder.path}/index.sqlite`);
    const index = new ExplorerIndex(store);
    await store.write((sql) => new Tables(sql).putBatch(ID, batchLifeOf([posted], isNew, claimOf).row));
    const parts = { index, library: { get: () => undefined } } as unknown as AnswerParts;
    const seen = async (state: BatchState) => {
      const { items } = await atOneBlock(parts, (own) => batchPage(own, { state, limit: 9 }));
      return items.map((one) => [one.batchId, one.state]);
    };
    for (const [timestamp, state, other, leaves] of [
      [11, "RUNNING", "FINAL", 0],
      [59, "RUNNING", "FINAL", 0],
      [60, "FINAL", "RUNNING", 4],
    ] as const) {
      const { batch } = batchOf([{ event: eventIn(timestamp, 0, "Withdrawn", {}), timestamp }]);
      await index.take({ ...batch, events: [] }, NO_FACTS);
      expect((await atOneBlock(parts, (own) => batchView(own, ID))).state, `at ${timestamp}`).toBe(state);
      expect([await seen(state), await seen(other)], `at ${timestamp}`).toEqual([[[ID, state]], []]);
      expect(await atOneBlock(parts, finalLeaves), `at ${timestamp}`).toBe(leaves);
    }
    await store.close();
    folder.remove();
  });
});
