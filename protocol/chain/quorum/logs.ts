/** Decides between nodes that give different logs: a block's header fixes its receipts, and those hold its logs. So one
 *  node that gives the receipts outvotes any number that leave logs out or make some up. */
import { type Hex, numberToHex } from "viem";
import type { Group } from "./agree.ts";
import { canonical, keyOf } from "./methods.ts";
import type { Nodes, RpcCall } from "./nodes.ts";
import { quantity } from "./quantity.ts";
import { type RpcLog, type RpcReceipt, receiptsRoot } from "./receipts-root.ts";

export interface AgreedBlock {
  readonly number: Hex;
  readonly hash: Hex;
  readonly receiptsRoot: Hex;
  readonly transactions: readonly (Hex | { readonly hash: Hex })[];
}

interface Filter {
  readonly fromBlock?: Hex;
  readonly toBlock?: Hex;
  /** in place of both */
  readonly blockHash?: Hex;
  readonly address?: Hex | readonly Hex[];
  readonly topics?: readonly (Hex | readonly Hex[] | null)[];
}

/** Blocks on which nodes may differ in one question; a node that differs in more is asked for each part of the range. */
const MAX_BLOCKS = 32;

/** @returns undefined where there is none */
export type BlockReader = (numberOrHash: Hex) => Promise<AgreedBlock | undefined>;

export class LogProver {
  readonly #nodes: Nodes;
  readonly #blockAt: BlockReader;

  /** @param blockAt the block of this number, or hash, on which enough nodes agree */
  constructor(nodes: Nodes, blockAt: BlockReader) {
    this.#nodes = nodes;
    this.#blockAt = blockAt;
  }

  /** @param groups what at least a quorum of nodes says, together
   *  @returns the logs; undefined where some block's receipts cannot be had from any node */
  async decide(call: RpcCall, groups: readonly Group<unknown>[]): Promise<RpcLog[] | undefined> {
    const [filter] = call.params as readonly [Filter];
    const one = filter.blockHash === undefined ? undefined : await this.#blockAt(filter.blockHash);
    const [from, to] = [quantity(one?.number ?? filter.fromBlock), quantity(one?.number ?? filter.toBlock)];
    if (from === undefined || to === undefined) return undefined;
    const views = groups.map(({ value, nodes }) => ({ nodes, byBlock: byBlock(value, from, to) }));
    const numbers = new Set(views.flatMap(({ byBlock }) => [...byBlock.keys()]));
    const contested = [...numbers].filter(
      (number) => new Set(views.map(({ byBlock }) => keyAt(byBlock, number))).size > 1,
    );
    if (contested.length > MAX_BLOCKS) return undefined;
    const [first] = views;
    const logs = new Map(first?.byBlock);
    for (const number of contested) {
      const proven = await this.#proven(
        one ?? (await this.#blockAt(numberToHex(number))),
        filter,
        views.flatMap(({ nodes }) => nodes),
      );
      if (proven === undefined) return undefined;
      logs.set(number, proven);
      const key = keyOf(proven);
      for (const { nodes, byBlock } of views) {
        if (keyAt(byBlock, number) !== key) for (const node of nodes) this.#nodes.blame(node, "contradicts");
      }
    }
    return [...logs].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, found]) => found);
  }

  /** A block's logs of the filter, from the first node that gives its receipts. */
  async #proven(
    block: AgreedBlock | undefined,
    filter: Filter,
    nodes: readonly number[],
  ): Promise<RpcLog[] | undefined> {
    if (block === undefined) return undefined;
    for (const node of nodes) {
      try {
        const call = { method: "eth_getBlockReceipts", params: [block.number] };
        const receipts = (await this.#nodes.askOne(node, call)) as readonly RpcReceipt[];
        if (receipts.length !== block.transactions.length) continue;
        if ((await receiptsRoot(receipts)) === block.receiptsRoot)
          return canonical("eth_getLogs", logsIn(block, receipts).filter(matching(filter))) as RpcLog[];
      } catch {
        // It does not serve them, or what it gives are none: another node may.
      }
    }
    return undefined;
  }
}

type ByBlock = ReadonlyMap<bigint, readonly RpcLog[]>;

const keyAt = (logs: ByBlock, number: bigint): string => keyOf(logs.get(number) ?? []);

/** What is no log of the range is left out. */
function byBlock(value: unknown, from: bigint, to: bigint): ByBlock {
  const found = new Map<bigint, RpcLog[]>();
  for (const log of Array.isArray(value) ? (value as RpcLog[]) : []) {
    const number = quantity(log?.blockNumber);
    if (number === undefined || number < from || number > to) continue;
    found.set(number, [...(found.get(number) ?? []), log]);
  }
  return found;
}

/** Logs with their places, which the receipts' root does not hold: they follow from the block. */
function logsIn({ number, hash, transactions }: AgreedBlock, receipts: readonly RpcReceipt[]): RpcLog[] {
  let logIndex = 0;
  return receipts.flatMap(({ logs }, index) => {
    const transaction = transactions[index];
    return logs.map(({ address, topics, data }) => ({
      ...{ address, topics, data },
      blockNumber: number,
      blockHash: hash,
      transactionHash: typeof transaction === "string" ? transaction : transaction?.hash,
      transactionIndex: numberToHex(index),
      logIndex: numberToHex(logIndex++),
    }));
  });
}

/** Whether a log is among those that eth_getLogs gives for the filter. */
const matching =
  ({ address, topics = [] }: Filter) =>
  (log: RpcLog): boolean =>
    isOneOf(address, log.address) &&
    topics.every((topic, index) => isOneOf(topic ?? undefined, log.topics[index]));

function isOneOf(wanted: Hex | readonly Hex[] | undefined, found: Hex | undefined): boolean {
  if (wanted === undefined) return true;
  const all = typeof wanted === "string" ? [wanted] : wanted;
  return found !== undefined && all.some((one) => one.toLowerCase() === found.toLowerCase());
}
