/** The index behind the pages: the events of a deployment, and the tables that follow from them. A batch, all that
 *  follows from it, and how far the chain was followed are one transaction: a process that is killed anywhere goes on where
 *  it was, and a re-org leaves what a fresh index would hold. */
import { isBaseError } from "../../base/errors.ts";
import type { Batch, Cursor, Head } from "../../protocol/chain/follower.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import type { SqlStore } from "../store/sql.ts";
import type { Facts } from "./facts.ts";
import { KeptEvents } from "./kept-events.ts";
import { Sums } from "./sums.ts";
import { Tables } from "./tables.ts";
import { type Change, IndexWriter } from "./write.ts";

/** The index at one block. */
export interface IndexView {
  /** Newest block that is indexed; absent at the start. */
  readonly head: Head | undefined;
  readonly tables: Tables;
  readonly sums: Sums;
  readonly events: KeptEvents;
}

export class ExplorerIndex {
  readonly #store: SqlStore;
  #head: Head | undefined;
  #isReachable = true;

  /** @param store with EXPLORER_SCHEMA */
  constructor(store: SqlStore) {
    this.#store = store;
  }

  /** Newest block that was indexed when this process last read or wrote the index. */
  get head(): Head | undefined {
    return this.#head;
  }

  /** Whether its database answered when it was last asked. */
  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** Reads the index as it is at one block. @throws as SqlStore.read */
  read<Result>(work: (view: IndexView) => Promise<Result>): Promise<Result> {
    const reading = this.#store.read(async (sql) => {
      const tables = new Tables(sql);
      const head = await tables.head();
      this.#head = head;
      this.#isReachable = true;
      return work({ head, tables, sums: new Sums(sql), events: new KeptEvents(sql) });
    });
    reading.catch((error: unknown) => {
      if (isBaseError(error, "DATABASE_UNREACHABLE")) this.#isReachable = false;
    });
    return reading;
  }

  cursor(): Promise<Cursor | undefined> {
    return this.read(({ events }) => events.cursor());
  }

  /** @param promised events of Promises of the same blocks @param facts of the blocks and transactions of all of them
   *  @param after where its follower was, and the index has to be; absent: wherever it is
   *  @returns undefined for a batch that was taken before @throws as SqlStore.write */
  async take(
    batch: Batch,
    facts: Facts,
    promised: readonly PromiseEvent[] = [],
    after?: Cursor,
  ): Promise<Change | undefined> {
    const change = await this.#store.write(async (sql): Promise<Change | undefined> => {
      const at = (await new KeptEvents(sql).cursor())?.at(-1)?.hash;
      if (batch.kind === "blocks" && at === batch.to.hash) return undefined;
      if (after !== undefined && at !== after.at(-1)?.hash) return { kind: "moved" };
      const writer = new IndexWriter(sql);
      return batch.kind === "blocks" ? writer.extend(batch, facts, promised) : writer.takeBack(batch);
    });
    if (change?.kind === "blocks") this.#head = change.head;
    else await this.read(async () => undefined);
    return change;
  }
}
