/** Sizes of moves, and the gas price that a claim names. Pure; money in wei, sizes in bytes. */
import { defenceGas, gasPriceRange } from "../rules/money.ts";
import type { GameConstants } from "../rules/types.ts";
import { type DataFee, dataFeeOf } from "./data-fee.ts";

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
