/** Moves on promises, each condition of a move by name, and what it is refused with. */
import type { Address, Hex } from "viem";
import type { Move as AssayMove } from "../machine.ts";
import type { ClaimId, ModelId } from "../types.ts";
import type { BatchId } from "./batch.ts";
import type { Digest, SignedClaim } from "./signed-claim.ts";
import type { PromisesState } from "./state.ts";

interface Sent {
  readonly from: Address;
  /** block timestamp, seconds */
  readonly now: number;
  /** base fee of the block, wei */
  readonly baseFee: bigint;
  /** wei sent along; 0 if absent */
  readonly value?: bigint;
}

/** Facts that the contract computes from data. */
export interface InputFacts {
  readonly hash: Hex;
  readonly canonical: boolean;
}
export interface OutputFacts {
  readonly hash: Hex;
  readonly length: number;
}
export interface SignatureFacts {
  /** ECDSA's recovered address; or a contract that is asked, which no rule allows */
  readonly signer: Address;
  readonly isEcdsa: boolean;
}

export type PromiseMove = Sent &
  (
    | { readonly kind: "deposit"; readonly prover: Address }
    | { readonly kind: "announceExit"; readonly amount: bigint }
    | { readonly kind: "exit"; readonly to: Address }
    | { readonly kind: "setSigner"; readonly key: Address; readonly until: number }
    | {
        readonly kind: "open";
        readonly claim: SignedClaim;
        readonly signature: SignatureFacts;
        readonly input: InputFacts;
        readonly output: OutputFacts;
      }
    | {
        readonly kind: "openNext";
        readonly claim: SignedClaim;
        readonly input: InputFacts;
        readonly output: OutputFacts;
      }
    | { readonly kind: "passNext"; readonly prover: Address; readonly behind: Digest }
    | { readonly kind: "takeBack"; readonly digest: Digest }
    | { readonly kind: "commitTrace"; readonly claimId: ClaimId; readonly traceRoot: Hex }
    | { readonly kind: "close"; readonly claimId: ClaimId }
    | {
        readonly kind: "post";
        readonly prover: Address;
        readonly modelId: ModelId;
        readonly window: number;
        readonly leafBond: bigint;
        readonly count: number;
        /** computed from the data */
        readonly root: Hex;
        /** each leaf's input and output have lengths that the codecs take */
        readonly lengthsRight: boolean;
      }
    | {
        readonly kind: "openLeaf";
        readonly batchId: BatchId;
        readonly index: number;
        readonly input: InputFacts;
        readonly output: OutputFacts;
        /** payload and path fold to the root */
        readonly folds: boolean;
      }
    | {
        readonly kind: "nextLeaf";
        readonly batchId: BatchId;
        readonly input: InputFacts;
        readonly output: OutputFacts;
        /** the payload is the first queued leaf's */
        readonly matches: boolean;
      }
    | { readonly kind: "dropLeaf"; readonly batchId: BatchId }
    | { readonly kind: "release"; readonly batchId: BatchId }
    | { readonly kind: "withdraw"; readonly to: Address }
    | { readonly kind: "pullBurn" }
    /** Anybody's move in Assay itself. */
    | { readonly kind: "assay"; readonly move: AssayMove }
  );

export type PromiseMoveOf<Kind extends PromiseMove["kind"]> = Extract<PromiseMove, { readonly kind: Kind }>;

/** Every condition of every move, and the error of the contract where it does not hold. Tests drop one at a time. */
export const CONDITIONS = {
  "announceExit free": "ExitTooLarge",
  "exit notice": "ExitTooEarly",
  "exit queue": "QueueNotEmpty",
  "setSigner notice": "SignerNoticeTooShort",
  "open once": "AlreadyOpened",
  "open ecdsa": "SignatureInvalid",
  "open key": "SignerNotBound",
  "open issued": "NotYetIssued",
  "open end": "PromiseExpired",
  "open input": "InputHashMismatch",
  "open output": "OutputMismatch",
  "open lane": "LaneNotAllowed",
  "open canonical": "InputNotCanonical",
  "open length": "OutputLengthWrong",
  "open deposit": "DepositTooLow",
  "openNext head": "NotHead",
  "openNext input": "InputHashMismatch",
  "openNext output": "OutputMismatch",
  "openNext stake": "StakeTooLow",
  "passNext away": "StakeNotHome",
  "passNext slots": "StakeNotHome",
  "passNext dear": "HeadAffordable",
  "passNext patience": "TooSoon",
  "passNext behind": "BehindNotQueued",
  "passNext cheaper": "BehindTooDear",
  "takeBack opener": "NotOpener",
  "takeBack queued": "NotQueued",
  "takeBack dear": "HeadAffordable",
  "commitTrace sender": "NotProver",
  "close open": "NotOpen",
  "close ended": "ClaimNotFinal",
  "post sender": "NotProver",
  "post queue": "QueueNotEmpty",
  "post lane": "LaneNotAllowed",
  "post count": "CountOutOfRange",
  "post lengths": "LeafLengthWrong",
  "post shortest": "WindowOutOfRange",
  "post longest": "WindowOutOfRange",
  "post stake": "StakeTooLow",
  "post once": "AlreadyPosted",
  "openLeaf once": "LeafAlreadyOpened",
  "openLeaf window": "WindowEnded",
  "openLeaf path": "RootMismatch",
  "openLeaf deposit": "DepositTooLow",
  "nextLeaf payload": "LeafNotFirst",
  "nextLeaf stake": "StakeTooLow",
  "dropLeaf fallen": "BatchNotFallen",
  "release ended": "BatchNotEnded",
} as const;

export type Condition = keyof typeof CONDITIONS;

/** Refusals that are no condition of the game: there is nothing that the move could be about, or nothing to do. */
export type Unfounded =
  | "SignerIsZero"
  | "UnknownModel"
  | "QueueEmpty"
  | "UnknownBatch"
  | "NoLeafQueued"
  | "NoCredit"
  | "NotPulled";
/** @see "../machine/moves.ts" for those of Assay */
export type PromiseRefusal = (typeof CONDITIONS)[Condition] | Unfounded | `Assay: ${string}`;

export type PromiseResult =
  | {
      readonly ok: true;
      readonly state: PromisesState;
      readonly claimId?: ClaimId;
      readonly batchId?: BatchId;
    }
  | { readonly ok: false; readonly refusal: PromiseRefusal };
