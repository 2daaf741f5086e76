/** Bonds and payouts: exact integer twins of the contract (docs/PROTOCOL.md, section 5). All amounts in wei. */
import type { GameConstants } from "./types.ts";

/** The base fee's multiple below which a claim's gas price may not lie. */
const BASE_FEE_FACTOR = 5n;
/** How often a bond can double. */
const MAX_DOUBLINGS = 32;
/** Amounts are stored in 96 bits. */
export const MAX_AMOUNT = 2n ** 96n - 1n;

type GasConstants = Pick<GameConstants, "gasBase" | "gasPerDemand">;

/** G: gas that a whole defence of a claim costs at dispute depth d. */
export function defenceGas({ gasBase, gasPerDemand }: GasConstants, depth: number): bigint {
  return gasBase + gasPerDemand * BigInt(depth);
}

/** Least and greatest gas price that a claim may name at this base fee. */
export function gasPriceRange(
  { gasPriceFloor }: Pick<GameConstants, "gasPriceFloor">,
  baseFee: bigint,
): { readonly least: bigint; readonly greatest: bigint } {
  const least = max(gasPriceFloor, BASE_FEE_FACTOR * baseFee);
  return { least, greatest: 2n * least };
}

export interface BondTerms {
  readonly gasPrice: bigint;
  readonly depth: number;
  /** the request's least bond */
  readonly minBond: bigint;
  readonly attempt: number;
}

export interface Bonds {
  readonly bond: bigint;
  readonly ticketBond: bigint;
}

/** Bonds of a claim. They may exceed MAX_AMOUNT after many falls: such a claim is refused. */
export function bondsOf(constants: GasConstants, terms: BondTerms): Bonds {
  const defence = defenceGas(constants, terms.depth) * terms.gasPrice;
  const doublings = BigInt(Math.min(terms.attempt, MAX_DOUBLINGS));
  const bond = max(20n * defence, terms.minBond) << doublings;
  return { bond, ticketBond: max(2n * defence, bond / 10n) };
}

export interface FinalPayout {
  /** bond, half of each ticket's bond and the fee */
  readonly prover: bigint;
  readonly burned: bigint;
}

/** FINAL, by time or by truth. */
export function finalPayout({ bond, ticketBond }: Bonds, tickets: number, fee: bigint): FinalPayout {
  const half = ticketBond / 2n;
  const count = BigInt(tickets);
  return { prover: bond + half * count + fee, burned: (ticketBond - half) * count };
}

export interface FallPayout {
  /** to each ticket besides its own bond, and to the submitter of truth */
  readonly share: bigint;
  /** what each ticket's owner collects: own bond and share */
  readonly ticket: bigint;
  readonly burned: bigint;
}

/** FALLEN. The fee is not part of it: it stays with the request, or goes to the submitter of truth.
 *  @param truthShare true if it fell by truth: its submitter takes a share like a ticket */
export function fallPayout({ bond, ticketBond }: Bonds, tickets: number, truthShare: boolean): FallPayout {
  const receivers = BigInt(tickets) + (truthShare ? 1n : 0n);
  const share = receivers === 0n ? 0n : bond / 2n / receivers;
  return { share, ticket: ticketBond + share, burned: bond - share * receivers };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
