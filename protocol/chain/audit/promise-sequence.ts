/** What the events of an unfinished call of Promises announce, and what may come next. Promises calls Assay alone, which
 *  calls nobody meanwhile, so nothing stands between the events of one call. */
import type { Address, Hex } from "viem";
import { formatAmount } from "../../../base/amounts.ts";
import type { ClaimId, RequestId } from "../../rules/types.ts";
import { must, RuleBroken } from "./rules.ts";
import { type AuditedEvent, isPromiseEvent } from "./source.ts";

/** A claim that Promises filed in Assay, whose promise is still to be named. */
export interface FiledClaim {
  readonly requestId: RequestId;
  readonly claimId: ClaimId;
  /** calldata, selector included */
  readonly input: Hex;
  /** return data */
  readonly output: Hex;
  /** wei */
  readonly bond: bigint;
}

interface Credit {
  readonly account: Address;
  readonly amount: bigint;
}

type Due =
  | { readonly kind: "claim"; readonly input: Hex }
  | { readonly kind: "opened"; readonly claim: FiledClaim }
  | ({ readonly kind: "credit" } & Credit)
  | { readonly kind: "pull"; readonly amount: bigint };

const OPENINGS: readonly string[] = ["Queued", "Opened", "LeafQueued", "LeafOpened"];

export class PromiseSequence {
  readonly #promises: Address;
  /** must be the next event */
  #due: Due | undefined;
  /** came, and is what was sent above the deposit of the opening that must follow */
  #loose: Credit | undefined;
  #transaction: Hex = "0x";

  constructor(promises: Address) {
    this.#promises = promises;
  }

  /** @throws RuleBroken if another event than this one must come here */
  admit(event: AuditedEvent): void {
    const isSame = event.transactionHash === this.#transaction;
    this.#transaction = event.transactionHash;
    if (this.#due !== undefined && !(isSame && this.#fulfils(event, this.#due))) {
      throw new RuleBroken("order", `${this.#described(this.#due)} must come before it`);
    }
    if (this.#loose !== undefined && !(isSame && this.#isOfOpening(event))) throw this.#forNothing();
  }

  /** @throws RuleBroken if an event is missing behind the last one */
  end(): void {
    if (this.#due !== undefined)
      throw new RuleBroken("order", `${this.#described(this.#due)} must come behind it`);
    if (this.#loose !== undefined) throw this.#forNothing();
  }

  /** A request of Promises. */
  requested(input: Hex): void {
    this.#due = { kind: "claim", input };
  }

  /** The claim on it. @throws RuleBroken if no request came */
  claimed(claim: Omit<FiledClaim, "input">): void {
    if (this.#due?.kind !== "claim") throw new RuleBroken("order", "Promises claims, and asked for nothing");
    this.#due = { kind: "opened", claim: { ...claim, input: this.#due.input } };
  }

  /** @throws RuleBroken if no claim was filed, or another one */
  takeClaim(claimId: ClaimId): FiledClaim {
    if (this.#due?.kind !== "opened") throw new RuleBroken("order", `no claim ${claimId} comes before it`);
    const { claim } = this.#due;
    this.#due = undefined;
    must("identity", "the claim of the promise", claimId, claim.claimId);
    return claim;
  }

  credit(account: Address, amount: bigint): void {
    if (amount > 0n) this.#due = { kind: "credit", account, amount };
  }

  /** An event Credited of Promises. @throws RuleBroken if it is not what was announced */
  credited(account: Address, amount: bigint): "booked" | "loose" {
    if (this.#due?.kind !== "credit") {
      this.#loose = { account, amount };
      return "loose";
    }
    must("payoff", "who is credited", account, this.#due.account);
    must("payoff", `what ${account} is credited`, amount, this.#due.amount);
    this.#due = undefined;
    return "booked";
  }

  /** What the opener sent above the deposit, wei. @throws RuleBroken if it is somebody else's */
  takeLoose(opener: Address): bigint {
    if (this.#loose === undefined) return 0n;
    const { account, amount } = this.#loose;
    this.#loose = undefined;
    must("payoff", "who is credited what was sent above the deposit", account, opener);
    return amount;
  }

  /** Closing brings what Assay owes. */
  pull(amount: bigint): void {
    if (amount > 0n) this.#due = { kind: "pull", amount };
  }

  /** Promises withdraws from Assay. @throws RuleBroken if no closing comes before it */
  pulled(amount: bigint): void {
    if (this.#due?.kind !== "pull")
      throw new RuleBroken("order", "Promises withdraws from Assay, and closes no claim");
    must("payoff", "what Promises takes out of Assay", amount, this.#due.amount);
    this.#due = undefined;
  }

  #fulfils(event: AuditedEvent, due: Due): boolean {
    const { name, args } = event;
    if (isPromiseEvent(event, this.#promises)) {
      if (due.kind === "credit") return name === "Credited";
      return due.kind === "opened" && (name === "Opened" || name === "LeafOpened");
    }
    if (due.kind === "claim") return name === "Claimed" && args.claim.prover === this.#promises;
    return due.kind === "pull" && name === "Withdrawn" && args.account === this.#promises;
  }

  /** An opening comes with a request and a claim in Assay, if it does not wait. */
  #isOfOpening(event: AuditedEvent): boolean {
    if (isPromiseEvent(event, this.#promises)) return OPENINGS.includes(event.name);
    const { name, args } = event;
    if (name === "Requested") return args.request.requester === this.#promises;
    return name === "Claimed" && args.claim.prover === this.#promises;
  }

  #described(due: Due): string {
    switch (due.kind) {
      case "claim":
        return "Claimed of Promises";
      case "opened":
        return `Opened or LeafOpened with claim ${due.claim.claimId}`;
      case "credit":
        return `Credited of ${formatAmount(due.amount)} to ${due.account}`;
      case "pull":
        return `Withdrawn of ${formatAmount(due.amount)} by Promises`;
    }
  }

  #forNothing(): RuleBroken {
    const { account, amount } = this.#loose as Credit;
    return new RuleBroken("once", `${account} was credited ${formatAmount(amount)} for nothing`);
  }
}
