/** What directed games of promises are made of. */
import type { Address } from "viem";
import { bondsOf } from "../../../protocol/rules/money.ts";
import type { PromiseRules } from "../../../protocol/rules/promises/rules.ts";
import { stakeOf } from "../../../protocol/rules/promises/state.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import { createRng } from "../rng.ts";
import {
  closeEnded,
  DAY,
  defend,
  dispute,
  endOverdue,
  issue,
  offer,
  openAs,
  serveBatches,
  serveQueue,
  type Terms,
} from "./promise-actors.ts";
import { KEYS, PEOPLE, type Side } from "./promise-models.ts";
import { type Promised, PromiseTable, USUAL_FEE } from "./promise-table.ts";
import { finalTime } from "./promise-times.ts";

export const { cheat, honest, victim, challenger, friend, sybil, wallet } = PEOPLE;
/** The rules, and where a game is played if it is to be played again on contracts. */
export interface Setting extends PromiseRules {
  readonly arena?: {
    readonly at: { readonly assay: Address; readonly promises: Address };
    readonly ids: readonly ModelId[];
    readonly tables: PromiseTable[];
  };
}
export type Scenario = (rules: Setting) => void;

/** seconds */
export const T = 3;
export const [SHALLOW, DEEP] = [0, 1];

export function begin(rules: Setting, stake: bigint, prover = cheat): PromiseTable {
  const { at, ids, tables } = rules.arena ?? {};
  const table = new PromiseTable(createRng(1), rules, T, at, ids);
  tables?.push(table);
  const key = KEYS[prover === honest ? "honest" : "cheat"][0].address;
  table.do({ kind: "deposit", from: prover, prover, value: stake });
  table.do({ kind: "setSigner", from: prover, key, until: table.now + 200 * DAY });
  return table;
}

/** Assay's least bond at the usual fee. */
export const leastOf = (table: PromiseTable, depth: number): bigint =>
  bondsOf(table.state.constants, { gasPrice: 5n * USUAL_FEE, depth, minBond: 0n, attempt: 0 }).bond;

export function sign(
  table: PromiseTable,
  side: Side,
  changes: Partial<Terms> = {},
  prover = cheat,
): Promised {
  const { now, issued } = table;
  return issue(table, prover, {
    ...{
      model: SHALLOW,
      side,
      isCanonical: true,
      issuedAt: now,
      expiry: now + DAY,
      minBond: 0n,
      isEcdsa: true,
    },
    ...{ signer: KEYS[prover === honest ? "honest" : "cheat"][0].address, salt: BigInt(issued.length) },
    ...changes,
  });
}

/** A promise that passes the check. */
export function accepted(
  table: PromiseTable,
  side: Side,
  changes: Partial<Terms> = {},
  prover = cheat,
): Promised {
  const promised = sign(table, side, changes, prover);
  offer(table, promised);
  if (table.accepted.length === 0) throw new Error("nobody accepts this promise");
  return promised;
}

export const statusOf = (table: PromiseTable, { digest }: Promised) =>
  table.state.signed.get(digest)?.status ?? "NONE";

/** Time goes by, and everybody honest does at once what there is to do.
 *  @param first what somebody else does in each second before them */
export function pass(
  table: PromiseTable,
  seconds: number,
  first: () => void = () => {},
  serves = true,
): void {
  const until = table.now + seconds;
  for (let step = 0; step < 2_000; step += 1) {
    for (let turn = 0; turn < 3; turn += 1) {
      first();
      defend(table, false);
      for (const [claimId] of table.live()) {
        if (table.isWrong(claimId)) dispute(table, victim, claimId, false);
      }
      endOverdue(table, victim);
      closeEnded(table, victim);
      first();
      if (serves) serveQueue(table, victim, cheat);
      serveQueue(table, victim, honest);
      serveBatches(table, challenger);
    }
    if (table.now >= until) return;
    const next = Math.min(until, ...finalTime(table).filter((time) => time > table.now));
    table.advance(next);
  }
}

/** The buyer shows a promise at its end. */
export function showAtEnd(table: PromiseTable, promised: Promised): void {
  table.advance(table.rules.end(promised.claim));
  const [first] = table.accepted;
  const stake = stakeOf(table.account(cheat));
  if (first !== undefined && stake + (table.lostBy.get(cheat) ?? 0n) < first.backing) {
    table.fail(2, `of a stake of ${first.backing} there is ${stake} left`);
  }
  const made = openAs(table, victim, promised);
  if (!made.ok) table.fail(2, `an accepted promise is refused: ${made.refusal}`);
}

/** A deep promise waits for a shallow claim of the cheat's own, which holds half of the stake; then the cheat tries for
 *  days to keep it waiting. */
export function starve(
  rules: Setting,
  trick: (table: PromiseTable, waiting: Promised) => void,
  { stake = 12n, minBond = 0n, setUp = (_table: PromiseTable) => {}, days = 8, serves = true } = {},
): void {
  const table = begin(rules, 1n);
  table.do({ kind: "deposit", from: cheat, prover: cheat, value: (stake * leastOf(table, 2)) / 10n - 1n });
  setUp(table);
  openAs(table, friend, sign(table, "right"));
  const waiting = sign(table, "wrong", { model: DEEP, minBond });
  openAs(table, victim, waiting);
  for (let day = 0; day < days && statusOf(table, waiting) !== "CLOSED"; day += 1) {
    for (let hours = 0; hours < 24; hours += 6) pass(table, DAY / 4, () => trick(table, waiting), serves);
    if (!serves) serveQueue(table, victim, cheat);
  }
  if (statusOf(table, waiting) !== "CLOSED") table.fail(2, `a promise waits for ${days} days`);
}

/** A queue of its own promises behind the one that waits. */
export function refill(table: PromiseTable, model = SHALLOW): Promised | undefined {
  const { queue } = table.account(cheat);
  const own = table.issued.find(({ digest, isWrong }) => !isWrong && queue.includes(digest));
  if (own !== undefined) return own;
  openAs(table, friend, sign(table, "right", { model }));
  return table.issued.at(-1);
}

export function passFor(table: PromiseTable, behind: Promised): void {
  const { queue } = table.account(cheat);
  const [head] = queue;
  if (head === behind.digest) openNext(table, behind);
  else table.do({ kind: "passNext", from: friend, prover: cheat, behind: behind.digest });
  if (table.account(cheat).queue[0] === behind.digest) openNext(table, behind);
}

export function openNext(table: PromiseTable, { claim, input, output }: Promised): void {
  table.do({ kind: "openNext", from: friend, claim, input, output });
}

export const batchOf = (leaves: readonly Side[], window = 3_600) => ({
  model: SHALLOW,
  leaves,
  window,
  leafBond: 0n,
});
