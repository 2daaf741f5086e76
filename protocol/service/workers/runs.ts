/** A daemon's side of the queue: asks workers to run a model, and counts answers by whose they are. Nothing here decides
 *  that an output is right. */
import { randomUUID } from "node:crypto";
import type { Hex } from "viem";
import { toHex } from "../../../base/bytes.ts";
import type { Logger } from "../../../base/log.ts";
import { pause } from "../../chain/follower.ts";
import type { DatabaseTerms } from "../postgres/terms.ts";
import { type Connected, KEEP_SECONDS, noticeOf, WorkDatabase } from "./database.ts";
import {
  ANSWERED,
  digestOf,
  isProofTask,
  MAX_INPUT_BYTES,
  ORDERED,
  QUEUES,
  type QueueName,
  type WorkerOrder,
  type WorkerTask,
} from "./orders.ts";
import { Patience } from "./patience.ts";
import type { OrderOutcome, Question, WorkerAnswer } from "./question.ts";
import {
  type AnswerRow,
  identityOf,
  MOST_ROWS,
  type OverJob,
  prune,
  readAlive,
  readAnswers,
  removeJobs,
  seenOf,
} from "./tables.ts";

export interface WorkerRunsOptions {
  readonly terms: DatabaseTerms;
  /** how long workers have for an order, ms */
  readonly limitMs: number;
  readonly log: Logger;
  /** a clock that never goes back; absent: this process's */
  readonly nowMs?: () => number;
}

/** The workers of a daemon. */
export interface AskedWorkers {
  readonly runs: WorkerRuns;
  /** whether they are asked about a model */
  readonly asksFor: (model: string) => boolean;
}

interface Asked {
  readonly order: WorkerOrder;
  readonly digest: string;
  readonly count: number;
  readonly jobs: Map<string, QueueName>;
  readonly answers: Map<string, Uint8Array>;
  /** that could not do it, and do no second copy */
  readonly refused: Set<string>;
  /** whose answers to which job were read: one of each counts, however many rows it writes */
  readonly seen: Set<string>;
  /** that jobs are in the queue, or will never be */
  readonly sent: Promise<unknown>[];
  resent: number;
  readonly limitMs: number;
  /** true: PostgreSQL is gone, or workers are, which says nothing about the answers of others */
  isLost: boolean;
  readonly end: () => void;
}

/** Between two looks at who lives, ms. */
const BEAT_MS = 1_000;
/** Between two looks for answers where no notice came, ms. */
const LOOK_MS = 250;
/** Copies of an order that are sent again, at most: for answers that are none, and for workers that are silent. */
const MOST_RESENT = 4;
const PRUNE_MS = 60_000;
/** Of the time that is left, what an order takes at most: the rest is for this machine's run and what follows from it. */
const SHARE_OF_TIME_LEFT = 1 / 4;
/** In which no answer comes, ms. */
const TOO_SHORT_MS = 200;

export class WorkerRuns {
  readonly #options: WorkerRunsOptions;
  readonly #database: WorkDatabase;
  readonly #asked = new Map<string, Asked>();
  readonly #barred = new Set<string>();
  /** jobs that are over and still in the tables, by queue */
  readonly #over: OverJob[] = [];
  /** by model: what one model cannot be asked about says nothing about another */
  readonly #patience = new Map<string, Patience>();
  #alive: ReadonlySet<string> = new Set();
  #isCollecting = false;
  #mustCollect = false;
  onOutcome: (outcome: OrderOutcome) => void = () => {};
  /** called once for each worker that is barred */
  onBarred: (worker: string) => void = () => {};

  constructor(options: WorkerRunsOptions) {
    this.#options = options;
    this.#database = new WorkDatabase({
      terms: options.terms,
      makesTables: true,
      listen: { channel: ANSWERED, onNews: (job) => this.#asked.has(job) && this.#collectSoon() },
      onLost: () => this.#endAll(),
      log: options.log,
    });
  }

  /** Workers that live and are not barred. */
  get alive(): number {
    return this.#database.connected === undefined ? 0 : this.#alive.size;
  }

  get barred(): number {
    return this.#barred.size;
  }

  get isUp(): boolean {
    return this.#database.connected !== undefined;
  }

  /** Models about which none is asked for a while, because answers were late. */
  get resting(): number {
    return [...this.#patience.values()].filter(({ isResting }) => isResting).length;
  }

  /** Answers of different workers; fewer than `count` where they did not come in time, none where too few live. Never
   *  rejects: whoever asks goes on by itself. Answers are the word of workers, and prove nothing. */
  async ask(question: Question): Promise<readonly WorkerAnswer[]> {
    const { task, model, input, count, signal, leftMs } = question;
    const { log } = this.#options;
    if (input.length > MAX_INPUT_BYTES) {
      log.debug({ model, bytes: input.length, limit: MAX_INPUT_BYTES }, "an input is too long for workers");
      return this.#none("too-large");
    }
    const isCalledOff = () => signal?.aborted === true;
    if (isCalledOff()) return [];
    const isWanted = (worker: string) => question.without?.has(worker) !== true;
    if (this.alive === 0 || [...this.#alive].filter(isWanted).length < count) return this.#none("too-few");
    const limitMs = Math.min(
      question.limitMs ?? this.#options.limitMs,
      SHARE_OF_TIME_LEFT * (leftMs ?? Number.POSITIVE_INFINITY),
    );
    if (limitMs < TOO_SHORT_MS) return this.#none("no-time");
    const patience = this.#patienceWith(task, model);
    const may = patience?.ask() ?? "yes";
    if (may === "no") return this.#none("resting");
    const order = { task, model: model as Hex, input: toHex(input), copies: randomUUID() };
    const asked = await new Promise<Asked>((resolve) => {
      const end = () => {
        clearTimeout(limit);
        clearInterval(again);
        signal?.removeEventListener("abort", end);
        resolve(made);
      };
      const made: Asked = {
        ...{ order, digest: digestOf(order), count, limitMs, isLost: false, end },
        ...{
          jobs: new Map(),
          answers: new Map(),
          refused: new Set(question.without),
          seen: new Set(),
          sent: [],
          resent: 0,
        },
      };
      const limit = setTimeout(end, limitMs);
      // A worker that died or hangs costs a third of the limit.
      const again = setInterval(() => this.#resend(made, count - made.answers.size), limitMs / 3);
      signal?.addEventListener("abort", end);
      this.#send(made, count);
    });
    this.#forget(asked);
    const answers = [...asked.answers].map(([worker, content]) => ({ worker, content }));
    const isLate = answers.length < count;
    const isRefused = asked.refused.size > 0 && this.#isHopeless(asked);
    if (!isCalledOff()) this.onOutcome(isLate ? (isRefused ? "refused" : "late") : "answered");
    if (isLate && (isCalledOff() || asked.isLost)) patience?.calledOff(may);
    else if (patience !== undefined) this.#report(model, patience.ended(may, isLate));
    return answers;
  }

  /** Whoever makes no proofs of a model may well run it. For traces and their parts nobody but this machine is waited for,
   *  and a bond may hang on them: they are asked for as long as they are owed. */
  #patienceWith(task: WorkerTask, model: string): Patience | undefined {
    if (task === "trace" || task === "reveal") return undefined;
    const key = isProofTask(task) ? `${task} ${model}` : model;
    const known = this.#patience.get(key) ?? new Patience(this.#options.nowMs ?? (() => performance.now()));
    this.#patience.set(key, known);
    return known;
  }

  #report(model: string, change: ReturnType<Patience["ended"]>): void {
    const { log } = this.#options;
    if (change === "rests")
      log.warn({ model }, "workers answer too late: none is asked about this model for a while");
    if (change === "recovers") log.info({ model }, "workers answer in time again");
  }

  /** No answer of this worker counts any more while this process lives. */
  bar(worker: string, facts: Readonly<Record<string, unknown>>): void {
    this.onOutcome("wrong");
    if (this.#barred.has(worker)) return;
    this.#barred.add(worker);
    this.#alive = new Set([...this.#alive].filter((name) => name !== worker));
    this.#options.log.error(
      { worker, ...facts },
      "a worker's answer is wrong: no answer of it counts any more",
    );
    this.onBarred(worker);
  }

  /** Runs until the signal aborts. Never rejects: without the queue the daemon works by itself. */
  async run(signal: AbortSignal): Promise<void> {
    const connecting = this.#database
      .run(signal)
      .catch((error: unknown) => this.#options.log.error({ error }, "no workers are asked"));
    const looking = setInterval(() => this.#asked.size > 0 && this.#collectSoon(), LOOK_MS);
    let prunedAtMs = 0;
    const beating = async () => {
      while (!signal.aborted) {
        const prunes = Date.now() - prunedAtMs > PRUNE_MS;
        await this.#beat(prunes).then(
          (done) => {
            if (done && prunes) prunedAtMs = Date.now();
          },
          () => undefined,
        );
        await pause(BEAT_MS, signal);
      }
    };
    try {
      await Promise.all([connecting, beating()]);
    } finally {
      clearInterval(looking);
      this.#endAll();
    }
  }

  /** Whoever waits goes on by itself at once. */
  #endAll(): void {
    for (const asked of new Set(this.#asked.values())) {
      asked.isLost = true;
      asked.end();
    }
  }

  #none(outcome: OrderOutcome): readonly WorkerAnswer[] {
    this.onOutcome(outcome);
    return [];
  }

  #send(asked: Asked, copies: number): void {
    const { connected } = this.#database;
    if (connected === undefined) return;
    const first = Math.floor(Math.random() * QUEUES.length);
    const jobs = Array.from({ length: copies }, (_, index) => {
      const name = QUEUES[(first + index) % QUEUES.length] as QueueName;
      const id = randomUUID();
      asked.jobs.set(id, name);
      this.#asked.set(id, asked);
      const expireInSeconds = Math.ceil(asked.limitMs / 1_000);
      // Of a daemon that died, nobody takes them away.
      const keepUntil = new Date(Date.now() + asked.limitMs + 1_000 * KEEP_SECONDS);
      // Copies that come to a worker that has another of them are given back.
      return { id, name, data: asked.order, expireInSeconds, keepUntil, retryLimit: 100 };
    });
    // A failure ends the connection; the limit ends the order.
    asked.sent.push(
      connected.boss
        .insert(jobs)
        .then(() => connected.session.rows(noticeOf(ORDERED), [""]))
        .catch(() => undefined),
    );
  }

  #resend(asked: Asked, copies: number): void {
    for (let sent = 0; sent < copies && asked.resent < MOST_RESENT; sent++) {
      asked.resent += 1;
      this.#send(asked, 1);
    }
  }

  #forget({ jobs, sent }: Asked): void {
    for (const job of jobs.keys()) this.#asked.delete(job);
    // What is still on its way into the queue cannot be taken away yet.
    void Promise.all(sent).then(() => {
      for (const [job, queue] of jobs) this.#over.push({ job, queue });
    });
  }

  #collectSoon(): void {
    this.#mustCollect = true;
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    setImmediate(async () => {
      while (this.#mustCollect) {
        this.#mustCollect = false;
        await this.#collect().catch(() => undefined);
      }
      this.#isCollecting = false;
    });
  }

  async #collect(): Promise<void> {
    const { connected } = this.#database;
    if (connected === undefined || this.#asked.size === 0) return;
    const seen = [...new Set(this.#asked.values())].flatMap((asked) => [...asked.seen]);
    const rows = await readAnswers(connected, [...this.#asked.keys()], seen);
    for (const row of rows) this.#take(connected, row);
    if (rows.length === MOST_ROWS) this.#mustCollect = true;
  }

  #take({ login: own }: Connected, row: AnswerRow): void {
    const asked = this.#asked.get(row.job);
    if (asked === undefined) return;
    const { login, worker, digest, outcome, content } = row;
    asked.seen.add(seenOf(own, row));
    const identity = identityOf(own, login, worker);
    const isAnswer = outcome === "made" && digest === asked.digest;
    if (!isAnswer) {
      this.onOutcome(outcome === "failed" ? "failed" : "malformed");
      const reason =
        outcome === "failed" ? new TextDecoder().decode(content.slice(0, 500)) : "of another order";
      this.#options.log.warn(
        { worker: identity, model: asked.order.model, reason },
        "a worker gave no answer",
      );
    }
    if (outcome === "failed") asked.refused.add(identity);
    if (asked.refused.size > 0 && this.#isHopeless(asked)) {
      asked.end();
      return;
    }
    // The first word of a worker is the one that counts.
    const isNew = !asked.answers.has(identity) && !asked.refused.has(identity);
    if (!isAnswer || this.#barred.has(identity) || !isNew) {
      this.#resend(asked, 1);
      return;
    }
    asked.answers.set(identity, new Uint8Array(content));
    if (asked.answers.size >= asked.count) asked.end();
  }

  /** Too few are left that may answer still. */
  #isHopeless({ count, answers, refused }: Asked): boolean {
    const left = [...this.#alive].filter((name) => !answers.has(name) && !refused.has(name));
    return left.length < count - answers.size;
  }

  /** So many do not live any more, which says nothing about those that do. */
  #endHopeless(): void {
    for (const asked of new Set(this.#asked.values())) {
      if (!this.#isHopeless(asked)) continue;
      asked.isLost = true;
      asked.end();
    }
  }

  /** @returns false while PostgreSQL cannot be used */
  async #beat(prunes: boolean): Promise<boolean> {
    const { connected } = this.#database;
    if (connected === undefined) return false;
    const names = await readAlive(connected);
    this.#alive = new Set(names.filter((name) => !this.#barred.has(name)));
    this.#endHopeless();
    const over = [...this.#over];
    this.#over.splice(0, over.length, ...(await removeJobs(connected, over)));
    if (prunes) await prune(connected);
    return true;
  }
}
