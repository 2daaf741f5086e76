/** Follows requests and own claims, decides at each block, and has the work done. */
import { BlockNotFoundError } from "viem";
import type { BaseError } from "../base/errors.ts";
import type { ClaimEntry, ClaimIndex, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { Ending } from "../protocol/chain/endings.ts";
import { chainError } from "../protocol/chain/errors.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { type Batch, type Head, pause } from "../protocol/chain/follower.ts";
import { Sweep, type SweepTerms } from "../protocol/chain/sweep.ts";
import { type Obligations, withdrawCredit } from "../protocol/chain/withdraw.ts";
import type { ClaimId, ModelId, RequestId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import { claimsWithoutModel, logWithoutModel, refusalOf } from "./claimed-models.ts";
import { answerRequest, settleDispute, withTruths } from "./claims.ts";
import { type Context, carryOut, isOwn } from "./context.ts";
import { defenceReserve } from "./costs.ts";
import {
  decideRequests,
  type ModelTerms,
  type ProverState,
  type RequestDecision,
  type SkipCode,
} from "./decide.ts";
import { Defence } from "./defend.ts";
import { deliverOutput, finalizeClaim } from "./deliver.ts";
import {
  type Blocked,
  blockedRequests,
  decideEndings,
  endBlocking,
  endingJobs,
  servable,
} from "./endings.ts";
import type { HeldJob, JobKind, JobStore } from "./jobs.ts";
import type { ServedModel } from "./models.ts";
import { Outbox } from "./outbox.ts";
import { type OwedAnswer, OwedAnswers, owedAnswers } from "./owed.ts";
import { stateAt, wordsAt } from "./state.ts";
import { claimJobs, deliveryJobs, endJobs, truthJobs } from "./wanted.ts";
import { type JobObserver, type Outcome, Workers } from "./workers.ts";

export interface ProverParts extends Omit<Context, "outbox"> {
  readonly jobs: JobStore;
  /** false: only answers for claims that were made with this key, or that name it as operator */
  readonly claims: boolean;
  /** claims, endings and deliveries at once; answers are never limited */
  readonly width: number;
  /** blocks without news of it after which what is over is forgotten; deeper than re-orgs go */
  readonly forgetAfter: bigint;
  /** credit from which it is withdrawn */
  readonly withdrawAbove: bigint;
  /** where money that is not needed goes; absent: it stays */
  readonly sweep?: SweepTerms;
  /** start although no folder holds the model of a live claim */
  readonly force: boolean;
  /** called once, instead of any work, where it is not forced */
  readonly onRefusal: (error: BaseError) => void;
  /** blocks that lie above what is looked at */
  readonly confirmations: number;
  readonly onJobEnd: JobObserver;
  readonly nowMs: () => number;
}

/** A day of 12-second blocks. */
export const DEFAULT_FORGET_AFTER = 7_200;
/** How often one block is looked at when the node fails, and the pause between, ms. */
const LOOK_TRIES = 5;
const LOOK_AGAIN_MS = 500;
/** Blocks between two reads of the prover's credit and of the methods of settling. */
const SELDOM = 10n;

export class Prover {
  readonly #parts: ProverParts & Context;
  readonly #defence: Defence;
  readonly #workers: Workers;
  readonly #sweep: Sweep | undefined;
  readonly #reportedSkips = new Map<RequestId, string>();
  #decisions: ReadonlyMap<RequestId, RequestDecision> = new Map();
  #endings: ReadonlyMap<ClaimId, Ending> = new Map();
  readonly #owed: OwedAnswers;
  #head: Head | undefined;
  #state: ProverState | undefined;
  #dataFeeFault: string | undefined;
  #seldomAt: bigint | undefined;
  #seldom: Promise<void> = Promise.resolve();

  constructor(parts: ProverParts) {
    const outbox = new Outbox({
      actions: parts.actions,
      submitter: parts.chain.account.address,
      carryOut: (action, facts) => carryOut(parts, action, facts),
    });
    this.#parts = { ...parts, outbox };
    this.#defence = new Defence(this.#parts);
    this.#owed = new OwedAnswers(parts.log);
    this.#sweep = parts.sweep && new Sweep(parts, parts.sweep, this.obligations());
    const { jobs, width, nowMs, onJobEnd: onEnd, log } = parts;
    const { sender } = parts;
    this.#workers = new Workers({
      ...{ jobs, width, nowMs, onEnd, log },
      work: (held) => this.#work(held),
      mayBegin: () => sender.leads,
    });
  }

  /** The newest block that was looked at. */
  get head(): Head | undefined {
    return this.#head;
  }

  /** The prover's state at that block. */
  get state(): ProverState | undefined {
    return this.#state;
  }

  /** What the account must keep. */
  obligations(): Obligations {
    return {
      seen: () => this.#head?.number,
      confirmations: this.#parts.confirmations,
      gas: () => (this.#state === undefined ? 0n : defenceReserve(this.#state)),
    };
  }

  get index(): ClaimIndex {
    return this.#parts.store.index;
  }

  /** Jobs by kind. */
  jobs(): Partial<Record<JobKind, number>> {
    return this.#parts.jobs.counts();
  }

  /** The most urgent answers that are owed, late or not. */
  owed(): readonly OwedAnswer[] {
    return this.#owed.shown;
  }

  /** Those whose time is over: whoever likes may have the bond burned and shared. */
  overdue(): readonly OwedAnswer[] {
    const { now } = this.#parts.clock;
    return now === undefined ? [] : this.#owed.overdue(now);
  }

  /** Own claims that are not over. */
  activeClaims(): ClaimEntry[] {
    return [...this.index.claims.values()].filter(
      (claim) => claim.status === "active" && isOwn(this.#parts, claim),
    );
  }

  /** The claim's events at the newest block; undefined for a claim that was not seen, or is over for long. */
  eventsOf(claim: ClaimId): readonly ChainEvent[] | undefined {
    return this.#parts.store.eventsOf(claim);
  }

  /** What was decided on an open request at the newest block. */
  decisionOn(id: RequestId): RequestDecision | undefined {
    return this.#decisions.get(id);
  }

  /** Open requests that are left to others at the newest block, by reason. */
  skipped(): Partial<Record<SkipCode, number>> {
    const counts: Partial<Record<SkipCode, number>> = {};
    for (const decision of this.#decisions.values())
      if (decision.kind === "skip") counts[decision.code] = (counts[decision.code] ?? 0) + 1;
    return counts;
  }

  /** A model with the truths that are ready for it. */
  termsOf(model: ServedModel): ModelTerms {
    return withTruths(this.#parts, model);
  }

  /** Consumer of an EventFollower. */
  async take(batch: Batch): Promise<void> {
    const { store, log } = this.#parts;
    store.take(batch);
    if (batch.kind === "rollback") {
      log.warn({ ancestor: batch.ancestor }, "the chain was re-organized; going on from the common block");
      for (const id of this.#reportedSkips.keys())
        if (!store.index.requests.has(id)) this.#reportedSkips.delete(id);
      return;
    }
    this.#reportFallen(batch.events);
    if (batch.to.number !== batch.head.number) return;
    this.#parts.clock.see(batch.head);
    this.#parts.outbox.flush();
    await this.#observeUntilDone(batch.head);
  }

  /** No block came, but the next one will have this time: what waits for time alone may end, and make that block.
   *  @param now seconds */
  async onTime(now: number): Promise<void> {
    const head = this.#head;
    const waits =
      this.activeClaims().length > 0 ||
      this.#blocked().length > 0 ||
      [...this.index.requests.values()].some(({ status }) => status === "open");
    if (head !== undefined && now > head.timestamp && waits) await this.#observe(head, now);
  }

  /** Takes no more work and waits for what is on its way. */
  async stop(): Promise<void> {
    this.#parts.outbox.flush();
    await Promise.all([this.#workers.stop(), this.#seldom]);
  }

  /** The index holds the batch already, so it must not come again: a fault of the node is tried again here, and after
   *  some tries left to the next block. */
  async #observeUntilDone(head: Head): Promise<void> {
    const { log, signal } = this.#parts;
    for (let tries = LOOK_TRIES; tries > 0 && !signal.aborted; tries--) {
      try {
        return await this.#observe(head);
      } catch (error) {
        // The follower tells what took its place.
        if (await this.#isGone(head)) return;
        const { code, message } = chainError(error, `look at block ${head.number}`);
        log.warn({ code, error }, message);
        await pause(LOOK_AGAIN_MS, signal);
      }
    }
  }

  /** Whether a re-org took a block back; false where the node cannot tell. */
  async #isGone({ number, hash }: Head): Promise<boolean> {
    try {
      return (await this.#parts.chain.client.getBlock({ blockNumber: number })).hash !== hash;
    } catch (error) {
      return error instanceof BlockNotFoundError;
    }
  }

  /** @param now time by which what waits for time is judged; all state is the head's */
  async #observe(head: Head, now = head.timestamp): Promise<void> {
    const { index } = this.#parts.store;
    const own = [...index.claims.values()].filter((claim) => isOwn(this.#parts, claim));
    const active = own.filter(({ status }) => status === "active");
    const [state, words] = await Promise.all([
      this.#stateAt(head, own, now),
      wordsAt(this.#parts, head, active, now),
    ]);
    if (this.#head === undefined && !this.#mayStart(active, words, now)) return;
    const open = [...index.requests.values()].filter(({ status }) => status === "open");
    const terms = new Map([...this.#parts.models].map(([id, model]) => [id, this.termsOf(model)]));
    this.#decide(open, terms, state);
    const blocked = servable(this.#blocked(), terms, state, this.#parts.policy, this.#decisions);
    const blockers = blocked.map(({ claim }) => claim);
    this.#endings = decideEndings(blocked, await wordsAt(this.#parts, head, blockers, now), state);
    const claimable = this.#parts.claims ? open : [];
    this.#parts.jobs.sync([
      ...claimJobs(claimable, this.#decisions),
      ...endJobs(active, words, {
        answerSeconds: this.#parts.chain.constants.answerSeconds,
        headTime: head.timestamp,
        now,
      }),
      ...endingJobs(this.#endings, now),
      ...truthJobs(this.#parts, active, head.timestamp),
      ...deliveryJobs(this.#parts, state),
    ]);
    const owing = active.flatMap((claim) => {
      const word = words.get(claim.id);
      return word === undefined ? [] : owedAnswers(claim, word);
    });
    this.#owed.take(owing, head.timestamp);
    this.#head = head;
    this.#state = state;
    this.#workers.wake();
    this.#defence.tidy();
    this.#doSeldom(head);
    this.#forgetOld(head);
  }

  /** Says once when the data fee cannot be read, and once when it can again. */
  async #stateAt(head: Head, own: readonly ClaimEntry[], now: number): Promise<ProverState> {
    const { log } = this.#parts;
    let fault: string | undefined;
    const state = await stateAt(this.#parts, head, own, now, ({ message }) => {
      fault = message;
      return undefined;
    });
    if (fault !== undefined && this.#dataFeeFault === undefined)
      log.error({ reason: fault }, "nothing new is claimed, settled or delivered: the data fee is not known");
    if (fault === undefined && this.#dataFeeFault !== undefined)
      log.info({}, "the data fee can be read again");
    this.#dataFeeFault = fault;
    return state;
  }

  /** At the first look: whether what was claimed can be defended, or is given up knowingly. */
  #mayStart(active: readonly ClaimEntry[], words: ReadonlyMap<ClaimId, ClaimWord>, now: number): boolean {
    const { chain, models, force, onRefusal, log } = this.#parts;
    const { answerSeconds } = chain.constants;
    const without = claimsWithoutModel(active, words, models, { answerSeconds, now });
    const refusal = force
      ? undefined
      : refusalOf(without, chain.account.address, chain.deployment.contracts.promises);
    if (refusal === undefined) logWithoutModel(without, words, log);
    else onRefusal(refusal);
    return refusal === undefined;
  }

  /** Requests that wait for another's answer, if this node would claim them. */
  #blocked(): Blocked[] {
    return this.#parts.claims ? blockedRequests(this.#parts) : [];
  }

  #decide(open: readonly RequestEntry[], terms: ReadonlyMap<ModelId, ModelTerms>, state: ProverState): void {
    const { policy, log } = this.#parts;
    this.#decisions = decideRequests(open, terms, state, policy);
    for (const [id, decision] of this.#decisions) {
      if (decision.kind !== "skip") this.#reportedSkips.delete(id);
      else if (this.#reportedSkips.get(id) !== decision.code) {
        this.#reportedSkips.set(id, decision.code);
        log.info({ request: id, code: decision.code, reason: decision.reason }, "skipping a request");
      }
    }
  }

  #reportFallen(events: readonly ChainEvent[]): void {
    for (const { name, args } of events) {
      const claim = name === "Fell" ? this.index.claims.get(args.claimId) : undefined;
      if (claim?.fall === undefined || !isOwn(this.#parts, claim)) continue;
      const { reason, step } = claim.fall;
      const { bond, modelId: model } = claim.claim;
      this.#parts.log.error(
        { claim: claim.id, reason, step, bondWei: bond, model },
        "a claim of this prover fell: its bond is lost",
      );
    }
  }

  #work({ job }: HeldJob): Promise<Outcome> {
    switch (job.kind) {
      case "commitTrace":
        return this.#defence.commitTrace(job.subject, job.due);
      case "reveal":
        return this.#defence.reveal(job.subject, job.position, job.due);
      case "claim":
        return answerRequest(this.#parts, job.subject, this.#decisions.get(job.subject));
      case "settle":
        return settleDispute(this.#parts, job.subject);
      case "end":
        return endBlocking(this.#parts, job.subject, this.#endings.get(job.subject));
      case "finalize":
        return finalizeClaim(this.#parts, job.subject);
      case "deliver":
        return deliverOutput(this.#parts, job.subject);
    }
  }

  /** What need not be done at each block, beside the work of the blocks that follow. */
  #doSeldom(head: Head): void {
    if (this.#seldomAt !== undefined && head.number < this.#seldomAt + SELDOM) return;
    this.#seldomAt = head.number;
    const { truths, models, chain, sender, failedDeliveries, log } = this.#parts;
    this.#seldom = this.#seldom
      .then(() =>
        Promise.all([
          sender.leads ? withdrawCredit(this.#parts, head).then(() => this.#sweep?.run()) : undefined,
          failedDeliveries.renewChanged(chain.client),
          ...truths.map((source) => source.refresh(models.values())),
        ]),
      )
      .then(
        () => undefined,
        (error: unknown) =>
          log.warn({ reason: String(error) }, "credit or methods of settling could not be looked at"),
      );
  }

  #forgetOld({ number, timestamp }: Head): void {
    const { store, forgetAfter } = this.#parts;
    for (const { id } of store.index.overSince(number - forgetAfter, timestamp)) {
      store.forget(id);
      this.#parts.failedDeliveries.forget(id);
      this.#reportedSkips.delete(id);
    }
  }
}
