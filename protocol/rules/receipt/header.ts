/** Block headers: from a node's answer to RLP, whose hash is the block's, and from RLP to the fields that matter here. */
import { type Hex, hexToBigInt, hexToNumber, keccak256, type RpcBlock, toRlp } from "viem";
import { malformed } from "./refusal.ts";
import { listOf } from "./trie.ts";

export interface Header {
  readonly hash: Hex;
  readonly number: bigint;
  /** seconds */
  readonly timestamp: number;
  readonly stateRoot: Hex;
}

/** Fields in the header's order; those after `nonce` came with forks, one after the other. */
export const HEADER_FIELDS = [
  "parentHash",
  "sha3Uncles",
  "miner",
  "stateRoot",
  "transactionsRoot",
  "receiptsRoot",
  "logsBloom",
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "extraData",
  "mixHash",
  "nonce",
  "baseFeePerGas",
  "withdrawalsRoot",
  "blobGasUsed",
  "excessBlobGas",
  "parentBeaconBlockRoot",
  "requestsHash",
] as const;
/** In JSON a number has no leading zeros, in RLP it has no leading zero bytes; the rest is bytes in both. */
const NUMBERS: ReadonlySet<string> = new Set([
  "difficulty",
  "number",
  "gasLimit",
  "gasUsed",
  "timestamp",
  "baseFeePerGas",
  "blobGasUsed",
  "excessBlobGas",
]);
const AT = { stateRoot: 3, number: 8, timestamp: 11 } as const;

/** @param block as `eth_getBlockBy…` gives it @returns RLP; its hash is the block's only on a chain with this form */
export function encodeHeader(block: RpcBlock): Hex {
  const known = block as unknown as Readonly<Record<string, Hex | null | undefined>>;
  const present = HEADER_FIELDS.filter((name) => known[name] !== undefined && known[name] !== null);
  return toRlp(
    present.map((name) => (NUMBERS.has(name) ? bytesOf(known[name] as Hex) : (known[name] as Hex))),
  );
}

/** @throws BaseError RECEIPT_MALFORMED */
export function readHeader(rlp: Hex): Header {
  const fields = listOf(rlp, "the header");
  const field = (index: number): Hex => {
    const value = fields[index];
    if (typeof value !== "string") throw malformed(`the header's field ${index} is no bytes`);
    return value;
  };
  const stateRoot = field(AT.stateRoot);
  if (stateRoot.length !== 66) throw malformed("the header's state root is no hash");
  const [number, timestamp] = [field(AT.number), field(AT.timestamp)];
  if (number.length > 18 || timestamp.length > 14)
    throw malformed("the header's number or time is too large");
  return {
    hash: keccak256(rlp),
    number: number === "0x" ? 0n : hexToBigInt(number),
    timestamp: timestamp === "0x" ? 0 : hexToNumber(timestamp),
    stateRoot,
  };
}

function bytesOf(quantity: Hex): Hex {
  const digits = quantity.slice(2).replace(/^0+/, "");
  return `0x${digits.length % 2 === 0 ? "" : "0"}${digits}`;
}
