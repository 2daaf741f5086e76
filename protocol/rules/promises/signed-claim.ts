/** Signed claims and the digests that their provers' keys sign (EIP-712). */
import { type Address, type Hex, hashTypedData } from "viem";
import type { ModelId } from "../types.ts";

declare const brand: unique symbol;
/** EIP-712 digest of a signed claim. */
export type Digest = Hex & { readonly [brand]: "Digest" };

/** What a prover signs off chain: the answer to an input, backed by its stake. */
export interface SignedClaim {
  readonly prover: Address;
  readonly modelId: ModelId;
  readonly inputHash: Hex;
  readonly outputHash: Hex;
  /** who asked; no rule reads it */
  readonly requester: Address;
  /** seconds since 1970, as `expiry` */
  readonly issuedAt: number;
  readonly expiry: number;
  /** least bond of its claim as far as the stake goes, wei */
  readonly minBond: bigint;
  /** tells apart what one prover says twice; 64 bits */
  readonly salt: bigint;
}

/** Where promises are kept: a signature for one contract, or one chain, means nothing to another. */
export interface PromisesAddress {
  readonly chainId: number;
  /** address of the Promises contract */
  readonly promises: Address;
}

const TYPES = {
  SignedClaim: [
    { name: "prover", type: "address" },
    { name: "modelId", type: "bytes32" },
    { name: "inputHash", type: "bytes32" },
    { name: "outputHash", type: "bytes32" },
    { name: "requester", type: "address" },
    { name: "issuedAt", type: "uint40" },
    { name: "expiry", type: "uint40" },
    { name: "minBond", type: "uint96" },
    { name: "salt", type: "uint64" },
  ],
} as const;

/** What a wallet signs. */
export const typedSignedClaim = ({ chainId, promises }: PromisesAddress, message: SignedClaim) =>
  ({
    domain: { name: "Assay Promises", version: "1", chainId, verifyingContract: promises },
    types: TYPES,
    primaryType: "SignedClaim",
    message,
  }) as const;

export const digestOf = (at: PromisesAddress, claim: SignedClaim): Digest =>
  hashTypedData(typedSignedClaim(at, claim)) as Digest;
