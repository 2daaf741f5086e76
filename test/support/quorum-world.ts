/** A chain in memory, and nodes that show it as honest, broken or lying nodes would. Its logs are claims: an id and an
 *  output, of which exactly one value is right. */
import { concat, type Hex, keccak256, numberToHex, pad } from "viem";
import type { RpcCall, RpcNode } from "../../protocol/chain/quorum/nodes.ts";
import { type RpcLog, type RpcReceipt, receiptsRoot } from "../../protocol/chain/quorum/receipts-root.ts";
import type { Rng } from "./rng.ts";

export const CONTRACT: Hex = "0x00000000000000000000000000000000000a55a1";
export const CLAIMED: Hex = keccak256("0xc1a1");
const BLOOM: Hex = `0x${"00".repeat(256)}`;

export interface WorldClaim {
  readonly id: number;
  readonly output: number;
}
export const honestOutput = (id: number): number => (id * 7) % 251;
export const isWrong = ({ id, output }: WorldClaim): boolean => output !== honestOutput(id);

export interface WorldBlock {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly receiptsRoot: Hex;
  /** a transaction each */
  readonly claims: readonly WorldClaim[];
  readonly receipts: readonly RpcReceipt[];
}

/** Chains are lists of blocks from number 0 on; they share what they have in common. */
export type WorldChain = readonly WorldBlock[];

let salt = 0;

export async function extend(chain: WorldChain, claims: readonly WorldClaim[]): Promise<WorldChain> {
  const parent = chain.at(-1);
  const number = BigInt(chain.length);
  const receipts = claims.map((claim, index) => receiptOf(claim, index));
  const root = await receiptsRoot(receipts);
  const parentHash = parent?.hash ?? pad("0x");
  const hash = keccak256(concat([parentHash, root, numberToHex(salt++, { size: 8 })]));
  return [...chain, { number, hash, parentHash, receiptsRoot: root, claims, receipts }];
}

export const word = (value: number): Hex => numberToHex(value, { size: 32 });
const logOf = ({ id, output }: WorldClaim) => ({
  address: CONTRACT,
  topics: [CLAIMED, word(id)],
  data: word(output),
});

const receiptOf = (claim: WorldClaim, index: number): RpcReceipt => ({
  type: "0x2",
  status: "0x1",
  cumulativeGasUsed: numberToHex(21_000 * (index + 1)),
  logsBloom: BLOOM,
  logs: [{ ...logOf(claim), blockNumber: "0x0" }],
});

const transactionsOf = ({ hash, claims }: WorldBlock): Hex[] =>
  claims.map((_, index) => keccak256(concat([hash, numberToHex(index, { size: 4 })])));

export function logsOf(block: WorldBlock): RpcLog[] {
  const transactions = transactionsOf(block);
  return block.claims.map((claim, index) => ({
    ...logOf(claim),
    blockNumber: numberToHex(block.number),
    blockHash: block.hash,
    transactionHash: transactions[index],
    transactionIndex: numberToHex(index),
    logIndex: numberToHex(index),
    removed: false,
  }));
}

/** What a node does wrong. "honest" nodes may still be a block behind. */
export const FAULTS = [
  "stale",
  "forked",
  "omits",
  "invents",
  "alters",
  "state",
  "far-head",
  "false-head",
  "silent",
  "slow",
  "garbage",
  "capitals",
  "nested",
  "refuses",
] as const;
export type Fault = (typeof FAULTS)[number];

export interface NodeView {
  /** what it believes to be the chain */
  chain: WorldChain;
  fault?: Fault | undefined;
  /** serves eth_getBlockReceipts */
  servesReceipts: boolean;
}

/** Deeper than what a stack holds. */
const NESTED = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown;

/** The same hashes and numbers in other characters. */
export const inCapitals = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null).replace(/0x[0-9a-f]+/g, (hex) => `0x${hex.slice(2).toUpperCase()}`),
  );

class RpcFault extends Error {
  readonly code = -32_000;
}

/** A node that answers by its view; what it makes up is drawn from the random numbers. */
export const worldNode = (name: string, view: NodeView, rng: Rng): RpcNode => ({
  name,
  request: (call) => {
    if (view.fault === "slow") return new Promise(() => undefined);
    if (view.fault === "silent") return Promise.reject(new RpcFault("connection refused"));
    if (view.fault === "refuses") return Promise.reject(new RpcFault("rate limit, try later"));
    if (view.fault === "garbage")
      return Promise.resolve(rng.pick<unknown>([null, 5, "0xzz", [], {}, [null], "", [{}]]));
    if (view.fault === "nested") return Promise.resolve(NESTED);
    try {
      const right = answer(call, view, rng);
      return Promise.resolve(view.fault === "capitals" ? inCapitals(right) : right);
    } catch (error) {
      return Promise.reject(error);
    }
  },
});

function answer({ method, params }: RpcCall, view: NodeView, rng: Rng): unknown {
  const { chain, fault, servesReceipts } = view;
  const [first, second] = params as [unknown, unknown];
  const tip = chain.at(-1) as WorldBlock;
  const numbered = (number: unknown) => chain[Number(BigInt(number as Hex))];
  switch (method) {
    case "eth_chainId":
      return "0x7a69";
    case "eth_getBlockByNumber": {
      if (first === "latest") return headOf(tip, fault);
      const block = numbered(first);
      if (block === undefined) return fault === "far-head" ? headOf(tip, fault) : null;
      return rpcBlock(block);
    }
    case "eth_getBlockByHash": {
      const block = chain.find(({ hash }) => hash === first);
      return block === undefined ? null : rpcBlock(block);
    }
    case "eth_getLogs": {
      const { fromBlock, toBlock, blockHash } = first as { fromBlock: Hex; toBlock: Hex; blockHash?: Hex };
      if (blockHash !== undefined) {
        const block = chain.find(({ hash }) => hash === blockHash);
        if (block === undefined) throw new RpcFault("unknown block");
        return lie(logsOf(block), [block], fault, rng);
      }
      if (BigInt(toBlock) > tip.number) throw new RpcFault("block range extends beyond the head");
      const blocks = chain.slice(Number(fromBlock), Number(toBlock) + 1);
      return lie(blocks.flatMap(logsOf), blocks, fault, rng);
    }
    case "eth_getBlockReceipts": {
      if (!servesReceipts) throw new RpcFault("method not found");
      const block = numbered(first);
      // Who lies about logs lies here, too.
      return block === undefined ? null : fault === "omits" ? block.receipts.slice(1) : block.receipts;
    }
    case "eth_call": {
      const at = (second as { blockHash: Hex }).blockHash;
      const index = chain.findIndex(({ hash }) => hash === at);
      if (index < 0) throw new RpcFault("header not found");
      const id = Number((first as { data: Hex }).data);
      const isThere = chain.slice(0, index + 1).some(({ claims }) => claims.some((claim) => claim.id === id));
      return word(isThere !== (fault === "state") ? 1 : 0);
    }
    default:
      throw new RpcFault(`method ${method} not found`);
  }
}

function headOf(tip: WorldBlock, fault: Fault | undefined) {
  if (fault === "far-head") return { ...rpcBlock(tip), number: "0xfffffffff", hash: keccak256("0xfa") };
  if (fault === "false-head") return { ...rpcBlock(tip), timestamp: "0xfffffff", hash: keccak256("0xfb") };
  return rpcBlock(tip);
}

const rpcBlock = (block: WorldBlock) => ({
  number: numberToHex(block.number),
  hash: block.hash,
  parentHash: block.parentHash,
  timestamp: numberToHex(1_700_000_000 + 2 * Number(block.number)),
  stateRoot: block.hash,
  receiptsRoot: block.receiptsRoot,
  transactions: transactionsOf(block),
});

function lie(logs: RpcLog[], blocks: readonly WorldBlock[], fault: Fault | undefined, rng: Rng): RpcLog[] {
  if (fault === "omits") return logs.filter(() => rng.chance(0.5));
  if (fault === "alters")
    return logs.map((log) => (rng.chance(0.5) ? { ...log, data: word(rng.int(0, 250)) } : log));
  if (fault !== "invents" || blocks.length === 0) return logs;
  const block = rng.pick(blocks);
  const id = rng.int(0, 99);
  const [made] = logsOf({ ...block, claims: [{ id, output: (honestOutput(id) + 1) % 251 }] });
  return [...logs, { ...(made as RpcLog), logIndex: "0x63" }].sort((a, b) =>
    Number(BigInt(a.blockNumber) - BigInt(b.blockNumber)),
  );
}
