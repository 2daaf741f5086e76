/** The types of the protocol: ids, lanes, states, requests and claims. The words are in docs/GLOSSARY.md, rules and
 *  byte layouts in docs/PROTOCOL.md.
 */
import { type Address, type Hex, isHex } from "viem";

declare const brand: unique symbol;
type Branded<Name extends string> = Hex & { readonly [brand]: Name };

/** keccak256 of chain, contract and Request. */
export type RequestId = Branded<"RequestId">;
/** keccak256 of chain, contract and Claim. */
export type ClaimId = Branded<"ClaimId">;
/** keccak256 of all that fixes the function. */
export type ModelId = Branded<"ModelId">;

/** Whether a text has the form of a model id: 32 bytes as hex. */
export const isModelId = (text: string): text is ModelId => isHex(text) && text.length === 66;

export const LANE = { EXECUTION: 1, PROOF: 2, BOND: 4 } as const;
export type LaneName = keyof typeof LANE;
export type Lane = (typeof LANE)[LaneName];
/** The lanes that know the right output at once. */
export type TruthLane = typeof LANE.EXECUTION | typeof LANE.PROOF;

/** Index = code in the request word. */
export const REQUEST_STATES = ["NONE", "OPEN", "BUSY", "DONE", "REFUNDED"] as const;
export type RequestStatus = (typeof REQUEST_STATES)[number];

/** Index = code in the claim word. */
export const CLAIM_STATES = ["NONE", "ACTIVE", "FINAL", "FALLEN"] as const;
export type ClaimStatus = (typeof CLAIM_STATES)[number];

/** Index = code in the claim word and in the event Fell. */
export const FALL_REASONS = [
  "NONE",
  "TRACE_TIMEOUT",
  "DEMAND_TIMEOUT",
  "ELEMENT",
  "CODEC",
  "OUTPUT",
  "TRUTH",
] as const;
export type FallReason = (typeof FALL_REASONS)[number];
/** The faults that a contract can recompute. */
export type ConvictReason = "ELEMENT" | "CODEC" | "OUTPUT";

/** Index = code in the request word. */
export const DELIVERY_STATES = ["PENDING", "DELIVERED", "RECLAIMED"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATES)[number];

/** What an agent asks for. Field types are those that the ABI gives: up to 48 bits number, above bigint. */
export interface Request {
  readonly requester: Address;
  readonly modelId: ModelId;
  /** keccak256 of the calldata, selector included. */
  readonly inputHash: Hex;
  /** Bits of the lanes that the requester accepts. */
  readonly lanes: number;
  /** wei to whoever makes the output final */
  readonly fee: bigint;
  /** wei to whoever delivers the callback */
  readonly deliveryFee: bigint;
  /** least bond of a claim, wei */
  readonly minBond: bigint;
  /** seconds */
  readonly window: number;
  /** last second in which a claim may be made */
  readonly expiry: number;
  /** zero address: anybody may claim at once */
  readonly exclusiveProver: Address;
  readonly exclusiveUntil: number;
  /** zero address: no callback */
  readonly callback: Address;
  readonly callbackGas: number;
  /** tells apart what one requester asks twice; 64 bits */
  readonly salt: bigint;
}

/** A prover's bonded statement. */
export interface Claim {
  readonly requestId: RequestId;
  readonly modelId: ModelId;
  readonly attempt: number;
  readonly prover: Address;
  /** zero address: none */
  readonly operator: Address;
  /** keccak256 of the return data */
  readonly outputHash: Hex;
  readonly bond: bigint;
  readonly ticketBond: bigint;
  /** wei a unit of gas, the price at which the bonds were computed */
  readonly gasPrice: bigint;
}

/** Words of an aligned subtree and the siblings from it to the root, bottom up. */
export interface Opening {
  readonly words: readonly Hex[];
  readonly path: readonly Hex[];
}

/** What a consumer demands of an output before it uses it. */
export interface Policy {
  readonly modelId: ModelId;
  readonly inputHash: Hex;
  readonly lanes: number;
  readonly minBond: bigint;
  readonly minWindow: number;
}

/** What the contract's constructor fixed. */
export interface GameConstants {
  /** T, seconds */
  readonly answerSeconds: number;
  /** wei a unit of gas */
  readonly gasPriceFloor: bigint;
  /** gas of a defence without demands */
  readonly gasBase: bigint;
  readonly gasPerDemand: bigint;
}

/** Limits of docs/PROTOCOL.md, section 4; all in seconds. */
export const LIMITS = {
  maxWindow: 30 * 86_400,
  maxExpiryAhead: 365 * 86_400,
  maxExclusive: 600,
  reclaimDeliveryAfter: 7 * 86_400,
} as const;

export const ZERO_ADDRESS: Address = "0x0000000000000000000000000000000000000000";
export const ZERO_HASH: Hex = "0x0000000000000000000000000000000000000000000000000000000000000000";

/** What stands for "no claim" where a move takes one: all zeros. */
export const NO_CLAIM: Claim = {
  requestId: ZERO_HASH as RequestId,
  modelId: ZERO_HASH as ModelId,
  attempt: 0,
  prover: ZERO_ADDRESS,
  operator: ZERO_ADDRESS,
  outputHash: ZERO_HASH,
  bond: 0n,
  ticketBond: 0n,
  gasPrice: 0n,
};
