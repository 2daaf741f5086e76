/** Signs answers in a thread, each journalled before it is given out. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { BaseError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { Draft, FromThread, MadeBatch, Signature, ThreadData, ToThread } from "./messages.ts";

type Task = ToThread extends infer Each ? (Each extends ToThread ? Omit<Each, "id"> : never) : never;

interface Waiting {
  readonly resolve: (signed: Signature | undefined) => void;
  readonly reject: (reason: BaseError) => void;
}

export class Signer {
  readonly #log: Logger;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  /** asked in this turn of the event loop: a message costs more than what is in it */
  #outbox: ToThread[] = [];
  #next = 0;
  #lost: string | undefined;

  private constructor(worker: Worker, log: Logger) {
    this.#worker = worker;
    this.#log = log;
  }

  /** Opens the journal.
   *  @throws BaseError SIGNER_LOST with what the thread said: a journal of another key, a database that cannot be used */
  static async open(data: ThreadData, log: Logger): Promise<Signer> {
    const worker = new Worker(new URL("signing-thread.mjs", import.meta.url), {
      workerData: data,
      execArgv: [],
    });
    const signer = new Signer(worker, log);
    await new Promise<void>((resolve, reject) => {
      worker.on("message", (message: FromThread) => {
        if (message.kind === "ready") resolve();
        else signer.#answered(message);
      });
      worker.on("error", (error) => reject(signer.#lose(error.message)));
      worker.on("exit", (code) => reject(signer.#lose(`it ended with exit code ${code}`)));
    });
    return signer;
  }

  /** Answers that wait to be on the disk. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** @throws BaseError SIGNER_LOST, JOURNAL_FAILED (retryable): nothing was promised */
  async sign(draft: Draft): Promise<Signature> {
    return (await this.#ask({ kind: "sign", draft })) as Signature;
  }

  /** Has a signed claim wait for a batch, if it does not already. @param payload its leaf @throws BaseError as sign */
  async awaitBatch(digest: Uint8Array, payload: Uint8Array): Promise<void> {
    await this.#ask({ kind: "await", digest, payload });
  }

  /** Journals a batch and which leaves are in it, before it is sent. @throws BaseError as sign */
  async keepBatch(batch: MadeBatch): Promise<void> {
    await this.#ask({ kind: "batch", batch });
  }

  /** @param batch id @throws BaseError as sign */
  async markPosted(batch: Uint8Array): Promise<void> {
    await this.#ask({ kind: "posted", batch });
  }

  /** A re-org took it from the chain: it is to be sent again. @throws BaseError as sign */
  async markUnposted(batch: Uint8Array): Promise<void> {
    await this.#ask({ kind: "unposted", batch });
  }

  /** Forgets a posted batch of which no signed claim is kept. @throws BaseError as sign */
  async forgetBatch(batch: Uint8Array): Promise<void> {
    await this.#ask({ kind: "forget", batch });
  }

  /** Forgets what ended before this second, and is in no batch that is not posted. @throws BaseError as sign */
  async prune(before: number): Promise<void> {
    await this.#ask({ kind: "prune", before });
  }

  /** Has what was asked done, then closes the journal and ends the thread. */
  async close(): Promise<void> {
    if (this.#lost === undefined) {
      const ended = once(this.#worker, "exit");
      this.#post();
      this.#worker.postMessage("close");
      this.#lost = "the node is stopping";
      await ended;
    }
    await this.#worker.terminate();
  }

  #ask(task: Task): Promise<Signature | undefined> {
    if (this.#lost !== undefined) return Promise.reject(lost(this.#lost));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (this.#outbox.length === 0) setImmediate(() => this.#post());
      this.#outbox.push({ ...task, id } as ToThread);
    });
  }

  #post(): void {
    if (this.#outbox.length > 0) this.#worker.postMessage(this.#outbox);
    this.#outbox = [];
  }

  #answered(message: Exclude<FromThread, { kind: "ready" }>): void {
    if (message.kind === "committed") {
      for (const { id, signed } of message.answers) this.#end(id)?.resolve(signed);
      return;
    }
    this.#log.error({ reason: message.reason }, "signed claims could not be journalled: none is given out");
    for (const id of message.ids) this.#end(id)?.reject(failed(message.reason));
  }

  #end(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #lose(reason: string): BaseError {
    if (this.#lost === undefined)
      this.#log.error({ reason }, "the signing thread was lost: nothing is signed");
    this.#lost ??= reason;
    const error = lost(this.#lost);
    for (const id of [...this.#waiting.keys()]) this.#end(id)?.reject(error);
    return error;
  }
}

const lost = (reason: string): BaseError =>
  new BaseError({
    code: "SIGNER_LOST",
    shortMessage: `This node cannot sign: ${reason}`,
    nextStep: "Ask another node; the operator of this one finds the reason in its log, and starts it again.",
    retryable: true,
  });

const failed = (reason: string): BaseError =>
  new BaseError({
    code: "JOURNAL_FAILED",
    shortMessage: `The signed claim could not be journalled, so it is not given out: ${reason}`,
    nextStep: "Ask again later, or another node.",
    retryable: true,
  });
