/** Both sides of the limits on tickets, by games of the real sender and breaker whose chain is the test's: what an attacker
 *  pays to stop a challenger, and what a challenger loses whose every verdict is wrong. */
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SILENT } from "../../base/log.ts";
import { BREAKER_SCHEMA, CircuitBreaker, reset } from "../../challenger/circuit-breaker.ts";
import { ChainSender, type ChainSenderParts } from "../../challenger/transaction-sender.ts";
import type { ClaimEntry } from "../../protocol/chain/claim-index.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import {
  JOURNAL_SCHEMA,
  openDatabase,
  type SqliteDatabase,
} from "../../protocol/service/journal/database.ts";
import { Notes } from "../../protocol/service/journal/notes.ts";
import { accountAt } from "../support/anvil.ts";
import { LOCAL_CONSTANTS, temporaryFolder } from "../support/deploy.ts";
import { createRng } from "../support/rng.ts";

const ETHER = 10n ** 18n;
const LIMIT = ETHER / 10n;
const GAMES = 8;
const OWN = accountAt(3).address;

let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(join(folder.path, "assay.sqlite"), [JOURNAL_SCHEMA, BREAKER_SCHEMA]);
});
afterEach(() => {
  db.close();
  folder.remove();
});

/** A challenger that finds every claim wrong. */
function begin() {
  db.exec("DELETE FROM notes");
  const clock = { ms: 0 };
  const claims = new Map<string, ClaimEntry>();
  const breaker = new CircuitBreaker(new Notes(db), {
    ...{ maxPerHour: LIMIT, nowMs: () => clock.ms, observe: () => {}, log: SILENT },
  });
  const sender = new ChainSender({
    chain: { account: { address: OWN } },
    sender: { leads: true, unmined: () => [], send: async () => ({ status: "sent" }) },
    store: { index: { claims } },
    limits: { maxExposure: LIMIT, endingBudget: 0n, withdrawAbove: ETHER },
    ...{ breaker, observe: () => {}, log: SILENT, nowMs: () => clock.ms, deposits: () => new Map() },
    ...{ maxFee: 0n, confirmations: 0, signal: new AbortController().signal },
  } as unknown as ChainSenderParts);
  let filed = 0;
  return {
    ...{ clock, sender, breaker, claims },
    /** Somebody claims. @param minBond wei */
    claim(minBond: bigint): ClaimEntry {
      filed += 1;
      const { bond, ticketBond } = bondsOf(LOCAL_CONSTANTS, {
        ...{ gasPrice: 10n ** 9n, depth: 4, minBond, attempt: 0 },
      });
      const id = `0x${filed.toString(16).padStart(64, "0")}` as ClaimId;
      const claim = { bond, ticketBond };
      const entry = { id, claim, status: "active", challengers: new Set(), collected: new Set() };
      claims.set(id, entry as unknown as ClaimEntry);
      return entry as unknown as ClaimEntry;
    },
    async challenge(entry: ClaimEntry): Promise<boolean> {
      if (!(await sender.act({} as never, { move: "challenge" }, entry))) return false;
      (entry.challengers as Set<string>).add(OWN);
      return true;
    },
    /** It fell, and its ticket is collected. */
    fall: ({ id }: ClaimEntry) => void claims.delete(id),
  };
}

describe("limits of tickets", () => {
  it("invariant: whoever wants it stopped loses five times what it may lose, in claims of whatever size", async () => {
    const rng = createRng(22);
    for (let game = 0; game < GAMES; game++) {
      const { claim, challenge, fall, breaker, clock } = begin();
      const active: ClaimEntry[] = [];
      let lost = 0n;
      let withheld = false;
      // Claims of an hour, small and large, some of which fall at once and others stay.
      while (breaker.tripped === undefined && !withheld) {
        const entry = claim(rng.chance(0.5) ? 0n : (ETHER * BigInt(rng.int(1, 4))) / 40n);
        clock.ms += rng.int(1, 50);
        if (await challenge(entry)) active.push(entry);
        else withheld = true;
        // What is convicted loses half of its bond at least.
        lost += entry.claim.bond / 2n;
        const next = rng.chance(0.7) ? active.shift() : undefined;
        if (next !== undefined) fall(next);
      }
      expect(lost).toBeGreaterThanOrEqual(5n * LIMIT);
      if (breaker.tripped !== undefined) reset(new Notes(db), clock.ms);
    }
  });

  it("invariant: claims that it could not afford are challenged by itself once others are over", async () => {
    const { claim, challenge, fall, breaker, clock } = begin();
    const [first, second] = [claim(8n * LIMIT), claim(8n * LIMIT)];
    expect([await challenge(first), await challenge(second)]).toEqual([true, false]);
    expect(breaker.tripped).toBeUndefined();
    fall(first);
    clock.ms += 3_600_000;
    expect(await challenge(second)).toBe(true);
  });

  it("invariant: whose every verdict is wrong loses the limit at most, however many claims there are", async () => {
    const rng = createRng(23);
    for (let game = 0; game < GAMES; game++) {
      const { claim, challenge, sender, claims, breaker, clock } = begin();
      const held: ClaimEntry[] = [];
      let atRisk = 0n;
      for (let step = 0; step < 1_500 && breaker.tripped === undefined; step++) {
        clock.ms += rng.int(0, 6_000);
        const entry = claim(rng.chance(0.5) ? 0n : (ETHER * BigInt(rng.int(1, 4))) / 40n);
        if (await challenge(entry)) {
          held.push(entry);
          atRisk += entry.claim.ticketBond;
        }
        if (rng.chance(0.97) || held.length === 0) continue;
        // A right claim outlives its window, and its ticket is lost.
        const over = held.shift() as ClaimEntry;
        claims.delete(over.id);
        sender.lost(over.id);
      }
      expect(breaker.tripped?.reason).toMatch(/was lost|more than --max-exposure/);
      expect(atRisk).toBeLessThanOrEqual(LIMIT);
    }
  });

  it("invariant: a node that shows falls that never were has the limit put at risk, and not more", async () => {
    const { claim, challenge, fall, breaker } = begin();
    let filed = 0n;
    while (breaker.tripped === undefined) {
      const entry = claim(0n);
      if (await challenge(entry)) filed += entry.claim.ticketBond;
      fall(entry);
    }
    expect(filed).toBeLessThanOrEqual(LIMIT);
    expect(breaker.tripped?.reason).toContain("--max-exposure (0.1 ether)");
  });
});
