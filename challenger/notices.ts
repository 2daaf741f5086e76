/** What a challenger tells those who watch it: its metrics and its operator's alerts. */
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import type { ClaimId } from "../protocol/rules/types.ts";
import type { AttentionResult } from "./attention.ts";
import type { Decision } from "./decide.ts";
import type { EngineOutcome, Verdict } from "./reexecute.ts";

export type Notice =
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
      readonly claim: ClaimId;
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
  | { readonly kind: "tripped"; readonly claim: ClaimId; readonly reason: string }
  /** nothing is left to do about a wrong claim; `lost`: it became final */
  | { readonly kind: "over"; readonly claim: ClaimId; readonly lost: boolean };

/** Must neither throw nor wait. */
export type Observer = (notice: Notice) => void;
