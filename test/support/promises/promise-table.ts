/** The table at which promises are played: the state, the clock, the base fee, and what must hold after every move. */
import { type Address, type Hex, keccak256, size } from "viem";
import { type Move as AssayMove, isFinal, newGame } from "../../../protocol/rules/machine.ts";
import type { BatchId } from "../../../protocol/rules/promises/batch.ts";
import { isBatchFinal } from "../../../protocol/rules/promises/batch-moves.ts";
import { claimIn } from "../../../protocol/rules/promises/filing.ts";
import { playPromise } from "../../../protocol/rules/promises/machine.ts";
import { bondOf } from "../../../protocol/rules/promises/money.ts";
import type {
  InputFacts,
  OutputFacts,
  PromiseMove,
  PromiseResult,
  SignatureFacts,
} from "../../../protocol/rules/promises/moves.ts";
import { PROMISE_RULES, type PromiseRules } from "../../../protocol/rules/promises/rules.ts";
import type { Digest, SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import { digestOf } from "../../../protocol/rules/promises/signed-claim.ts";
import {
  type Account,
  accountOf,
  type BatchState,
  type Filed,
  newPromises,
  type PromisesState,
  stakeOf,
} from "../../../protocol/rules/promises/state.ts";
import type { ClaimId, GameConstants, ModelId } from "../../../protocol/rules/types.ts";
import type { Rng } from "../rng.ts";
import { checkBooks, checkHonest, checkMoney } from "./promise-books.ts";
import {
  ASSAY,
  FACTS,
  idOfModel,
  MODELS,
  notCanonical,
  otherInput,
  PEOPLE,
  PROMISES,
  type Side,
  tooLong,
} from "./promise-models.ts";

/** What must hold (docs/PROMISES.md), by its number there. */
export class PromiseViolation extends Error {
  readonly property: number;
  constructor(property: number, message: string) {
    super(`property ${property}: ${message}`);
    this.property = property;
  }
}

type WithoutClock<M> = M extends unknown ? Omit<M, "now" | "baseFee"> : never;
export type Play = WithoutClock<PromiseMove>;

export interface Attempt {
  readonly move: PromiseMove;
  readonly result: PromiseResult;
}

/** A signed claim with what it is about. */
export interface Promised {
  readonly digest: Digest;
  readonly claim: SignedClaim;
  readonly signature: SignatureFacts;
  readonly model: number;
  readonly input: InputFacts;
  readonly output: OutputFacts;
  readonly isWrong: boolean;
}

/** One that somebody accepted. */
export interface Accepted extends Promised {
  readonly acceptedAt: number;
  /** second in which its buyer looks */
  readonly showAt: number;
  /** stake that the check saw, wei, and what the prover had lost by falls then */
  readonly backing: bigint;
  readonly lostBefore: bigint;
}

export interface Posted {
  readonly batchId: BatchId;
  readonly model: number;
  readonly leaves: readonly Side[];
  readonly prover: Address;
}

/** 2023-11-14: later than a day since 1970. */
const START = 1_700_000_000;
/** wei */
export const USUAL_FEE = 2n;
export const gameConstants = (answerSeconds: number): GameConstants => ({
  answerSeconds,
  gasPriceFloor: 10n,
  gasBase: 20_000n,
  gasPerDemand: 100_000n,
});

/** The facts of bytes that were seen once. */
const facts = MODELS.map((model) => ({
  input: { hash: keccak256(model.input), canonical: true },
  otherInput: { hash: keccak256(otherInput(model)), canonical: true },
  badInput: { hash: keccak256(notCanonical(model)), canonical: false },
  right: { hash: keccak256(model.outputs.right), length: size(model.outputs.right) },
  wrong: { hash: keccak256(model.outputs.wrong), length: size(model.outputs.wrong) },
  long: { hash: keccak256(tooLong(model)), length: size(tooLong(model)) },
}));
export const factsOf = (model: number) => facts[model] as (typeof facts)[number];
export const MODEL_IDS: readonly ModelId[] = MODELS.map(idOfModel);

/** Since when something is queued, behind how many, and for how many seconds of it no rule can be blamed. */
interface Wait {
  readonly at: number;
  readonly ahead: number;
  excused: number;
}

export class PromiseTable {
  state: PromisesState;
  now = START;
  baseFee = USUAL_FEE;
  readonly rng: Rng;
  readonly rules: PromiseRules;
  readonly answerSeconds: number;
  readonly attempts: Attempt[] = [];
  readonly accepted: Accepted[] = [];
  readonly issued: Promised[] = [];
  readonly posted: Posted[] = [];
  /** the leaves behind each root */
  readonly rootsOf = new Map<Hex, readonly Side[]>();
  /** falls of each prover's claims, wei */
  readonly lostBy = new Map<Address, bigint>();
  readonly exitedBy = new Map<Address, bigint>();
  readonly depositedBy = new Map<Address, bigint>();
  readonly waitingSince = new Map<Digest, Wait>();
  readonly leafWaits = new Map<string, Wait>();
  feeSince = START;
  readonly finalSince = new Map<BatchId, number>();
  readonly moved = new Map<string, number>();
  readonly refused = new Map<string, number>();

  constructor(
    rng: Rng,
    rules: PromiseRules = PROMISE_RULES,
    answerSeconds = rng.int(1, 4),
    at = { assay: ASSAY, promises: PROMISES },
    ids = MODEL_IDS,
  ) {
    this.rng = rng;
    this.rules = rules;
    this.answerSeconds = answerSeconds;
    this.ids = ids;
    const chainId = 31337;
    const assay = newGame(
      { chainId, assay: at.assay },
      gameConstants(answerSeconds),
      new Map(ids.map((id, index) => [id, FACTS[index] as (typeof FACTS)[number]])),
    );
    this.state = newPromises({ chainId, promises: at.promises }, assay);
    this.start = this.state;
  }

  readonly ids: readonly ModelId[];
  readonly start: PromisesState;

  get turn(): number {
    return 4 * this.answerSeconds;
  }

  account(prover: Address): Account {
    return accountOf(this.state, prover);
  }

  /** Whether a move would be accepted now; nothing happens. */
  allows(play: Play): boolean {
    return playPromise(this.state, this.#clocked(play), this.rules).ok;
  }

  #clocked(play: Play): PromiseMove {
    return { ...play, now: this.now, baseFee: this.baseFee } as PromiseMove;
  }

  do(play: Play): PromiseResult {
    const move = this.#clocked(play);
    const before = this.state;
    const result = playPromise(before, move, this.rules);
    this.attempts.push({ move, result });
    if (!result.ok) {
      count(this.refused, `${move.kind} ${result.refusal}`);
      this.#checkRefusal(move, result.refusal);
      return result;
    }
    count(this.moved, move.kind);
    this.state = result.state;
    this.#note(before, move);
    checkBooks(this, move.kind);
    checkHonest(this, before, move);
    checkMoney(this, before, move);
    this.#checkPromises(before, move);
    this.#checkLeaves(before, move);
    this.checkBatches();
    return result;
  }

  /** Anybody's move in Assay. */
  inAssay(move: WithoutClock<AssayMove>): PromiseResult {
    return this.do({ kind: "assay", from: move.from, move: { ...move, now: this.now } as AssayMove });
  }

  #note(before: PromisesState, move: PromiseMove): void {
    const add = (map: Map<Address, bigint>, key: Address, amount: bigint) =>
      map.set(key, (map.get(key) ?? 0n) + amount);
    if (move.kind === "exit") add(this.exitedBy, move.from, this.state.paid - before.paid);
    if (move.kind === "deposit") add(this.depositedBy, move.prover, move.value ?? 0n);
    if (move.kind === "close") {
      const filed = this.state.filed.get(move.claimId) as Filed;
      add(this.lostBy, filed.prover, this.state.lost - before.lost);
    }
    this.#noteQueues(before, move);
  }

  /** Whoever joins a queue waits for those ahead; a pass is to be borne where all of the stake would not have done for
   *  as long as a turn, and where it let somebody through. */
  #noteQueues(before: PromisesState, move: PromiseMove): void {
    for (const prover of [PEOPLE.cheat, PEOPLE.honest]) {
      const { queue } = accountOf(this.state, prover);
      const old = accountOf(before, prover).queue;
      for (const [ahead, digest] of queue.entries()) {
        if (!old.includes(digest)) this.waitingSince.set(digest, { at: this.now, ahead, excused: 0 });
      }
      const passed = move.kind === "passNext" && queue !== old ? queue.at(-1) : undefined;
      const wait = passed === undefined ? undefined : this.waitingSince.get(passed);
      if (passed !== undefined && wait !== undefined && this.#isFairPass(prover, passed)) {
        wait.excused += queue.length * this.longestClaim();
      }
    }
  }

  #isFairPass(prover: Address, passed: Digest): boolean {
    const account = this.account(prover);
    const stake = stakeOf(account);
    const isDear = (digest: Digest): boolean => {
      const claim = this.state.signed.get(digest)?.claim as SignedClaim;
      return bondOf(this.state, account, claim, this.baseFee, PROMISE_RULES) > stake;
    };
    const isLong = this.now - this.feeSince >= this.turn || this.baseFee <= USUAL_FEE;
    return isLong && isDear(passed) && account.queue.some((digest) => !isDear(digest));
  }

  /** Seconds go by. While a base fee above the usual lasts, waiting is nobody's fault. */
  advance(to: number): void {
    if (this.baseFee > USUAL_FEE) {
      for (const wait of this.waitingSince.values()) wait.excused += to - this.now;
      for (const wait of this.leafWaits.values()) wait.excused += to - this.now;
    }
    this.now = to;
    this.checkBatches();
  }

  setFee(baseFee: bigint): void {
    this.baseFee = baseFee;
    this.feeSince = this.now;
  }

  fail(property: number, message: string): never {
    throw new PromiseViolation(property, `${message} (at ${this.now - START} s, base fee ${this.baseFee})`);
  }

  /** 4, 1: what passed the conditions can be filed. */
  #checkRefusal(move: PromiseMove, refusal: string): void {
    if (move.kind === "assay" || move.kind === "commitTrace") return;
    if (refusal.startsWith("Assay: ")) {
      this.fail(refusal.includes("AlreadyRequested") ? 4 : 2, `${move.kind} is refused by ${refusal}`);
    }
    if (refusal === "NotPulled") this.fail(1, `${move.kind} has no ether for a bond`);
  }

  /** 2: no stake leaves while a promise waits, and none waits longer than its bound. */
  #checkPromises(before: PromisesState, move: PromiseMove): void {
    if (move.kind === "exit" && this.state.paid > before.paid) {
      for (const [, { status, claim }] of this.state.signed) {
        if (claim.prover === move.from && status === "QUEUED")
          this.fail(2, "stake leaves while a promise waits");
      }
    }
    if (move.kind === "openNext") {
      const digest = digestOf(this.state.address, move.claim);
      const wait = this.waitingSince.get(digest);
      if (wait === undefined) return;
      const bound = (wait.ahead + 2) * this.longestClaim() + this.batchTime(move.claim.prover) + wait.excused;
      if (this.now - wait.at > bound) {
        this.fail(
          2,
          `a promise with ${wait.ahead} ahead waited ${this.now - wait.at} s, not ${bound} at most`,
        );
      }
    }
  }

  /** 3: a queued leaf's turn comes after those before it, two at a time at best. */
  #checkLeaves(before: PromisesState, move: PromiseMove): void {
    if (move.kind === "openLeaf") {
      const { queue } = this.state.batches.get(move.batchId) as BatchState;
      if (!queue.includes(move.index)) return;
      const open = before.batches.get(move.batchId)?.open ?? 0;
      this.leafWaits.set(`${move.batchId} ${move.index}`, { at: this.now, ahead: open, excused: 0 });
    }
    if (move.kind === "nextLeaf") {
      const index = before.batches.get(move.batchId)?.queue[0];
      const wait = this.leafWaits.get(`${move.batchId} ${index}`) as Wait;
      const deepest = Math.max(...FACTS.map(({ depth }) => depth));
      const turn = 3 * this.turn + (2 * deepest + 2) * this.answerSeconds + 1;
      const bound = (wait.ahead + 2) * turn + wait.excused;
      if (this.now - wait.at > bound) {
        this.fail(3, `a leaf with ${wait.ahead} ahead waited ${this.now - wait.at} s, not ${bound} at most`);
      }
    }
  }

  /** MAX_LIFE + 3·W0 + L. */
  longestClaim(): number {
    const deepest = Math.max(...FACTS.map(({ depth }) => depth));
    return 86_400 + 3 * this.turn + (2 * deepest + 2) * this.answerSeconds + 1;
  }

  /** How long batches of a prover may have held its stake. */
  batchTime(prover: Address): number {
    const mine = this.posted.filter((posted) => posted.prover === prover);
    if (mine.length === 0) return 0;
    const leaves = Math.max(...mine.map(({ leaves }) => leaves.length));
    return 7 * 86_400 + (leaves + 2) * this.longestClaim();
  }

  /** 3: final needs the window's end and every opened leaf's; it stays; never after a fall. */
  checkBatches(): void {
    const { state } = this;
    for (const [id, batch] of state.batches) {
      const isNow = isBatchFinal(batch, this.now);
      if (!isNow) {
        if (this.finalSince.has(id)) this.fail(3, "a batch that was final is no longer");
        continue;
      }
      if (!this.finalSince.has(id)) this.finalSince.set(id, this.now);
      for (const [claimId, { of, isClosed }] of state.filed) {
        if (!("batchId" in of) || of.batchId !== id) continue;
        const word = state.assay.claims.get(claimId)?.word;
        if (!isClosed) this.fail(3, "a batch is final whose leaf's claim stands");
        if (word?.state === "FALLEN") this.fail(3, "a batch is final whose leaf fell");
      }
      for (const { status } of batch.leaves.values()) {
        if (status !== "CLOSED") this.fail(3, `a batch is final with a leaf ${status}`);
      }
    }
  }

  /** Claims that the promises of this contract became, which no close ended yet. */
  live(): (readonly [ClaimId, Filed])[] {
    return [...this.state.filed].filter(([, { isClosed }]) => !isClosed);
  }

  isEnded(claimId: ClaimId): boolean {
    const word = this.state.assay.claims.get(claimId)?.word;
    if (word === undefined) return false;
    return word.state === "FALLEN" || isFinal(word, this.answerSeconds, this.now);
  }

  /** Model of a claim, by its index here. */
  modelOf(claimId: ClaimId): number {
    return this.ids.indexOf(claimIn(this.state, claimId)?.modelId as ModelId);
  }

  /** Calldata of a model that no promise of a game is about. */
  otherInput(model: number): InputFacts {
    return factsOf(model).otherInput;
  }

  /** The output that is right for a claim's input. */
  rightOutput(claimId: ClaimId): Hex {
    const facts = factsOf(this.modelOf(claimId));
    const { requestId } = this.state.filed.get(claimId) as Filed;
    const { inputHash } = this.state.assay.requests.get(requestId)?.request ?? {};
    return inputHash === facts.otherInput.hash ? facts.wrong.hash : facts.right.hash;
  }

  isWrong(claimId: ClaimId): boolean {
    return claimIn(this.state, claimId)?.outputHash !== this.rightOutput(claimId);
  }
}

export function count<Key>(map: Map<Key, number>, key: Key): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}
