/** The JSON-RPC methods of a development chain: what wallets, viem and this program's own client need. */
import { createAddressFromString } from "@ethereumjs/util";
import { type Address, type Hex, isAddress, isHex, numberToHex, pad } from "viem";
import { z } from "zod";
import { fromHex, toHex } from "../../../base/bytes.ts";
import type { DevChain, MinedBlock } from "../dev-chain.ts";
import { BLOCK_GAS } from "../genesis.ts";
import { estimateGas } from "./estimate.ts";
import { RpcFault } from "./fault.ts";
import { formatBlock, formatReceipt, formatTransaction, logsOf } from "./formats.ts";

export type RpcMethods = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

/** What a miner gets besides the base fee, wei: nothing competes for its blocks. */
const TIP = 1_000_000_000n;

const hex = z.custom<Hex>((value) => isHex(value), "must be 0x and hexadecimal digits");
const bytes = z.custom<Hex>(
  (value) => isHex(value) && value.length % 2 === 0,
  "must be bytes in hexadecimal",
);
const account = z.custom<Address>(
  (value) => typeof value === "string" && isAddress(value, { strict: false }),
);
const quantity = hex.transform((value) => BigInt(value));
const callSchema = z.object({
  from: account.optional(),
  to: account.nullish().transform((to) => to ?? undefined),
  data: bytes.optional(),
  input: bytes.optional(),
  value: quantity.optional(),
  gas: quantity.optional(),
});
const filterSchema = z.object({
  address: z.union([account, z.array(account)]).optional(),
  topics: z.array(z.union([hex, z.array(hex), z.null()])).optional(),
  fromBlock: z.string().optional(),
  toBlock: z.string().optional(),
  blockHash: hex.optional(),
});

export function createMethods(chain: DevChain): RpcMethods {
  const call = (value: unknown) => {
    const { input, data = input, ...rest } = read(callSchema, value);
    return { ...rest, data };
  };
  const accountAt = async (address: unknown, tag: unknown) => {
    const state = await chain.stateOf(blockOf(chain, tag));
    return { state, address: createAddressFromString(read(account, address)) };
  };
  const mined = (hash: unknown) => chain.blockWith(read(hex, hash).toLowerCase() as Hex);
  return {
    web3_clientVersion: () => "assay-devchain",
    net_version: () => `${chain.chainId}`,
    eth_chainId: () => numberToHex(chain.chainId),
    eth_syncing: () => false,
    eth_accounts: () => [],
    eth_blockNumber: () => numberToHex(chain.head.block.header.number),
    eth_gasPrice: () => numberToHex((chain.head.block.header.calcNextBaseFee() ?? 0n) + TIP),
    eth_maxPriorityFeePerGas: () => numberToHex(TIP),
    eth_feeHistory: ([count, newest]) => feeHistory(chain, read(quantity, count), newest),
    eth_getBalance: async ([address, tag]) => {
      const { state, address: of } = await accountAt(address, tag);
      return numberToHex((await state.getAccount(of))?.balance ?? 0n);
    },
    eth_getTransactionCount: async ([address, tag]) => {
      const { state, address: of } = await accountAt(address, tag);
      return numberToHex((await state.getAccount(of))?.nonce ?? 0n);
    },
    eth_getCode: async ([address, tag]) => {
      const { state, address: of } = await accountAt(address, tag);
      return toHex(await state.getCode(of));
    },
    eth_getStorageAt: async ([address, slot, tag]) => {
      const { state, address: of } = await accountAt(address, tag);
      const word = await state.getStorage(of, fromHex(pad(read(hex, slot))));
      return pad(toHex(word));
    },
    eth_getBlockByNumber: ([tag, full]) => formatBlock(blockOf(chain, tag), full === true),
    eth_getBlockByHash: ([hash, full]) => {
      const found = blockByHash(chain, hash);
      return found === undefined ? null : formatBlock(found, full === true);
    },
    eth_getTransactionByHash: ([hash]) => {
      const found = mined(hash);
      return found === undefined ? null : formatTransaction(found);
    },
    eth_getTransactionReceipt: ([hash]) => {
      const found = mined(hash);
      return found === undefined ? null : formatReceipt(found);
    },
    eth_getLogs: ([filter]) => logs(chain, read(filterSchema, filter ?? {})),
    eth_sendRawTransaction: async ([raw]) => {
      const { transaction } = await chain.mine(fromHex(read(bytes, raw)));
      return toHex(transaction?.hash() ?? new Uint8Array());
    },
    eth_call: async ([request, tag]) => {
      const result = await chain.call(call(request), blockOf(chain, tag));
      if (!result.ok) throw RpcFault.reverted(result);
      return toHex(result.data);
    },
    eth_estimateGas: async ([request]) => numberToHex(await estimateGas(chain, call(request), BLOCK_GAS)),
  };
}

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw RpcFault.params(`${issue?.path.join(".") || "a parameter"}: ${issue?.message ?? "is invalid"}`);
}

/** @param tag number, name, or absent for the newest; every block is final at once */
function blockOf(chain: DevChain, tag: unknown): MinedBlock {
  if (typeof tag === "object" && tag !== null && "blockHash" in tag) {
    const found = blockByHash(chain, tag.blockHash);
    if (found !== undefined) return found;
    throw RpcFault.params("there is no block of this hash");
  }
  const names = ["latest", "pending", "safe", "finalized"];
  if (tag === undefined || tag === null || names.includes(tag as string)) return chain.head;
  if (tag === "earliest") return chain.blocks[0] as MinedBlock;
  const number = Number(read(quantity, tag));
  const found = chain.blocks[number];
  if (found === undefined) throw RpcFault.params(`there is no block ${number}`);
  return found;
}

function blockByHash(chain: DevChain, hash: unknown): MinedBlock | undefined {
  const wanted = read(hex, hash).toLowerCase();
  return chain.blocks.find(({ block }) => toHex(block.hash()) === wanted);
}

function logs(chain: DevChain, filter: z.infer<typeof filterSchema>) {
  const { blockHash, fromBlock, toBlock, address, topics = [] } = filter;
  const last = Number(chain.head.block.header.number);
  const numberOf = (tag: string | undefined) =>
    isHex(tag) ? Math.min(Number(tag), last + 1) : Number(blockOf(chain, tag).block.header.number);
  const range =
    blockHash === undefined
      ? chain.blocks.slice(numberOf(fromBlock), numberOf(toBlock) + 1)
      : [blockOf(chain, { blockHash })];
  const addresses = address === undefined ? [] : [address].flat().map((each) => each.toLowerCase());
  return range.flatMap(logsOf).filter(
    (log) =>
      (addresses.length === 0 || addresses.includes(log.address)) &&
      topics.every((wanted, i) => {
        if (wanted === null) return true;
        const any = [wanted].flat().map((each) => each.toLowerCase());
        return any.length === 0 || any.includes(log.topics[i] ?? "");
      }),
  );
}

function feeHistory(chain: DevChain, count: bigint, newest: unknown) {
  const { number } = blockOf(chain, newest).block.header;
  const first = number + 1n > count ? number + 1n - count : 0n;
  const blocks = chain.blocks.slice(Number(first), Number(number) + 1);
  const next = blocks.at(-1)?.block.header.calcNextBaseFee() ?? 0n;
  return {
    oldestBlock: numberToHex(first),
    baseFeePerGas: [...blocks.map(({ block }) => block.header.baseFeePerGas ?? 0n), next].map((fee) =>
      numberToHex(fee),
    ),
    gasUsedRatio: blocks.map(({ block }) => Number(block.header.gasUsed) / Number(block.header.gasLimit)),
  };
}
