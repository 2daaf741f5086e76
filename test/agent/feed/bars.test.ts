import { describe, expect, it } from "vitest";
import {
  type Bar,
  DAY_SECONDS,
  dayOf,
  daysOf,
  isDue,
  missingRounds,
  type SourceRound,
} from "../../../agent/feed/bars.ts";
import { createRng } from "../../support/rng.ts";

const EMPTY: Bar = { close: 0n, high: 0n, low: 0n, closeAt: 0 };

/** What the contract makes of a bar when this round is recorded. */
function record(bar: Bar, { price, updatedAt }: SourceRound): Bar {
  if (bar.closeAt === 0) return { close: price, high: price, low: price, closeAt: updatedAt };
  const high = price > bar.high ? price : bar.high;
  const low = price < bar.low ? price : bar.low;
  const isLater = updatedAt > bar.closeAt;
  return { high, low, close: isLater ? price : bar.close, closeAt: isLater ? updatedAt : bar.closeAt };
}
const recordAll = (bar: Bar, rounds: readonly SourceRound[]): Bar => rounds.reduce(record, bar);

describe("missingRounds", () => {
  it("behavior: the chosen rounds complete any bar, are at most three, and none is left to choose", () => {
    const rng = createRng(20_01);
    for (let trial = 0; trial < 2_000; trial++) {
      const rounds = Array.from(
        { length: 1 + rng.int(0, 11) },
        (_, i): SourceRound => ({
          id: BigInt(i + 1),
          price: BigInt(1 + rng.int(0, 5)),
          updatedAt: 100 + 10 * i,
        }),
      );
      const before = recordAll(
        EMPTY,
        rounds.filter(() => rng.int(0, 2) === 0),
      );
      const chosen = missingRounds(rounds, before);
      expect(chosen.length).toBeLessThanOrEqual(3);
      // In the order of ids, as they are sent.
      const after = recordAll(
        before,
        rounds.filter(({ id }) => chosen.includes(id)),
      );
      expect(after).toEqual(recordAll(EMPTY, rounds));
      expect(missingRounds(rounds, after)).toEqual([]);
      // Each of them is needed.
      for (const id of chosen) {
        const fewer = rounds.filter((round) => round.id !== id && chosen.includes(round.id));
        expect(recordAll(before, fewer)).not.toEqual(after);
      }
    }
  });
});

describe("daysOf", () => {
  it("default: days with a round up to the last, the newest first", () => {
    const round = (day: number): SourceRound => ({ id: 1n, price: 1n, updatedAt: day * DAY_SECONDS + 5 });
    expect(daysOf([5, 3, 3, 9, 4, 1].map(round), 5, 3)).toEqual([5, 4, 3]);
    expect(daysOf([], 5, 3)).toEqual([]);
    expect([dayOf(DAY_SECONDS - 1), dayOf(DAY_SECONDS)]).toEqual([0, 1]);
  });
});

describe("isDue", () => {
  const pace = { heartbeatSeconds: 1_000, deviation: 20_000 };
  const last = { observedAt: 100, at: 500 };
  const closes = { before: 1_000n, now: 1_000n };

  it.each([
    ["there is no round", 50, undefined, 0, closes, true],
    ["the data are as old as the round's", 100, last, 9_999, { before: 1n, now: 9n }, false],
    ["little moved before the heartbeat", 101, last, 1_499, { before: 1_000n, now: 1_019n }, false],
    ["little moved, at the heartbeat", 101, last, 1_500, { before: 1_000n, now: 1_019n }, true],
    ["it rose by the deviation", 101, last, 501, { before: 1_000n, now: 1_020n }, true],
    ["it fell by the deviation", 101, last, 501, { before: 1_000n, now: 980n }, true],
    ["the round's bar is gone", 101, last, 501, { before: undefined, now: 1_000n }, true],
  ])("default: %s", (_when, newest, before, now, prices, due) => {
    expect(isDue(newest, before, now, prices, pace)).toBe(due);
  });
});
