/** What moves cost a prover, and what it asks for them. Pure; money in wei, sizes in bytes. */
import { type DataFee, dataFeeOf } from "../protocol/chain/data-fee.ts";
import { defenceGas, gasPriceRange } from "../protocol/rules/money.ts";
import type { GameConstants } from "../protocol/rules/types.ts";
import { instanceCount } from "./proof/ezkl/instances.ts";

/** Gas of whole transactions, above what was measured on a local chain; test/integration/prover.test.ts holds them to it. */
export const GAS = {
  claim: 70_000n,
  perOutputByte: 40n,
  finalize: 75_000n,
  settle: 150_000n,
  settleProof: 320_000n,
  perSignal: 7_300n,
  settleEzkl: 760_000n,
  perInstance: 900n,
  deliver: 120_000n,
} as const;

/** Calldata of moves beside input, output and evidence; test/prover/costs.test.ts holds them to the encoded moves. */
export const BYTES = {
  request: 196,
  claim: 704,
  finalize: 740,
  settle: 1_060,
  deliver: 836,
  commitTrace: 2_404,
  /** the most: 2 KB and a path of 33 */
  reveal: 3_556,
  /** a claim whose answer is overdue */
  end: 324,
  /** eight words */
  groth16Evidence: 256,
  /** of a proof of 2^15 rows, beside its public values */
  ezklProof: 8_192,
} as const;

interface Outputs {
  readonly outputLength: number;
}

/** How far a fee must lie above what it pays for. */
interface Margin {
  readonly marginPercent: number;
}

/** What a transaction costs at a block. */
export interface Prices {
  /** a unit of gas, tip included */
  readonly gasPrice: bigint;
  readonly dataFee: DataFee;
}

/** Gas of a settlement by ezkl. @param model elements of its inputs and outputs */
export const ezklSettleGas = (model: { readonly inputs: number; readonly outputs: number }): bigint =>
  GAS.settleEzkl + GAS.perInstance * BigInt(instanceCount(model));

/** Of a proof by ezkl and its public values. @param model elements of its inputs and outputs */
export const ezklEvidenceBytes = (model: { readonly inputs: number; readonly outputs: number }): number =>
  BYTES.ezklProof + 32 * instanceCount(model);

/** Gas that a claim costs who makes it, if nobody challenges it. */
export const claimGas = ({ outputLength }: Outputs): bigint =>
  GAS.claim + GAS.perOutputByte * BigInt(outputLength) + GAS.finalize;

/** The same in wei, with the data fee of both moves. */
export const claimCost = (model: Outputs, { gasPrice, dataFee }: Prices): bigint =>
  claimGas(model) * gasPrice + dataFeeOf(dataFee, BYTES.claim + model.outputLength, BYTES.finalize);

/** @param inputBytes of the request's calldata */
export const settleCost = (
  { gas, evidenceBytes = 0 }: { readonly gas: bigint; readonly evidenceBytes?: number },
  { outputLength }: Outputs,
  inputBytes: number,
  { gasPrice, dataFee }: Prices,
): bigint => gas * gasPrice + dataFeeOf(dataFee, BYTES.settle + inputBytes + outputLength + evidenceBytes);

/** Least fee of a claim. */
export const leastFee = (model: Outputs, prices: Prices, policy: Margin): bigint =>
  withMargin(claimCost(model, prices), policy);

/** Least fee for a delivery. */
export const leastDeliveryFee = (
  { callbackGas, outputLength }: { readonly callbackGas: number; readonly outputLength: number },
  { gasPrice, dataFee }: Prices,
  policy: Margin,
): bigint =>
  withMargin(
    (GAS.deliver + BigInt(callbackGas)) * gasPrice + dataFeeOf(dataFee, BYTES.deliver + outputLength),
    policy,
  );

export const withMargin = (wei: bigint, { marginPercent }: Margin): bigint =>
  (wei * BigInt(100 + marginPercent)) / 100n;

/** Data fee of a whole defence against one ticket: the trace, and as many reveals as its owner may demand. */
export const defenceDataFee = (dataFee: DataFee, depth: number): bigint =>
  dataFeeOf(dataFee, BYTES.commitTrace) + BigInt(depth) * dataFeeOf(dataFee, BYTES.reveal);

/** Price to name in a claim: room for the base fee to rise by half before the claim is mined. That is at most one and
 *  a half times the least price, and twice the least is allowed.
 *
 *  Bonds follow this price alone, and half of a ticket's bond is what pays for a defence. So what a defence costs in
 *  data raises it, by as much for each unit of gas, as far as the contract allows once the base fee has fallen by a
 *  quarter. @param dataFeePerGas of a defence */
export function claimGasPrice(constants: GameConstants, baseFee: bigint, dataFeePerGas = 0n): bigint {
  const { least } = gasPriceRange(constants, (baseFee * 3n) / 2n);
  const { greatest } = gasPriceRange(constants, (baseFee * 3n + 3n) / 4n);
  const wanted = ((baseFee + dataFeePerGas) * 3n) / 2n;
  if (dataFeePerGas === 0n || wanted <= least) return least;
  return wanted < greatest ? wanted : greatest;
}

/** Price to name for a model of this depth. */
export function claimGasPriceFor(
  constants: GameConstants,
  baseFee: bigint,
  dataFee: DataFee,
  depth: number,
): bigint {
  const gas = defenceGas(constants, depth);
  return claimGasPrice(constants, baseFee, (defenceDataFee(dataFee, depth) + gas - 1n) / gas);
}

/** What the account must keep for its live claims: whoever holds no gas for a defence has lost the bond. Of a data fee
 *  that could not be read it holds what the gas price named in the claim holds. */
export const defenceReserve = ({
  live,
  constants,
  dataFee,
}: {
  readonly live: readonly { readonly gasPrice: bigint; readonly depth: number }[];
  readonly constants: GameConstants;
  readonly dataFee: DataFee | undefined;
}): bigint =>
  live.reduce(
    (sum, { depth, gasPrice }) =>
      sum +
      defenceGas(constants, depth) * gasPrice +
      (dataFee === undefined ? 0n : defenceDataFee(dataFee, depth)),
    0n,
  );
