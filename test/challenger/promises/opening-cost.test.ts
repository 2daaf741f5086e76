/** What a cheat pays to have a challenger stopped by the promises that it has it open: games of the real decisions, sender
 *  and breaker whose chain is the test's. Each is played against the rules, and against a challenger that opens all that
 *  it can and counts what came back: the price without them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SILENT } from "../../../base/log.ts";
import { BREAKER_SCHEMA, CircuitBreaker } from "../../../challenger/circuit-breaker.ts";
import {
  countedFor,
  decideLeaf,
  decideSigned,
  depositsFor,
  type LeafFacts,
} from "../../../challenger/promises/decide.ts";
import { ChainSender, type ChainSenderParts } from "../../../challenger/transaction-sender.ts";
import type { ClaimEntry } from "../../../protocol/chain/claim-index.ts";
import { bondsOf } from "../../../protocol/rules/money.ts";
import { depositOf } from "../../../protocol/rules/promises/money.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";
import {
  JOURNAL_SCHEMA,
  openDatabase,
  type SqliteDatabase,
} from "../../../protocol/service/journal/database.ts";
import { Notes } from "../../../protocol/service/journal/notes.ts";
import { accountAt } from "../../support/anvil.ts";
import { LOCAL_CONSTANTS, temporaryFolder } from "../../support/deploy.ts";

const OWN = accountAt(3).address;
/** The least bond, and its deposit and ticket. */
const { bond: BOND } = bondsOf(LOCAL_CONSTANTS, {
  ...{ gasPrice: LOCAL_CONSTANTS.gasPriceFloor, depth: 4, minBond: 0n, attempt: 0 },
});
const DEPOSIT = depositOf(BOND);
const LIMIT = 200n * DEPOSIT;
const WINDOW = 1_000;

/** One opening that the cheat asks for. Amounts in wei. */
interface Asked {
  /** by the rules */
  readonly opens: boolean;
  readonly deposit: bigint;
  /** of that, what counts as filed within an hour */
  readonly counted: bigint;
  /** what the cheat loses by all that belongs to it, once it is over */
  readonly cost: bigint;
  /** of the challenger's tickets that go with it */
  readonly ticket: bigint;
  /** it never becomes a claim, and the deposit comes back */
  readonly isUndone: boolean;
}

/** @param unended openings that are not over @param nth of all that were asked for */
type Game = (unended: number, nth: number) => Asked;

const account = (changes: object) => ({
  ...{ free: 0n, leaving: 0n, exitAt: 0, away: 0n, slots: 0n, hotSince: 0, ...changes },
});
const leaf = (batch: Partial<LeafFacts["batch"]>, free: bigint, isDoubted: boolean) => {
  const word = { windowEnd: WINDOW, open: 0, idle: 0, fallen: false, bond: BOND, queued: 0, ...batch };
  const facts = { status: "NONE", own: OWN, claim: undefined, now: 1, bond: BOND, isDoubted } as const;
  const { kind } = decideLeaf({ ...facts, batch: word, account: account({ free }) });
  const [deposit, counted] = [depositsFor(word), countedFor(word)].map((count) => DEPOSIT * count) as [
    bigint,
    bigint,
  ];
  return { opens: kind === "open", deposit, counted };
};
const signed = (stake: object, bond: bigint, rivalBonds: bigint, now: number) => {
  const facts = { status: "NONE", own: OWN, claim: undefined, issuedAt: 1, end: WINDOW } as const;
  const { kind } = decideSigned({
    ...{ ...facts, now, shown: false, isHead: false, answerSeconds: 5, patience: 20 },
    ...{ account: account(stake), bond, rivalBonds, leastBond: BOND },
  });
  return { opens: kind === "open", deposit: depositOf(bond), counted: depositOf(bond) };
};

/** Half of a bond is lost with each fall; half of a right leaf's deposit burns. */
const FALL = BOND / 2n;
const GAMES: Readonly<Record<string, Game>> = {
  "a batch that is wrong from end to end, with stake for all of it": (unended) => ({
    ...leaf({ open: unended }, 1_000n * BOND, unended > 0),
    ...{ cost: FALL, ticket: DEPOSIT, isUndone: false },
  }),
  "a wrong leaf behind five right ones that wait: one of the first two falls undefended": () => ({
    ...leaf({ open: 5, queued: 3 }, 0n, false),
    ...{ cost: FALL + DEPOSIT / 2n, ticket: 0n, isUndone: true },
  }),
  "the same behind sixty": () => ({
    ...leaf({ open: 60, queued: 58 }, 0n, false),
    ...{ cost: FALL + DEPOSIT / 2n, ticket: 0n, isUndone: true },
  }),
  "a wrong leaf behind five right ones, to the end": () => ({
    ...leaf({ open: 5, queued: 3 }, 0n, false),
    // 1, 1, 2, 2, 3 deposits of right ones
    ...{ cost: FALL + (9n * DEPOSIT) / 2n, ticket: DEPOSIT, isUndone: false },
  }),
  "two signed claims wait for stake of not quite two bonds, of which another's fall takes one": (_, nth) => {
    const [stake, isFirst] = [{ free: BOND - 1n, away: BOND }, nth % 2 === 0];
    const one = isFirst ? signed(stake, BOND, 0n, 1) : signed(stake, 2n * BOND - 1n, BOND, 1);
    // The other one is the cheat's own, and its claim is disputed.
    return { ...one, cost: isFirst ? FALL : 0n, ticket: isFirst ? DEPOSIT : 0n, isUndone: true };
  },
  "one signed claim with all that stake": () => ({
    ...signed({ free: BOND - 1n, away: BOND }, 2n * BOND - 1n, 0n, 1),
    ...{ cost: FALL, ticket: DEPOSIT, isUndone: true },
  }),
  "a signed claim shown at its end, when fees are twelve times those of its stake": () => ({
    ...signed({ free: BOND }, 12n * BOND, 0n, WINDOW),
    ...{ cost: FALL, ticket: DEPOSIT, isUndone: false },
  }),
  "the same at twice": () => ({
    ...signed({ free: BOND }, 2n * BOND, 0n, WINDOW),
    ...{ cost: FALL, ticket: DEPOSIT, isUndone: false },
  }),
};

let folder: ReturnType<typeof temporaryFolder>;
let db: SqliteDatabase;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(join(folder.path, "assay.sqlite"), [JOURNAL_SCHEMA, BREAKER_SCHEMA]);
  db.exec("PRAGMA synchronous = OFF");
});
afterEach(() => {
  db.close();
  folder.remove();
});

/** Keeps as much open as the challenger affords, and lets the oldest end where nothing more is opened.
 *  @returns wei that it cost to stop the challenger; undefined: that many openings did not */
async function priceOfStopping(game: Game, goesByRules: boolean): Promise<bigint | undefined> {
  const deposits = new Map<string, bigint>();
  const claims = new Map<string, ClaimEntry>();
  const breaker = new CircuitBreaker(new Notes(db), {
    ...{ maxPerHour: LIMIT, nowMs: () => 0, observe: () => {}, log: SILENT },
  });
  const sender = new ChainSender({
    chain: { account: { address: OWN } },
    sender: { leads: true, unmined: () => [], send: async () => ({ status: "sent" }) },
    store: { index: { claims } },
    limits: { maxExposure: LIMIT, endingBudget: 0n, withdrawAbove: LIMIT },
    ...{ breaker, observe: () => {}, log: SILENT, nowMs: () => 0, deposits: () => deposits },
    ...{ maxFee: 0n, confirmations: 0, signal: new AbortController().signal },
  } as unknown as ChainSenderParts);
  const unended: (Asked & { readonly key: string })[] = [];
  let paid = 0n;
  const endOldest = () => {
    const oldest = unended.shift();
    if (oldest === undefined) return;
    deposits.delete(oldest.key);
    claims.delete(`claim of ${oldest.key}`);
    if (oldest.isUndone && goesByRules) sender.holds(oldest.key, 0n);
  };
  for (let nth = 0; nth < 1_500; nth++) {
    const asked = game(unended.length, nth);
    const key = `0x${nth.toString(16).padStart(64, "0")}`;
    paid += asked.cost;
    let isOpened = asked.opens || !goesByRules;
    if (isOpened) {
      const wei = asked.deposit;
      const counted = goesByRules ? asked.counted : wei;
      deposits.set(key, wei);
      const result = await sender.move({} as never, {}, { key, wei, counted });
      isOpened = result.status === "sent";
      if (!isOpened) deposits.delete(key);
    }
    if (isOpened && asked.ticket > 0n) {
      const claim = { bond: BOND, ticketBond: asked.ticket };
      const entry = {
        id: `claim of ${key}` as ClaimId,
        claim,
        status: "active",
        challengers: new Set([OWN]),
      };
      await sender.act({} as never, { move: "challenge" }, entry as unknown as ClaimEntry);
      claims.set(entry.id, { ...entry, collected: new Set() } as unknown as ClaimEntry);
    }
    if (breaker.tripped !== undefined) return paid;
    if (isOpened) unended.push({ ...asked, key });
    else {
      // It is asked for again, and costs once.
      paid -= asked.cost;
      endOldest();
    }
  }
  return undefined;
}

/** In hundredths of the limit. */
const hundredths = (price: bigint | undefined) =>
  price === undefined ? undefined : Number((price * 100n) / LIMIT);

describe("price of stopping a challenger by promises", () => {
  it.each(Object.entries(GAMES))("invariant: %s", async (_name, game) => {
    const price = hundredths(await priceOfStopping(game, true));
    // The last opening is not paid for in full.
    if (price !== undefined) expect(price).toBeGreaterThanOrEqual(165);
  });

  it("invariant: 1.7 times the limit at least, and without the rules a fifth of it, as docs/OPERATIONS.md says", async () => {
    const prices = { ruled: [] as number[], unruled: [] as number[] };
    for (const game of Object.values(GAMES)) {
      for (const [goesByRules, into] of [
        [true, prices.ruled],
        [false, prices.unruled],
      ] as const) {
        db.exec("DELETE FROM notes");
        const price = hundredths(await priceOfStopping(game, goesByRules));
        if (price !== undefined) into.push(price);
      }
    }
    const text = readFileSync("docs/OPERATIONS.md", "utf8");
    const [least, without] = [prices.ruled, prices.unruled].map((all) => (Math.min(...all) / 100).toFixed(1));
    expect([least, without]).toEqual(["1.7", "0.2"]);
    expect(text).toContain(`${least} times \`--max-exposure\``);
    expect(text).toContain(`${without} times without these rules`);
  });
});
