/** EIP-1559 fees of our transactions. All prices in wei a unit of gas. */
import type { PublicClient } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";

export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Nodes take a replacement only if both prices rise by a tenth; an eighth leaves room for rounding. */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;

/** Twice the base fee, so that six full blocks in a row do not strand the transaction, and the node's tip.
 *  @param limit most that we pay
 *  @throws BaseError FEE_ABOVE_LIMIT (retryable) if the base fee alone is above it */
export async function currentFees(client: PublicClient, limit: bigint): Promise<Fees> {
  const [block, tip] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  const baseFee = block.baseFeePerGas ?? 0n;
  if (baseFee > limit) {
    throw new BaseError({
      code: "FEE_ABOVE_LIMIT",
      shortMessage: `The base fee is ${formatAmount(baseFee)} a unit of gas, the limit ${formatAmount(limit)}.`,
      nextStep: "Wait, or raise the limit with --max-fee (ASSAY_MAX_FEE).",
      retryable: true,
    });
  }
  return capped({ maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip }, limit);
}

/** Prices that a node accepts instead of the old ones; undefined if the limit leaves no room. */
export function bumpedFees(old: Fees, current: Fees, limit: bigint): Fees | undefined {
  const raise = (fee: bigint) => (fee * BUMP_NUMERATOR) / BUMP_DENOMINATOR + 1n;
  const least = {
    maxFeePerGas: raise(old.maxFeePerGas),
    maxPriorityFeePerGas: raise(old.maxPriorityFeePerGas),
  };
  if (least.maxFeePerGas > limit) return undefined;
  return capped(
    {
      maxFeePerGas: max(least.maxFeePerGas, current.maxFeePerGas),
      maxPriorityFeePerGas: max(least.maxPriorityFeePerGas, current.maxPriorityFeePerGas),
    },
    limit,
  );
}

function capped(fees: Fees, limit: bigint): Fees {
  const maxFeePerGas = min(fees.maxFeePerGas, limit);
  return { maxFeePerGas, maxPriorityFeePerGas: min(fees.maxPriorityFeePerGas, maxFeePerGas) };
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
