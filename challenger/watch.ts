/** Follows claims, has them re-executed, and has wrong ones disputed and overdue ones ended. */
import { RecentSet } from "../base/recent.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { owesAnswer } from "../protocol/chain/endings.ts";
import { chainError } from "../protocol/chain/errors.ts";
import type { Batch, Head } from "../protocol/chain/follower.ts";
import type { ClaimId, ModelId } from "../protocol/rules/types.ts";
import type { ChainClock } from "../protocol/service/metrics/chain-clock.ts";
import { type AttentionTests, type PlannedClaim, takeTest } from "./attention.ts";
import { clocksOf, type OpenDispute } from "./clocks.ts";
import { type DisputeParts, Disputes } from "./disputes.ts";
import { StakeQueue } from "./queue.ts";
import { type Engines, reexecute } from "./reexecute.ts";
import { everybodysFrom, isWhatIdSays } from "./shards/assign.ts";
import type { Shards } from "./shards/shards.ts";

export interface ChallengerParts extends DisputeParts, Omit<Engines, "signal"> {
  /** claims that are re-executed at the same time */
  readonly width: number;
  readonly clock: ChainClock;
  /** absent: it is not tested */
  readonly attention?: AttentionTests;
  /** which claims it works on; absent: all */
  readonly scope?: (claim: ClaimEntry) => boolean;
  /** absent: it checks every claim */
  readonly shards?: Shards;
  readonly nowMs: () => number;
}

/** Blocks without news of it after which what is over is forgotten; deeper than re-orgs go. */
const FORGET_AFTER = 256n;
const MAX_REPORTED_MODELS = 10_000;
/** Blocks between two tries to check a claim that could not be checked. */
const RETRY_AFTER = 5n;

export class Challenger {
  readonly #parts: ChallengerParts;
  readonly #disputes: Disputes;
  readonly #queue: StakeQueue<ClaimId | PlannedClaim>;
  readonly #retryAt = new Map<ClaimId, bigint>();
  /** Models of which it was said that they are not covered; a registration is reported once. */
  readonly #reportedModels = new RecentSet<ModelId>(MAX_REPORTED_MODELS);
  /** Claims in memory of which it was said that they are not covered. */
  readonly #reportedClaims = new Set<ClaimId>();
  /** When claims without a verdict were first seen, ms. */
  readonly #seenAt = new Map<ClaimId, number>();
  readonly #stopping = new AbortController();
  readonly #engines: Engines;
  /** Claims of which it was said that whose they were did not check them. */
  readonly #takenUp = new RecentSet<ClaimId>(MAX_REPORTED_MODELS);
  /** Workers whose word counts no more. */
  readonly #barred = new Set<string>();
  /** Claims that this machine's own canonical executor has to check. */
  readonly #mustRunHere = new Set<ClaimId>();
  readonly #aboutClaims = [this.#retryAt, this.#seenAt, this.#mustRunHere] as const;
  #head: Head | undefined;
  /** time of the next block as far as it is known, seconds */
  #now = 0;

  constructor(parts: ChallengerParts) {
    this.#parts = parts;
    const { fast, canonical, log } = parts;
    this.#engines = { fast, canonical, log, signal: this.#stopping.signal };
    this.#disputes = new Disputes(parts);
    this.#queue = new StakeQueue(parts.width, (key) =>
      typeof key === "string"
        ? this.#check(key).catch((error: unknown) => this.#postpone(key, error))
        : this.#checkPlanned(key),
    );
  }

  /** Claims that wait for their check or are in it. */
  get unchecked(): number {
    return this.#queue.size;
  }

  /** Claims that memory holds, with what it knows of them besides. Right claims leave it, so this grows only with
   *  those that are wrong, cannot be checked, or ended a short while ago. */
  get entriesHeld(): number {
    const own = this.#aboutClaims.reduce((sum, { size }) => sum + size, 0);
    return this.#parts.store.index.claims.size + own + this.#disputes.entriesHeld;
  }

  /** Active claims that are wrong. */
  disputes(): OpenDispute[] {
    const { verdicts, sender, chain } = this.#parts;
    const wrong = this.#claims().filter(
      ({ id, status }) => status === "active" && verdicts.get(id)?.kind === "wrong",
    );
    return wrong.map((entry) => ({
      claim: entry.id,
      ticketBond: entry.claim.ticketBond,
      clocks: clocksOf(entry, this.#disputes.word(entry.id), sender?.address, chain.constants.answerSeconds),
    }));
  }

  /** True once nothing is left to do in its scope. A claim that nobody here can check counts as that. */
  get isIdle(): boolean {
    if (this.#head === undefined || this.#queue.size > 0 || !this.#disputes.isIdle) return false;
    const { verdicts, models } = this.#parts;
    return this.#claims().every((entry) => {
      if (entry.status !== "active") return !this.#isOwed(entry);
      return verdicts.get(entry.id)?.kind === "right" || !models.has(entry.claim.modelId);
    });
  }

  /** Consumer of an EventFollower. */
  take(batch: Batch): void {
    const { store, models, log } = this.#parts;
    store.take(batch);
    if (batch.kind === "rollback") {
      log.warn({ ancestor: batch.ancestor }, "the chain was re-organized; going on from the common block");
      this.#disputes.reopen();
      for (const id of this.#seenAt.keys()) if (!store.index.claims.has(id)) this.#parts.shards?.forget(id);
      for (const part of [...this.#aboutClaims, this.#reportedClaims]) {
        for (const id of part.keys()) if (!store.index.claims.has(id)) part.delete(id);
      }
      return;
    }
    for (const event of batch.events) {
      if (event.name !== "ModelRegistered" || models.has(event.args.modelId)) continue;
      const model = event.args.modelId;
      if (this.#reportedModels.add(model))
        log.warn({ model }, "a registered model is not covered: no folder here has its id");
    }
    if (batch.to.number !== batch.head.number) return;
    this.#head = batch.head;
    this.#now = Math.max(this.#now, batch.head.timestamp);
    this.#disputes.see(batch.head);
    this.#parts.clock.see(batch.head);
    for (const entry of this.#claims()) this.#observe(entry);
    this.#parts.sender?.tidy(batch.head);
    this.#forgetOld(batch.head);
    this.#restIdle();
  }

  /** No block came, but the next one will have this time: deadlines that passed may be enforced, which makes it.
   *  @param now seconds */
  onTime(now: number): void {
    this.#disputes.onTime(now);
    this.#now = Math.max(this.#now, now);
    for (const entry of this.#claims()) {
      // Others may have checked it meanwhile, or not in time.
      if (this.#parts.shards !== undefined && this.#seenAt.has(entry.id)) this.#observe(entry);
      // What is won is collected also where another daemon of the key left it, and no block follows.
      if (entry.status === "active" ? this.#concerns(entry) : this.#isOwed(entry))
        this.#disputes.step(entry.id);
    }
  }

  /** A worker lied: what was found right on its word is checked again, by the canonical executor of this machine. */
  distrust(worker: string): void {
    const { verdicts, store, log } = this.#parts;
    this.#barred.add(worker);
    const claims = verdicts.onWordOf(worker);
    if (claims.length > 0)
      log.warn(
        { worker, claims: claims.length },
        "claims that a barred worker found right are checked again",
      );
    for (const id of claims) {
      this.#mustRunHere.add(id);
      verdicts.forget(id);
      store.wake(id);
      const entry = store.index.claims.get(id);
      if (entry === undefined || entry.status !== "active") this.#mustRunHere.delete(id);
      else this.#observe(entry);
    }
  }

  /** Stops checking, and waits for what is on its way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#queue.stop();
    await this.#disputes.stop();
  }

  #claims(): ClaimEntry[] {
    const { store, scope } = this.#parts;
    const all = [...store.index.claims.values()];
    return scope === undefined ? all : all.filter(scope);
  }

  /** This challenger's ticket on a claim that fell waits to be collected: also where no verdict is kept any more. */
  #isOwed({ status, challengers, collected }: ClaimEntry): boolean {
    const own = this.#parts.sender?.address;
    return own !== undefined && status === "fallen" && challengers.has(own) && !collected.has(own);
  }

  /** Whether there may be a move to make: a claim that owes an answer is everybody's, for its request waits. */
  #concerns(entry: ClaimEntry): boolean {
    return owesAnswer(entry) || this.#isOwed(entry) || this.#parts.verdicts.get(entry.id)?.kind === "wrong";
  }

  #observe(entry: ClaimEntry): void {
    const verdict = this.#parts.verdicts.get(entry.id);
    if (this.#concerns(entry)) this.#disputes.step(entry.id);
    if (entry.status !== "active") this.#parts.shards?.forget(entry.id);
    if (verdict !== undefined || entry.status !== "active") return;
    if (!this.#parts.models.has(entry.claim.modelId)) {
      if (this.#reportedClaims.has(entry.id)) return;
      this.#reportedClaims.add(entry.id);
      this.#parts.observe({ kind: "uncovered", claim: entry });
      this.#parts.log.warn(
        { claim: entry.id, model: entry.claim.modelId },
        "a claim is not covered: no folder here has its model",
      );
      return;
    }
    if (!this.#seenAt.has(entry.id)) this.#seenAt.set(entry.id, this.#parts.nowMs());
    if ((this.#retryAt.get(entry.id) ?? 0n) > (this.#head?.number ?? 0n)) return;
    if (!this.#mustRunHere.has(entry.id) && this.#isLeft(entry)) return;
    this.#queue.add({ key: entry.id, stake: entry.claim.bond, age: entry.block.number });
  }

  /** Whether another challenger checks the claim, or has found it right. */
  #isLeft(entry: ClaimEntry): boolean {
    const { shards, store, verdicts, observe, log } = this.#parts;
    const { id, block } = entry;
    const request = store.index.claimAndRequest(id)?.request;
    if (shards === undefined || request === undefined || shards.isOwn(id)) return false;
    if (shards.leave(id)) {
      verdicts.put(id, { kind: "right" });
      this.#seenAt.delete(id);
      shards.forget(id);
      return true;
    }
    if (this.#now < everybodysFrom(entry, request)) return true;
    if (this.#takenUp.add(id)) {
      observe({ kind: "taken-up", claim: id });
      log.warn({ claim: id, block: block.number }, "a claim was not checked by the challenger whose it was");
    }
    return false;
  }

  async #check(id: ClaimId): Promise<void> {
    const { store, verdicts, models, log, observe, nowMs, attention, clock } = this.#parts;
    const { claim, request } = store.index.claimAndRequest(id) ?? {};
    const model = claim && models.get(claim.claim.modelId);
    if (claim === undefined || request === undefined || model === undefined) return;
    const leftMs = () => 1_000 * (claim.windowEnd - (clock.now ?? this.#now));
    const check = (isQuick: boolean) =>
      reexecute({ ...model, isQuick }, request, claim, { ...this.#engines, leftMs }, (outcome) =>
        observe({ kind: "engine", subject: { claim: id }, model: model.name, outcome }),
      );
    const found = await check(model.isQuick === true || this.#mustRunHere.has(id));
    // They may have been barred since they answered.
    const isLiars = found.kind === "right" && found.workers?.some((worker) => this.#barred.has(worker));
    const verdict = isLiars === true ? await check(true) : found;
    if (this.#stopping.signal.aborted) return;
    const { shards, chain } = this.#parts;
    if (verdict.kind !== "could-not-check") shards?.forget(id);
    if (verdict.kind === "right" && shards !== undefined && isWhatIdSays(chain.game, claim, request))
      shards.foundRight(claim);
    const seconds = (nowMs() - (this.#seenAt.get(id) ?? nowMs())) / 1_000;
    observe({ kind: "verdict", claim, model: model.name, verdict, seconds });
    const facts = { claim: id, request: request.id, model: model.name, prover: claim.claim.prover };
    if (verdict.kind === "could-not-check") {
      this.#retryAt.set(id, (this.#head?.number ?? 0n) + RETRY_AFTER);
      log.error({ ...facts, reason: verdict.reason }, "a claim could not be checked; trying again");
      return;
    }
    for (const part of this.#aboutClaims) part.delete(id);
    verdicts.put(id, verdict);
    if (verdict.kind === "right") {
      log.info(facts, "claim is right");
      const planned = attention?.plan(claim, request);
      if (planned !== undefined) {
        this.#queue.add({ key: planned, stake: claim.claim.bond, age: claim.block.number });
      }
      return;
    }
    log.warn({ ...facts, claimed: claim.output, honest: verdict.honest }, "claim is wrong");
    if (store.index.claims.has(id)) this.#disputes.step(id);
  }

  /** A verdict that cannot be kept does not count: a ticket is never filed on it, and the claim is checked again. */
  #postpone(id: ClaimId, error: unknown): void {
    this.#retryAt.set(id, (this.#head?.number ?? 0n) + RETRY_AFTER);
    const { code, message } = chainError(error, "check a claim");
    this.#parts.log.error({ claim: id, code }, message);
  }

  async #checkPlanned(planned: PlannedClaim): Promise<void> {
    const { models, log, observe, nowMs } = this.#parts;
    const model = models.get(planned.claim.claim.modelId);
    if (model === undefined) return;
    const result = await takeTest(planned, model, this.#engines);
    if (this.#stopping.signal.aborted) return;
    const seconds = (nowMs() - planned.plannedAtMs) / 1_000;
    observe({ kind: "attention", model: model.name, result, seconds });
    if (result === "detected") log.info({ model: model.name, seconds }, "a planned wrong claim was found");
    else log.error({ model: model.name, seconds, result }, "a planned wrong claim was not found");
  }

  #forgetOld({ number, timestamp }: Head): void {
    const { store, verdicts } = this.#parts;
    for (const { id } of store.index.overSince(number - FORGET_AFTER, timestamp)) {
      const claims = store.index.claimsOf(id);
      if (claims.some((claim) => this.#isOwed(claim))) continue;
      for (const claim of claims) {
        verdicts.forget(claim.id);
        for (const part of this.#aboutClaims) part.delete(claim.id);
        this.#disputes.forget(claim.id);
        this.#parts.shards?.forget(claim.id);
        this.#reportedClaims.delete(claim.id);
      }
      store.forget(id);
    }
  }

  /** Requests that nobody has claimed, or of which all claims are right and owe nothing, need nothing until the chain
   *  says more of them: there may be very many, for as long as a window. */
  #restIdle(): void {
    const { store, verdicts, sender } = this.#parts;
    const isRight = (claim: ClaimEntry) =>
      verdicts.get(claim.id)?.kind === "right" &&
      !owesAnswer(claim) &&
      !(sender && claim.challengers.has(sender.address));
    const idle = [...store.index.requests.values()].filter(
      ({ id, status }) => (status === "open" || status === "busy") && store.index.claimsOf(id).every(isRight),
    );
    store.rest(idle.map(({ id }) => id));
  }
}
