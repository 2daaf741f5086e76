/** Child processes that run onnxruntime, with a watchdog over each run. */
import { Child, type ChildOptions, type RunResult } from "./child.ts";
import type { Content, SessionSource } from "./messages.ts";

export interface PoolOptions extends ChildOptions {
  /** child processes; default 1 */
  readonly size?: number;
}

export class RuntimePool {
  readonly #children: readonly Child[];

  constructor(options: PoolOptions = {}) {
    this.#children = Array.from({ length: options.size ?? 1 }, () => new Child(options));
  }

  /** Runs that somebody waits for. */
  get load(): number {
    return this.#children.reduce((sum, { load }) => sum + load, 0);
  }

  /** Runs a session on the least busy child. Never rejects.
   *  @param signal aborts when nobody waits any more: the run leaves the queue, or the child that is at it is stopped */
  run(source: SessionSource, inputs: readonly Content[], signal?: AbortSignal): Promise<RunResult> {
    const child = this.#children.reduce((least, other) => (other.load < least.load ? other : least));
    return child.run(source, inputs, signal);
  }

  close(): void {
    for (const child of this.#children) child.close();
  }
}
