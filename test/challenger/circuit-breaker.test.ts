import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SILENT } from "../../base/log.ts";
import { BREAKER_SCHEMA, CircuitBreaker, reset } from "../../challenger/circuit-breaker.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { openDatabase, type SqliteDatabase } from "../../protocol/service/journal/database.ts";
import { temporaryFolder } from "../support/deploy.ts";

const claim = (n: number) => `0x${n.toString(16).padStart(64, "0")}` as ClaimId;
let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let db: SqliteDatabase;
let nowMs = 0;
let stops: string[];

const open = (maxTicketsPerHour = 2): CircuitBreaker =>
  new CircuitBreaker(db, {
    maxTicketsPerHour,
    nowMs: () => nowMs,
    observe: (notice) => {
      if (notice.kind === "tripped" && "claim" in notice.subject) stops.push(notice.subject.claim);
    },
    log: SILENT,
  });
/** As a process that starts again finds it. */
function restart(): CircuitBreaker {
  db.close();
  db = openDatabase(path, [BREAKER_SCHEMA]);
  return open();
}

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "assay.sqlite");
  db = openDatabase(path, [BREAKER_SCHEMA]);
  [nowMs, stops] = [10_000_000, []];
});
afterEach(() => {
  db.close();
  folder.remove();
});

describe("CircuitBreaker", () => {
  test("default: so many tickets within an hour, each claim once, and none beyond until it is reset", () => {
    const breaker = open();
    expect([1, 2, 1, 2].map((n) => breaker.admits({ claim: claim(n) }))).toEqual([true, true, true, true]);
    expect([breaker.admits({ claim: claim(3) }), breaker.admits({ claim: claim(1) })]).toEqual([
      false,
      false,
    ]);
    nowMs += 3_600_001;
    expect(restart().admits({ claim: claim(3) })).toBe(false);
    expect(stops).toEqual([claim(3)]);
    expect(reset(db).reason).toContain("--max-tickets-per-hour (2)");
    expect(open().admits({ claim: claim(3) })).toBe(true);
  });

  test("behavior: an hour later the same number may be filed again", () => {
    const breaker = open();
    for (const n of [1, 2]) breaker.admits({ claim: claim(n) });
    nowMs += 3_600_000;
    expect([3, 4, 5].map((n) => breaker.admits({ claim: claim(n) }))).toEqual([true, true, false]);
  });

  test("behavior: a lost ticket stops it once, also when it is met again after a reset, a restart or a re-org", () => {
    open().lost(claim(1));
    expect(open().admits({ claim: claim(2) })).toBe(false);
    reset(db);
    const again = restart();
    again.lost(claim(1));
    expect([again.tripped, again.admits({ claim: claim(2) })]).toEqual([undefined, true]);
    again.lost(claim(3));
    expect([again.admits({ claim: claim(4) }), stops]).toEqual([false, [claim(1), claim(3)]]);
  });

  test("error: there is nothing to reset", () => {
    expect(() => reset(db)).toThrow(expect.objectContaining({ code: "NOT_TRIPPED" }));
  });
});
