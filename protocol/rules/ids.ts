/** Ids are hashes of content (docs/PROTOCOL.md, sections 1 and 2). */
import { type Address, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from "viem";
import { toHex } from "../../base/bytes.ts";
import { type ModelIdentity, modelId } from "../../inference/commit/commitments.ts";
import type { Claim, ClaimId, ModelId, Request, RequestId } from "./types.ts";

const REQUEST_ID = parseAbiParameters([
  "uint256 chainId, address assay, Request request",
  "struct Request { address requester; bytes32 modelId; bytes32 inputHash; uint8 lanes; uint96 fee; uint96 deliveryFee; uint96 minBond; uint32 window; uint40 expiry; address exclusiveProver; uint40 exclusiveUntil; address callback; uint32 callbackGas; uint64 salt; }",
]);
const CLAIM_STRUCT =
  "struct Claim { bytes32 requestId; bytes32 modelId; uint32 attempt; address prover; address operator; bytes32 outputHash; uint96 bond; uint96 ticketBond; uint64 gasPrice; }";
const CLAIM = parseAbiParameters(["Claim claim", CLAIM_STRUCT]);
const CLAIM_ID = parseAbiParameters(["uint256 chainId, address assay, Claim claim", CLAIM_STRUCT]);

/** Where a game is played: ids of one contract mean nothing to another. */
export interface GameAddress {
  readonly chainId: number;
  /** address of the Assay contract */
  readonly assay: Address;
}

export function requestIdOf({ chainId, assay }: GameAddress, request: Request): RequestId {
  return keccak256(encodeAbiParameters(REQUEST_ID, [BigInt(chainId), assay, request])) as RequestId;
}

export function claimIdOf({ chainId, assay }: GameAddress, claim: Claim): ClaimId {
  return keccak256(encodeAbiParameters(CLAIM_ID, [BigInt(chainId), assay, claim])) as ClaimId;
}

/** abi.encode(claim): nine words. */
export const encodeClaim = (claim: Claim): Hex => encodeAbiParameters(CLAIM, [claim]);

/** Id of a model from its commitments (inference/commit) and what is chosen at registration. */
export const modelIdOf = (identity: ModelIdentity): ModelId => toHex(modelId(identity)) as ModelId;
