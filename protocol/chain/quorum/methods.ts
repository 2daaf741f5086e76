/** The form of an answer in which nodes are compared, and which is handed on: what is not compared, whoever is fastest
 *  could make up. */
import { stringify } from "viem";
import { HEADER_FIELDS } from "../../rules/receipt/header.ts";

/** Fields that the chain fixes; nodes add others, and differ in them. */
const BLOCK = ["number", "hash", "transactions", ...HEADER_FIELDS.filter((name) => name !== "number")];
const LOG = [
  "blockNumber",
  "blockHash",
  "logIndex",
  "transactionHash",
  "transactionIndex",
  "address",
  "topics",
  "data",
];
const RECEIPT = [
  "transactionHash",
  "transactionIndex",
  "blockHash",
  "blockNumber",
  "type",
  "status",
  "gasUsed",
  "cumulativeGasUsed",
  "effectiveGasPrice",
  "l1Fee",
  "from",
  "to",
  "contractAddress",
  "logs",
];
const TRANSACTION = [
  "hash",
  "blockHash",
  "blockNumber",
  "transactionIndex",
  "type",
  "from",
  "to",
  "nonce",
  "input",
  "value",
];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  eth_getBlockByNumber: BLOCK,
  eth_getBlockByHash: BLOCK,
  eth_getLogs: LOG,
  eth_getTransactionReceipt: RECEIPT,
  eth_getTransactionByHash: TRANSACTION,
};

/** No answer is nested as deep; one that is would overflow the stack of whoever compares it. */
const MAX_DEPTH = 64;

/** Numbers, hashes and bytes in lower case; of what the chain fixes the fields of above, absent ones as null.
 *  @throws RangeError for what is no answer */
export function canonical(method: string, value: unknown): unknown {
  const fields = FIELDS[method];
  return fields === undefined ? lowered(value) : picked(value, fields);
}

/** Equal for answers that mean the same. @param value as `canonical` gives it */
export const keyOf = (value: unknown): string => stringify(value);

function lowered(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new RangeError(`An answer is nested in more than ${MAX_DEPTH} levels.`);
  if (typeof value === "string") return /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : value;
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map((entry: unknown) => lowered(entry, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, lowered(part, depth + 1)]));
}

function picked(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value) && value.every((entry) => !Array.isArray(entry)))
    return value.map((entry: unknown) => picked(entry, fields));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return lowered(value);
  const record = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    fields.map((field) => {
      const part = record[field] ?? null;
      if (field === "logs") return [field, picked(part, LOG)];
      // A block's transactions stand in it whole or by their hashes.
      if (field !== "transactions" || !Array.isArray(part)) return [field, lowered(part)];
      return [field, part.map((one: unknown) => lowered((one as { hash?: unknown } | null)?.hash ?? one))];
    }),
  );
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

/** Whether proofs of a block's state can decide a question that is asked at its hash: further parameters would change the
 *  state that a call sees, and proofs decide about themselves. */
export const isProvable = (method: string, parameters: number): boolean =>
  method !== "eth_getProof" && parameters - 1 === BLOCK_PARAMETER[method];

/** Answered by a number on which honest nodes need not agree, since it is about the next block. */
export const ESTIMATES: ReadonlySet<string> = new Set([
  "eth_gasPrice",
  "eth_maxPriorityFeePerGas",
  "eth_blobBaseFee",
  "eth_estimateGas",
]);
