/** What workers say of the trace behind a claim in dispute. Nothing here decides that it is used. */
import { setTimeout as delay } from "node:timers/promises";
import { concatBytes, equalBytes, toHex } from "../base/bytes.ts";
import { isBaseError } from "../base/errors.ts";
import { encodePosition, type Position } from "../inference/commit/positions.ts";
import { foldReveal, foldTops, type Reveal, topsOf, traceShapes } from "../inference/commit/reveal.ts";
import type { Question, WorkerAnswer } from "../protocol/service/workers/question.ts";
import type { WorkerRuns } from "../protocol/service/workers/runs.ts";
import { readReveal, revealInput, splitHashes, traceInput } from "../protocol/service/workers/traces.ts";
import type { ServedProgram } from "./models.ts";
import type { OwnTrace } from "./own-trace.ts";

export interface TraceWorkers {
  readonly runs: Pick<WorkerRuns, "ask" | "bar">;
  /** whether workers are asked about a model */
  readonly asksFor: (model: string) => boolean;
}

/** The run behind a claim. */
export interface TraceOrder {
  readonly model: ServedProgram;
  readonly calldata: Uint8Array;
  /** return data that the claim states */
  readonly output: Uint8Array;
  /** aborts when the claim is over; nobody waits for anything after that */
  readonly signal: AbortSignal;
}

/** Workers whose traces have to be equal. */
const AGREEING = 2;
/** Of the time that is left, what this machine has before workers are asked, unless it fails. */
const OWN_SHARE = 1 / 4;
/** How long an order of workers is waited for, ms; after the deadline too, for nobody may have called it in. */
const ORDER_MS = { least: 5_000, most: 3_600_000 } as const;
/** After an answer that does not help, ms. */
const PAUSE_MS = 1_000;
/** The longest time that a timer takes, ms. */
const MOST_TIMER_MS = 2 ** 31 - 1;

export const waited = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(Math.min(Math.max(ms, 0), MOST_TIMER_MS), undefined, { ref: false, signal });

/** Of somebody who is not waited for any more. */
const never = <T>(): Promise<T> => new Promise(() => {});

export class WorkerTrace {
  readonly #workers: TraceWorkers;
  readonly #order: TraceOrder;
  readonly #own: OwnTrace;
  /** by worker; of each its last answer */
  readonly #traces = new Map<string, Uint8Array>();
  readonly #reveals = new Map<string, Promise<Reveal>>();
  /** whose reveals were not of the trace, which says nothing before this machine has one */
  readonly #doubted = new Set<string>();
  #agreed: Promise<readonly Uint8Array[]> | undefined;

  constructor(workers: TraceWorkers, order: TraceOrder, own: OwnTrace) {
    this.#workers = workers;
    this.#order = order;
    this.#own = own;
    own.whenMade((trace) => this.#judge(concatBytes(...topsOf(trace))));
  }

  /** Hashes that two workers say are to be published. Pending until there are such, and for ever once this machine has its
   *  trace or the claim is over.
   *  @param leftMs until they are due, ms */
  agreed(leftMs: number): Promise<readonly Uint8Array[]> {
    this.#agreed ??= this.#until(
      leftMs,
      () => true,
      (limitMs, signal) => this.#askTops(limitMs, signal),
    );
    return this.#agreed;
  }

  /** What a worker reveals of the trace with this root. Pending as `agreed`. */
  reveal(position: Position, root: Uint8Array, leftMs: number): Promise<Reveal> {
    const key = `${toHex(root)} ${encodePosition(position)}`;
    const known = this.#reveals.get(key);
    if (known !== undefined) return known;
    const asked = this.#until(
      leftMs,
      // A trace of this machine that is not the committed one does not help.
      (own) => equalBytes(own, root),
      (limitMs, signal) => this.#askReveal(position, root, limitMs, signal),
    );
    this.#reveals.set(key, asked);
    return asked;
  }

  /** Asks again and again, from when this machine is late or fails.
   *  @param helps whether this machine's trace, of which it takes the root, makes it needless
   *  @param ask undefined: no answer that helps */
  async #until<T>(
    leftMs: number,
    helps: (own: Uint8Array) => boolean,
    ask: (limitMs: number, signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T> {
    const dueAt = performance.now() + leftMs;
    const needless = new AbortController();
    this.#own.whenMade(({ root }) => helps(root) && needless.abort());
    const signal = AbortSignal.any([this.#order.signal, needless.signal]);
    try {
      await Promise.race([this.#own.failure, waited(OWN_SHARE * leftMs, signal)]);
      while (!signal.aborted) {
        const left = dueAt - performance.now();
        const answer = await ask(Math.min(Math.max(left, ORDER_MS.least), ORDER_MS.most), signal);
        if (answer !== undefined) return answer;
        await waited(PAUSE_MS, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    return never();
  }

  #ask(question: Pick<Question, "task" | "input" | "count" | "limitMs" | "signal" | "without">) {
    return this.#workers.runs.ask({ model: this.#order.model.id, ...question });
  }

  async #askTops(limitMs: number, signal: AbortSignal): Promise<readonly Uint8Array[] | undefined> {
    const { calldata, output } = this.#order;
    // Where two differ a third one decides.
    const count = this.#traces.size >= AGREEING ? AGREEING + 1 : AGREEING;
    const answers = await this.#ask({
      task: "trace",
      input: traceInput({ calldata, output }),
      count,
      limitMs,
      signal,
    });
    for (const answer of answers)
      if (this.#hashesOf(answer.content) !== undefined) this.#traces.set(answer.worker, answer.content);
      else this.#bar(answer);
    const all = [...this.#traces.values()];
    const agreed = all.find((one) => all.filter((other) => equalBytes(one, other)).length >= AGREEING);
    const { made } = this.#own;
    if (made !== undefined) this.#judge(concatBytes(...topsOf(made)));
    return agreed && this.#hashesOf(agreed);
  }

  /** @returns undefined for what commitTrace publishes of no trace of this model */
  #hashesOf(content: Uint8Array): readonly Uint8Array[] | undefined {
    const hashes = splitHashes(content);
    const { steps } = this.#order.model.prepared.program;
    return hashes && rootOf(() => foldTops(steps.length, hashes)) && hashes;
  }

  #judge(right: Uint8Array): void {
    for (const [worker, content] of this.#traces)
      if (!equalBytes(content, right)) this.#bar({ worker, content });
  }

  async #askReveal(
    position: Position,
    root: Uint8Array,
    limitMs: number,
    signal: AbortSignal,
  ): Promise<Reveal | undefined> {
    const { calldata, output, model } = this.#order;
    const input = revealInput({ position, calldata, output });
    const question = { task: "reveal", input, count: 1, limitMs, signal, without: this.#doubted } as const;
    const [answer] = await this.#ask(question);
    if (answer === undefined) return undefined;
    const reveal = readReveal(answer.content);
    const folded = reveal && rootOf(() => foldReveal(traceShapes(model.prepared.program), position, reveal));
    if (folded === undefined) this.#bar(answer);
    else if (equalBytes(folded, root)) return reveal;
    else {
      this.#doubted.add(answer.worker);
      this.#own.whenMade((own) => equalBytes(own.root, root) && this.#bar(answer));
    }
    return undefined;
  }

  #bar({ worker, content }: WorkerAnswer): void {
    const { name } = this.#order.model;
    this.#workers.runs.bar(worker, {
      model: name,
      answered: toHex(content.slice(0, 128)),
      bytes: content.length,
    });
  }
}

/** @returns undefined for what no honest machine reveals or publishes, of whatever run */
function rootOf(fold: () => Uint8Array): Uint8Array | undefined {
  try {
    return fold();
  } catch (error) {
    if (isBaseError(error) && error.code === "REVEAL_NOT_CANONICAL") return undefined;
    throw error;
  }
}
