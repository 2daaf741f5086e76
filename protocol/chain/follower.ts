/** Follows the logs of some contracts in order, by polling, through re-orgs. */
import type { Address, Hex, Log } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { SILENT } from "../../base/log.ts";
import type { BlockRef, Chain } from "./connect.ts";
import { chainError, withContext } from "./errors.ts";
import { type ChainEvent, decodeEvents } from "./events.ts";

export interface Head extends BlockRef {
  /** seconds */
  readonly timestamp: number;
}

/** Blocks that were followed, oldest first: store it with what you derived, and follow on from it. */
export type Cursor = readonly BlockRef[];

/** What every event has: where it stands, so that a re-org can take it back. */
export interface Located {
  readonly block: BlockRef;
}

/** Whose logs are followed, and what they mean. */
export interface LogSource<Event extends Located> {
  readonly addresses: readonly Address[];
  /** Mined logs to events, in their order; logs that mean nothing are left out. */
  decode(logs: readonly Log<bigint, number, false>[]): Event[];
}

export type Batch<Event extends Located = ChainEvent> =
  | {
      readonly kind: "blocks";
      /** first block of the batch */
      readonly from: bigint;
      /** last block of the batch: read state at its hash */
      readonly to: Head;
      /** newest block of the chain; `to` is the same block once the follower has caught up */
      readonly head: Head;
      /** in order of block and log index; often empty: a new block is a new time */
      readonly events: readonly Event[];
      readonly cursor: Cursor;
    }
  | {
      readonly kind: "rollback";
      /** last block that is still there; forget everything above it */
      readonly ancestor: bigint;
      /** blocks with events, and ends of batches, that are gone */
      readonly gone: readonly BlockRef[];
      readonly cursor: Cursor;
    };

export interface FollowerOptions {
  /** first block to follow; default: the deployment's */
  readonly from?: bigint;
  /** last block to follow: newer ones are not looked at */
  readonly last?: bigint;
  /** where an earlier follower stopped */
  readonly cursor?: Cursor | undefined;
  readonly pollIntervalMs?: number;
  /** most blocks a batch; default 2,000 */
  readonly maxBlocks?: number | (() => number);
  /** blocks that a block must have above it; default 0 */
  readonly confirmations?: number;
  readonly log?: Logger;
}

/** Below the head, in which honest nodes may differ for a while. */
const NEW_BLOCKS = 32n;

/** Hashes kept; a deeper re-org rolls back to the first block. */
const KEPT = 512;

/** Without a source: the events of Assay and the registry. */
export class EventFollower<Event extends Located = ChainEvent> {
  readonly #chain: Pick<Chain, "client" | "deployment" | "ranges" | "quorum">;
  readonly #source: LogSource<Event>;
  readonly #first: bigint;
  readonly #end: bigint | undefined;
  readonly #pollIntervalMs: number;
  readonly #maxBlocks: () => number;
  readonly #confirmations: bigint;
  readonly #log: Logger;
  #cursor: Cursor;

  constructor(
    chain: Pick<Chain, "client" | "deployment" | "ranges" | "quorum">,
    options: FollowerOptions = {},
    source?: LogSource<Event>,
  ) {
    this.#chain = chain;
    const { assay, registry } = chain.deployment.contracts;
    const own: LogSource<ChainEvent> = { addresses: [assay, registry], decode: decodeEvents };
    // Without a source, Event is ChainEvent.
    this.#source = source ?? (own as unknown as LogSource<Event>);
    this.#first = options.from ?? chain.deployment.block.number;
    this.#end = options.last;
    this.#pollIntervalMs = options.pollIntervalMs ?? 1_000;
    const { maxBlocks = 2_000 } = options;
    this.#maxBlocks = typeof maxBlocks === "number" ? () => maxBlocks : maxBlocks;
    this.#confirmations = BigInt(options.confirmations ?? 0);
    this.#log = options.log ?? SILENT;
    this.#cursor = options.cursor ?? [];
  }

  get cursor(): Cursor {
    return this.#cursor;
  }

  /** The next batch, or undefined if there is nothing new. Gives the same again until `advance` is called.
   *  @throws BaseError, retryable, when the node fails or its chain changes while it is read */
  next(): Promise<Batch<Event> | undefined> {
    return withContext("follow the chain's events", () => this.#poll());
  }

  /** Marks a batch as handled; or goes on from any place that is known. */
  advance({ cursor }: { readonly cursor: Cursor }): void {
    this.#cursor = cursor;
  }

  /** Hands batches to the consumer, one at a time, until the signal aborts. After a batch whose consumer throws, and a
   *  pause, there comes one from the same block on: with newer blocks, or with those that a re-org put in its place. Who
   *  took the first one takes it back. Faults of the node are logged and tried again.
   *  @param onTime told the time of the next block, seconds, when it moved on and no block came: a chain may make
   *  blocks on demand, and nobody else may demand one */
  async run(
    consumer: (batch: Batch<Event>) => Promise<void> | void,
    signal: AbortSignal,
    onTime?: (now: number) => Promise<void> | void,
  ): Promise<void> {
    let time = 0;
    while (!signal.aborted) {
      let isCaughtUp = true;
      try {
        const batch = await this.next();
        if (batch !== undefined) {
          this.#debug(batch);
          await consumer(batch);
          this.advance(batch);
          isCaughtUp = batch.kind === "blocks" && batch.to.number === batch.head.number;
        } else if (onTime !== undefined) {
          const now = await this.#nextTime();
          if (now > time) await onTime(now);
          time = now;
        }
      } catch (error) {
        const { code, message } = chainError(error, "follow the chain's events");
        this.#log.warn({ code, error }, message);
      }
      if (isCaughtUp) await pause(this.#pollIntervalMs, signal);
    }
  }

  #debug(batch: Batch<Event>): void {
    if (batch.kind === "rollback") return;
    const { from, to, events } = batch;
    this.#log.debug({ from, to: to.number, events: events.length }, "new blocks");
  }

  async #poll(): Promise<Batch<Event> | undefined> {
    const head = await this.#confirmedHead();
    if (head === undefined) return undefined;
    const last = this.#cursor.at(-1);
    if (last !== undefined) {
      // A node that lags, or a shorter chain: either way the next longer head decides.
      if (head.number < last.number || head.hash === last.hash) return undefined;
      if (!(await this.#isCanonical(last))) return this.#rollback();
    }
    const from = last === undefined ? this.#first : last.number + 1n;
    if (from > head.number) return undefined;
    const end = from + BigInt(this.#maxBlocks()) - 1n;
    const to = end < head.number ? await this.#block(end) : head;
    const logs = await this.#logs(from, to, head, last);
    // The hash of the end fixes all blocks before it: if both ends are still there, so is what lies between.
    const isSteady = (last === undefined || (await this.#isCanonical(last))) && (await this.#isCanonical(to));
    const strays = logs.some((log) => log.blockNumber === to.number && log.blockHash !== to.hash);
    if (!isSteady || strays) {
      throw chainMoved(from, to);
    }
    const events = this.#source.decode(logs);
    return { kind: "blocks", from, to, head, events, cursor: extended(this.#cursor, events, to) };
  }

  /** Of several nodes, honest ones differ about new blocks by number while one of them re-orgs, and one that lies could
   *  side with either: those blocks are asked for by their hashes, from the last one down. */
  async #logs(from: bigint, to: Head, head: Head, last: BlockRef | undefined) {
    const { client, ranges, quorum } = this.#chain;
    const address = [...this.#source.addresses];
    const hashes: Hex[] = [];
    let below: BlockRef = to;
    const firstNew = quorum === undefined ? to.number + 1n : head.number - NEW_BLOCKS;
    while (below.number >= from && below.number > firstNew) {
      const { hash, number } = below;
      hashes.unshift(hash);
      below = { number: number - 1n, hash: (await client.getBlock({ blockHash: hash })).parentHash };
    }
    if (below.number === last?.number && below.hash !== last.hash) throw chainMoved(from, to);
    const old = await ranges.ask(from, below.number, (fromBlock, toBlock) =>
      client.getLogs({ address, fromBlock, toBlock }),
    );
    const fresh = await Promise.all(hashes.map((blockHash) => client.getLogs({ address, blockHash })));
    return [...old, ...fresh.flat()];
  }

  async #rollback(): Promise<Batch<Event>> {
    let kept = this.#cursor.length - 1;
    while (kept > 0 && !(await this.#isCanonical(this.#cursor[kept - 1] as BlockRef))) kept -= 1;
    const cursor = this.#cursor.slice(0, kept);
    const ancestor = cursor.at(-1)?.number ?? this.#first - 1n;
    return { kind: "rollback", ancestor, gone: this.#cursor.slice(kept), cursor };
  }

  async #isCanonical({ number, hash }: BlockRef): Promise<boolean> {
    return (await this.#block(number)).hash === hash;
  }

  /** @returns 0 where the node has no pending block */
  async #nextTime(): Promise<number> {
    const pending = await this.#chain.client.getBlock({ blockTag: "pending" }).catch(() => undefined);
    return Number(pending?.timestamp ?? 0);
  }

  async #confirmedHead(): Promise<Head | undefined> {
    const newest = await this.#chain.client.getBlock({ blockTag: "latest" });
    const confirmed = newest.number - this.#confirmations;
    const number = this.#end !== undefined && this.#end < confirmed ? this.#end : confirmed;
    if (number === newest.number) return toHead(newest);
    return number < 0n ? undefined : this.#block(number);
  }

  async #block(blockNumber: bigint): Promise<Head> {
    return toHead(await this.#chain.client.getBlock({ blockNumber }));
  }
}

/** A cursor after some more blocks. @param to last of them */
export function extended(cursor: Cursor, events: readonly Located[], to: BlockRef): Cursor {
  const blocks = new Map(cursor.map((block) => [block.number, block]));
  for (const { block } of events) blocks.set(block.number, block);
  blocks.set(to.number, { number: to.number, hash: to.hash });
  return [...blocks.values()].slice(-KEPT);
}

const chainMoved = (from: bigint, to: Head): BaseError =>
  new BaseError({
    code: "CHAIN_MOVED",
    shortMessage: `The chain changed while blocks ${from} to ${to.number} were read.`,
    nextStep: "Read again.",
    retryable: true,
  });

const toHead = (block: { number: bigint; hash: BlockRef["hash"]; timestamp: bigint }): Head => ({
  number: block.number,
  hash: block.hash,
  timestamp: Number(block.timestamp),
});

/** Sleeps until the time is over or the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
