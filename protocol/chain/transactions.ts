/** Simulates, signs and broadcasts transactions, and finds out what became of them. */
import {
  type Hex,
  keccak256,
  type LocalAccount,
  type PublicClient,
  TransactionNotFoundError,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  BaseError as ViemError,
} from "viem";
import type { Action } from "./actions.ts";
import { chainError, decodeRevert, decodeRevertData, outOfGas, type Revert } from "./errors.ts";
import { MAX_TRANSACTION_GAS } from "./execution/cost.ts";
import type { Fees } from "./fees.ts";
import type { Inclusion, JournalEntry, SignedTransaction } from "./journal.ts";

/** Room above the estimate: other moves in the same block change storage costs. */
const GAS_MARGIN_NUMERATOR = 5n;
const GAS_MARGIN_DENOMINATOR = 4n;
/** Nodes refuse a transaction whose limit is higher. */
const MOST_GAS = BigInt(MAX_TRANSACTION_GAS);

type Named = Pick<LocalAccount, "address">;
/** Of what looks at no gas price. */
type Unpriced = Readonly<Record<never, never>>;

/** Runs the action on the newest block, and on the pending one where only time is missing.
 *  @param fees that it will be sent with: without any, nodes run it at base fee 0, and a claim looks at that
 *  @returns its gas limit, or why the contract refuses
 *  @throws BaseError when the node could not tell */
export async function simulate(
  client: PublicClient,
  account: Named,
  action: Action,
  fees: Fees | Unpriced,
): Promise<bigint | Revert> {
  const result = await simulateAt(client, account, action, fees);
  if (typeof result === "bigint" || result.name !== action.tooEarly) return result;
  // On a chain that makes blocks on demand the newest one may be old. A node without a pending block refuses as before.
  const next = await simulateAt(client, account, action, fees, "pending").catch(() => result);
  return typeof next === "bigint" ? next : result;
}

async function simulateAt(
  client: PublicClient,
  account: Named,
  { key, to, data, value, gas }: Action,
  fees: Fees | Unpriced,
  blockTag?: "pending",
): Promise<bigint | Revert> {
  try {
    const at = blockTag === undefined ? {} : { blockTag };
    const call = { account: account.address, to, data, value, ...fees, ...at } as const;
    if (gas !== undefined) {
      await client.call({ ...call, gas });
      return gas;
    }
    return gasLimitOf(await client.estimateGas(call));
  } catch (error) {
    const revert = decodeRevert(error);
    if (revert !== undefined) return revert;
    throw chainError(error, `simulate ${key}`);
  }
}

/** The room above an estimate must not make too large what fits. A chain that has no such limit may take more. */
function gasLimitOf(estimate: bigint): bigint {
  const roomy = (estimate * GAS_MARGIN_NUMERATOR) / GAS_MARGIN_DENOMINATOR;
  return estimate <= MOST_GAS && roomy > MOST_GAS ? MOST_GAS : roomy;
}

/** @param content what the transaction does; replacements differ in fees only */
export async function sign(
  account: LocalAccount,
  chainId: number,
  content: Pick<JournalEntry, "to" | "data" | "value" | "gas" | "nonce">,
  fees: Fees,
  nowMs: number,
): Promise<SignedTransaction> {
  const { to, data, value, gas, nonce } = content;
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId,
    to,
    data,
    value,
    gas,
    nonce,
    ...fees,
  });
  return { hash: keccak256(raw), raw, signedAtMs: nowMs, ...fees };
}

/** Hands a signed transaction to the node. A node that has it, or whose chain has it, is content.
 *  @throws BaseError when the node does not take it */
export async function broadcast(client: PublicClient, raw: Hex, key: string): Promise<void> {
  try {
    await client.sendRawTransaction({ serializedTransaction: raw });
  } catch (error) {
    if (hasIt(error)) return;
    throw chainError(error, `send ${key}`);
  }
}

function hasIt(error: unknown): boolean {
  const text = error instanceof ViemError ? `${error.message} ${error.details}` : String(error);
  return /already known|already imported|alreadyknown|known transaction|nonce too low|nonce is lower/i.test(
    text,
  );
}

/** True if the node has the transaction, mined or waiting. */
export async function isKnown(client: PublicClient, hash: Hex): Promise<boolean> {
  try {
    await client.getTransaction({ hash });
    return true;
  } catch (error) {
    if (error instanceof TransactionNotFoundError) return false;
    throw error;
  }
}

/** The receipt of whichever of these transactions was mined. They share a nonce, so at most one was. */
export async function findReceipt(
  client: PublicClient,
  hashes: readonly Hex[],
): Promise<TransactionReceipt | undefined> {
  const receipts = await Promise.all(
    hashes.map(async (hash) => {
      try {
        return await client.getTransactionReceipt({ hash });
      } catch (error) {
        if (error instanceof TransactionReceiptNotFoundError) return undefined;
        throw error;
      }
    }),
  );
  return receipts.find((receipt) => receipt !== undefined);
}

export const toInclusion = (receipt: TransactionReceipt): Inclusion => ({
  hash: receipt.transactionHash,
  blockNumber: receipt.blockNumber,
  blockHash: receipt.blockHash,
  gasUsed: receipt.gasUsed,
  gasPrice: receipt.effectiveGasPrice,
});

/** Why a mined transaction failed: its call again, on the state before its block.
 *  @throws BaseError when the node cannot be reached */
export async function explainRevert(
  client: PublicClient,
  account: Named,
  { to, data, value, gas }: Pick<JournalEntry, "to" | "data" | "value" | "gas">,
  receipt: TransactionReceipt,
): Promise<Revert> {
  if (receipt.gasUsed >= gas) return outOfGas(gas);
  // Where the state before the block lets it pass, another transaction of the block was faster: the state after it says
  // which effect is there.
  for (const blockNumber of [receipt.blockNumber - 1n, receipt.blockNumber]) {
    try {
      await client.call({ account: account.address, to, data, value, gas, blockNumber });
    } catch (error) {
      const revert = decodeRevert(error);
      if (revert !== undefined) return revert;
      const fault = chainError(error, "find out why a transaction failed");
      // A node that answers, but no longer has that state: the transaction failed all the same.
      if (fault.code !== "RPC_FAULT") throw fault;
    }
  }
  // It depended on what came and went within the block.
  return decodeRevertData("0x");
}
