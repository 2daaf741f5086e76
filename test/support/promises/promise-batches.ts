/** All events of a local chain in the pieces in which an index takes them, with the facts that belong to them. */
import type { Hex } from "viem";
import { type Facts, readFacts } from "../../../explorer/index/facts.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { type ChainEvent, decodeEvents } from "../../../protocol/chain/events.ts";
import type { Batch, Cursor } from "../../../protocol/chain/follower.ts";
import { decodePromiseEvents, type PromiseEvent } from "../../../protocol/chain/promises/events.ts";
import { promisesOf } from "../../../protocol/chain/promises/place.ts";

/** The events of one block. */
export interface BlockPiece {
  readonly number: bigint;
  readonly hash: Hex;
  readonly time: number;
  readonly events: readonly ChainEvent[];
  readonly promised: readonly PromiseEvent[];
}

export async function readPieces(
  chain: Chain,
): Promise<{ readonly blocks: BlockPiece[]; readonly facts: Facts }> {
  const { client, deployment } = chain;
  const { assay, registry } = deployment.contracts;
  const range = { fromBlock: deployment.block.number, toBlock: "latest" } as const;
  const events = decodeEvents(await client.getLogs({ address: [assay, registry], ...range }));
  const promised = decodePromiseEvents(
    await client.getLogs({ address: promisesOf(deployment).promises, ...range }),
  );
  const facts = await readFacts(chain, [...events, ...promised]);
  const blocks = [...facts.blocks.values()].sort((a, b) => Number(a.number - b.number));
  const isIn = (number: bigint) => (event: ChainEvent | PromiseEvent) => event.block.number === number;
  return {
    facts,
    blocks: blocks.map((block) => ({
      ...block,
      events: events.filter(isIn(block.number)),
      promised: promised.filter(isIn(block.number)),
    })),
  };
}

/** Some blocks in a row as one batch. @param cursor of the batch before */
export function pieceOf(blocks: readonly BlockPiece[], cursor: Cursor): Extract<Batch, { kind: "blocks" }> {
  const [first, last] = [blocks[0] as BlockPiece, blocks.at(-1) as BlockPiece];
  const to = { number: last.number, hash: last.hash, timestamp: last.time };
  const refs = blocks.map(({ number, hash }) => ({ number, hash }));
  return {
    ...{ kind: "blocks", from: first.number, to, head: to },
    ...{ events: blocks.flatMap(({ events }) => events), cursor: [...cursor, ...refs] },
  };
}
