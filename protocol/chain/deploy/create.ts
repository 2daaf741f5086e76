/** Sends a transaction that creates a contract, with the fees and the gas of every one that does. */
import {
  type Address,
  createWalletClient,
  custom,
  type Hex,
  type LocalAccount,
  type PublicClient,
  type TransactionReceipt,
} from "viem";
import { BaseError } from "../../../base/errors.ts";
import { MAX_AMOUNT } from "../../rules/money.ts";
import { withContext } from "../errors.ts";
import { currentFees } from "../fees.ts";
import { chainName, transactionGasOn } from "../presets.ts";

export interface CreateOptions {
  readonly client: PublicClient;
  readonly account: LocalAccount;
  /** most that a transaction pays for a unit of gas, wei */
  readonly maxFee?: bigint;
  /** receipts are polled this often; default 1,000 */
  readonly pollIntervalMs?: number;
}

export const pollIntervalOf = ({ pollIntervalMs = 1_000 }: CreateOptions): number => pollIntervalMs;

/** One contract, by a transaction without a receiver or by one to what creates it. */
export interface CreationCall {
  readonly name: string;
  readonly to?: Address;
  readonly data: Hex;
}

/** @returns the receipt, of a transaction that may have reverted
 *  @throws BaseError FEE_ABOVE_LIMIT, RPC_UNREACHABLE, RPC_FAULT; what the node says where it expects it to revert */
export async function sendCreation(
  options: CreateOptions,
  chainId: number,
  { name, to, data }: CreationCall,
): Promise<TransactionReceipt> {
  const { client, account, maxFee = MAX_AMOUNT } = options;
  const wallet = createWalletClient({ account, transport: custom(client) });
  return withContext(`deploy ${name}`, async () => {
    const fees = await currentFees(client, maxFee);
    const call = { ...(to !== undefined && { to }), data, ...fees };
    const gas = await client.estimateGas({ account: account.address, ...call });
    const hash = await wallet.sendTransaction({ chain: null, ...call, gas: gasLimit(chainId, gas) });
    return client.waitForTransactionReceipt({ hash, pollingInterval: pollIntervalOf(options) });
  });
}

/** A quarter above the estimate, for what a rollup takes for data as gas may rise, as far as a transaction has room. */
function gasLimit(chainId: number, estimate: bigint): bigint {
  const most = BigInt(transactionGasOn(chainId));
  const roomy = (estimate * 5n) / 4n;
  return estimate <= most && roomy > most ? most : roomy;
}

/** A transaction after which the contract does not stand. */
export const creationFailed = (
  name: string,
  chainId: number,
  { status, transactionHash: hash }: TransactionReceipt,
  nextStep: string,
): BaseError =>
  new BaseError({
    code: "DEPLOY_FAILED",
    shortMessage: `The deployment of ${name} on ${chainName(chainId)} ${status === "success" ? "left no contract" : "reverted"} in transaction ${hash}.`,
    nextStep,
    details: { name, hash },
  });
