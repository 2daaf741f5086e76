/** Brings a deployment's events into the index, piece by piece, so that answers come between the pieces. */
import { isAddressEqual, type Log } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { BlockRef, Chain } from "../../protocol/chain/connect.ts";
import { decodeEvents } from "../../protocol/chain/events.ts";
import {
  type Batch,
  type Cursor,
  EventFollower,
  extended,
  type FollowerOptions,
  type Head,
  type LogSource,
  pause,
} from "../../protocol/chain/follower.ts";
import { decodePromiseEvents, type PromiseEvent } from "../../protocol/chain/promises/events.ts";
import type { ExplorerIndex } from "./explorer-index.ts";
import { type Facts, readFacts } from "./facts.ts";
import type { Change } from "./write.ts";

/** Most blocks a batch. */
const MAX_BLOCKS = 250;
/** Events after which a piece ends, with its block. */
const MOST_EVENTS = 100;
const NO_FACTS: Facts = { blocks: new Map(), transactions: new Map() };

/** A log that is decoded with its piece: those of many full blocks at once would take seconds. */
interface Undecoded {
  readonly block: BlockRef;
  readonly log: Log<bigint, number, false>;
}

/** Pause before an index that could not be read is read again, ms. */
const AGAIN_MS = 1_000;

/** What comes meanwhile is answered. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Runs until the signal aborts. @param onChange told what each piece changed, before the next one is taken */
export async function followInto(
  index: ExplorerIndex,
  chain: Chain,
  options: FollowerOptions,
  onChange: (change: Change) => Promise<void> | void,
  signal: AbortSignal,
): Promise<void> {
  const { assay, registry, promises } = chain.deployment.contracts;
  // Some events of Promises are named and coded as Assay's.
  const isOfPromises = ({ log: { address } }: Undecoded): boolean =>
    promises !== undefined && isAddressEqual(address, promises);
  const source: LogSource<Undecoded> = {
    addresses: [assay, registry, ...(promises === undefined ? [] : [promises])],
    decode: (logs) => logs.map((log) => ({ block: { number: log.blockNumber, hash: log.blockHash }, log })),
  };
  const cursor = await firstCursor(index, options, signal);
  const follower = new EventFollower(chain, { maxBlocks: MAX_BLOCKS, ...options, cursor }, source);
  const take = async (batch: Batch, facts: Facts, promised: readonly PromiseEvent[] = []): Promise<void> => {
    // That a batch is there already, nobody was told: its write lost its answer.
    const change = (await index.take(batch, facts, promised, follower.cursor)) ?? { kind: "moved" };
    // What is indexed is followed: if the next piece fails, the follower goes on behind this one.
    if (change.kind !== "moved") follower.advance(batch);
    else follower.advance({ cursor: (await index.cursor()) ?? [] });
    await onChange(change);
    if (change.kind === "moved") throw indexMoved(follower.cursor);
  };
  await follower.run(async (batch) => {
    if (batch.kind === "rollback") {
      await take(batch, NO_FACTS);
      return;
    }
    const pieces = piecesOf(batch.events);
    let { from } = batch;
    for (const [i, piece] of pieces.entries()) {
      if (signal.aborted) return;
      const logsOf = (isOwn: boolean) =>
        piece.filter((one) => isOfPromises(one) === isOwn).map(({ log }) => log);
      const events = decodeEvents(logsOf(false));
      const promised = decodePromiseEvents(logsOf(true));
      const facts = await readFacts(chain, [...events, ...promised]);
      const isLast = i + 1 === pieces.length;
      const to = isLast ? batch.to : await headOf(chain, (piece.at(-1) as Undecoded).block, facts);
      const cursor = isLast ? batch.cursor : extended(follower.cursor, piece, to);
      await take({ ...batch, from, to, events, cursor }, facts, promised);
      from = to.number + 1n;
      await nextTurn();
    }
  }, signal);
}

/** Where the index is; waits for a database that does not answer. */
async function firstCursor(
  index: ExplorerIndex,
  { log }: FollowerOptions,
  signal: AbortSignal,
): Promise<Cursor> {
  while (!signal.aborted) {
    try {
      return (await index.cursor()) ?? [];
    } catch (error) {
      if (!(error instanceof BaseError && error.retryable)) throw error;
      log?.warn({ code: error.code, error }, error.message);
    }
    await pause(AGAIN_MS, signal);
  }
  return [];
}

const indexMoved = (cursor: Cursor): BaseError =>
  new BaseError({
    code: "INDEX_MOVED",
    shortMessage: `The index is at block ${cursor.at(-1)?.number ?? "0, the first"}, where another explorer or a write without an answer has left it.`,
    nextStep: "Nothing: this explorer follows on from there.",
    retryable: true,
  });

/** The block that a piece ends with. */
async function headOf({ client }: Chain, { number, hash }: BlockRef, facts: Facts): Promise<Head> {
  // A block may hold nothing but logs that are no events.
  const time =
    facts.blocks.get(number)?.time ?? Number((await client.getBlock({ blockHash: hash })).timestamp);
  return { number, hash, timestamp: time };
}

/** In groups that end with a block; one empty group if there is nothing. */
export function piecesOf<Event extends { readonly block: BlockRef }>(
  events: readonly Event[],
  most = MOST_EVENTS,
): Event[][] {
  const pieces: Event[][] = [[]];
  for (const event of events) {
    const last = pieces.at(-1) as Event[];
    const isFull = last.length >= most && last.at(-1)?.block.number !== event.block.number;
    if (isFull) pieces.push([event]);
    else last.push(event);
  }
  return pieces;
}
