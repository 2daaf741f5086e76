import type { Hex } from "viem";
import { afterEach, describe, expect, it } from "vitest";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { Batch, Cursor } from "../../protocol/chain/follower.ts";
import { openDatabase } from "../../protocol/journal/database.ts";
import { EVENTS_SCHEMA, EventStore } from "../../protocol/store/event-store.ts";
import { type Claim, type ClaimId, NO_CLAIM, type RequestId } from "../../protocol/terms.ts";
import { temporaryFolder } from "../support/deploy.ts";

const REQUEST = `0x${"11".repeat(32)}` as RequestId;
const CLAIM = `0x${"22".repeat(32)}` as ClaimId;
const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, "0")}`;

const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function database() {
  const folder = temporaryFolder();
  folders.push(folder);
  return openDatabase(`${folder.path}/events.sqlite`, [EVENTS_SCHEMA]);
}

/** An event of a block; only the fields that the book reads. */
function event(number: number, logIndex: number, name: string, args: object): ChainEvent {
  const block = { number: BigInt(number), hash: hashOf(number) };
  return { name, args, block, logIndex, contract: "0x", transactionHash: "0x" } as unknown as ChainEvent;
}

function blocks(to: number, events: readonly ChainEvent[], before: Cursor = []): Batch & { kind: "blocks" } {
  const block = { number: BigInt(to), hash: hashOf(to) };
  const head = { ...block, timestamp: to };
  return { kind: "blocks", from: 0n, to: head, head, events, cursor: [...before, block] };
}

const claim: Claim = { ...NO_CLAIM, requestId: REQUEST, bond: 5n };
const filed = [
  event(1, 0, "Requested", { requestId: REQUEST, request: { fee: 7n }, input: "0x01" }),
  event(1, 1, "Claimed", { claimId: CLAIM, requestId: REQUEST, claim, windowEnd: 9, output: "0x02" }),
];
const fell = event(2, 0, "Fell", {
  claimId: CLAIM,
  requestId: REQUEST,
  reason: 3,
  step: 4n,
  element: 5n,
  expected: 6n,
  claimed: 7n,
});

describe("EventStore", () => {
  it("default: a book that another process finds again, big integers included", () => {
    const db = database();
    const first = blocks(1, filed);
    new EventStore(db).take(first);
    const store = new EventStore(db);
    store.take(blocks(2, [fell], first.cursor));
    const { book } = new EventStore(db);
    expect(book.requests.get(REQUEST)).toMatchObject({ status: "open", attempt: 1, request: { fee: 7n } });
    expect(book.claims.get(CLAIM)).toMatchObject({
      status: "fallen",
      claim: { bond: 5n },
      fall: { reason: "ELEMENT", step: 4n },
    });
    expect(store.cursor()?.at(-1)?.number).toBe(2n);
  });

  it("behavior: the same batch twice counts once", () => {
    const store = new EventStore(database());
    const first = blocks(1, filed);
    store.take(first);
    const second = blocks(2, [fell], first.cursor);
    store.take(second);
    store.take(second);
    expect(store.book.requests.get(REQUEST)?.attempt).toBe(1);
  });

  it("behavior: a rollback takes back what is gone, in the book and in the database", () => {
    const db = database();
    const store = new EventStore(db);
    const first = blocks(1, filed);
    store.take(first);
    store.take(blocks(2, [fell], first.cursor));
    store.take({ kind: "rollback", ancestor: 1n, gone: [], cursor: first.cursor });
    for (const { book } of [store, new EventStore(db)]) {
      expect(book.requests.get(REQUEST)).toMatchObject({ status: "busy", attempt: 0, claimId: CLAIM });
      expect(book.claims.get(CLAIM)?.status).toBe("active");
    }
  });

  it("behavior: what is forgotten stays forgotten", () => {
    const db = database();
    const store = new EventStore(db);
    store.take(blocks(1, filed));
    store.forget(REQUEST);
    for (const { book } of [store, new EventStore(db)]) {
      expect([book.requests.size, book.claims.size]).toEqual([0, 0]);
    }
  });
});
