import { describe, expect, test } from "vitest";
import { Slots } from "../../../../protocol/service/http/slots.ts";

describe("Slots", () => {
  const setUp = (limit: number, perKey?: number) => {
    let nowMs = 0;
    const slots = new Slots({
      what: "runs",
      limit,
      nowMs: () => nowMs,
      ...(perKey === undefined ? {} : { perKey }),
    });
    return {
      slots,
      pass: (ms: number) => {
        nowMs += ms;
      },
    };
  };

  test("default: so many at once, and again when one is given back", () => {
    const { slots } = setUp(2);
    const first = slots.take();
    slots.take();
    expect(() => slots.take()).toThrow("2 runs are under way, the limit is 2.");
    first();
    expect(slots.used).toBe(1);
    slots.take();
  });

  test("behavior: one caller may take several, and none of them where there is no room for all", async () => {
    const { slots } = setUp(5, 4);
    const giveBack = slots.take("a", 3);
    expect(() => slots.take("b", 3)).toThrow("3 runs are under way, the limit is 5.");
    expect(() => slots.take("a", 2)).toThrow("3 runs of one caller are under way, the limit is 4.");
    expect(slots.used).toBe(3);
    expect(await slots.hold(async () => slots.used, 2)).toBe(5);
    giveBack();
    expect(slots.used).toBe(0);
    slots.take("a", 4);
  });

  test("behavior: work that fails gives its place back", async () => {
    const { slots } = setUp(1);
    await expect(slots.hold(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await slots.hold(async () => slots.used)).toBe(1);
    expect(slots.used).toBe(0);
  });

  test("behavior: one key takes no place of the others", () => {
    const { slots } = setUp(3, 1);
    slots.take("a");
    expect(() => slots.take("a")).toThrow(
      expect.objectContaining({ code: "TOO_MANY_OF_ONE", details: expect.objectContaining({ limit: 1 }) }),
    );
    slots.take("b");
    expect(slots.used).toBe(2);
  });

  test("behavior: the advised pause is how long one is held, a second to a minute", () => {
    const advised = (holdMs: number) => {
      const { slots, pass } = setUp(1);
      for (let i = 0; i < 40; i++) {
        const giveBack = slots.take();
        pass(holdMs);
        giveBack();
      }
      slots.take();
      try {
        slots.take();
      } catch (error) {
        return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
      }
      return undefined;
    };
    expect([advised(1), advised(6_500), advised(600_000)]).toEqual([1, 7, 60]);
  });
});
