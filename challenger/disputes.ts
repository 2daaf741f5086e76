/** Carries disputes about wrong claims to their end, and ends any claim whose answer is overdue; one step of each at a
 *  time, decided from what the chain says. */
import type { Logger } from "../base/log.ts";
import { RecentSet } from "../base/recent.ts";
import { decodePosition } from "../inference/commit/positions.ts";
import type { Canonical } from "../inference/runtime/canonical-pool.ts";
import { Actions } from "../protocol/chain/actions.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import type { Head } from "../protocol/chain/follower.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { actBy } from "../protocol/rules/machine.ts";
import type { ClaimId, ModelId } from "../protocol/rules/types.ts";
import type { ClaimWord } from "../protocol/rules/words.ts";
import type { EventStore } from "../protocol/service/store/event-store.ts";
import { actionOf } from "./act.ts";
import { type Decision, type Dispute, decide } from "./decide.ts";
import { type Question, questionAbout } from "./interrogate.ts";
import type { Observer } from "./notices.ts";
import { OwnRuns } from "./own-runs.ts";
import type { CoveredModel } from "./reexecute.ts";
import type { TransactionSender } from "./transaction-sender.ts";
import type { VerdictStore } from "./verdicts.ts";

export interface DisputeParts {
  readonly chain: Chain;
  readonly store: EventStore;
  readonly models: ReadonlyMap<ModelId, CoveredModel>;
  readonly verdicts: VerdictStore;
  readonly canonical: Canonical;
  /** absent: watch only */
  readonly sender?: TransactionSender;
  readonly observe: Observer;
  readonly log: Logger;
}

/** Ends that are remembered so that none is reported twice. */
const MAX_REPORTED = 10_000;

export class Disputes {
  readonly #parts: DisputeParts;
  readonly #actions: Actions;
  readonly #runs: OwnRuns;
  /** As they were read last. */
  readonly #words = new Map<ClaimId, ClaimWord>();
  /** Those about which nothing is left to do, as long as the chain keeps what ended them. */
  readonly #ended = new Set<ClaimId>();
  /** Those whose end was reported: once, even if the chain takes it back and ends them again. */
  readonly #reported = new RecentSet<ClaimId>(MAX_REPORTED);
  readonly #aboutClaims = [this.#words, this.#ended] as const;
  readonly #stepping = new Map<ClaimId, Promise<void>>();
  /** Of these, something new was seen while a step was under way. */
  readonly #stepAgain = new Set<ClaimId>();
  #reorgs = 0;
  #isStopping = false;
  #head: Head | undefined;
  /** time of the next block as far as it is known, seconds */
  #now = 0;

  constructor(parts: DisputeParts) {
    this.#parts = parts;
    this.#actions = new Actions(parts.chain.game);
    const { canonical, models, log } = parts;
    this.#runs = new OwnRuns({ canonical, models, log, onMade: (id) => this.step(id) });
  }

  /** True while no step and no own run is under way. */
  get isIdle(): boolean {
    return this.#stepping.size === 0 && this.#runs.isIdle;
  }

  /** What memory holds about claims. */
  get entriesHeld(): number {
    return this.#aboutClaims.reduce((sum, { size }) => sum + size, this.#runs.size);
  }

  /** The claim's word as it was read last; undefined before its first step and after its end. */
  word(id: ClaimId): ClaimWord | undefined {
    return this.#words.get(id);
  }

  /** The block from which the next steps are decided. */
  see(head: Head): void {
    this.#head = head;
  }

  /** @param now time that the next block will have, seconds */
  onTime(now: number): void {
    this.#now = now;
  }

  /** The chain was re-organized: what had ended may be open again. */
  reopen(): void {
    this.#ended.clear();
    this.#reorgs += 1;
    const { claims } = this.#parts.store.index;
    for (const part of this.#aboutClaims) {
      for (const id of part.keys()) if (!claims.has(id)) part.delete(id);
    }
    this.#runs.keepOnly((id) => claims.has(id));
  }

  forget(id: ClaimId): void {
    this.#runs.forget(id);
    for (const part of [...this.#aboutClaims, this.#reported]) part.delete(id);
  }

  /** Begins no step any more, and waits for those that are under way. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#stepping.values(), this.#runs.stop(), this.#parts.sender?.stop()]);
  }

  /** Does what is to be done about a claim now, if anything is. */
  step(id: ClaimId): void {
    const { sender, log } = this.#parts;
    if (sender === undefined || this.#isStopping || this.#ended.has(id)) return;
    if (this.#stepping.has(id)) {
      // The block that a step makes may be seen before the step ends, and no other block need follow it.
      this.#stepAgain.add(id);
      return;
    }
    const done = this.#dispute(id, sender)
      .catch((error: unknown) => log.error({ claim: id, error: String(error) }, "a dispute's step failed"))
      .finally(() => {
        this.#stepping.delete(id);
        if (this.#stepAgain.delete(id)) this.step(id);
      });
    this.#stepping.set(id, done);
  }

  async #dispute(id: ClaimId, sender: TransactionSender): Promise<void> {
    const { chain, store, verdicts, log, observe } = this.#parts;
    const { claim, request } = store.index.claimAndRequest(id) ?? {};
    const [head, reorgs] = [this.#head, this.#reorgs];
    if (claim === undefined || request === undefined || head === undefined) return;
    const word = await new StateReader(chain, head.hash).claimWord(id);
    const isWrong = verdicts.get(id)?.kind === "wrong";
    // Of others nothing is remembered: they leave the index as soon as their answer is there.
    const isKept = isWrong || claim.challengers.has(sender.address);
    if (isKept) this.#words.set(id, word);
    const question = isWrong && claim.status === "active" ? this.#question(claim, request) : undefined;
    const decision = decideAt(Math.max(head.timestamp, this.#now), {
      now: head.timestamp,
      answerSeconds: chain.constants.answerSeconds,
      entry: claim,
      word,
      own: sender.address,
      isWrong,
      ...(question === undefined ? {} : { question }),
    });
    if (decision.kind === "over" && isKept) {
      if (decision.lost && claim.challengers.has(sender.address)) sender.lost(id);
      this.#over(id, decision);
      // What was read may have been taken back since.
      if (reorgs === this.#reorgs) this.#ended.add(id);
    }
    const move = actionOf(this.#actions, decision, request, claim, sender.address);
    if (move === undefined) return;
    const action = this.#isOwed(decision, claim, sender)
      ? { ...move, owed: { secondsLeft: this.#secondsLeft(word, head) } }
      : move;
    const facts = { claim: id, move: decision.kind, ...describe(decision) };
    const done = await sender.act(action, facts, claim);
    observe({ kind: "move", claim: id, move: decision.kind, done });
    if (done) log.info(facts, "moved");
  }

  /** Whether a ticket of this account is lost without the move. */
  #isOwed({ kind }: Decision, { challengers }: ClaimEntry, { address }: TransactionSender): boolean {
    return (kind === "demand" || kind === "convict") && challengers.has(address);
  }

  /** Until the next move is too late. While the prover owes an answer that time does not run. */
  #secondsLeft(word: ClaimWord, { timestamp }: Head): number {
    const { answerSeconds } = this.#parts.chain.constants;
    return word.pending > 0 ? answerSeconds : actBy(word, answerSeconds) - timestamp;
  }

  /** What to ask next; a trace once committed never changes, so this run is kept until the claim is over.
   *  @returns undefined also while this challenger's run is being made: a ticket and what is overdue do not wait */
  #question(claim: ClaimEntry, request: RequestEntry): Question | undefined {
    if (claim.trace === undefined) return undefined;
    const own = this.#runs.get(claim, request);
    return own && questionAbout(own, claim);
  }

  #over(id: ClaimId, { lost }: Extract<Decision, { kind: "over" }>): void {
    this.#runs.forget(id);
    this.#words.delete(id);
    if (!this.#reported.add(id)) return;
    this.#parts.observe({ kind: "over", claim: id, lost });
    if (lost) this.#parts.log.error({ claim: id }, "a wrong claim became final");
    else this.#parts.log.info({ claim: id }, "dispute is over");
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
