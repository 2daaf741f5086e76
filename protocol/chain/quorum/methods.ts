/** What of an answer must be equal for two nodes to agree, by method. */
import { stringify } from "viem";

/** Fields that the chain fixes; nodes add others, and differ in them. */
const BLOCK = [
  "number",
  "hash",
  "parentHash",
  "timestamp",
  "stateRoot",
  "receiptsRoot",
  "baseFeePerGas",
  "transactions",
];
const LOG = ["blockHash", "logIndex", "transactionHash", "address", "topics", "data"];
const RECEIPT = ["transactionHash", "blockHash", "blockNumber", "status", "gasUsed", "from", "to", "logs"];
const TRANSACTION = ["hash", "blockHash", "blockNumber", "from", "to", "nonce", "input", "value"];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  eth_getBlockByNumber: BLOCK,
  eth_getBlockByHash: BLOCK,
  eth_getLogs: LOG,
  eth_getTransactionReceipt: RECEIPT,
  eth_getTransactionByHash: TRANSACTION,
};

/** Equal for answers that mean the same. */
export function keyOf(method: string, value: unknown): string {
  const fields = FIELDS[method];
  return stringify(fields === undefined ? value : picked(value, fields)).toLowerCase();
}

function picked(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => picked(entry, fields));
  if (typeof value !== "object" || value === null) return value ?? null;
  const record = value as Readonly<Record<string, unknown>>;
  return fields.map((field) => {
    const part = record[field] ?? null;
    if (field === "logs") return picked(part, LOG);
    // A block's transactions stand in it whole or by their hashes.
    if (field !== "transactions" || !Array.isArray(part)) return part;
    return part.map((one: unknown) => (one as { hash?: unknown } | null)?.hash ?? one);
  });
}

/** Where the parameter stands that says at which block; such a question is asked at one hash. */
export const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
};

/** Answered by a number on which honest nodes need not agree, since it is about the next block. */
export const ESTIMATES: ReadonlySet<string> = new Set([
  "eth_gasPrice",
  "eth_maxPriorityFeePerGas",
  "eth_blobBaseFee",
  "eth_estimateGas",
]);
