/** Every event of a system's chain in order, without what a re-org took back, for tests that wait for what happens. */
import type { Chain } from "../../protocol/chain/connect.ts";
import type { ChainEvent, EventName, EventOf } from "../../protocol/chain/events.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";

export type Args<Name extends EventName> = EventOf<Name>["args"];

/** After which an event counts as missing; a slow machine needs seconds. */
const PATIENCE_MS = 300_000;
/** Between two lines about what is waited for. */
const SAY_EVERY_MS = 60_000;

export class EventLog {
  readonly events: ChainEvent[] = [];
  /** newest block whose events are here */
  head = 0n;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #following: Promise<void>;

  constructor(chain: Chain) {
    const follower = new EventFollower(chain, { pollIntervalMs: 100 });
    this.#following = follower.run((batch) => {
      if (batch.kind === "rollback") {
        const kept = this.events.findLastIndex(({ block }) => block.number <= batch.ancestor) + 1;
        this.events.length = kept;
        this.head = batch.ancestor;
      } else {
        this.events.push(...batch.events);
        this.head = batch.to.number;
      }
      for (const listener of [...this.#listeners]) listener();
    }, this.#stopping.signal);
  }

  /** All events of this name so far. */
  all<Name extends EventName>(name: Name, matches: (args: Args<Name>) => boolean = () => true): Args<Name>[] {
    const args = this.events.filter((event) => event.name === name).map((event) => event.args as Args<Name>);
    return args.filter(matches);
  }

  /** The first such event, now or later.
   *  @param matches which of them is meant @param deadlineMs after which it counts as missing
   *  @throws Error naming the event and what came instead */
  async until<Name extends EventName>(
    name: Name,
    matches: (args: Args<Name>) => boolean = () => true,
    deadlineMs = PATIENCE_MS,
  ): Promise<Args<Name>> {
    return this.when(
      () => this.all(name, matches)[0],
      () => `There is no such ${name}`,
      deadlineMs,
    );
  }

  /** The first answer that is not undefined; asked at every batch of events.
   *  @param missing what is waited for and why; printed while that takes long */
  async when<T>(answer: () => T | undefined, missing: () => string, deadlineMs = PATIENCE_MS): Promise<T> {
    const found = answer();
    if (found !== undefined) return found;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        clearInterval(saying);
        this.#listeners.delete(poll);
      };
      const poll = () => {
        const late = answer();
        if (late === undefined) return;
        end();
        resolve(late);
      };
      const startedAt = Date.now();
      const saying = setInterval(() => {
        process.stderr.write(`Waiting for ${Math.round((Date.now() - startedAt) / 1_000)} s. ${missing()}\n`);
      }, SAY_EVERY_MS);
      const timer = setTimeout(() => {
        end();
        const names = this.events.slice(-20).map((event) => event.name);
        reject(new Error(`${missing()} after ${deadlineMs} ms; the last events are ${names.join(", ")}.`));
      }, deadlineMs);
      this.#listeners.add(poll);
    });
  }

  /** Calls back at every batch of events. @returns how to end that */
  watch(poll: () => void): () => void {
    this.#listeners.add(poll);
    return () => {
      this.#listeners.delete(poll);
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }
}
