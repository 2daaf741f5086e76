import { keccak256, toHex } from "viem";
import { describe, expect, test } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { Shards } from "../../../challenger/shards/shards.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";

const own = `0x${"0a".repeat(20)}` as const;
const idOf = (n: number) => keccak256(toHex(n)) as ClaimId;

describe("foundRight", () => {
  test("behavior: while the database is gone the newest 50,000 claims wait for it, and the others are dropped with a warning", async () => {
    const warned: string[] = [];
    const written: ClaimId[][] = [];
    let isGone = true;
    const shards = new Shards({
      ...{ own, leads: () => true, beatMs: 1 },
      log: { ...SILENT, warn: (_facts: object, text: string) => void warned.push(text) } as typeof SILENT,
      open: async () => {
        if (isGone) throw new Error("the database is gone");
        return {
          rows: async (sql: string, values?: readonly unknown[]) => {
            if (sql.includes("INTO right_claims")) written.push(values?.[1] as ClaimId[]);
            return [];
          },
          destroy: () => {},
        };
      },
    });
    const over = new AbortController();
    const running = shards.run(over.signal);
    for (let n = 0; n < 50_010; n++) shards.foundRight({ id: idOf(n), windowEnd: n });
    expect(warned).toHaveLength(1);
    // Which claims are whose is another matter: alone, this one checks them all.
    expect([0, 1, 50_000].every((n) => shards.isOwn(idOf(n)))).toBe(true);
    isGone = false;
    await expect.poll(() => written.flat().length, { timeout: 60_000 }).toBeGreaterThanOrEqual(50_000);
    over.abort();
    await running;
    const kept = new Set(written.flat());
    expect([kept.size, kept.has(idOf(9)), kept.has(idOf(10)), kept.has(idOf(50_009))]).toEqual([
      ...[50_000, false, true, true],
    ]);
  });
});
