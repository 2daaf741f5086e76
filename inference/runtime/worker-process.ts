/** A child process that runs onnxruntime, and the streams to it. */
import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { ANSWERS_FD, type Frame, type FromChild, frameReader, RUNS_FD, type ToChild } from "./messages.ts";

/** Told what the process says, until it is lost: once, and nothing after it. */
export interface WorkerListener {
  answered(frame: Frame): void;
  failed(failed: FromChild["failed"]): void;
  lost(reason: string): void;
}

export class WorkerProcess {
  readonly #process: ChildProcess;
  readonly #runs: Socket;
  #isOver = false;

  constructor(listener: WorkerListener) {
    const child = fork(fileURLToPath(new URL("worker.mjs", import.meta.url)), [], {
      execArgv: [],
      serialization: "advanced",
      // Its standard output belongs to the parent's results.
      stdio: ["ignore", "ignore", "inherit", "ipc", "pipe", "pipe"],
    });
    const lose = (reason: string) => {
      if (this.#isOver) return;
      this.kill();
      listener.lost(reason);
    };
    const unreachable = ({ message }: Error) => lose(`the child process cannot be reached: ${message}`);
    child.on("message", ({ failed }: FromChild) => {
      if (!this.#isOver) listener.failed(failed);
    });
    const streams: readonly unknown[] = child.stdio;
    const [answers, runs] = [streams[ANSWERS_FD] as Socket, streams[RUNS_FD] as Socket];
    const read = frameReader();
    answers.on("data", (chunk: Buffer) => {
      if (!this.#isOver) for (const frame of read(chunk)) listener.answered(frame);
    });
    for (const stream of [answers, runs]) stream.on("error", unreachable);
    child.on("error", (error) => lose(`the child process failed: ${error.message}`));
    child.on("exit", (code, signal) => lose(`the child process ended (${signal ?? `exit code ${code}`})`));
    // A pool that is idle keeps no program alive.
    child.unref();
    child.channel?.unref();
    answers.unref();
    runs.unref();
    this.#process = child;
    this.#runs = runs;
    this.#unreachable = unreachable;
  }

  readonly #unreachable: (error: Error) => void;

  open(message: ToChild): void {
    this.#process.send(message, (error) => {
      if (error !== null) this.#unreachable(error);
    });
  }

  run(frame: Buffer): void {
    this.#runs.write(frame);
  }

  /** Ends it; its listener is told nothing more. */
  kill(): void {
    this.#isOver = true;
    this.#process.kill("SIGKILL");
  }
}
