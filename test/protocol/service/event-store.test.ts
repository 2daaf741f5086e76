import { afterEach, describe, expect, it } from "vitest";
import type { ChainEvent } from "../../../protocol/chain/events.ts";
import { type Claim, type ClaimId, NO_CLAIM, type RequestId } from "../../../protocol/rules/types.ts";
import { openDatabase } from "../../../protocol/service/journal/database.ts";
import { EventStore } from "../../../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA } from "../../../protocol/service/store/events-schema.ts";
import { blocks, eventIn as event, rollback } from "../../support/batches.ts";
import { temporaryFolder } from "../../support/deploy.ts";

const REQUEST = `0x${"11".repeat(32)}` as RequestId;
const CLAIM = `0x${"22".repeat(32)}` as ClaimId;
const folders: { remove(): void }[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

function database() {
  const folder = temporaryFolder();
  folders.push(folder);
  return openDatabase(`${folder.path}/events.sqlite`, [EVENTS_SCHEMA]);
}

const claim: Claim = { ...NO_CLAIM, requestId: REQUEST, bond: 5n };
const filed = [
  event(1, 0, "Requested", { requestId: REQUEST, request: { fee: 7n, expiry: 50 }, input: "0x01" }),
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
  it("default: an index that another process finds again, big integers included", () => {
    const db = database();
    const first = blocks(1, filed);
    new EventStore(db).take(first);
    const store = new EventStore(db);
    store.take(blocks(2, [fell], first.cursor));
    const { index } = new EventStore(db);
    expect(index.requests.get(REQUEST)).toMatchObject({ status: "open", attempt: 1, request: { fee: 7n } });
    expect(index.claims.get(CLAIM)).toMatchObject({
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
    expect(store.index.requests.get(REQUEST)?.attempt).toBe(1);
  });

  it.each([
    ["with a newer block", [fell], { status: "open", attempt: 1 }],
    ["from the other branch of a re-org", [], { status: "busy", attempt: 0 }],
  ])(
    "behavior: a batch that its consumer took before it failed comes again, %s",
    (_what, events, request) => {
      const db = database();
      const store = new EventStore(db);
      const first = blocks(1, filed);
      store.take(first);
      store.take(blocks(2, [fell], first.cursor));
      store.take(blocks(3, events, first.cursor));
      for (const { index } of [store, new EventStore(db)]) {
        expect(index.requests.get(REQUEST)).toMatchObject(request);
        expect(index.claimsOf(REQUEST)).toHaveLength(1);
      }
    },
  );

  it("behavior: a rollback takes back what is gone, in the index and in the database", () => {
    const db = database();
    const store = new EventStore(db);
    const first = blocks(1, filed);
    store.take(first);
    store.take(blocks(2, [fell], first.cursor));
    store.take(rollback(1, first.cursor));
    for (const { index } of [store, new EventStore(db)]) {
      expect(index.requests.get(REQUEST)).toMatchObject({ status: "busy", attempt: 0, claimId: CLAIM });
      expect(index.claims.get(CLAIM)?.status).toBe("active");
    }
  });

  it("behavior: what is forgotten stays forgotten", () => {
    const db = database();
    const store = new EventStore(db);
    store.take(blocks(1, filed));
    store.forget(REQUEST);
    for (const { index } of [store, new EventStore(db)]) {
      expect([index.requests.size, index.claims.size]).toEqual([0, 0]);
    }
  });

  it.each([
    [
      "done",
      [event(9, 0, "Finalized", { claimId: CLAIM, requestId: REQUEST, lane: 4, outputHash: "0x" })],
      0,
    ],
    ["refunded", [{ ...fell, block: filed[0]?.block }, event(9, 0, "Refunded", { requestId: REQUEST })], 0],
    ["expired after a fall", [event(9, 0, "Fell", fell.args)], 51],
  ])(
    "behavior: a request that is %s is over from its last event on, not from its first",
    (_what, news, now) => {
      const store = new EventStore(database());
      store.take(blocks(9, [...filed, ...(news as ChainEvent[])]));
      const over = (block: bigint, at = now) => store.index.overSince(block, at).map(({ id }) => id);
      expect([over(8n), over(9n)]).toEqual([[], [REQUEST]]);
      if (now > 0) expect(over(9n, 50)).toEqual([]);
    },
  );

  it("behavior: a request with a claim that is not over is not over", () => {
    const store = new EventStore(database());
    store.take(blocks(9, filed));
    expect(store.index.overSince(10n, 10 ** 9)).toEqual([]);
  });

  describe("rest", () => {
    const again = event(3, 1, "Claimed", {
      claimId: `0x${"33".repeat(32)}`,
      requestId: REQUEST,
      claim: { ...claim, attempt: 1 },
      windowEnd: 12,
      output: "0x03",
    });
    const held = ({ index }: EventStore) => [index.requests.size, index.claims.size];

    it("behavior: what rests is in no index, and its claim's events are still told", () => {
      const db = database();
      const store = new EventStore(db);
      store.take(blocks(1, filed));
      store.rest([REQUEST]);
      for (const one of [store, new EventStore(db)]) {
        expect(held(one)).toEqual([0, 0]);
        expect(one.eventsOf(CLAIM)?.map(({ name }) => name)).toEqual(["Claimed"]);
      }
    });

    it.each([
      ["claim", fell, { status: "open", attempt: 1 }],
      ["claim alone", event(2, 0, "Challenged", { claimId: CLAIM, challenger: "0x44" }), { status: "busy" }],
      ["request", event(2, 0, "Refunded", { requestId: REQUEST }), { status: "refunded" }],
    ])("behavior: an event that names its %s wakes it, with its past", (_what, news, request) => {
      const db = database();
      const store = new EventStore(db);
      const first = blocks(1, filed);
      store.take(first);
      store.rest([REQUEST]);
      store.take(blocks(2, [news], first.cursor));
      for (const { index } of [store, new EventStore(db)]) {
        expect(index.requests.get(REQUEST)).toMatchObject({ ...request, changedAt: 2n });
        expect(index.claimsOf(REQUEST).map(({ claim: { bond } }) => bond)).toEqual([5n]);
      }
    });

    it("behavior: a rollback wakes what it takes something from, and nothing else", () => {
      const db = database();
      const store = new EventStore(db);
      const first = blocks(1, filed);
      store.take(first);
      store.take(blocks(3, [fell, again], first.cursor));
      store.rest([REQUEST]);
      store.take(rollback(3));
      expect(held(store)).toEqual([0, 0]);
      store.take(rollback(2));
      for (const { index } of [store, new EventStore(db)]) {
        expect(index.requests.get(REQUEST)).toMatchObject({ status: "open", attempt: 1 });
        expect([...index.claims.keys()]).toEqual([CLAIM]);
      }
    });

    it("behavior: a request that a re-org took away whole comes anew", () => {
      const store = new EventStore(database());
      store.take(blocks(1, filed));
      store.rest([REQUEST]);
      store.take(rollback(0));
      expect(held(store)).toEqual([0, 0]);
      store.take(blocks(1, filed));
      expect(held(store)).toEqual([1, 1]);
    });
  });
});
