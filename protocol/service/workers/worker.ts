/** A worker: takes orders from the queue, runs models by its canonical executor or proves such a run, and answers. */
import { setTimeout as delay } from "node:timers/promises";
import { abortAfter } from "../../../base/abort.ts";
import { fromHex } from "../../../base/bytes.ts";
import type { Logger } from "../../../base/log.ts";
import { RecentSet } from "../../../base/recent.ts";
import type { Canonical } from "../../../inference/runtime/canonical-pool.ts";
import type { DatabaseTerms } from "../postgres/terms.ts";
import { type Connected, noticeOf, WorkDatabase } from "./database.ts";
import {
  ANSWERED,
  ANSWERS_SCHEMA,
  digestOf,
  isProofTask,
  joinBytes,
  MAX_CONTENT_BYTES,
  ORDERED,
  type ProofStatement,
  type ProofTask,
  QUEUE_SCHEMA,
  QUEUES,
  type QueueName,
  readOrder,
  readProofInput,
  splitBytes,
  type WorkerOrder,
  type WorkerTask,
} from "./orders.ts";
import { WorkerTraces } from "./traces.ts";

export const JOB_OUTCOMES = ["made", "failed", "given-back", "malformed"] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

export interface WorkerOptions {
  readonly terms: DatabaseTerms;
  /** by which its answers are told from those of other workers of its login */
  readonly name: string;
  /** orders at once */
  readonly concurrency: number;
  readonly canonical: Canonical;
  /** Has a model loaded. @throws BaseError where it cannot be had */
  readonly load: (model: string) => Promise<unknown>;
  /** What it proves, by the kind of proof. @throws BaseError where it cannot: it has no proving key */
  readonly prove: Readonly<Record<ProofTask, ProofMaker>>;
  /** how long orders that run when it stops may still take, ms */
  readonly drainMs: number;
  readonly onEnd: (outcome: JobOutcome, ms: number) => void;
  readonly log: Logger;
}

/** Makes a proof of a model's run. @returns what an answer to the task holds */
export type ProofMaker = (
  model: string,
  statement: ProofStatement,
  signal: AbortSignal,
) => Promise<Uint8Array>;

interface FetchedJob {
  readonly id: string;
  readonly data: unknown;
  /** after which nobody waits for it */
  readonly expireInSeconds: string | number;
}

/** Longest pause between two looks into the queue, ms: notices wake it sooner. */
const LOOK_MS = 500;
const BEAT_MS = 1_000;
/** After giving a copy back, so that another worker takes it, ms. */
const GIVEN_BACK_MS = 50;
/** Orders of which it remembers that it took a copy. */
const MOST_COPIES = 10_000;

/** @throws RangeError for bytes that are no joined inputs */
async function runAll(
  joined: Uint8Array,
  run: (calldata: Uint8Array) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const inputs = splitBytes(joined);
  if (inputs === undefined) throw new RangeError(`${joined.length} bytes are no joined inputs`);
  return joinBytes(await Promise.all(inputs.map(run)));
}

export class Worker {
  readonly #options: WorkerOptions;
  readonly #database: WorkDatabase;
  readonly #traces: WorkerTraces;
  readonly #running = new Map<string, Promise<void>>();
  readonly #copies = new RecentSet<string>(MOST_COPIES);
  readonly #preferred: number;
  #wake = () => {};
  #restsUntil = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#traces = new WorkerTraces(options.canonical);
    const { name } = options;
    this.#preferred = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % QUEUES.length;
    this.#database = new WorkDatabase({
      terms: options.terms,
      makesTables: false,
      listen: { channel: ORDERED, onNews: () => this.#wake() },
      log: options.log,
    });
  }

  get isUp(): boolean {
    return this.#database.connected !== undefined;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Works until the signal aborts, then ends what it began.
   *  @throws BaseError as WorkDatabase.run */
  async run(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const connecting = this.#database.run(over.signal);
    const failed = connecting.then(() => undefined);
    const beating = this.#beat(over.signal);
    signal.addEventListener("abort", () => this.#wake());
    try {
      await Promise.race([failed, this.#work(signal)]);
      if (this.#running.size > 0) {
        const drained = Promise.all(this.#running.values());
        await Promise.race([drained, delay(this.#options.drainMs, undefined, { ref: false })]);
      }
      await this.#leave();
    } finally {
      over.abort();
      await Promise.allSettled([connecting, beating]);
    }
    await connecting;
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const taken = await this.#take().catch(() => 0);
      if (taken > 0 && this.#running.size < this.#options.concurrency) continue;
      await Promise.race([woken, delay(LOOK_MS, undefined, { ref: false })]);
    }
  }

  /** @returns how many orders were begun */
  async #take(): Promise<number> {
    const { connected } = this.#database;
    if (connected === undefined || performance.now() < this.#restsUntil) return 0;
    let begun = 0;
    for (let index = 0; index < QUEUES.length; index++) {
      const queue = QUEUES[(this.#preferred + index) % QUEUES.length] as QueueName;
      const free = this.#options.concurrency - this.#running.size;
      if (free <= 0) break;
      const jobs = (await connected.boss.fetch(queue, { batchSize: free })) as FetchedJob[];
      for (const job of jobs) {
        begun += 1;
        const done = this.#do(connected, queue, job).finally(() => {
          this.#running.delete(job.id);
          this.#wake();
        });
        this.#running.set(job.id, done);
      }
    }
    return begun;
  }

  async #do(
    connected: Connected,
    queue: QueueName,
    { id, data, expireInSeconds }: FetchedJob,
  ): Promise<void> {
    const { onEnd, log } = this.#options;
    const since = performance.now();
    let outcome: JobOutcome;
    try {
      const order = readOrder(data);
      if (order === undefined) {
        log.warn({ job: id }, "an order is malformed");
        await connected.boss.cancel(queue, id);
        outcome = "malformed";
      } else if (!this.#copies.add(order.copies)) {
        // It takes nothing for a moment and wakes the others, or it would take the same copy again and again.
        this.#restsUntil = performance.now() + GIVEN_BACK_MS;
        await connected.boss.fail(queue, id, { reason: "another worker is to do it" });
        await connected.session.rows(noticeOf(ORDERED), [""]);
        await delay(GIVEN_BACK_MS);
        outcome = "given-back";
      } else {
        const inTime = abortAfter(1_000 * Number(expireInSeconds));
        outcome = await this.#answer(connected, queue, id, { order, inTime });
      }
    } catch (error) {
      // PostgreSQL is gone: the daemon asks another worker.
      log.warn({ job: id, reason: String(error) }, "an order could not be answered");
      outcome = "failed";
    }
    onEnd(outcome, performance.now() - since);
  }

  async #answer(
    { session, boss }: Connected,
    queue: QueueName,
    job: string,
    { order, inTime }: { readonly order: WorkerOrder; readonly inTime: AbortSignal },
  ): Promise<"made" | "failed"> {
    const { name, log } = this.#options;
    const made = await this.#make(order, inTime).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ job, model: order.model, reason }, "an order failed");
      return { outcome: "failed" as const, content: new TextEncoder().encode(reason).slice(0, 1_000) };
    });
    // An order that is gone has its answers, and whoever asked has taken them away. Its lock makes whoever takes it away
    // wait for this answer, and take that as well.
    await session.rows(
      `INSERT INTO ${ANSWERS_SCHEMA}.answers (job, worker, digest, outcome, content)
       SELECT $1::text, $2, $3, $4, $5 FROM (SELECT FROM ${QUEUE_SCHEMA}.job WHERE name = $6 AND id = $1::uuid FOR KEY SHARE) AS waiting
       ON CONFLICT DO NOTHING`,
      [job, name, digestOf(order), made.outcome, Buffer.from(made.content), queue],
    );
    await session.rows(noticeOf(ANSWERED), [job]);
    await boss.complete(queue, job);
    return made.outcome;
  }

  async #make(
    { task, model, input }: WorkerOrder,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: "made"; readonly content: Uint8Array }> {
    const bytes = fromHex(input);
    const content = await (isProofTask(task)
      ? this.#prove(task, model, bytes, signal)
      : this.#run(task, model, bytes, signal));
    if (content.length > MAX_CONTENT_BYTES)
      throw new RangeError(
        `the output has ${content.length} bytes; an answer holds at most ${MAX_CONTENT_BYTES}`,
      );
    return { outcome: "made", content };
  }

  async #run(
    task: Exclude<WorkerTask, ProofTask>,
    model: string,
    input: Uint8Array,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const { canonical, load } = this.#options;
    await load(model);
    if (task === "trace") return this.#traces.trace(model, input, signal);
    if (task === "reveal") return this.#traces.reveal(model, input, signal);
    const run = (calldata: Uint8Array) => canonical.output(model, calldata, { urgency: "own", signal });
    return task === "output" ? run(input) : runAll(input, run);
  }

  async #prove(task: ProofTask, model: string, input: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const statement = readProofInput(input);
    if (statement === undefined)
      throw new RangeError(`${input.length} bytes are not a binding and the calldata to prove`);
    return this.#options.prove[task](model, statement, signal);
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#database.connected?.session
        .rows(
          `INSERT INTO ${ANSWERS_SCHEMA}.workers (name) VALUES ($1)
           ON CONFLICT (login, name) DO UPDATE SET seen = clock_timestamp()`,
          [this.#options.name],
        )
        .catch(() => undefined);
      await delay(BEAT_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** So that nobody waits for it. */
  async #leave(): Promise<void> {
    await this.#database.connected?.session
      .rows(
        `UPDATE ${ANSWERS_SCHEMA}.workers SET seen = '-infinity' WHERE login = session_user AND name = $1`,
        [this.#options.name],
      )
      .catch(() => undefined);
  }
}
