import { beforeAll, describe, expect, test } from "vitest";
import { Audit } from "../../../protocol/chain/audit/audit.ts";
import type { Breach } from "../../../protocol/chain/audit/rules.ts";
import { altered as alteredEvent, pathsOf } from "../../support/altered-event.ts";
import { History, type TimedEvent } from "../../support/audited-history.ts";
import { LOCAL_CONSTANTS } from "../../support/deploy.ts";

let history: History;

beforeAll(async () => {
  history = await History.play();
});

/** Audits events as if a chain had told them in this order. */
function audit(events: readonly TimedEvent[], isWhole = true): { breach?: Breach | undefined; audit: Audit } {
  const terms = { game: history.world.game, constants: LOCAL_CONSTANTS, isWhole };
  const one = new Audit(terms);
  for (const [logIndex, { event, timestamp }] of events.entries()) {
    const block = { number: 1n, hash: event.block.hash };
    const breach = one.take({ ...event, block, logIndex }, { timestamp, baseFee: 1n });
    if (breach !== undefined) return { breach, audit: one };
  }
  return { breach: one.end(), audit: one };
}

const breachOf = (events: readonly TimedEvent[]): Breach | undefined => audit(events).breach;
const all = (): readonly TimedEvent[] => history.events;
const nameAt = (index: number): string => all()[index]?.event.name ?? "";
/** Names of the events at which a forgery is not noticed. */
const unnoticed = (forge: (index: number) => readonly TimedEvent[]): string[] => {
  const passed = [...all().keys()].filter((index) => breachOf(forge(index)) === undefined);
  return [...new Set(passed.map(nameAt))].sort();
};

/** The event with one value replaced by another one of its kind. */
const altered = ({ event, timestamp }: TimedEvent, path: readonly string[]): TimedEvent => ({
  event: alteredEvent(event, path),
  timestamp,
});

describe("Audit", () => {
  test("default: a history of every event is in order, and adds up", () => {
    const names = [...new Set(all().map(({ event }) => event.name))].sort();
    expect(names.join(" ")).toMatchInlineSnapshot(
      `"Burned Challenged Claimed Collected Credited Delivered DeliveryReclaimed Demanded Fell Finalized ModelRegistered ProofHalted Refunded Requested Revealed Settled TraceCommitted Withdrawn"`,
    );
    const { breach, audit: done } = audit(all());
    expect(breach).toBeUndefined();
    const { money, ...totals } = done.totals();
    expect(totals).toMatchInlineSnapshot(`
      {
        "claims": {
          "FALLEN by CODEC": 1,
          "FALLEN by DEMAND_TIMEOUT": 1,
          "FALLEN by OUTPUT": 1,
          "FALLEN by TRACE_TIMEOUT": 1,
          "FALLEN by TRUTH": 2,
          "FINAL": 5,
        },
        "events": 94,
        "lanes": {
          "BOND": 3,
          "EXECUTION": 1,
          "PROOF": 5,
        },
        "requests": {
          "DONE": 9,
          "OPEN": 1,
          "REFUNDED": 1,
        },
      }
    `);
    const { received, credits, held, burned, pulled, withdrawn } = money;
    expect(credits + held + burned + pulled + withdrawn).toBe(received);
  });

  test("behavior: the contract holds what the books say", async () => {
    const { credits, held, burned } = audit(all()).audit.totals().money;
    expect(await history.world.balance(history.world.game.assay)).toBe(credits + held + burned);
  });

  test("behavior: without its beginning, money of older requests is left out and all others are proven", () => {
    const second = all().findIndex(({ event }, i) => i > 3 && event.name === "Requested");
    const [registered, ...later] = [all()[0] as TimedEvent, ...all().slice(second)];
    const { breach, audit: done } = audit([registered, ...later], false);
    expect(breach).toBeUndefined();
    expect(done.totals().requests).not.toEqual(audit(all()).audit.totals().requests);
    const collected = later.findIndex(({ event }) => event.name === "Collected");
    expect(audit([registered, ...later.toSpliced(collected, 1)], false).breach).toBeUndefined();
    const forged = later.map((one) => (one.event.name === "Collected" ? altered(one, ["amount"]) : one));
    expect(audit([registered, ...forged], false).breach).toMatchObject({ rule: "payoff" });
  });
});

describe("forged events", () => {
  test.each<[string, string, string, (events: readonly TimedEvent[]) => readonly TimedEvent[]]>([
    ["a credit is missing", "order", "Credited", (events) => dropAfter(events, "Finalized", "Credited")],
    ["a credit comes twice", "once", "Credited", (events) => twice(events, "Credited")],
    ["a credit is higher", "payoff", "Credited", (events) => alter(events, "Credited", "amount")],
    ["somebody else is credited", "payoff", "Credited", (events) => alter(events, "Credited", "account")],
    ["a share is collected twice", "once", "Collected", (events) => twice(events, "Collected", 2)],
    ["more is withdrawn", "payoff", "Withdrawn", (events) => alter(events, "Withdrawn", "amount")],
    ["it is withdrawn twice", "once", "Withdrawn", (events) => twice(events, "Withdrawn")],
    ["more is burned", "payoff", "Burned", (events) => alter(events, "Burned", "amount")],
    [
      "another output becomes final",
      "fixed",
      "Finalized",
      (events) => alter(events, "Finalized", "outputHash"),
    ],
    ["a result comes twice", "moves", "Finalized", (events) => twice(events, "Finalized", 2)],
    ["final before its window", "window", "Finalized", (events) => earlier(events, "Finalized", 3)],
    [
      "a trace after its deadline",
      "deadline",
      "TraceCommitted",
      (events) => later(events, "TraceCommitted", 6),
    ],
    ["a timeout before its deadline", "deadline", "Fell", (events) => earlier(events, "Fell", 2)],
    ["a window that ends later", "deadline", "Claimed", (events) => alter(events, "Claimed", "windowEnd")],
    ["a demand with more time", "deadline", "Demanded", (events) => alter(events, "Demanded", "deadline")],
    ["another claim under the id", "identity", "Claimed", (events) => alter(events, "Claimed", "claimId")],
    ["a claim on nothing", "identity", "Claimed", (events) => drop(events, "Requested")],
    ["a refund that is not due", "deadline", "Refunded", (events) => earlier(events, "Refunded", 100)],
    ["a delivery for nothing", "once", "Requested", (events) => drop(events, "Delivered")],
    ["a truth that ends nothing", "order", "Credited", (events) => drop(events, "Finalized", 4)],
  ])("error: %s (%s)", (_what, rule, name, forge) => {
    const breach = breachOf(forge(all()));
    expect([breach?.rule, breach?.why]).toEqual([rule, expect.any(String)]);
    expect([breach?.event.name, breach?.rule]).toEqual([name, rule]);
  });

  test("behavior: each dropped event is noticed, but those without consequence", () => {
    expect(unnoticed((index) => all().toSpliced(index, 1))).toMatchInlineSnapshot(`
      [
        "Burned",
        "Challenged",
        "Delivered",
        "Demanded",
        "ProofHalted",
        "Withdrawn",
      ]
    `);
  });

  test("behavior: each doubled event is noticed", () => {
    expect(unnoticed((i) => all().toSpliced(i, 0, all()[i] as TimedEvent))).toMatchInlineSnapshot(`
      [
        "Delivered",
      ]
    `);
  });

  test("behavior: each altered value is noticed, but those that no rule of money or finality reads", () => {
    const passed = new Set<string>();
    let tried = 0;
    const seen = new Set<string>();
    for (const [i, one] of all().entries()) {
      // One of each name, and of each kind of fall.
      const kind = `${one.event.name} ${one.event.name === "Fell" ? one.event.args.reason : ""}`;
      if (seen.has(kind)) continue;
      seen.add(kind);
      for (const path of pathsOf(one.event.args)) {
        // What an order stands for: the model is told once, on the chain.
        if (one.event.name === "Requested" && path[0] === "modelId") continue;
        tried += 1;
        if (breachOf(all().with(i, altered(one, path))) === undefined) {
          passed.add(`${one.event.name} ${path[0]}`);
        }
      }
    }
    expect(tried).toBeGreaterThan(100);
    expect([...passed].sort()).toMatchInlineSnapshot(`
      [
        "Fell claimed",
        "Fell element",
        "Fell expected",
        "Fell reason",
        "Fell step",
        "ModelRegistered programHash",
        "ModelRegistered vkHash",
        "ModelRegistered weightsRoot",
        "ProofHalted modelId",
        "Revealed content",
        "Withdrawn to",
      ]
    `);
  });

  test("behavior: an event that changes places with the next is noticed, but between moves that are independent", () => {
    const swapped = (i: number) => {
      const [first, second] = [all()[i], all()[i + 1]];
      return first && second
        ? all()
            .with(i, second)
            .with(i + 1, first)
        : all().toSpliced(i, 1);
    };
    expect(unnoticed(swapped)).toMatchInlineSnapshot(`
      [
        "Burned",
        "Challenged",
        "Claimed",
        "Fell",
        "ProofHalted",
        "Requested",
        "Withdrawn",
      ]
    `);
  });
});

const placeOf = (events: readonly TimedEvent[], name: string, nth = 1): number =>
  [...events.keys()].filter((i) => events[i]?.event.name === name)[nth - 1] ?? -1;
const drop = (events: readonly TimedEvent[], name: string, nth = 1) =>
  events.toSpliced(placeOf(events, name, nth), 1);
const dropAfter = (events: readonly TimedEvent[], name: string, next: string) => {
  const at = placeOf(events, name);
  return events.toSpliced(
    events.findIndex(({ event }, i) => i > at && event.name === next),
    1,
  );
};
const twice = (events: readonly TimedEvent[], name: string, length = 1) => {
  const at = placeOf(events, name);
  return events.toSpliced(at + length, 0, ...events.slice(at, at + length));
};
const alter = (events: readonly TimedEvent[], name: string, ...path: string[]) => {
  const at = placeOf(events, name);
  return events.with(at, altered(events[at] as TimedEvent, path));
};
const later = (events: readonly TimedEvent[], name: string, seconds: number) => {
  const at = placeOf(events, name);
  const { event, timestamp } = events[at] as TimedEvent;
  return events.with(at, { event, timestamp: timestamp + seconds });
};
const earlier = (events: readonly TimedEvent[], name: string, seconds: number) =>
  later(events, name, -seconds);
