import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { clocksOf, type OpenDispute } from "../../challenger/clocks.ts";
import { addChallengerMetrics } from "../../challenger/metrics.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import type { ClaimWord } from "../../protocol/rules/words.ts";
import { ChainClock } from "../../protocol/service/metrics/chain-clock.ts";
import { Metrics } from "../../protocol/service/metrics/metrics.ts";
import { accountAt } from "../support/anvil.ts";
import { parseExposition } from "../support/exposition.ts";

const OWN = accountAt(1).address;
const OTHER = accountAt(2).address;
const T = 10;

const entry = (challengers: readonly Address[], changes: Partial<ClaimEntry> = {}): ClaimEntry =>
  ({ windowEnd: 140, challengers: new Set(challengers), demands: new Map(), ...changes }) as ClaimEntry;
const word = (changes: Partial<ClaimWord>): ClaimWord =>
  ({
    windowEnd: 140,
    lastEvent: 0,
    hardEnd: 190,
    traceDeadline: 0,
    tickets: 1,
    pending: 0,
    ...changes,
  }) as ClaimWord;
const times = (...given: Parameters<typeof clocksOf>) =>
  Object.fromEntries(clocksOf(...given).map(({ clock, at }) => [clock, at]));

describe("clocksOf", () => {
  test("default: before any ticket, the window alone", () => {
    expect(times(entry([]), word({ tickets: 0, hardEnd: 0 }), OWN, T)).toEqual({ window: 140 });
    expect(times(entry([OTHER]), undefined, undefined, T)).toEqual({ window: 140 });
  });

  test("behavior: the trace is owed", () => {
    const owed = word({ traceDeadline: 110, pending: 1 });
    expect(times(entry([OWN]), owed, OWN, T)).toEqual({ trace: 110, hard_end: 190 });
    expect(times(entry([OTHER]), owed, OWN, T)).toEqual({ window: 140, trace: 110, hard_end: 190 });
  });

  test("behavior: the soonest of the answers that are owed", () => {
    const demands = new Map([
      [1n, { by: OWN, deadline: 130, content: [] }],
      [2n, { by: OWN, deadline: 150 }],
      [3n, { by: OTHER, deadline: 145 }],
    ]);
    const trace = { root: "0x", tops: [] } as const;
    expect(times(entry([OWN], { trace, demands }), word({ pending: 2, lastEvent: 120 }), OWN, T)).toEqual({
      demand: 145,
      hard_end: 190,
    });
  });

  test("behavior: all is answered, so the turn is ours until it would be final", () => {
    const trace = { root: "0x", tops: [] } as const;
    expect(times(entry([OWN], { trace }), word({ lastEvent: 160 }), OWN, T)).toEqual({
      own_move: 170,
      hard_end: 190,
    });
  });
});

describe("addChallengerMetrics", () => {
  const id = (i: number) => `0x${i.toString(16).padStart(64, "0")}` as ClaimId;

  function setUp(disputes: readonly OpenDispute[]) {
    const metrics = new Metrics();
    const clock = new ChainClock(() => 1_000_000);
    clock.see({ number: 1n, hash: "0x01", timestamp: 1_000 });
    const counts = { unchecked: () => 4, entriesHeld: () => 3, covered: 2, exposure: () => 5n };
    const promises = () => ({ unchecked: 6, wrong: 7 });
    const source = { clock, disputes: () => disputes, promises, ...counts };
    const observe = addChallengerMetrics(metrics, source);
    return { observe, read: async () => parseExposition(await metrics.render()) };
  }

  test("default: counts what it is told", async () => {
    const { observe, read } = setUp([]);
    const about = { claim: entry([]), model: "m", seconds: 0.4 };
    observe({ kind: "verdict", verdict: { kind: "right" }, ...about });
    observe({ kind: "verdict", verdict: { kind: "wrong", honest: "0x" }, ...about });
    observe({ kind: "verdict", verdict: { kind: "could-not-check", reason: "" }, ...about });
    observe({ kind: "engine", subject: { claim: id(1) }, model: "m", outcome: "differs" });
    observe({ kind: "uncovered", claim: entry([]) });
    observe({ kind: "move", claim: id(1), move: "challenge", done: true });
    observe({ kind: "over", claim: id(1), lost: true });
    observe({ kind: "unaffordable", claim: entry([]), exposure: 1n });
    const samples = await read();
    const of = (name: string) => samples.get(`assay_challenger_${name}`);
    expect(of('claims_checked_total{verdict="right"}')).toBe(1);
    expect(of('claims_checked_total{verdict="wrong"}')).toBe(1);
    expect(of('claims_checked_total{verdict="could-not-check"}')).toBe(1);
    expect(of('verdict_seconds_bucket{le="0.5"}')).toBe(3);
    expect(of('verdict_seconds_bucket{le="0.1"}')).toBe(0);
    expect(of('engine_faults_total{outcome="differs"}')).toBe(1);
    expect(of('engine_faults_total{outcome="failed"}')).toBe(0);
    expect(of("claims_uncovered_total")).toBe(1);
    expect(of('moves_total{move="challenge",done="true"}')).toBe(1);
    expect(of('disputes_over_total{ending="final"}')).toBe(1);
    expect(of("unaffordable_total")).toBe(1);
    expect([of("exposure_wei"), of("claims_unchecked"), of("models_covered")]).toEqual([5, 4, 2]);
    expect(of("entries_held")).toBe(3);
  });

  test("behavior: a thousand disputes are counted, the most urgent ones shown", async () => {
    const disputes = Array.from({ length: 1_000 }, (_, i): OpenDispute => {
      const clock = { clock: "trace", at: 3_000 - i } as const;
      return { claim: id(i), ticketBond: 1n, clocks: [clock] };
    });
    const { read } = setUp(disputes);
    const samples = await read();
    expect(samples.get("assay_challenger_disputes_open")).toBe(1_000);
    const shown = [...samples].filter(([name]) => name.startsWith("assay_challenger_clock_seconds"));
    expect(shown).toHaveLength(50);
    expect(Math.max(...shown.map(([, left]) => left))).toBe(3_000 - 950 - 1_000);
  });
});
