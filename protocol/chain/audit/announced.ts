/** What the events of an unfinished call announce, and what may come next. */
import type { Address, Hex } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import type { ChainEvent, EventOf } from "../events.ts";
import type { Accounts } from "./accounts.ts";
import { must, RuleBroken } from "./rules.ts";

export interface Settlement {
  readonly submitter: Address;
  readonly lane: number;
  readonly output: Hex;
  /** the claim that truth contradicts */
  readonly fell: EventOf<"Fell">["args"] | undefined;
}
interface Credit {
  readonly account: Address;
  readonly amount: bigint;
}

export class Announced {
  readonly #accounts: Accounts;
  readonly #isWhole: boolean;
  /** must be the next event */
  #credit: Credit | undefined;
  /** came, and belongs to the delivery that must be the next event */
  #loose: Credit | undefined;
  /** waits for its Finalized, which must be the next event but a fall */
  #settled: EventOf<"Settled"> | undefined;
  #fell: EventOf<"Fell">["args"] | undefined;
  /** of a settlement, or of all of a batch so far; comes once no further one follows */
  #reward: Credit | undefined;
  #transaction: Hex = "0x";

  /** @param isWhole false: events may belong to requests that the audit does not know */
  constructor(accounts: Accounts, isWhole: boolean) {
    this.#accounts = accounts;
    this.#isWhole = isWhole;
  }

  /** @throws RuleBroken if another event than this one must come here */
  admit(event: ChainEvent): void {
    const missing = this.#missingBefore(event);
    if (missing !== undefined) throw new RuleBroken("order", `${missing} must come before it`);
    if (this.#loose !== undefined && event.name !== "Delivered") this.#dropLoose();
    this.#transaction = event.transactionHash;
  }

  /** @throws RuleBroken if an event is missing behind the last one */
  end(): void {
    const missing = this.#missing();
    if (missing !== undefined) throw new RuleBroken("order", `${missing} must come behind it`);
    if (this.#loose !== undefined) this.#dropLoose();
  }

  settled(event: EventOf<"Settled">): void {
    this.#settled = event;
  }

  /** @throws RuleBroken if truth did not come, or another request's */
  fell(args: EventOf<"Fell">["args"]): void {
    if (this.#settled === undefined)
      throw new RuleBroken("order", "a claim falls by truth, and no truth came");
    must("identity", "the request that truth settles", args.requestId, this.#settled.args.requestId);
    this.#fell = args;
  }

  /** The truth that makes an output final, undefined if time does. */
  takeSettlement(): Settlement | undefined {
    const settled = this.#settled;
    if (settled === undefined) return undefined;
    const { submitter, lane, output } = settled.args;
    const settlement = { submitter, lane, output, fell: this.#fell };
    this.#settled = undefined;
    this.#fell = undefined;
    return settlement;
  }

  credit(account: Address, amount: bigint): void {
    this.#credit = { account, amount };
  }

  reward(account: Address, amount: bigint): void {
    this.#reward = { account, amount: (this.#reward?.amount ?? 0n) + amount };
  }

  /** An event Credited.
   *  @throws RuleBroken if it is not what was announced */
  credited(account: Address, amount: bigint): void {
    const due = this.#credit ?? this.#reward;
    if (due === undefined) {
      this.#loose = { account, amount };
      return;
    }
    must("payoff", "who is credited", account, due.account);
    // A batch may settle requests that the audit does not know.
    const isMore = !this.#isWhole && this.#credit === undefined && amount > due.amount;
    if (!isMore) must("payoff", `what ${account} is credited`, amount, due.amount);
    if (this.#credit !== undefined) this.#credit = undefined;
    else this.#reward = undefined;
    this.#accounts.credited(account, due.amount);
  }

  takeLoose(): Credit | undefined {
    const loose = this.#loose;
    this.#loose = undefined;
    return loose;
  }

  #dropLoose(): void {
    const { account, amount } = this.#loose as Credit;
    if (this.#isWhole)
      throw new RuleBroken("once", `before it ${account} was credited ${formatAmount(amount)} for nothing`);
    this.#loose = undefined;
  }

  #missingBefore(event: ChainEvent): string | undefined {
    const missing = this.#missing();
    if (missing === undefined) return undefined;
    if (event.transactionHash !== this.#transaction) return missing;
    if (this.#credit !== undefined) return event.name === "Credited" ? undefined : missing;
    if (this.#settled !== undefined) {
      const ends = event.name === "Finalized" || (event.name === "Fell" && this.#fell === undefined);
      return ends && event.args.requestId === this.#settled.args.requestId ? undefined : missing;
    }
    if (event.name === "Credited" || !this.#isWhole) return undefined;
    return event.name === "Settled" && event.args.submitter === this.#reward?.account ? undefined : missing;
  }

  #missing(): string | undefined {
    const due = this.#credit ?? (this.#settled === undefined ? this.#reward : undefined);
    if (due !== undefined) return `Credited of ${formatAmount(due.amount)} to ${due.account}`;
    return this.#settled && `Finalized of request ${this.#settled.args.requestId}`;
  }
}
