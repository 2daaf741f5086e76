/** The books of the whole contract, by its events alone: who has which credit, and what left. Amounts in wei. */
import type { Address } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import type { Flow } from "./replay.ts";
import { must, RuleBroken } from "./rules.ts";

export interface Money {
  readonly received: bigint;
  /** not yet withdrawn */
  readonly credits: bigint;
  /** of live claims and of tickets that nobody collected yet, and fees of requests that are not over */
  readonly held: bigint;
  /** not yet pulled */
  readonly burned: bigint;
  readonly pulled: bigint;
  readonly withdrawn: bigint;
}

export class Accounts {
  readonly #credits = new Map<Address, bigint>();
  #credited = 0n;
  #received = 0n;
  #held = 0n;
  /** booked by a move; its event Credited is still to come */
  #owed = 0n;
  #burned = 0n;
  #pulled = 0n;
  #withdrawn = 0n;

  /** Records a move. */
  record({ received, held, burned, credited }: Flow): void {
    this.#received += received;
    this.#held += held;
    this.#burned += burned;
    for (const { amount } of credited) this.#owed += amount;
  }

  /** An event Credited that belongs to a move. */
  credited(account: Address, amount: bigint): void {
    this.#owed -= amount;
    this.#credited += amount;
    this.#credits.set(account, (this.#credits.get(account) ?? 0n) + amount);
  }

  /** @throws RuleBroken if it is not all that the account has */
  withdrawn(account: Address, amount: bigint): void {
    const credit = this.#credits.get(account) ?? 0n;
    if (credit === 0n)
      throw new RuleBroken("once", `${account} withdraws ${formatAmount(amount)} and has no credit`);
    must("payoff", `what ${account} withdraws`, amount, credit);
    this.#credits.delete(account);
    this.#credited -= amount;
    this.#withdrawn += amount;
  }

  /** @throws RuleBroken if it is not all that was burned */
  pulled(amount: bigint): void {
    const waiting = this.#burned - this.#pulled;
    if (waiting === 0n) throw new RuleBroken("once", `${formatAmount(amount)} are burned that are not there`);
    must("payoff", "what is burned", amount, waiting);
    this.#pulled += amount;
  }

  /** @throws RuleBroken if the two sides differ */
  check(): void {
    const { received, credits, held, burned, pulled, withdrawn } = this.money();
    const all = credits + this.#owed + held + burned + pulled + withdrawn;
    if (all !== received)
      throw new RuleBroken(
        "books",
        `${formatAmount(all)} are booked, ${formatAmount(received)} were received`,
      );
  }

  money(): Money {
    return {
      received: this.#received,
      credits: this.#credited,
      held: this.#held,
      burned: this.#burned - this.#pulled,
      pulled: this.#pulled,
      withdrawn: this.#withdrawn,
    };
  }
}
