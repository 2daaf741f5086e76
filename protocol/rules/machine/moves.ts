/** Moves and the reasons for which one is refused. */
import type { Address, Hex } from "viem";
import type { iAssayAbi, iProofLaneAbi } from "../generated/abis.ts";
import type { ClaimId, ConvictReason, ModelId, Request, RequestId, TruthLane } from "../types.ts";
import type { GameState } from "./state.ts";

interface Sent {
  readonly from: Address;
  /** block timestamp, seconds */
  readonly now: number;
  /** wei sent along; 0 if absent */
  readonly value?: bigint;
}

/** What the contract computes from data (hashes, judges, adapters, callbacks) is a fact of the move here. */
export type Move = Sent &
  (
    | {
        readonly kind: "request";
        readonly request: Request;
        readonly input: { readonly hash: Hex; readonly canonical: boolean };
      }
    | {
        readonly kind: "claim";
        readonly requestId: RequestId;
        readonly operator: Address;
        readonly gasPrice: bigint;
        readonly output: { readonly hash: Hex; readonly length: number };
        /** base fee of the block, wei */
        readonly baseFee: bigint;
      }
    | { readonly kind: "challenge"; readonly claimId: ClaimId }
    | { readonly kind: "commitTrace"; readonly claimId: ClaimId; readonly traceRoot: Hex }
    | {
        readonly kind: "demand";
        readonly claimId: ClaimId;
        readonly traceRoot: Hex;
        readonly position: bigint;
      }
    | {
        readonly kind: "reveal";
        readonly claimId: ClaimId;
        readonly position: bigint;
        /** canonical, and folds to the trace root */
        readonly valid: boolean;
      }
    | {
        readonly kind: "convict";
        readonly claimId: ClaimId;
        readonly reason: ConvictReason;
        /** the judge recomputed the fault */
        readonly holds: boolean;
      }
    | { readonly kind: "timeoutTrace"; readonly claimId: ClaimId }
    | { readonly kind: "timeoutDemand"; readonly claimId: ClaimId; readonly position: bigint }
    | {
        readonly kind: "settle";
        readonly requestId: RequestId;
        /** the request's live claim; absent if it is OPEN */
        readonly claimId?: ClaimId;
        readonly lane: TruthLane;
        readonly outputHash: Hex;
        /** the lane's adapter accepts the output */
        readonly accepted: boolean;
      }
    | {
        readonly kind: "settleBatch";
        /** in the lane PROOF, of one model */
        readonly settlements: readonly {
          readonly requestId: RequestId;
          readonly claimId?: ClaimId;
          readonly outputHash: Hex;
        }[];
        /** every proof of it is right */
        readonly accepted: boolean;
      }
    | { readonly kind: "haltProof"; readonly modelId: ModelId; readonly contradiction: boolean }
    | { readonly kind: "finalize"; readonly claimId: ClaimId }
    | {
        readonly kind: "deliver";
        readonly requestId: RequestId;
        /** the output's hash is the result's */
        readonly outputMatches: boolean;
        readonly gasEnough: boolean;
        readonly callbackSucceeds: boolean;
      }
    | { readonly kind: "reclaimDelivery"; readonly requestId: RequestId }
    | { readonly kind: "refund"; readonly requestId: RequestId }
    | { readonly kind: "collect"; readonly claimId: ClaimId; readonly owner: Address }
    | { readonly kind: "withdraw" }
  );

type MoveKind = Move["kind"];
export type MoveOf<Kind extends MoveKind> = Extract<Move, { readonly kind: Kind }>;

/** Why a move is refused: the contract's error. */
export type Refusal = Extract<
  (typeof iAssayAbi)[number] | (typeof iProofLaneAbi)[number],
  { readonly type: "error" }
>["name"];

export type MoveResult =
  /** claimId: of the claim that the move made */
  | { readonly ok: true; readonly state: GameState; readonly claimId?: ClaimId }
  | { readonly ok: false; readonly refusal: Refusal };
