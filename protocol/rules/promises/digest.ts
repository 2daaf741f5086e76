/** Digests of signed claims, which provers sign (EIP-712), and ids of batches. */
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
} from "viem";
import type { BatchId, Digest, SignedClaim } from "./types.ts";

/** Where promises are kept: a signature for one contract means nothing to another. */
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

const BATCH = parseAbiParameters(
  "uint256 chainId, address promises, address prover, bytes32 modelId, uint32 window, uint256 count, bytes32 root",
);

export interface BatchContent {
  readonly prover: Address;
  readonly modelId: Hex;
  /** seconds */
  readonly window: number;
  readonly count: number;
  readonly root: Hex;
}

export const batchIdOf = ({ chainId, promises }: PromisesAddress, batch: BatchContent): BatchId =>
  keccak256(
    encodeAbiParameters(BATCH, [
      ...[BigInt(chainId), promises, batch.prover, batch.modelId, batch.window, BigInt(batch.count)],
      batch.root,
    ] as never),
  ) as BatchId;
