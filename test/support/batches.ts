/** Batches of a follower, made manually. */
import type { Hex } from "viem";
import type { ChainEvent, EventName } from "../../protocol/chain/events.ts";
import type { Batch, Cursor } from "../../protocol/chain/follower.ts";

export const hashOf = (number: number): Hex => `0x${number.toString(16).padStart(64, "0")}`;

/** An event of a block; only the fields that an index reads. */
export function eventIn(number: number, logIndex: number, name: EventName, args: object): ChainEvent {
  const block = { number: BigInt(number), hash: hashOf(number) };
  return { name, args, block, logIndex, contract: "0x", transactionHash: "0x" } as unknown as ChainEvent;
}

/** The blocks up to one that is the newest, behind a cursor's last one; without a cursor that one alone. */
export function blocks(
  to: number,
  events: readonly ChainEvent[],
  before: Cursor = [],
): Batch & { kind: "blocks" } {
  const block = { number: BigInt(to), hash: hashOf(to) };
  const head = { ...block, timestamp: to };
  const from = (before.at(-1)?.number ?? BigInt(to) - 1n) + 1n;
  return { kind: "blocks", from, to: head, head, events, cursor: [...before, block] };
}

export const rollback = (ancestor: number, cursor: Cursor = []): Batch & { kind: "rollback" } => ({
  kind: "rollback",
  ancestor: BigInt(ancestor),
  gone: [],
  cursor,
});
