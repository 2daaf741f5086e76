/** What the contract holds and for whom. Amounts in wei. */
import { type PromisesState, stakeOf } from "./state.ts";

export interface PromiseLedger {
  readonly stakes: bigint;
  readonly deposits: bigint;
  readonly credits: bigint;
}

/** INVARIANT: these, burned, paid and lost are together what was received. */
export function promiseLedgerOf(state: PromisesState): PromiseLedger {
  const sum = <Item>(items: Iterable<Item>, amount: (item: Item) => bigint) =>
    [...items].reduce((total, item) => total + amount(item), 0n);
  return {
    stakes: sum(state.accounts.values(), stakeOf),
    deposits:
      sum(state.signed.values(), ({ deposit }) => deposit) +
      sum(state.batches.values(), ({ leaves }) => sum(leaves.values(), ({ deposit }) => deposit)),
    credits: sum(state.credits.values(), (amount) => amount),
  };
}
