/** What events do not say of themselves: the time of their block, and who sent their transaction at what cost. */
import { type Address, getAddress, type Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { chainError, withContext } from "../../protocol/chain/errors.ts";
import type { ChainEvent } from "../../protocol/chain/events.ts";
import type { PromiseEvent } from "../../protocol/chain/promises/events.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";

export interface BlockFacts {
  readonly number: bigint;
  readonly hash: Hex;
  /** seconds since 1970 */
  readonly time: number;
}

export interface TransactionFacts {
  readonly hash: Hex;
  readonly block: bigint;
  readonly sender: Address;
  /** absent: it created a contract */
  readonly to?: Address;
  readonly gasUsed: number;
  /** wei */
  readonly fee: bigint;
  /** calldata of one that convicted a claim */
  readonly input?: Hex;
}

export interface Facts {
  readonly blocks: ReadonlyMap<bigint, BlockFacts>;
  readonly transactions: ReadonlyMap<Hex, TransactionFacts>;
}

type AnyEvent = ChainEvent | PromiseEvent;

/** Transactions of a block from which on their receipts are asked for together. */
const TOGETHER = 4;

/** @throws BaseError RPC_UNREACHABLE, RPC_FAULT, CHAIN_MOVED (retryable) when a block went away meanwhile */
export async function readFacts(chain: Pick<Chain, "client">, events: readonly AnyEvent[]): Promise<Facts> {
  const byBlock = new Map<Hex, AnyEvent[]>();
  for (const event of events) {
    const known = byBlock.get(event.block.hash);
    if (known === undefined) byBlock.set(event.block.hash, [event]);
    else known.push(event);
  }
  const found = await withContext("read blocks and receipts of events", () =>
    Promise.all([...byBlock].map(([hash, own]) => factsOfBlock(chain, hash, own))),
  );
  return {
    blocks: new Map(found.map(({ block }) => [block.number, block])),
    transactions: new Map(found.flatMap(({ transactions }) => transactions.map((one) => [one.hash, one]))),
  };
}

async function factsOfBlock({ client }: Pick<Chain, "client">, blockHash: Hex, events: readonly AnyEvent[]) {
  const hashes = [...new Set(events.map(({ transactionHash }) => transactionHash))];
  const convicting = new Set(events.filter(isConviction).map(({ transactionHash }) => transactionHash));
  const [block, receipts, inputs] = await Promise.all([
    client.getBlock({ blockHash }),
    receiptsOf(client, blockHash, hashes),
    Promise.all(
      [...convicting].map(async (hash) => [hash, (await client.getTransaction({ hash })).input] as const),
    ),
  ]);
  const inputOf = new Map(inputs);
  const transactions = receipts.map((receipt): TransactionFacts => {
    if (receipt.blockHash !== blockHash) throw moved(blockHash);
    const input = inputOf.get(receipt.hash);
    return {
      hash: receipt.hash,
      block: block.number,
      sender: receipt.from,
      gasUsed: Number(receipt.gasUsed),
      fee: receipt.gasUsed * receipt.effectiveGasPrice + receipt.dataFee,
      ...(receipt.to === undefined ? {} : { to: receipt.to }),
      ...(input === undefined ? {} : { input }),
    };
  });
  const { number, timestamp } = block;
  return { block: { number, hash: blockHash, time: Number(timestamp) }, transactions };
}

const CONVICTIONS: readonly string[] = ["ELEMENT", "CODEC", "OUTPUT"];
const isConviction = (event: AnyEvent): boolean =>
  event.name === "Fell" && CONVICTIONS.includes(FALL_REASONS[event.args.reason] ?? "");

interface Receipt {
  readonly hash: Hex;
  readonly blockHash: Hex;
  readonly from: Address;
  readonly to: Address | undefined;
  readonly gasUsed: bigint;
  readonly effectiveGasPrice: bigint;
  /** wei; what an OP stack takes for data beside gas */
  readonly dataFee: bigint;
}

/** Nodes that have no receipts by block are asked for each. */
const withoutBlockReceipts = new WeakSet<object>();

async function receiptsOf(
  client: Chain["client"],
  blockHash: Hex,
  hashes: readonly Hex[],
): Promise<Receipt[]> {
  if (hashes.length >= TOGETHER && !withoutBlockReceipts.has(client)) {
    try {
      const all = (await client.request({
        // viem's list of methods does not have it; nodes do.
        method: "eth_getBlockReceipts" as "eth_getTransactionReceipt",
        params: [blockHash],
      })) as unknown as readonly RawReceipt[] | null;
      const wanted = new Set(hashes);
      const found = (all ?? []).filter(({ transactionHash }) => wanted.has(transactionHash));
      if (found.length === hashes.length) return found.map(readReceipt);
    } catch (error) {
      if (chainError(error, "read a block's receipts").code === "RPC_UNREACHABLE") throw error;
      withoutBlockReceipts.add(client);
    }
  }
  const each = hashes.map(async (hash) => {
    const raw = (await client.request({
      method: "eth_getTransactionReceipt",
      params: [hash],
    })) as unknown as RawReceipt | null;
    if (raw === null) throw moved(blockHash);
    return readReceipt(raw);
  });
  return Promise.all(each);
}

interface RawReceipt {
  readonly transactionHash: Hex;
  readonly blockHash: Hex;
  readonly from: Address;
  readonly to: Address | null;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice?: Hex;
  readonly l1Fee?: Hex;
}

const readReceipt = (raw: RawReceipt): Receipt => ({
  hash: raw.transactionHash,
  blockHash: raw.blockHash,
  from: getAddress(raw.from),
  to: raw.to === null ? undefined : getAddress(raw.to),
  gasUsed: BigInt(raw.gasUsed),
  effectiveGasPrice: BigInt(raw.effectiveGasPrice ?? 0),
  dataFee: BigInt(raw.l1Fee ?? 0),
});

const moved = (hash: Hex): BaseError =>
  new BaseError({
    code: "CHAIN_MOVED",
    shortMessage: `Block ${hash} went away while its transactions were read.`,
    nextStep: "Read again.",
    retryable: true,
  });
