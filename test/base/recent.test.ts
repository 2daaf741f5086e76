import { describe, expect, test } from "vitest";
import { RecentMap, RecentSet } from "../../base/recent.ts";

describe("RecentMap", () => {
  test("behavior: it holds the newest so many, however many come", () => {
    const recent = new RecentMap<number, string>(3);
    for (let key = 0; key < 1_000; key++) recent.set(key, `${key}`);
    expect(recent.size).toBe(3);
    expect([996, 997, 998, 999].map((key) => recent.get(key))).toEqual([undefined, "997", "998", "999"]);
  });

  test("behavior: what is set again is the newest", () => {
    const recent = new RecentMap<string, number>(2);
    for (const [key, value] of [
      ["a", 1],
      ["b", 2],
      ["a", 3],
      ["c", 4],
    ] as const)
      recent.set(key, value);
    expect([recent.get("a"), recent.get("b"), recent.get("c")]).toEqual([3, undefined, 4]);
    expect([recent.delete("a"), recent.has("a"), recent.size]).toEqual([true, false, 1]);
  });
});

describe("RecentSet", () => {
  test("default: true for what is new, until it was forgotten", () => {
    const recent = new RecentSet<number>(2);
    expect([1, 1, 2, 3, 2, 1].map((key) => recent.add(key))).toEqual([true, false, true, true, false, true]);
    expect([recent.delete(1), recent.add(1)]).toEqual([true, true]);
  });
});
