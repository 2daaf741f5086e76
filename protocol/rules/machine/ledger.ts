/** What the contract holds and for whom: both sides of its books. Amounts in wei. */
import { fallPayout } from "../money.ts";
import type { ClaimState, GameState, RequestState } from "./state.ts";

export interface Ledger {
  readonly credits: bigint;
  /** bonds of live claims and of tickets, and shares, that nobody collected yet */
  readonly bonds: bigint;
  readonly fees: bigint;
  readonly burned: bigint;
  readonly withdrawn: bigint;
}

/** INVARIANT: the sum of all five is what was received. */
export function ledgerOf(state: GameState): Ledger {
  const sum = <Item>(items: Iterable<Item>, amount: (item: Item) => bigint) =>
    [...items].reduce((total, item) => total + amount(item), 0n);
  return {
    credits: sum(state.credits.values(), (amount) => amount),
    bonds: sum(state.claims.values(), bondsHeld),
    fees: sum(state.requests.values(), feesHeld),
    burned: state.burned,
    withdrawn: state.withdrawn,
  };
}

export function bondsHeld({ claim, word, tickets }: ClaimState): bigint {
  if (word.state === "ACTIVE") return claim.bond + claim.ticketBond * BigInt(word.tickets);
  if (word.state !== "FALLEN") return 0n;
  const uncollected = [...tickets.values()].filter(({ collected }) => !collected).length;
  return fallPayout(claim, word.tickets, word.truthShare).ticket * BigInt(uncollected);
}

export function feesHeld({ request, word }: RequestState): bigint {
  if (word.state === "REFUNDED") return 0n;
  const fee = word.state === "DONE" ? 0n : request.fee;
  return fee + (word.delivered === "PENDING" ? request.deliveryFee : 0n);
}
