/** The root that a block's header holds of its receipts, from receipts as a node gives them. */
import { createMPT } from "@ethereumjs/mpt";
import { RLP } from "@ethereumjs/rlp";
import { bytesToHex, concatBytes, type Hex, hexToBytes } from "viem";

export interface RpcLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly [field: string]: unknown;
}

export interface RpcReceipt {
  readonly type?: Hex;
  readonly status: Hex;
  readonly cumulativeGasUsed: Hex;
  readonly logsBloom: Hex;
  readonly logs: readonly RpcLog[];
}

/** @param receipts of all transactions of the block, in their order
 *  @throws for what is no receipt; chains with receipts of their own form give another root, which proves nothing */
export async function receiptsRoot(receipts: readonly RpcReceipt[]): Promise<Hex> {
  const trie = await createMPT();
  for (const [index, receipt] of receipts.entries()) await trie.put(RLP.encode(index), encode(receipt));
  return bytesToHex(trie.root());
}

/** EIP-2718: the type, then the list of status, gas, bloom and logs. */
function encode({ type = "0x0", status, cumulativeGasUsed, logsBloom, logs }: RpcReceipt): Uint8Array {
  const fields = RLP.encode([
    BigInt(status),
    BigInt(cumulativeGasUsed),
    hexToBytes(logsBloom),
    logs.map(({ address, topics, data }) => [
      hexToBytes(address),
      topics.map((topic) => hexToBytes(topic)),
      hexToBytes(data),
    ]),
  ]);
  const number = Number(type);
  return number === 0 ? fields : concatBytes([Uint8Array.of(number), fields]);
}
