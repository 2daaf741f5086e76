import { describe, expect, test } from "vitest";
import { Patience, REST_MS } from "../../../../protocol/service/workers/patience.ts";

function at() {
  let now = 0;
  const patience = new Patience(() => now);
  /** Asks and ends at once. */
  const order = (isLate: boolean) => {
    const ask = patience.ask();
    return ask === "no" ? ask : (patience.ended(ask, isLate) ?? ask);
  };
  return { patience, order, pass: (ms: number) => (now += ms) };
}

describe("Patience", () => {
  test("default: the third late answer in a row begins a rest, after which one probe ends it", () => {
    const { patience, order, pass } = at();
    expect([true, true, true].map(order)).toEqual(["yes", "yes", "rests"]);
    expect([order(false), patience.isResting]).toEqual(["no", true]);
    pass(REST_MS.first - 1);
    expect(order(false)).toBe("no");
    pass(1);
    expect([patience.ask(), patience.ask()]).toEqual(["probe", "no"]);
    expect(patience.ended("probe", false)).toBe("recovers");
    expect([order(false), patience.isResting]).toEqual(["yes", false]);
  });

  test("behavior: rests double while probes are late, and a late answer soon after a recovery begins the next longer one", () => {
    const { order, pass } = at();
    for (let i = 0; i < 3; i++) order(true);
    for (const restMs of [REST_MS.first, 2 * REST_MS.first, 4 * REST_MS.first]) {
      pass(restMs - 1);
      expect(order(true)).toBe("no");
      pass(1);
      expect(order(true)).toBe("probe");
    }
    pass(8 * REST_MS.first);
    expect([order(false), order(true)]).toEqual(["recovers", "rests"]);
    for (const restMs of [16 * REST_MS.first, REST_MS.most]) {
      pass(restMs - 1);
      expect(order(false)).toBe("no");
      pass(1);
      expect(order(false)).toBe("recovers");
      expect(order(true)).toBe("rests");
    }
    pass(REST_MS.most);
    expect(order(false)).toBe("recovers");
    // Trust comes back slowly, and with it the first length.
    for (let i = 0; i < 16; i++) expect(order(false)).toBe("yes");
    expect([true, true, true].map(order)).toEqual(["yes", "yes", "rests"]);
    pass(REST_MS.first);
    expect(order(false)).toBe("recovers");
  });

  test("behavior: who answers every other order, so as to cost time for ever, is not asked after a few", () => {
    const { order } = at();
    let asked = 0;
    for (let i = 0; order(i % 2 === 0) !== "no"; i++) asked += 1;
    expect(asked).toBeLessThan(8);
  });

  test("behavior: one late answer in ten does not end it", () => {
    const { order } = at();
    for (let i = 0; i < 1_000; i++) expect(order(i % 10 === 0)).toBe("yes");
  });

  test("behavior: orders that were under way at the beginning of a rest neither lengthen nor end it", () => {
    const { patience, order, pass } = at();
    const under = [patience.ask(), patience.ask()];
    for (let i = 0; i < 3; i++) order(true);
    expect(under.map((ask, index) => patience.ended(ask, index === 0))).toEqual([undefined, undefined]);
    pass(REST_MS.first);
    expect(patience.ask()).toBe("probe");
    patience.calledOff("yes");
    expect(patience.ask()).toBe("no");
    patience.calledOff("probe");
    expect(order(false)).toBe("recovers");
  });
});
