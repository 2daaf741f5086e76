/** What a challenger tells those who watch it: its metrics and its operator's alerts. */
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { BatchId } from "../protocol/rules/promises/batch.ts";
import type { Digest } from "../protocol/rules/promises/signed-claim.ts";
import type { ClaimId, ModelId } from "../protocol/rules/types.ts";
import type { AttentionResult } from "./attention.ts";
import type { Decision } from "./decide.ts";
import type { PromiseEnding, PromiseMoveKind } from "./promises/decide.ts";
import type { EngineOutcome, Verdict } from "./reexecute.ts";

/** A claim; or a promise, by its digest, its batch or its batch and index. */
export type Subject = { readonly claim: ClaimId } | { readonly promise: string };

export type Notice =
  /** a claim that another challenger was to check is checked here, as that one has not found it right in time */
  | { readonly kind: "taken-up"; readonly claim: ClaimId }
  /** a claim was compared; seconds from its first sight to the verdict */
  | {
      readonly kind: "verdict";
      readonly claim: ClaimEntry;
      readonly model: string;
      readonly verdict: Verdict;
      readonly seconds: number;
    }
  /** the fast path did not give what the canonical executor gives */
  | {
      readonly kind: "engine";
      readonly subject: Subject;
      readonly model: string;
      readonly outcome: EngineOutcome;
    }
  /** a planned wrong claim was compared; seconds from its planning to its verdict */
  | {
      readonly kind: "attention";
      readonly model: string;
      readonly result: AttentionResult;
      readonly seconds: number;
    }
  /** nobody here can check it */
  | { readonly kind: "uncovered"; readonly claim: ClaimEntry }
  /** a dispute's move is on the chain, or could not be brought there yet */
  | {
      readonly kind: "move";
      readonly claim: ClaimId;
      readonly move: Decision["kind"];
      readonly done: boolean;
    }
  /** a wrong claim is not challenged, because the operator's limit forbids it */
  | { readonly kind: "unaffordable"; readonly claim: ClaimEntry; readonly exposure: bigint }
  /** no more tickets are filed until a person has looked */
  | { readonly kind: "tripped"; readonly subject: Subject; readonly reason: string }
  /** nothing is left to do about a wrong claim; `lost`: it became final */
  | { readonly kind: "over"; readonly claim: ClaimId; readonly lost: boolean }
  /** the leaves of a batch were compared */
  | ({
      readonly kind: "leaves";
      readonly batch: BatchId;
      readonly model: string;
      readonly seconds: number;
    } & Readonly<Record<"right" | "wrong" | "unchecked", number>>)
  /** a signed claim that was handed over, or waits in a queue, was compared */
  | {
      readonly kind: "signed-claim";
      readonly digest: Digest;
      readonly model: string;
      readonly verdict: Verdict;
    }
  /** nobody here can check a batch */
  | { readonly kind: "uncovered-batch"; readonly batch: BatchId; readonly modelId: ModelId }
  /** a move about a wrong promise is on the chain, or could not be brought there yet */
  | {
      readonly kind: "promise-move";
      readonly promise: string;
      readonly move: PromiseMoveKind;
      readonly done: boolean;
    }
  /** a wrong promise is not opened: it does not pay, or a limit forbids it */
  | { readonly kind: "promise-withheld"; readonly promise: string; readonly reason: string }
  | { readonly kind: "promise-over"; readonly promise: string; readonly ending: PromiseEnding };

/** Must neither throw nor wait. */
export type Observer = (notice: Notice) => void;
