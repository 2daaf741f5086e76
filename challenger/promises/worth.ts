/** Whether opening a wrong promise pays. Amounts in wei. */
import { defenceGas } from "../../protocol/rules/money.ts";
import type { GameConstants } from "../../protocol/rules/types.ts";

/** Tickets among which the half of a fallen bond is shared, as far as one can expect: this challenger's, and one that
 *  came in beside it. */
const EXPECTED_TICKETS = 2n;
/** Of a move that opens, queues or closes, without its data. */
const MOVE_GAS = 600_000n;
/** A byte of calldata under EIP-7623, the dearest that it can be. */
const GAS_PER_BYTE = 40n;

export interface OpeningTerms {
  readonly constants: Pick<GameConstants, "gasBase" | "gasPerDemand">;
  /** the model's d */
  readonly depth: number;
  /** of the claim that it becomes */
  readonly bond: bigint;
  /** of calldata */
  readonly bytes: number;
  /** a unit of gas */
  readonly gasPrice: bigint;
  /** of the data of all its transactions, beside gas */
  readonly dataFee: bigint;
}

export interface Worth {
  /** of the bond, once the claim has fallen */
  readonly share: bigint;
  /** gas of opening, dispute and close; the deposit comes back with the fall */
  readonly cost: bigint;
}

export function worthOf({ constants, depth, bond, bytes, gasPrice, dataFee }: OpeningTerms): Worth {
  // A dispute costs its challenger no more than the defence costs the prover.
  const gas = MOVE_GAS + GAS_PER_BYTE * BigInt(bytes) + defenceGas(constants, depth);
  return { share: bond / 2n / EXPECTED_TICKETS, cost: gas * gasPrice + dataFee };
}
