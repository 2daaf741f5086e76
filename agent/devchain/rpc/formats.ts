/** Blocks, transactions, receipts and logs as JSON-RPC has them. */
import type { TypedTransaction } from "@ethereumjs/tx";
import { type Hex, numberToHex } from "viem";
import { toHex } from "../../../base/bytes.ts";
import type { MinedBlock } from "../dev-chain.ts";

export interface RpcLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: Hex;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  readonly transactionIndex: Hex;
  readonly logIndex: Hex;
  readonly removed: false;
}

const quantity = (value: bigint | number | undefined): Hex => numberToHex(value ?? 0);

/** @param full with the transactions themselves, not their hashes */
export function formatBlock(mined: MinedBlock, full: boolean) {
  const { block, transaction } = mined;
  const transactions =
    transaction === undefined ? [] : [full ? formatTransaction(mined) : toHex(transaction.hash())];
  const size = quantity(block.serialize().length);
  // EthereumJS gives the header's fields in hexadecimal, under the names of JSON-RPC but for these.
  const { receiptTrie, transactionsTrie, uncleHash, coinbase, ...header } = block.header.toJSON();
  return {
    ...header,
    receiptsRoot: receiptTrie,
    transactionsRoot: transactionsTrie,
    sha3Uncles: uncleHash,
    miner: coinbase,
    hash: toHex(block.hash()),
    totalDifficulty: "0x0",
    uncles: [],
    withdrawals: [],
    size,
    transactions,
  };
}

/** Undefined for the first block. */
export function formatTransaction({ block, transaction }: MinedBlock) {
  if (transaction === undefined) return undefined;
  const { gasLimit, data, value, chainId, yParity, ...json } = transaction.toJSON();
  return {
    ...json,
    type: quantity(transaction.type),
    chainId: chainId ?? quantity(transaction.common.chainId()),
    gas: gasLimit,
    input: data,
    value: value ?? "0x0",
    yParity: yParity ?? "0x0",
    to: transaction.to === undefined ? null : transaction.to.toString(),
    from: senderOf(transaction),
    gasPrice: quantity(effectiveGasPrice(transaction, block.header.baseFeePerGas)),
    hash: toHex(transaction.hash()),
    ...placeOf({ block, transaction }),
  };
}

/** Undefined for the first block. */
export function formatReceipt(mined: MinedBlock) {
  const { block, transaction, result } = mined;
  if (transaction === undefined || result === undefined) return undefined;
  const status = "status" in result.receipt ? result.receipt.status : 0;
  const { hash: transactionHash, ...place } = { hash: toHex(transaction.hash()), ...placeOf(mined) };
  return {
    ...place,
    transactionHash,
    type: quantity(transaction.type),
    status: quantity(status),
    from: senderOf(transaction),
    to: transaction.to === undefined ? null : transaction.to.toString(),
    contractAddress: result.createdAddress === undefined ? null : result.createdAddress.toString(),
    gasUsed: quantity(result.totalGasSpent),
    cumulativeGasUsed: quantity(result.totalGasSpent),
    effectiveGasPrice: quantity(effectiveGasPrice(transaction, block.header.baseFeePerGas)),
    logsBloom: toHex(result.bloom.bitvector),
    logs: logsOf(mined),
  };
}

export function logsOf({ block, transaction, result }: MinedBlock): RpcLog[] {
  if (transaction === undefined || result === undefined) return [];
  return result.receipt.logs.map(([address, topics, data], index) => ({
    address: toHex(address),
    topics: topics.map(toHex),
    data: toHex(data),
    ...placeOf({ block, transaction }),
    transactionHash: toHex(transaction.hash()),
    logIndex: quantity(index),
    removed: false,
  }));
}

const placeOf = ({ block }: MinedBlock) => ({
  blockNumber: quantity(block.header.number),
  blockHash: toHex(block.hash()),
  transactionIndex: quantity(0),
});

const senderOf = (transaction: TypedTransaction): string => transaction.getSenderAddress().toString();

function effectiveGasPrice(transaction: TypedTransaction, baseFee = 0n): bigint {
  return transaction.getEffectivePriorityFee(baseFee) + baseFee;
}
