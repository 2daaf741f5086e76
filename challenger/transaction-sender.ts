/** What acts for a challenger: on the chain, or only in simulation. */
import type { Address } from "viem";
import { formatAmount } from "../base/amounts.ts";
import type { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { RecentSet } from "../base/recent.ts";
import type { Action, Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { EndingBudget, type EndingResult, endWithinBudget } from "../protocol/chain/endings.ts";
import { currentFees } from "../protocol/chain/fees.ts";
import type { Head } from "../protocol/chain/follower.ts";
import { openingOf, PromiseActions } from "../protocol/chain/promises/actions.ts";
import { hasPromises, promisesOf } from "../protocol/chain/promises/place.ts";
import { PromiseStateReader } from "../protocol/chain/promises/reads.ts";
import type { Sender, SendResult, SigningChain } from "../protocol/chain/sender.ts";
import { Sweep, type SweepTerms } from "../protocol/chain/sweep.ts";
import { type Obligations, type WithdrawParts, withdrawCredit } from "../protocol/chain/withdraw.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { EventStore } from "../protocol/service/store/event-store.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Observer } from "./notices.ts";

/** What became of a move about a promise. `withheld`: it was not sent, because a limit of this challenger forbids it. */
export type PromiseMoveResult = SendResult | { readonly status: "withheld"; readonly reason: string };

interface Deposit {
  readonly key: string;
  readonly wei: bigint;
  readonly counted: bigint;
}

/** Moves about promises; those about the claims that they become are any claim's. */
export interface PromiseSender {
  readonly address: Address;
  /** @param facts of the log lines @param deposit wei that it puts at risk, under the promise's key, and of that what
   *  counts as filed within an hour */
  move(action: Action, facts: Record<string, unknown>, deposit?: Deposit): Promise<PromiseMoveResult>;
  /** By the chain's word less of an opening's deposit is at risk than was sent. @param wei that are; 0: it was undone */
  holds(promise: string, wei: bigint): void;
  /** Most that a unit of gas costs now, wei. */
  gasPrice(): Promise<bigint>;
}

export interface TransactionSender extends PromiseSender {
  /** wei in own tickets of claims that are not over or not collected, and in deposits on promises */
  readonly exposure: bigint;
  /** Carries an action out.
   *  @param facts of the log lines @param claim that it is about
   *  @returns true if it is on the chain now and was not before */
  act(action: Action, facts: Record<string, unknown>, claim: ClaimEntry): Promise<boolean>;
  /** The chain made a claim final that is wrong and on which this account holds a ticket. */
  lost(claim: ClaimId): void;
  /** true while a person has to look before further tickets are filed */
  readonly isTripped: boolean;
  /** Called at each new head, after all claims were looked at. */
  tidy(head: Head): void;
  /** Resolves when no transaction of this sender is on its way. */
  stop(): Promise<void>;
}

/** Claims of which it is remembered that they were left to others. */
const MAX_REPORTED = 10_000;

export interface Limits {
  /** most wei in tickets whose claims are not over and in deposits; and in those of an hour, the won ones included,
   *  beyond which none is filed until a person has looked */
  readonly maxExposure: bigint;
  /** most wei of gas an hour for ending overdue claims without a ticket */
  readonly endingBudget: bigint;
  /** credit from which it is withdrawn, wei */
  readonly withdrawAbove: bigint;
}

export interface ChainSenderParts {
  readonly chain: SigningChain;
  readonly sender: Sender;
  readonly actions: Actions;
  readonly store: EventStore;
  readonly limits: Limits;
  /** most wei a unit of gas */
  readonly maxFee: bigint;
  readonly breaker: CircuitBreaker;
  /** blocks that lie above what is looked at */
  readonly confirmations: number;
  /** where money that is not needed goes; absent: it stays */
  readonly sweep?: SweepTerms;
  readonly observe: Observer;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
  /** wei in deposits on promises, by their keys */
  readonly deposits: () => ReadonlyMap<string, bigint>;
}

/** @returns the claim of a ticket's action @see Actions.challenge */
const ticketOf = (key: string): ClaimId | undefined =>
  key.startsWith("challenge:") ? (key.slice("challenge:".length) as ClaimId) : undefined;

/** Blocks between two reads of this account's credit. */
const WITHDRAW_EVERY = 10n;

/** Sends transactions through the journal. */
export class ChainSender implements TransactionSender {
  readonly #chain: SigningChain;
  readonly #sender: Sender;
  readonly #store: EventStore;
  readonly #limits: Limits;
  readonly #log: Logger;
  readonly #observe: Observer;
  readonly #stopping: AbortSignal;
  readonly #deposits: ChainSenderParts["deposits"];
  /** Tickets that are sent but not seen in an event yet. */
  readonly #sending = new Map<string, bigint>();
  readonly #withdrawal: WithdrawParts;
  readonly #maxFee: bigint;
  readonly #budget: EndingBudget;
  readonly #breaker: CircuitBreaker;
  /** Claims of which it was said that ending them would cost too much. */
  readonly #withheld = new RecentSet<string>(MAX_REPORTED);
  /** Moves of which it was said why this daemon does not make them. */
  readonly #refused = new RecentSet<string>(MAX_REPORTED);
  /** What the account must keep. */
  readonly obligations: Obligations;
  readonly #sweep: Sweep | undefined;
  /** The newest block, once all claims were looked at in it. */
  #head: Head | undefined;
  #readAt = 0n;
  #withdrawing: Promise<void> = Promise.resolve();

  constructor(parts: ChainSenderParts) {
    this.#chain = parts.chain;
    this.#sender = parts.sender;
    this.#store = parts.store;
    this.#limits = parts.limits;
    this.#log = parts.log;
    this.#observe = parts.observe;
    this.#stopping = parts.signal;
    this.#maxFee = parts.maxFee;
    this.#deposits = parts.deposits;
    this.#breaker = parts.breaker;
    this.#budget = new EndingBudget(parts.limits.endingBudget, parts.nowMs);
    this.#withdrawal = { ...parts, withdrawAbove: parts.limits.withdrawAbove };
    this.obligations = {
      seen: () => this.#head?.number,
      confirmations: parts.confirmations,
      // A ticket's bond is at least twice the gas of the whole dispute.
      gas: () => this.exposure / 2n,
    };
    this.#sweep = parts.sweep && new Sweep(parts, parts.sweep, this.obligations);
  }

  get address(): Address {
    return this.#chain.account.address;
  }

  async act(action: Action, facts: Record<string, unknown>, claim: ClaimEntry): Promise<boolean> {
    const isTicket = facts.move === "challenge";
    if (isTicket && !this.#sender.leads) {
      this.#reportRefusal(action, facts, this.#sender.refusal(action));
      return false;
    }
    const { ticketBond } = claim.claim;
    if (isTicket && !(this.#affords(claim) && this.#breaker.admits({ claim: claim.id }, ticketBond)))
      return false;
    if (isTicket) this.#sending.set(claim.id, ticketBond);
    try {
      const result = await this.#send(action, facts, claim);
      if (result.status === "sent") return true;
      if (result.status === "refused") {
        this.#log.warn({ ...facts, refused: result.revert }, "the contract refused a move; looking again");
      } else if (result.status === "retryable") this.#reportRefusal(action, facts, result.error);
      return false;
    } finally {
      if (isTicket) this.#sending.delete(claim.id);
    }
  }

  async move(action: Action, facts: Record<string, unknown>, deposit?: Deposit): Promise<PromiseMoveResult> {
    if (deposit !== undefined && !this.#sender.leads) {
      const error = this.#sender.refusal(action);
      this.#reportRefusal(action, facts, error);
      if (error !== undefined) return { status: "retryable", error };
    }
    const reason = deposit && this.#withholds(deposit);
    if (reason !== undefined) {
      this.#log.error({ ...facts, reason }, "a wrong promise is not opened");
      return { status: "withheld", reason };
    }
    const result = await this.#sender.send(action, this.#stopping);
    if (result.status === "refused") {
      this.#log.warn({ ...facts, refused: result.revert }, "the contract refused a move; looking again");
    } else if (result.status === "retryable") this.#reportRefusal(action, facts, result.error);
    return result;
  }

  /** Says once of each move that another daemon of the key is to make it, or that the database keeps it back. */
  #reportRefusal({ key }: Action, facts: Record<string, unknown>, error: BaseError | undefined): void {
    if (error === undefined) return;
    const isByRole = error.code === "NOT_SIGNER" || error.code === "JOURNAL_CUT_OFF";
    if (isByRole && !this.#refused.add(`${error.code} ${key}`)) return;
    const reason = error.message;
    if (error.code === "NOT_SIGNER") this.#log.info({ ...facts, reason }, "a move is left to another daemon");
    else this.#log.warn({ ...facts, reason }, "a move is not on the chain yet");
  }

  async gasPrice(): Promise<bigint> {
    return (await currentFees(this.#chain.client, this.#maxFee)).maxFeePerGas;
  }

  /** @returns why a promise is not opened now. Its deposit is booked already. */
  #withholds({ key, wei, counted }: Deposit): string | undefined {
    const { maxExposure } = this.#limits;
    if (this.exposure > maxExposure) {
      return `its deposit of ${formatAmount(wei)} would exceed --max-exposure (${formatAmount(maxExposure)})`;
    }
    return this.#breaker.admits({ promise: key }, counted)
      ? undefined
      : "no tickets are filed, and no promises opened, until a person has looked";
  }

  /** This account's tickets pay for the ends of their claims, a budget for those of others. */
  async #send(action: Action, facts: Record<string, unknown>, entry: ClaimEntry): Promise<EndingResult> {
    const isEnding = facts.move === "timeoutTrace" || facts.move === "timeoutDemand";
    if (!isEnding || entry.challengers.has(this.address)) return this.#sender.send(action, this.#stopping);
    const parts = { chain: this.#chain, sender: this.#sender, budget: this.#budget, maxFee: this.#maxFee };
    const result = await endWithinBudget(parts, action, entry.claim.bond, this.#stopping);
    if (result.status === "withheld" && this.#withheld.add(action.key)) {
      this.#log.warn({ ...facts, reason: result.reason }, "an overdue claim is left to others for now");
    }
    return result;
  }

  lost(claim: ClaimId): void {
    this.#breaker.lost(claim, this.#sender.leads);
  }

  get isTripped(): boolean {
    return this.#breaker.tripped !== undefined;
  }

  tidy(head: Head): void {
    this.#head = head;
    if (head.number < this.#readAt + WITHDRAW_EVERY) return;
    this.#readAt = head.number;
    // Another daemon of the key does it, or may.
    if (!this.#sender.leads) return;
    this.#withdrawing = this.#withdrawing
      .then(() => withdrawCredit(this.#withdrawal, head))
      .then(() => this.#withdrawDeposits(head))
      .then(() => this.#sweep?.run())
      .catch((error: unknown) => {
        this.#log.warn({ reason: String(error) }, "the credit could not be withdrawn");
      });
  }

  /** Deposits on promises that fell come back as credit in Promises. */
  async #withdrawDeposits({ hash }: Head): Promise<void> {
    const { deployment, game } = this.#chain;
    if (!hasPromises(deployment)) return;
    const credit = await new PromiseStateReader(this.#chain, hash).credit(this.address);
    if (credit === 0n || credit < this.#limits.withdrawAbove) return;
    const action = new PromiseActions(promisesOf(deployment), game).withdraw(this.address, hash);
    const result = await this.#sender.send(action, this.#stopping);
    if (result.status === "sent") this.#log.info({ amountWei: credit }, "withdrew from Promises");
  }

  stop(): Promise<void> {
    return this.#withdrawing;
  }

  holds(promise: string, wei: bigint): void {
    if (this.#sender.leads) this.#breaker.lowers({ promise }, wei);
  }

  get exposure(): bigint {
    return this.#exposureBeside();
  }

  /** @param ticket claim whose ticket is not counted where it is on its way */
  #exposureBeside(ticket?: ClaimId): bigint {
    let sum = 0n;
    const { claims } = this.#store.index;
    for (const { claim, challengers, collected, status } of claims.values()) {
      const isAtRisk = status === "active" || (status === "fallen" && !collected.has(this.address));
      if (isAtRisk && challengers.has(this.address)) sum += claim.ticketBond;
    }
    for (const bond of this.#sending.values()) sum += bond;
    const deposits = this.#deposits();
    for (const wei of deposits.values()) sum += wei;
    // What another daemon of the key, or this one before it was started again, has on its way.
    for (const { key, value } of this.#sender.unmined()) {
      const [id, promise] = [ticketOf(key), openingOf(key)];
      const isTicket =
        id !== undefined &&
        id !== ticket &&
        !this.#sending.has(id) &&
        !claims.get(id)?.challengers.has(this.address);
      if (isTicket || (promise !== undefined && !deposits.has(promise))) sum += value;
    }
    return sum;
  }

  #affords(entry: ClaimEntry): boolean {
    const { id, claim } = entry;
    const exposure = this.#exposureBeside(id);
    if (exposure + claim.ticketBond <= this.#limits.maxExposure) return true;
    this.#observe({ kind: "unaffordable", claim: entry, exposure });
    this.#log.error(
      {
        claim: id,
        ticketBondWei: claim.ticketBond,
        exposureWei: exposure,
        maxExposureWei: this.#limits.maxExposure,
      },
      "a wrong claim is not challenged: its ticket would exceed --max-exposure",
    );
    return false;
  }
}
