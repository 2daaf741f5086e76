/** Copies of a state with one thing changed. */
import type { Address } from "viem";
import type { ClaimId } from "../types.ts";
import type { BatchId } from "./batch.ts";
import type { PromiseRefusal, PromiseResult } from "./moves.ts";
import type { Digest } from "./signed-claim.ts";
import {
  type Account,
  accountOf,
  type BatchState,
  type Parts,
  type PromisesState,
  type SignedEntry,
} from "./state.ts";

export const refuse = (refusal: PromiseRefusal): PromiseResult => ({ ok: false, refusal });

export const done = (
  state: PromisesState,
  made: { claimId?: ClaimId; batchId?: BatchId } = {},
): PromiseResult => ({
  ok: true,
  state,
  ...made,
});

export function withEntry<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): Map<Key, Value> {
  return new Map(map).set(key, value);
}

export function changeAccount(
  state: PromisesState,
  prover: Address,
  changes: Partial<Account>,
): PromisesState {
  return {
    ...state,
    accounts: withEntry(state.accounts, prover, { ...accountOf(state, prover), ...changes }),
  };
}

export function changeSigned(
  state: PromisesState,
  digest: Digest,
  changes: Partial<SignedEntry>,
): PromisesState {
  const entry = state.signed.get(digest);
  if (entry === undefined) return state;
  return { ...state, signed: withEntry(state.signed, digest, { ...entry, ...changes }) };
}

export function setBatch(state: PromisesState, id: BatchId, batch: BatchState): PromisesState {
  return { ...state, batches: withEntry(state.batches, id, batch) };
}

/** Wei that came with a move. */
export function receive(state: PromisesState, amount: bigint): PromisesState {
  return { ...state, received: state.received + amount, balance: state.balance + amount };
}

/** Wei that leave. */
export function pay(state: PromisesState, amount: bigint): PromisesState {
  return { ...state, paid: state.paid + amount, balance: state.balance - amount };
}

export function credit(state: PromisesState, account: Address, amount: bigint): PromisesState {
  if (amount === 0n) return state;
  return {
    ...state,
    credits: withEntry(state.credits, account, (state.credits.get(account) ?? 0n) + amount),
  };
}

/** A bond without a slot: of what is free first, then of what is leaving.
 *  @returns undefined if there is not enough */
export function partsOf({ free, leaving }: Account, bond: bigint): Parts | undefined {
  if (free + leaving < bond) return undefined;
  const fromFree = free < bond ? free : bond;
  return { slot: 0n, free: fromFree, leaving: bond - fromFree };
}
