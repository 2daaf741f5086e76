import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SILENT } from "../../base/log.ts";
import { BREAKER_SCHEMA, CircuitBreaker, reset } from "../../challenger/circuit-breaker.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import {
  JOURNAL_SCHEMA,
  openDatabase,
  type SqliteDatabase,
} from "../../protocol/service/journal/database.ts";
import { Notes } from "../../protocol/service/journal/notes.ts";
import { temporaryFolder } from "../support/deploy.ts";

const claim = (n: number) => `0x${n.toString(16).padStart(64, "0")}` as ClaimId;
let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let db: SqliteDatabase;
let nowMs = 0;
let stops: string[];

/** wei of each ticket */
const TICKET = 10n ** 15n;
/** Lets two of them be filed within an hour. */
const open = (maxPerHour = 2n * TICKET): CircuitBreaker =>
  new CircuitBreaker(new Notes(db), {
    maxPerHour,
    nowMs: () => nowMs,
    observe: (notice) => {
      if (notice.kind === "tripped" && "claim" in notice.subject) stops.push(notice.subject.claim);
    },
    log: SILENT,
  });
/** As a process that starts again finds it. */
function restart(): CircuitBreaker {
  db.close();
  db = openDatabase(path, [JOURNAL_SCHEMA, BREAKER_SCHEMA]);
  return open();
}

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "assay.sqlite");
  db = openDatabase(path, [JOURNAL_SCHEMA, BREAKER_SCHEMA]);
  [nowMs, stops] = [10_000_000, []];
});
afterEach(() => {
  db.close();
  folder.remove();
});

describe("CircuitBreaker", () => {
  test("default: so much in tickets within an hour, each claim once, and none beyond until it is reset", () => {
    const breaker = open();
    expect([1, 2, 1, 2].map((n) => breaker.admits({ claim: claim(n) }, TICKET))).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([
      breaker.admits({ claim: claim(3) }, TICKET),
      breaker.admits({ claim: claim(1) }, TICKET),
    ]).toEqual([false, false]);
    nowMs += 3_600_001;
    expect(restart().admits({ claim: claim(3) }, TICKET)).toBe(false);
    expect(stops).toEqual([claim(3)]);
    expect(reset(new Notes(db), nowMs).reason).toContain("--max-exposure (0.002 ether)");
    const after = open();
    expect([3, 4, 5].map((n) => after.admits({ claim: claim(n) }, TICKET))).toEqual([true, true, false]);
    // At once after it as much may be filed again.
    reset(new Notes(db), nowMs);
    expect([6, 7, 8].map((n) => after.admits({ claim: claim(n) }, TICKET))).toEqual([true, true, false]);
  });

  test("behavior: an hour later as much may be filed again", () => {
    const breaker = open();
    for (const n of [1, 2]) breaker.admits({ claim: claim(n) }, TICKET);
    nowMs += 3_600_000;
    expect([3, 4, 5].map((n) => breaker.admits({ claim: claim(n) }, TICKET))).toEqual([true, true, false]);
  });

  test("behavior: it is what tickets put at risk that counts, not how many there are", () => {
    const breaker = open(100n * TICKET);
    // Some 200 claims of the least bond stop nobody who may lose ten thousand times a ticket of theirs.
    for (let n = 1; n <= 200; n++) expect(breaker.admits({ claim: claim(n) }, TICKET / 10n)).toBe(true);
    expect(breaker.admits({ claim: claim(201) }, 80n * TICKET)).toBe(true);
    expect(breaker.admits({ claim: claim(202) }, 1n)).toBe(false);
  });

  test("behavior: of what came back a quarter counts, and of an opening that is made again that too", () => {
    const breaker = open(8n * TICKET);
    const subject = { promise: "0x01" };
    const once = () => {
      expect(breaker.admits(subject, 4n * TICKET)).toBe(true);
      breaker.lowers(subject, 0n);
      // Again the same: a word that came twice.
      breaker.lowers(subject, 0n);
    };
    // A node that lies about what came back has an opening made five times, 20 tickets in an hour that allows 8, and no
    // more.
    for (let n = 0; n < 5; n++) once();
    expect(breaker.admits(subject, 4n * TICKET)).toBe(false);
    reset(new Notes(db), nowMs);
    expect(breaker.admits({ promise: "0x02" }, 8n * TICKET)).toBe(true);
    // What the chain took less than was sent.
    breaker.lowers({ promise: "0x02" }, 4n * TICKET);
    expect(breaker.admits({ promise: "0x03" }, 3n * TICKET)).toBe(true);
    expect(breaker.admits({ promise: "0x03" }, 3n * TICKET)).toBe(true);
    nowMs += 3_600_001;
    expect(breaker.admits({ promise: "0x04" }, 8n * TICKET)).toBe(true);
  });

  test("behavior: a lost ticket stops it once, also when it is met again after a reset, a restart or a re-org", () => {
    open().lost(claim(1), true);
    expect(open().admits({ claim: claim(2) }, TICKET)).toBe(false);
    reset(new Notes(db), nowMs);
    const again = restart();
    again.lost(claim(1), true);
    expect([again.tripped, again.admits({ claim: claim(2) }, TICKET)]).toEqual([undefined, true]);
    again.lost(claim(3), true);
    expect([again.admits({ claim: claim(4) }, TICKET), stops]).toEqual([false, [claim(1), claim(3)]]);
  });

  test("behavior: a ticket that was lost while another daemon signed stops this one when it takes over", () => {
    const standby = open();
    standby.lost(claim(1), false);
    expect([standby.tripped, stops]).toEqual([undefined, []]);
    expect(standby.admits({ claim: claim(2) }, TICKET)).toBe(false);
    expect(stops).toEqual([claim(1)]);
  });

  test("behavior: one that the other daemon noted, and a person has looked at, does not", () => {
    open().lost(claim(1), true);
    reset(new Notes(db), nowMs);
    const standby = open();
    standby.lost(claim(1), false);
    expect(standby.admits({ claim: claim(2) }, TICKET)).toBe(true);
  });

  test("behavior: what an older version remembered is remembered", () => {
    db.exec(`DROP TABLE notes; DELETE FROM migrations WHERE part = 'journal' AND number > 2;
      DELETE FROM migrations WHERE part = 'circuit-breaker' AND number > 2;`);
    for (const file of ["001_circuit_breaker.sql", "002_wei.sql"])
      db.exec(readFileSync(join(BREAKER_SCHEMA.folder, file), "utf8"));
    const file = db.prepare("INSERT INTO filed_tickets (claim_id, at_ms, wei) VALUES (?, ?, ?)");
    for (const n of [1, 2]) file.run(claim(n), nowMs, `${TICKET}`);
    db.prepare("INSERT INTO lost_tickets VALUES (?)").run(claim(3));
    db.prepare("INSERT INTO circuit_breaker VALUES (1, 'as before', 7)").run();
    const later = restart();
    expect(later.tripped).toEqual({ reason: "as before", atMs: 7 });
    db.prepare("UPDATE notes SET body = NULL WHERE key = 'tripped'").run();
    later.lost(claim(3), true);
    expect(later.admits({ claim: claim(1) }, TICKET)).toBe(true);
    expect(later.admits({ claim: claim(4) }, TICKET)).toBe(false);
  });

  test("behavior: what passed is dropped a day later, and what was lost or stopped it stays", () => {
    const breaker = open();
    const count = (prefix: string) =>
      db.prepare("SELECT count(*) AS count FROM notes WHERE key LIKE ?").get(`${prefix}%`) as {
        count: number;
      };
    breaker.lost(claim(1), true);
    reset(new Notes(db), nowMs);
    for (let hour = 0; hour < 24 * 7; hour++) {
      nowMs += 3_600_001;
      expect(breaker.admits({ promise: `0x${hour}` as never }, TICKET)).toBe(true);
      breaker.lowers({ promise: `0x${hour}` as never }, 0n);
      expect(breaker.admits({ claim: claim(hour) }, TICKET)).toBe(true);
      expect(count("ticket:").count).toBeLessThanOrEqual(2 * 24);
      expect(count("back:").count).toBeLessThanOrEqual(24);
    }
    // The hour counts all the same.
    expect(breaker.admits({ claim: claim(9_000) }, TICKET)).toBe(false);
    expect([count("lost:"), count("tripped")]).toEqual([{ count: 1 }, { count: 1 }]);
    breaker.lost(claim(1), true);
    expect(count("lost:").count).toBe(1);
  });

  test("error: there is nothing to reset", () => {
    expect(() => reset(new Notes(db), nowMs)).toThrow(expect.objectContaining({ code: "NOT_TRIPPED" }));
  });
});
