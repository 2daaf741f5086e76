/** What moves cost a prover, and what it asks for them. Pure; money in wei, sizes in bytes. */
import { type DataFee, dataFeeOf } from "../protocol/chain/data-fee.ts";
import { BYTES, defenceDataFee } from "../protocol/chain/move-costs.ts";
import { defenceGas } from "../protocol/rules/money.ts";
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
