/** Digests of signed claims, which provers sign (EIP-712), and ids of batches. */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseAbiParameters,
  toHex,
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

const DOMAIN = { name: "Assay Promises", version: "1" } as const;

/** What a wallet signs. */
export const typedSignedClaim = ({ chainId, promises }: PromisesAddress, message: SignedClaim) =>
  ({
    domain: { ...DOMAIN, chainId, verifyingContract: promises },
    types: TYPES,
    primaryType: "SignedClaim",
    message,
  }) as const;

const hashOfText = (text: string): Hex => keccak256(toHex(text));
const CLAIM_TYPE = hashOfText(
  `SignedClaim(${TYPES.SignedClaim.map(({ type, name }) => `${type} ${name}`).join(",")})`,
);
const DOMAIN_TYPE = hashOfText(
  "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
);
const [NAME, VERSION] = [hashOfText(DOMAIN.name), hashOfText(DOMAIN.version)];
const DOMAIN_WORDS = parseAbiParameters("bytes32, bytes32, bytes32, uint256, address");
const CLAIM_WORDS = parseAbiParameters(
  "bytes32, address, bytes32, bytes32, bytes32, address, uint40, uint40, uint96, uint64",
);

/** The EIP-712 digest of what a wallet signs; nodes compute it thousands of times a second. */
export function digestOf({ chainId, promises }: PromisesAddress, claim: SignedClaim): Digest {
  const { prover, modelId, inputHash, outputHash, requester, issuedAt, expiry, minBond, salt } = claim;
  const domain = encodeAbiParameters(DOMAIN_WORDS, [DOMAIN_TYPE, NAME, VERSION, BigInt(chainId), promises]);
  const words = encodeAbiParameters(CLAIM_WORDS, [
    ...([CLAIM_TYPE, prover, modelId, inputHash, outputHash, requester] as const),
    ...([issuedAt, expiry, minBond, salt] as const),
  ]);
  return keccak256(concatHex(["0x1901", keccak256(domain), keccak256(words)])) as Digest;
}

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

export function batchIdOf({ chainId, promises }: PromisesAddress, batch: BatchContent): BatchId {
  const { prover, modelId, window, count, root } = batch;
  const words = [BigInt(chainId), promises, prover, modelId, window, BigInt(count), root] as const;
  return keccak256(encodeAbiParameters(BATCH, words)) as BatchId;
}
