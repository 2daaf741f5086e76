/** Follows claims, has them re-executed and carries disputes to their end. */
import { fromHex } from "../inference/bytes.ts";
import { commitTrace } from "../inference/commit/commitments.ts";
import { decodePosition } from "../inference/commit/positions.ts";
import { traceShapes } from "../inference/commit/reveal.ts";
import { trace } from "../inference/executor/execute.ts";
import { Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/book.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { chainError } from "../protocol/chain/errors.ts";
import type { Batch, Head } from "../protocol/chain/follower.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { Logger } from "../protocol/log.ts";
import type { ChainClock } from "../protocol/metrics/chain-clock.ts";
import type { EventStore } from "../protocol/store/event-store.ts";
import type { ClaimId, ModelId } from "../protocol/terms.ts";
import type { ClaimWord } from "../protocol/words.ts";
import { actionOf } from "./act.ts";
import { type AttentionTests, type PlannedClaim, takeTest } from "./attention.ts";
import { ClaimedTrace } from "./claimed-trace.ts";
import { clocksOf, type OpenDispute } from "./clocks.ts";
import { type Decision, type Dispute, decide } from "./decide.ts";
import type { Hand } from "./hand.ts";
import { interrogate, type OwnTrace, type Question } from "./interrogate.ts";
import type { Observer } from "./notices.ts";
import { StakeQueue } from "./queue.ts";
import { type CoveredModel, type FastPath, reexecute } from "./reexecute.ts";
import type { VerdictStore } from "./verdicts.ts";

export interface ChallengerParts {
  readonly chain: Chain;
  readonly store: EventStore;
  readonly verdicts: VerdictStore;
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  readonly fast: FastPath;
  /** absent: watch only */
  readonly hand?: Hand;
  /** claims that are re-executed at the same time */
  readonly width: number;
  readonly clock: ChainClock;
  readonly observe: Observer;
  /** absent: it is not tested */
  readonly attention?: AttentionTests;
  /** which claims it works on; absent: all */
  readonly scope?: (claim: ClaimEntry) => boolean;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Blocks without news of it after which what is over is forgotten; deeper than re-orgs go. */
const FORGET_AFTER = 256n;
/** Blocks between two tries to check a claim that could not be checked. */
const RETRY_AFTER = 5n;

export class Challenger {
  readonly #parts: ChallengerParts;
  readonly #actions: Actions;
  readonly #queue: StakeQueue<ClaimId | PlannedClaim>;
  readonly #runs = new Map<ClaimId, OwnTrace>();
  readonly #stepping = new Map<ClaimId, Promise<void>>();
  /** Of these, something new was seen while a step was under way. */
  readonly #stepAgain = new Set<ClaimId>();
  readonly #retryAt = new Map<ClaimId, bigint>();
  readonly #said = new Set<string>();
  /** Wrong claims about which nothing is left to do, as long as the chain keeps what ended them. */
  readonly #ended = new Set<ClaimId>();
  #reorgs = 0;
  /** When claims without a verdict were first seen, ms. */
  readonly #seenAt = new Map<ClaimId, number>();
  /** Of claims in dispute, as they were read last. */
  readonly #words = new Map<ClaimId, ClaimWord>();
  readonly #aboutClaims = [this.#runs, this.#retryAt, this.#ended, this.#seenAt, this.#words] as const;
  #head: Head | undefined;
  /** time of the next block as far as it is known, seconds */
  #now = 0;

  constructor(parts: ChallengerParts) {
    this.#parts = parts;
    this.#actions = new Actions(parts.chain.game);
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
    return this.#parts.store.book.claims.size + this.#aboutClaims.reduce((sum, { size }) => sum + size, 0);
  }

  /** Active claims that are wrong. */
  disputes(): OpenDispute[] {
    const { verdicts, hand, chain } = this.#parts;
    const wrong = this.#claims().filter(
      ({ id, status }) => status === "active" && verdicts.get(id)?.kind === "wrong",
    );
    return wrong.map((entry) => ({
      claim: entry.id,
      ticketBond: entry.claim.ticketBond,
      clocks: clocksOf(entry, this.#words.get(entry.id), hand?.address, chain.constants.answerSeconds),
    }));
  }

  /** True once nothing is left to do in its scope. A claim that nobody here can check counts as that. */
  get isIdle(): boolean {
    if (this.#head === undefined || this.#queue.size > 0 || this.#stepping.size > 0) return false;
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
      this.#ended.clear();
      this.#reorgs += 1;
      for (const part of this.#aboutClaims) {
        for (const id of part.keys()) if (!store.book.claims.has(id)) part.delete(id);
      }
      return;
    }
    for (const event of batch.events) {
      if (event.name !== "ModelRegistered" || models.has(event.args.modelId)) continue;
      this.#sayOnce(`model ${event.args.modelId}`, () =>
        log.warn(
          { model: event.args.modelId },
          "a registered model is not covered: no folder here has its id",
        ),
      );
    }
    if (batch.to.number !== batch.head.number) return;
    this.#head = batch.head;
    this.#parts.clock.see(batch.head);
    for (const entry of this.#claims()) this.#look(entry);
    this.#parts.hand?.tidy(batch.head);
    this.#forgetOld(batch.head);
    this.#restIdle();
  }

  /** No block came, but the next one will have this time: deadlines that passed may be enforced, which makes it.
   *  @param now seconds */
  onTime(now: number): void {
    this.#now = now;
    for (const { id, status } of this.#claims()) {
      if (status === "active" && this.#parts.verdicts.get(id)?.kind === "wrong") this.#step(id);
    }
  }

  /** Stops checking, and waits for what is on its way. */
  async stop(): Promise<void> {
    await this.#queue.stop();
    await Promise.all([...this.#stepping.values(), this.#parts.hand?.stop()]);
  }

  #claims(): ClaimEntry[] {
    const { store, scope } = this.#parts;
    const all = [...store.book.claims.values()];
    return scope === undefined ? all : all.filter(scope);
  }

  /** The own ticket of a claim that fell waits to be collected: also where no verdict is kept any more. */
  #isOwed({ status, challengers, collected }: ClaimEntry): boolean {
    const own = this.#parts.hand?.address;
    return own !== undefined && status === "fallen" && challengers.has(own) && !collected.has(own);
  }

  #look(entry: ClaimEntry): void {
    const verdict = this.#parts.verdicts.get(entry.id);
    if (verdict?.kind === "wrong" || this.#isOwed(entry)) this.#step(entry.id);
    if (verdict !== undefined || entry.status !== "active") return;
    if (!this.#parts.models.has(entry.claim.modelId)) {
      this.#sayOnce(`claim ${entry.id}`, () => {
        this.#parts.observe({ kind: "uncovered", claim: entry });
        this.#parts.log.warn(
          { claim: entry.id, model: entry.claim.modelId },
          "a claim is not covered: no folder here has its model",
        );
      });
      return;
    }
    if (!this.#seenAt.has(entry.id)) this.#seenAt.set(entry.id, this.#parts.nowMs());
    if ((this.#retryAt.get(entry.id) ?? 0n) > (this.#head?.number ?? 0n)) return;
    this.#queue.add({ key: entry.id, stake: entry.claim.bond, age: entry.block.number });
  }

  async #check(id: ClaimId): Promise<void> {
    const { store, verdicts, models, fast, log, observe, nowMs, attention } = this.#parts;
    const { claim, request } = this.#entries(id) ?? {};
    const model = claim && models.get(claim.claim.modelId);
    if (claim === undefined || request === undefined || model === undefined) return;
    const verdict = await reexecute(model, request, claim, fast, log, (outcome) =>
      observe({ kind: "engine", claim: id, model: model.name, outcome }),
    );
    const seconds = (nowMs() - (this.#seenAt.get(id) ?? nowMs())) / 1_000;
    observe({ kind: "verdict", claim, model: model.name, verdict, seconds });
    const facts = { claim: id, request: request.id, model: model.name, prover: claim.claim.prover };
    if (verdict.kind === "could-not-check") {
      this.#retryAt.set(id, (this.#head?.number ?? 0n) + RETRY_AFTER);
      log.error({ ...facts, reason: verdict.reason }, "a claim could not be checked; trying again");
      return;
    }
    this.#retryAt.delete(id);
    this.#seenAt.delete(id);
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
    if (store.book.claims.has(id)) this.#step(id);
  }

  /** A verdict that cannot be kept is none: a ticket is never filed on it, and the claim is checked again. */
  #postpone(id: ClaimId, error: unknown): void {
    this.#retryAt.set(id, (this.#head?.number ?? 0n) + RETRY_AFTER);
    const { code, message } = chainError(error, "check a claim");
    this.#parts.log.error({ claim: id, code }, message);
  }

  async #checkPlanned(planned: PlannedClaim): Promise<void> {
    const { models, fast, log, observe, nowMs } = this.#parts;
    const model = models.get(planned.claim.claim.modelId);
    if (model === undefined) return;
    const result = await takeTest(planned, model, fast, log);
    const seconds = (nowMs() - planned.plannedAtMs) / 1_000;
    observe({ kind: "attention", model: model.name, result, seconds });
    if (result === "detected") log.info({ model: model.name, seconds }, "a planned wrong claim was found");
    else log.error({ model: model.name, seconds, result }, "a planned wrong claim was not found");
  }

  #step(id: ClaimId): void {
    const { hand, log } = this.#parts;
    if (hand === undefined || this.#ended.has(id)) return;
    if (this.#stepping.has(id)) {
      // The block that a step makes may be seen before the step ends, and no other block need follow it.
      this.#stepAgain.add(id);
      return;
    }
    const done = this.#dispute(id, hand)
      .catch((error: unknown) => log.error({ claim: id, error: String(error) }, "a dispute's step failed"))
      .finally(() => {
        this.#stepping.delete(id);
        if (this.#stepAgain.delete(id)) this.#step(id);
      });
    this.#stepping.set(id, done);
  }

  async #dispute(id: ClaimId, hand: Hand): Promise<void> {
    const { chain, log, observe } = this.#parts;
    const { claim, request } = this.#entries(id) ?? {};
    const [head, reorgs] = [this.#head, this.#reorgs];
    if (claim === undefined || request === undefined || head === undefined) return;
    const word = await new StateReader(chain, head.hash).claimWord(id);
    this.#words.set(id, word);
    const question = claim.status === "active" ? this.#question(claim, request) : undefined;
    const decision = decideAt(Math.max(head.timestamp, this.#now), {
      now: head.timestamp,
      answerSeconds: chain.constants.answerSeconds,
      entry: claim,
      word,
      own: hand.address,
      ...(question === undefined ? {} : { question }),
    });
    if (decision.kind === "over") {
      this.#over(id, decision);
      // What was read may have been taken back since.
      if (reorgs === this.#reorgs) this.#ended.add(id);
    }
    const action = actionOf(this.#actions, decision, request, claim, hand.address);
    if (action === undefined) return;
    const facts = { claim: id, move: decision.kind, ...describe(decision) };
    const done = await hand.act(action, facts, claim);
    observe({ kind: "move", claim: id, move: decision.kind, done });
    if (done) log.info(facts, "moved");
  }

  /** What to ask next; a trace once committed never changes, so the own run is kept until the claim is over. */
  #question(claim: ClaimEntry, request: RequestEntry): Question | undefined {
    if (claim.trace === undefined) return undefined;
    const own = this.#runs.get(claim.id) ?? this.#run(claim, request);
    const claimed = new ClaimedTrace(traceShapes(own.program), claim.trace.tops.map(fromHex));
    for (const [position, { content }] of claim.demands) {
      if (content !== undefined) claimed.addReveal(decodePosition(position), content.map(fromHex));
    }
    return interrogate(own, claimed);
  }

  #run(claim: ClaimEntry, request: RequestEntry): OwnTrace {
    const { prepared, weights } = this.#parts.models.get(claim.claim.modelId) as CoveredModel;
    const { program } = prepared;
    const tensors = trace(prepared, fromHex(request.input));
    const constant: OwnTrace["constant"] = (operand) => prepared.constant(operand);
    const own = { program, tensors, trace: commitTrace(program, tensors), weights, constant };
    this.#runs.set(claim.id, own);
    return own;
  }

  #over(id: ClaimId, { lost }: Extract<Decision, { kind: "over" }>): void {
    this.#runs.delete(id);
    this.#words.delete(id);
    this.#sayOnce(`over ${id}`, () => {
      this.#parts.observe({ kind: "over", claim: id, lost });
      if (lost) this.#parts.log.error({ claim: id }, "a wrong claim became final");
      else this.#parts.log.info({ claim: id }, "dispute is over");
    });
  }

  #forgetOld({ number, timestamp }: Head): void {
    const { store, verdicts } = this.#parts;
    for (const { id } of store.book.overSince(number - FORGET_AFTER, timestamp)) {
      const claims = store.book.claimsOf(id);
      if (claims.some((claim) => this.#isOwed(claim))) continue;
      for (const claim of claims) {
        verdicts.forget(claim.id);
        for (const part of this.#aboutClaims) part.delete(claim.id);
        for (const key of [`over ${claim.id}`, `claim ${claim.id}`]) this.#said.delete(key);
      }
      store.forget(id);
    }
  }

  /** Requests that nobody has claimed, or of which all claims are right, need nothing until the chain says more of
   *  them: there may be very many, for as long as a window. */
  #restIdle(): void {
    const { store, verdicts, hand } = this.#parts;
    const isRight = ({ id, challengers }: ClaimEntry) =>
      verdicts.get(id)?.kind === "right" && !(hand && challengers.has(hand.address));
    const idle = [...store.book.requests.values()].filter(
      ({ id, status }) => (status === "open" || status === "busy") && store.book.claimsOf(id).every(isRight),
    );
    store.rest(idle.map(({ id }) => id));
  }

  #entries(id: ClaimId): { claim: ClaimEntry; request: RequestEntry } | undefined {
    const { book } = this.#parts.store;
    const claim = book.claims.get(id);
    const request = claim && book.requests.get(claim.claim.requestId);
    return claim === undefined || request === undefined ? undefined : { claim, request };
  }

  #sayOnce(key: string, say: () => void): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    say();
  }
}

/** A node's word for the next block's time ends nothing but what a deadline ended: all else goes by the head's. */
function decideAt(next: number, dispute: Dispute): Decision {
  const decision = decide(dispute);
  if (decision.kind !== "wait") return decision;
  const later = decide({ ...dispute, now: next });
  return later.kind === "timeoutTrace" || later.kind === "timeoutDemand" ? later : decision;
}

function describe(decision: Decision): Record<string, unknown> {
  if (decision.kind === "demand" || decision.kind === "timeoutDemand") {
    const { step, level, index } = decodePosition(decision.position);
    return { step, level, index };
  }
  if (decision.kind !== "convict") return {};
  const { question } = decision;
  if (question.kind === "element")
    return { fault: "ELEMENT", step: question.step, element: question.element };
  return question.kind === "codec" ? { fault: "CODEC", step: question.step } : { fault: "OUTPUT" };
}
