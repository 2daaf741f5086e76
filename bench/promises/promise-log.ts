/** The events of Promises, as a benchmark waits for them. */
import { EventFollower, pause } from "../../protocol/chain/follower.ts";
import {
  type PromiseEvent,
  type PromiseEventName,
  type PromiseEventOf,
  promiseSource,
} from "../../protocol/chain/promises/events.ts";
import type { System } from "../../test/support/system.ts";
import { STALLED_MS } from "./watch-leaves.ts";

const LOOK_MS = 50;

export class PromiseLog {
  readonly ended: Promise<void>;
  readonly #signal: AbortSignal;
  #events: PromiseEvent[] = [];

  constructor({ chain }: System, signal: AbortSignal) {
    this.#signal = signal;
    const follower = new EventFollower(chain, { pollIntervalMs: 200 }, promiseSource(chain.deployment));
    this.ended = follower.run((blocks) => {
      this.#events =
        blocks.kind === "blocks"
          ? [...this.#events, ...blocks.events.map(withoutData)]
          : this.#events.filter(({ block }) => block.number <= blocks.ancestor);
    }, signal);
  }

  all<Name extends PromiseEventName>(name: Name): PromiseEventOf<Name>["args"][] {
    return this.#events
      .filter((event) => event.name === name)
      .map(({ args }) => args as PromiseEventOf<Name>["args"]);
  }

  /** Waits for a count; ends where it has not grown for long. */
  async until(count: () => number, wanted: number): Promise<void> {
    let [last, movedMs] = [0, performance.now()];
    while (count() < wanted && performance.now() - movedMs < STALLED_MS) {
      if (count() > last) [last, movedMs] = [count(), performance.now()];
      await pause(LOOK_MS, this.#signal);
    }
  }
}

/** Batches are large, and nobody here reads them again. */
const withoutData = (event: PromiseEvent): PromiseEvent =>
  event.name === "Posted" ? { ...event, args: { ...event.args, data: "0x" } } : event;
