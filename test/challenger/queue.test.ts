import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Ranked, StakeQueue } from "../../challenger/queue.ts";

/** Work that ends when it is told to. */
function setUp(width: number) {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const queue = new StakeQueue<number>(width, (key) => {
    begun.push(key);
    return new Promise((resolve) => ends.push(resolve));
  });
  const endOne = async () => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { queue, begun, endOne };
}

describe("StakeQueue", () => {
  const item = fc.record({ stake: fc.bigInt(0n, 5n), age: fc.bigInt(0n, 5n) });

  test("default: the greatest stake first, the older among equals, whatever the order in which they come", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 60 }), async (items) => {
        const { queue, begun, endOne } = setUp(1);
        const ranked = items.map((one, key): Ranked<number> => ({ key, ...one }));
        for (const one of ranked) queue.add(one);
        while (queue.size > 0) await endOne();
        const [first, ...rest] = begun.map((key) => ranked[key] as Ranked<number>);
        // The first one ran before the others came.
        expect(first?.key).toBe(0);
        const sorted = [...rest].sort((a, b) => Number(b.stake - a.stake) || Number(a.age - b.age));
        const rank = ({ stake, age }: Ranked<number>) => [stake, age];
        expect(rest.map(rank)).toEqual(sorted.map(rank));
        expect(new Set(begun).size).toBe(items.length);
      }),
      { numRuns: 50 },
    );
  });

  test("behavior: a key waits once, runs once at a time, and may come again", async () => {
    const { queue, begun, endOne } = setUp(2);
    const one = { key: 1, stake: 1n, age: 1n };
    queue.add(one);
    queue.add(one);
    queue.add({ ...one, key: 2 });
    queue.add({ ...one, key: 3 });
    queue.add({ ...one, key: 3 });
    expect([begun, queue.size]).toEqual([[1, 2], 3]);
    await endOne();
    queue.add(one);
    await endOne();
    expect(begun).toEqual([1, 2, 3, 1]);
  });

  test("behavior: stopping takes no more", async () => {
    const { queue, begun, endOne } = setUp(1);
    for (const key of [1, 2, 3]) queue.add({ key, stake: 1n, age: 1n });
    const stopped = queue.stop();
    await endOne();
    await stopped;
    expect([begun, queue.size]).toEqual([[1], 0]);
  });
});
