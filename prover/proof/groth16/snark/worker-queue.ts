/** One child process that proves, started at first use and again after it ended. It uses all cores, so what is asked of
 *  it waits for each other; what takes too long is given up, and its process killed. */
import type { ChildProcess } from "node:child_process";
import { BaseError } from "../../../../base/errors.ts";

/** After which a proof is given up, ms. */
const TIMEOUT_MS = 600_000;

export interface QueueOptions {
  /** After which a proof is given up and its process killed; default 600,000. */
  readonly timeoutMs?: number;
}

/** How a kind of child is spoken to. */
export interface Speech<Child extends ChildProcess, Question, Answer> {
  start(): Child;
  /** Sends the question. Calls one of both, once. @returns stops listening */
  ask(
    child: Child,
    question: Question,
    answered: (answer: Answer) => void,
    refused: (reason: string) => void,
  ): () => void;
  /** the event of its end: `close` comes after all that it said */
  readonly end: "exit" | "close";
  /** what it said of its end, "" if nothing */
  lastWords(): string;
  /** what to do about a process that ended, took too long or cannot be started */
  readonly tryAgain: string;
}

export class WorkerQueue<Child extends ChildProcess, Question, Answer> {
  readonly #speech: Speech<Child, Question, Answer>;
  readonly #timeoutMs: number;
  #last: Promise<unknown> = Promise.resolve();
  #process: Child | undefined;
  #isClosed = false;

  constructor(speech: Speech<Child, Question, Answer>, { timeoutMs = TIMEOUT_MS }: QueueOptions = {}) {
    this.#speech = speech;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws BaseError PROOF_FAILED; retryable if the process died, took too long or was called off */
  ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    const result = this.#last.then(() => this.#ask(question, signal));
    this.#last = result.catch(() => undefined);
    return result;
  }

  close(): void {
    this.#isClosed = true;
    this.#kill();
  }

  #ask(question: Question, signal?: AbortSignal): Promise<Answer> {
    if (this.#isClosed) throw this.#failed("the prover was closed", true);
    if (signal?.aborted === true) throw this.#failed("it was called off", true);
    const child = this.#started();
    const { end, lastWords } = this.#speech;
    return new Promise((resolve, reject) => {
      let stop = (): void => {};
      const finish = (settle: () => void): void => {
        clearTimeout(watchdog);
        stop();
        child.off(end, onEnd).off("error", onError);
        signal?.removeEventListener("abort", onAbort);
        settle();
      };
      const giveUp = (reason: string): void => {
        this.#kill();
        finish(() => reject(this.#failed(reason, true)));
      };
      const onEnd = (code: number | null, by: string | null): void =>
        finish(() =>
          reject(
            this.#failed(`its process ended (${by ?? `exit code ${code}`}) ${lastWords()}`.trim(), true),
          ),
        );
      const onError = (error: Error): void => giveUp(`its process failed: ${error.message}`);
      const onAbort = (): void => giveUp("it was called off");
      const watchdog = setTimeout(() => giveUp(`it took longer than ${this.#timeoutMs} ms`), this.#timeoutMs);
      child.on(end, onEnd).on("error", onError);
      signal?.addEventListener("abort", onAbort);
      stop = this.#speech.ask(
        child,
        question,
        (answer) => finish(() => resolve(answer)),
        (reason) => finish(() => reject(this.#failed(reason, false))),
      );
    });
  }

  #started(): Child {
    if (this.#process !== undefined) return this.#process;
    const child = this.#speech.start();
    child.on(this.#speech.end, () => {
      if (this.#process === child) this.#process = undefined;
    });
    this.#process = child;
    return child;
  }

  #kill(): void {
    this.#process?.kill("SIGKILL");
    this.#process = undefined;
  }

  #failed(reason: string, retryable: boolean): BaseError {
    return new BaseError({
      code: "PROOF_FAILED",
      shortMessage: `The proof could not be made: ${reason}.`,
      nextStep: retryable ? this.#speech.tryAgain : "Check that the proving key is of this model's circuit.",
      retryable,
    });
  }
}
