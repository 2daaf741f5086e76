/** What must hold of money after every move of a game of promises. */

import { claimIn } from "../../../protocol/rules/promises/filing.ts";
import { promiseLedgerOf } from "../../../protocol/rules/promises/ledger.ts";
import { bondOf, depositOf, leafBondOf } from "../../../protocol/rules/promises/money.ts";
import type { PromiseMove } from "../../../protocol/rules/promises/moves.ts";
import { PROMISE_RULES } from "../../../protocol/rules/promises/rules.ts";
import { digestOf, type SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import {
  accountOf,
  type Filed,
  type PromisesState,
  stakeOf,
} from "../../../protocol/rules/promises/state.ts";
import type { ClaimId } from "../../../protocol/rules/types.ts";
import { PEOPLE } from "./promise-models.ts";

/** What of the table is looked at. */
interface Books {
  readonly state: PromisesState;
  readonly baseFee: bigint;
  fail(property: number, message: string): never;
}

/** 1: every wei that came in is somewhere, and what can be asked for is there. */
export function checkBooks(table: Books, kind: string): void {
  const { state } = table;
  const { stakes, deposits, credits } = promiseLedgerOf(state);
  const total = stakes + deposits + credits + state.burned + state.paid + state.lost;
  if (total !== state.received) table.fail(1, `${kind}: ${total} are booked of ${state.received} received`);
  for (const [prover, account] of state.accounts) {
    let away = 0n;
    for (const [claimId, filed] of state.filed) {
      if (filed.prover === prover && !filed.isClosed) away += claimIn(state, claimId)?.bond ?? 0n;
    }
    if (away !== account.away) table.fail(1, `${kind}: ${account.away} are away, in claims stand ${away}`);
    let slots = 0n;
    for (const batch of state.batches.values()) {
      if (batch.prover === prover) slots += batch.bond * BigInt(batch.idleSlots);
    }
    if (slots !== account.slots) table.fail(1, `${kind}: ${account.slots} in slots, batches hold ${slots}`);
    for (const amount of [account.free, account.leaving, account.away, account.slots]) {
      if (amount < 0n) table.fail(1, `${kind}: a stake of ${amount}`);
    }
  }
  const away = [...state.accounts.values()].reduce((sum, account) => sum + account.away, 0n);
  if (state.balance < stakes - away + deposits + credits + state.burned) {
    table.fail(1, `${kind}: the contract holds ${state.balance} for more`);
  }
}

/** 1: what an honest prover put in is still its own. */
export function checkHonest(table: Books, before: PromisesState, move: PromiseMove): void {
  const prover = PEOPLE.honest;
  const worth = stakeOf(accountOf(table.state, prover));
  const old = stakeOf(accountOf(before, prover));
  const left = move.kind === "exit" && move.from === prover ? table.state.paid - before.paid : 0n;
  if (worth + left < old) table.fail(1, `${move.kind} takes ${old - worth - left} from an honest prover`);
}

/** 5 and 4: whoever opens pays D; nothing is opened twice; bonds are at least what was promised. */
export function checkMoney(table: Books, before: PromisesState, move: PromiseMove): void {
  const { state } = table;
  if (state.filed.size > before.filed.size) {
    const [claimId, filed] = [...state.filed].at(-1) as [ClaimId, Filed];
    const same = [...state.filed.values()].filter(
      ({ of }) => JSON.stringify(of) === JSON.stringify(filed.of),
    );
    if (same.length > 1) table.fail(4, "one promise is filed twice");
    const bond = claimIn(state, claimId)?.bond ?? 0n;
    if ("digest" in filed.of) {
      const { claim } = state.signed.get(filed.of.digest) as { claim: SignedClaim };
      const least = bondOf(before, accountOf(before, filed.prover), claim, table.baseFee, PROMISE_RULES);
      if (bond < least) table.fail(2, `a bond of ${bond} instead of ${least}`);
    }
  }
  if (move.kind === "open") {
    const digest = digestOf(state.address, move.claim);
    const due = depositOf(
      bondOf(before, accountOf(before, move.claim.prover), move.claim, table.baseFee, PROMISE_RULES),
    );
    if ((state.signed.get(digest)?.deposit ?? 0n) < due)
      table.fail(5, `a promise is opened for less than ${due}`);
  }
  if (move.kind === "openLeaf") {
    const batch = before.batches.get(move.batchId);
    if (batch === undefined) return;
    const share = depositOf(leafBondOf(before, batch, table.baseFee, PROMISE_RULES));
    const due = share * BigInt(1 + Math.floor(batch.open / 2));
    const deposit = state.batches.get(move.batchId)?.leaves.get(move.index)?.deposit ?? 0n;
    if (deposit < due) table.fail(5, `a leaf is opened for ${deposit} instead of ${due}`);
  }
  for (const [prover, { queue }] of state.accounts) {
    if (queue.some((digest) => state.signed.get(digest)?.claim.prover !== prover)) {
      table.fail(5, "a promise waits in another prover's queue");
    }
    if (queue.some((digest) => state.signed.get(digest)?.status !== "QUEUED")) {
      table.fail(4, "what waits in a queue is not QUEUED");
    }
  }
}
