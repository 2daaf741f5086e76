/** Brings a deployment's events into the index, piece by piece, so that answers come between the pieces. */
import { setImmediate } from "node:timers/promises";
import type { Log } from "viem";
import type { BlockRef, Chain } from "../../protocol/chain/connect.ts";
import { decodeEvents } from "../../protocol/chain/events.ts";
import {
  type Batch,
  EventFollower,
  type FollowerOptions,
  type Head,
  type LogSource,
} from "../../protocol/chain/follower.ts";
import type { Change, ExplorerIndex } from "./explorer-index.ts";
import { type Facts, readFacts } from "./facts.ts";

/** Most blocks a batch: fewer than the follower keeps hashes of, so that each piece can end with one of them. */
const MAX_BLOCKS = 250;
/** Events after which a piece ends, with its block. */
const MOST_EVENTS = 100;
const NO_FACTS: Facts = { blocks: new Map(), transactions: new Map() };

/** A log that is decoded with its piece: those of many full blocks at once would take seconds. */
interface Undecoded {
  readonly block: BlockRef;
  readonly log: Log<bigint, number, false>;
}

/** Runs until the signal aborts. @param onChange told what each piece changed */
export async function followInto(
  index: ExplorerIndex,
  chain: Chain,
  options: FollowerOptions,
  onChange: (change: Change) => void,
  signal: AbortSignal,
): Promise<void> {
  const { assay, registry } = chain.deployment.contracts;
  const source: LogSource<Undecoded> = {
    addresses: [assay, registry],
    decode: (logs) => logs.map((log) => ({ block: { number: log.blockNumber, hash: log.blockHash }, log })),
  };
  const follower = new EventFollower(
    chain,
    { maxBlocks: MAX_BLOCKS, ...options, cursor: index.cursor() },
    source,
  );
  const take = (batch: Batch, facts: Facts): void => {
    const change = index.take(batch, facts);
    // What is indexed is followed: if the next piece fails, the follower goes on behind this one.
    follower.advance(batch.kind === "blocks" ? { ...batch, events: [] } : batch);
    if (change !== undefined) onChange(change);
  };
  await follower.run(async (batch) => {
    if (batch.kind === "rollback") {
      take(batch, NO_FACTS);
      return;
    }
    const pieces = piecesOf(batch.events);
    let { from } = batch;
    for (const [i, piece] of pieces.entries()) {
      const events = decodeEvents(piece.map(({ log }) => log));
      const facts = await readFacts(chain, events);
      const isLast = i + 1 === pieces.length;
      const to = isLast ? batch.to : await headOf(chain, (piece.at(-1) as Undecoded).block, facts);
      const cursor = batch.cursor.filter(({ number }) => number <= to.number);
      take({ ...batch, from, to, events, cursor }, facts);
      from = to.number + 1n;
      await setImmediate();
    }
  }, signal);
}

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
