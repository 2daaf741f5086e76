/** What a drill costs, before it is begun. Amounts in wei. */
import { formatAmount } from "../../../base/amounts.ts";
import { BaseError } from "../../../base/errors.ts";
import { claimGasPrice } from "../../../protocol/chain/move-costs.ts";
import { isLocalChain } from "../../../protocol/chain/presets.ts";
import type { SigningChain } from "../../../protocol/chain/sender.ts";
import { bondsOf, defenceGas } from "../../../protocol/rules/money.ts";
import { claimGas } from "../../../prover/costs.ts";

/** Gas of a request without its input, and of a byte of that; rounded up, as those of prover/decide.ts. */
const REQUEST_GAS = 60_000n;
const INPUT_BYTE_GAS = 40n;

export interface DrillTerms {
  readonly depth: number;
  /** bytes */
  readonly outputLength: number;
  /** bytes of the input of a request that the drill files; absent: the request is there already */
  readonly inputLength?: number;
  readonly minBond: bigint;
  /** falls on the request so far: each doubles the bond */
  readonly attempt: number;
}

export interface DrillCost {
  /** to a prover: a request that the drill files offers nothing, and another's is paid by whoever asked */
  readonly fee: bigint;
  /** lost: half is burned, half goes to those who hold tickets */
  readonly bond: bigint;
  /** at this price, for request, claim and every answer */
  readonly gas: bigint;
  readonly gasPrice: bigint;
  readonly total: bigint;
  /** held besides, for a ticket of the drill's own where nobody convicts; it comes back */
  readonly ticketBond: bigint;
  /** to name in the claim */
  readonly claimGasPrice: bigint;
}

export async function costOf({ client, constants }: SigningChain, terms: DrillTerms): Promise<DrillCost> {
  const [block, tip] = await Promise.all([client.getBlock(), client.estimateMaxPriorityFeePerGas()]);
  const baseFee = block.baseFeePerGas ?? 0n;
  const gasPrice = baseFee + tip;
  const { depth, inputLength } = terms;
  const request = inputLength === undefined ? 0n : REQUEST_GAS + INPUT_BYTE_GAS * BigInt(inputLength);
  const gas = request + claimGas(terms) + defenceGas(constants, depth);
  const named = claimGasPrice(constants, baseFee);
  const { bond, ticketBond } = bondsOf(constants, { ...terms, gasPrice: named });
  const total = bond + gas * gasPrice;
  return { fee: 0n, bond, gas, gasPrice, total, ticketBond, claimGasPrice: named };
}

export const describeCost = (cost: DrillCost): string[] => [
  `  fee    ${formatAmount(cost.fee)}`,
  `  bond   ${formatAmount(cost.bond)}, lost: half is burned, half goes to those who hold tickets`,
  `  gas    about ${cost.gas}, ${formatAmount(cost.gas * cost.gasPrice)} at ${formatAmount(cost.gasPrice)}`,
  `  total  about ${formatAmount(cost.total)}`,
  `Besides, ${formatAmount(cost.ticketBond)} must be there for a ticket of its own if nobody convicts; it comes back.`,
];

/** @param agreed the operator gave --yes
 *  @throws BaseError CONSENT_MISSING where real money would be lost without it, BALANCE_TOO_LOW */
export async function requireFunds(
  { client, account, game }: SigningChain,
  cost: DrillCost,
  agreed: boolean,
): Promise<void> {
  const { total, ticketBond } = cost;
  if (!agreed && !isLocalChain(game.chainId)) {
    throw new BaseError({
      code: "CONSENT_MISSING",
      shortMessage: `The drill would cost about ${formatAmount(total)} on chain ${game.chainId}, which is not local; nothing was sent.`,
      nextStep: "Run it again with --yes if you agree to lose that.",
      details: { chainId: game.chainId, costWei: total },
    });
  }
  const balance = await client.getBalance({ address: account.address });
  const needed = total + ticketBond;
  if (balance >= needed) return;
  throw new BaseError({
    code: "BALANCE_TOO_LOW",
    shortMessage: `${account.address} has ${formatAmount(balance)}, the drill needs ${formatAmount(needed)}; nothing was sent.`,
    nextStep: "Send ether to the key.",
    details: { balanceWei: balance, neededWei: needed },
  });
}
