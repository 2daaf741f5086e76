/** The state of Promises while its events are played again, and its books. A move is played on the part of the state that
 *  it is about, since the machine copies what it is given. Amounts in wei. */
import type { Address } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import type { GameState } from "../../rules/machine.ts";
import type { BatchId } from "../../rules/promises/batch.ts";
import { promiseLedgerOf } from "../../rules/promises/ledger.ts";
import { playPromise } from "../../rules/promises/machine.ts";
import type { PromiseMove, PromiseResult } from "../../rules/promises/moves.ts";
import type { Digest, PromisesAddress } from "../../rules/promises/signed-claim.ts";
import {
  type Account,
  accountOf,
  type BatchState,
  type Filed,
  newPromises,
  type PromisesState,
  type SignedEntry,
  stakeOf,
} from "../../rules/promises/state.ts";
import type { ClaimId } from "../../rules/types.ts";
import { brokenBy, RuleBroken } from "./rules.ts";

export interface PromiseMoney {
  readonly received: bigint;
  /** of provers, the bonds of their claims in Assay included */
  readonly stakes: bigint;
  /** of these, what is in Assay */
  readonly away: bigint;
  readonly deposits: bigint;
  /** not yet withdrawn */
  readonly credits: bigint;
  /** not yet pulled */
  readonly burned: bigint;
  /** by exits, withdrawals and pulls of what is burned */
  readonly paid: bigint;
  /** bonds of claims that fell */
  readonly lost: bigint;
  /** what the contract holds */
  readonly balance: bigint;
}

/** What a move is about. */
export interface About {
  readonly prover?: Address;
  readonly digests?: readonly Digest[];
  readonly batchId?: BatchId;
  readonly claimId?: ClaimId;
  /** whose credit it may change */
  readonly account?: Address;
}

export class KeptPromises {
  readonly accounts = new Map<Address, Account>();
  readonly signed = new Map<Digest, SignedEntry>();
  readonly batches = new Map<BatchId, BatchState>();
  readonly filed = new Map<ClaimId, Filed>();
  readonly credits = new Map<Address, bigint>();
  /** bonds of each prover's claims in Assay that no closing ended, by the events of Assay */
  readonly #inAssay = new Map<Address, bigint>();
  #whole: PromisesState;
  #sums = { stakes: 0n, deposits: 0n, credits: 0n, away: 0n };

  /** @param assay a game without requests and claims */
  constructor(at: PromisesAddress, assay: GameState) {
    this.#whole = newPromises(at, assay);
  }

  account(prover: Address): Account {
    return accountOf({ ...this.#whole, accounts: this.accounts }, prover);
  }

  /** The part of the state that a move is about. */
  about(
    { prover, digests = [], batchId, claimId, account }: About,
    assay: GameState = this.#whole.assay,
  ): PromisesState {
    return {
      ...this.#whole,
      assay,
      accounts: part(this.accounts, prover),
      signed: part(this.signed, ...digests),
      batches: part(this.batches, batchId),
      filed: part(this.filed, claimId),
      credits: part(this.credits, account),
    };
  }

  /** @param assay the claim's request in Assay, for a move that ends one
   *  @throws RuleBroken if the machine refuses the move, or the books do not balance after it */
  play(move: PromiseMove, about: About, assay?: GameState): Extract<PromiseResult, { readonly ok: true }> {
    const before = this.about(about, assay);
    const result = playPromise(before, move);
    if (!result.ok) {
      throw new RuleBroken(
        brokenBy(result.refusal),
        `${move.kind} at ${move.now} must be refused by ${result.refusal}`,
      );
    }
    const { state } = result;
    keep(this.accounts, state.accounts);
    keep(this.signed, state.signed);
    keep(this.batches, state.batches);
    keep(this.filed, state.filed);
    keep(this.credits, state.credits);
    const { counter, balance, received, paid, burned, lost } = state;
    this.#whole = { ...this.#whole, counter, balance, received, paid, burned, lost };
    this.#sum(before, state);
    this.#check(before, state, move);
    return result;
  }

  /** A bond that went to Assay, or came back or fell there. @throws RuleBroken if the account has another one there */
  inAssay(prover: Address, bond: bigint): void {
    const all = (this.#inAssay.get(prover) ?? 0n) + bond;
    this.#inAssay.set(prover, all);
    const { away } = this.account(prover);
    if (away !== all)
      throw new RuleBroken(
        "books",
        `${formatAmount(away)} of the stake of ${prover} are booked as bonds in Assay, where its claims have ${formatAmount(all)}`,
      );
  }

  money(): PromiseMoney {
    const { received, burned, paid, lost, balance } = this.#whole;
    return { received, ...this.#sums, burned, paid, lost, balance };
  }

  #sum(before: PromisesState, after: PromisesState): void {
    const [old, now] = [sumsOf(before), sumsOf(after)];
    for (const name of ["stakes", "deposits", "credits", "away"] as const)
      this.#sums[name] += now[name] - old[name];
  }

  /** Every wei that came is somewhere, what can be asked for is there, and stake goes by exits and falls alone. */
  #check(before: PromisesState, after: PromisesState, { kind }: PromiseMove): void {
    const { received, stakes, away, deposits, credits, burned, paid, lost, balance } = this.money();
    const all = stakes + deposits + credits + burned + paid + lost;
    if (all !== received)
      throw new RuleBroken(
        "books",
        `${formatAmount(all)} are booked, ${formatAmount(received)} were received`,
      );
    const owed = stakes - away + deposits + credits + burned;
    if (balance < owed)
      throw new RuleBroken(
        "books",
        `${formatAmount(balance)} are there, ${formatAmount(owed)} can be asked for`,
      );
    for (const [prover, account] of after.accounts) {
      const old = accountOf(before, prover);
      const isGone = kind === "exit" || after.lost > before.lost;
      if (stakeOf(account) < stakeOf(old) && !isGone)
        throw new RuleBroken(
          "books",
          `${kind} takes ${formatAmount(stakeOf(old) - stakeOf(account))} from the stake of ${prover}`,
        );
      const slots = slotsOf(after, prover) - slotsOf(before, prover);
      if (account.slots - old.slots !== slots)
        throw new RuleBroken(
          "books",
          `${kind} changes the slots of ${prover} by ${account.slots - old.slots}, those of its batches by ${slots}`,
        );
    }
  }
}

const sumsOf = (state: PromisesState) => ({
  ...promiseLedgerOf(state),
  away: [...state.accounts.values()].reduce((sum, { away }) => sum + away, 0n),
});

/** Set aside by the batches that a state has, idle. */
const slotsOf = ({ batches }: PromisesState, of: Address): bigint =>
  [...batches.values()].reduce(
    (sum, { prover, bond, idleSlots }) => (prover === of ? sum + bond * BigInt(idleSlots) : sum),
    0n,
  );

function part<Key, Value>(map: ReadonlyMap<Key, Value>, ...keys: readonly (Key | undefined)[]) {
  const found = new Map<Key, Value>();
  for (const key of keys) {
    const value = key === undefined ? undefined : map.get(key);
    if (key !== undefined && value !== undefined) found.set(key, value);
  }
  return found as ReadonlyMap<Key, Value>;
}

function keep<Key, Value>(all: Map<Key, Value>, changed: ReadonlyMap<Key, Value>): void {
  for (const [key, value] of changed) all.set(key, value);
}
