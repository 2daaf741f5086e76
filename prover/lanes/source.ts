/** What a method of settling at once has to offer. */
import type { Hex } from "viem";
import type { Method } from "../../protocol/chain/plan/plan.ts";
import type { TruthLane } from "../../protocol/rules/types.ts";
import type { TruthTerms } from "../decide.ts";
import type { ServedModel } from "../models.ts";

/** What `settle` takes besides the request: a right output and what shows that it is. */
export interface Truth {
  readonly output: Hex;
  readonly evidence: Hex;
}

/** One method of settling, for all models that have it. */
export interface TruthSource {
  readonly method: Method;
  readonly lane: TruthLane;
  /** Looks whether chain and keys are ready for the models; called at start and every few blocks. Keeps what it knew
   *  when it cannot look. */
  refresh(models: Iterable<ServedModel>): Promise<void>;
  /** Terms for a model, undefined while this method is not ready for it. */
  terms(model: ServedModel): TruthTerms | undefined;
  /** What an operator has to do before this method is ready for a model that has them; undefined: nothing. */
  missing?(model: ServedModel): string | undefined;
  /** Runs a model whose terms are there.
   *  @param leftMs until nobody can use it any more, ms
   *  @throws when it cannot be shown now; nothing is spent then */
  prove(model: ServedModel, calldata: Uint8Array, signal: AbortSignal, leftMs: number): Promise<Truth>;
}
