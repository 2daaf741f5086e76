import type { Head } from "../../chain/follower.ts";

/** The chain's time between two blocks, by the local clock's pace alone: a local clock that is wrong by an hour
 *  still tells how much of a deadline is left. */
export class ChainClock {
  readonly #nowMs: () => number;
  #seen: { readonly head: Head; readonly atMs: number } | undefined;

  /** @param nowMs the local clock, ms since 1970 */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Called with each new head when it is first seen. */
  see(head: Head): void {
    if (this.#seen?.head.hash !== head.hash) this.#seen = { head, atMs: this.#nowMs() };
  }

  /** The newest block that was seen. */
  get head(): Head | undefined {
    return this.#seen?.head;
  }

  /** Estimated time of the chain, seconds; undefined before the first block. */
  get now(): number | undefined {
    const seen = this.#seen;
    return seen && seen.head.timestamp + (this.#nowMs() - seen.atMs) / 1_000;
  }

  /** Seconds since the newest block was first seen. */
  get idleSeconds(): number | undefined {
    return this.#seen && (this.#nowMs() - this.#seen.atMs) / 1_000;
  }

  /** Local clock less the newest block's time, when it was first seen, seconds. A block takes some seconds to arrive;
   *  a negative or a large number says that one of the clocks is wrong. */
  get differenceSeconds(): number | undefined {
    return this.#seen && this.#seen.atMs / 1_000 - this.#seen.head.timestamp;
  }
}
