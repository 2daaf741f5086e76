/** What a means of settling at once has to offer. */
import type { Hex } from "viem";
import type { TruthLane } from "../../protocol/terms.ts";
import type { TruthTerms } from "../decide.ts";
import type { ServedModel } from "../models.ts";
import type { Means } from "../plan/plan.ts";

/** One means of settling, for all models that have it. */
export interface TruthSource {
  readonly means: Means;
  readonly lane: TruthLane;
  /** Looks whether chain and keys are ready for the models; called at start and every few blocks. Keeps what it knew
   *  when it cannot look. */
  refresh(models: Iterable<ServedModel>): Promise<void>;
  /** Terms for a model, undefined while these means are not ready for it. */
  terms(model: ServedModel): TruthTerms | undefined;
  /** Evidence for `settle` that this output is right.
   *  @throws when it cannot be made now; nothing is spent then */
  evidence(model: ServedModel, calldata: Uint8Array, output: Uint8Array, signal: AbortSignal): Promise<Hex>;
}
