/** A daemon that is killed at each of its stages, once it is up, and started again on the same data. */
import type { Daemon } from "../../cli/demo/processes.ts";
import { systemAccount } from "./system.ts";

export class Victim {
  readonly kills: string[] = [];
  readonly #index: number;
  readonly #start: () => Daemon;
  readonly #message: string;
  readonly #seen = new Set<string>();
  #daemon: Daemon;
  #turn: Promise<void> = Promise.resolve();

  /** @param message with which it says that it is up */
  constructor(index: number, message: string, start: () => Daemon) {
    this.#index = index;
    this.#message = message;
    this.#start = start;
    this.#daemon = start();
  }

  get address(): string {
    return systemAccount(this.#index).address;
  }

  /** Resolves once all kills that are due are done and the process is up again. @returns what it logged then */
  async settled(): Promise<Record<string, unknown>> {
    for (let turn: Promise<void> | undefined; turn !== this.#turn; ) {
      turn = this.#turn;
      await turn;
    }
    return this.#up();
  }

  /** @param stage kills once @param kind what it counts as */
  strike(stage: string, kind: string): void {
    if (this.#seen.has(stage)) return;
    this.#seen.add(stage);
    this.#turn = this.#turn.then(async () => {
      await this.#up();
      process.kill(this.#daemon.pid as number, "SIGKILL");
      await this.#daemon.ended;
      this.kills.push(kind);
      this.#daemon = this.#start();
    });
  }

  #up(): Promise<Record<string, unknown>> {
    return this.#daemon.logged(this.#message);
  }
}
