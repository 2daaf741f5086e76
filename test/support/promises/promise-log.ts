/** Every event of Promises in order, without what a re-org took back. */
import type { Chain } from "../../../protocol/chain/connect.ts";
import { EventFollower } from "../../../protocol/chain/follower.ts";
import {
  type PromiseEvent,
  type PromiseEventName,
  type PromiseEventOf,
  promiseSource,
} from "../../../protocol/chain/promises/events.ts";

type Args<Name extends PromiseEventName> = PromiseEventOf<Name>["args"];

export class PromiseLog {
  events: PromiseEvent[] = [];
  /** newest block whose events are here */
  head = 0n;
  readonly #stopping = new AbortController();
  readonly #following: Promise<void>;

  constructor(chain: Chain) {
    const follower = new EventFollower(chain, { pollIntervalMs: 50 }, promiseSource(chain.deployment));
    this.#following = follower.run((blocks) => {
      if (blocks.kind === "rollback") {
        this.events = this.events.filter(({ block }) => block.number <= blocks.ancestor);
        this.head = blocks.ancestor;
        return;
      }
      this.events.push(...blocks.events);
      this.head = blocks.to.number;
    }, this.#stopping.signal);
  }

  all<Name extends PromiseEventName>(
    name: Name,
    matches: (args: Args<Name>) => boolean = () => true,
  ): Args<Name>[] {
    const named = this.events.filter((event): event is PromiseEventOf<Name> => event.name === name);
    return named.map(({ args }) => args as Args<Name>).filter(matches);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }
}
