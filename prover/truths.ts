/** Truths that this node can tell: outputs that the chain executes, or that a proof shows. */
import type { Hex } from "viem";
import { fromHex, toHex } from "../inference/bytes.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/book.ts";
import type { TruthLane } from "../protocol/terms.ts";
import type { Context } from "./context.ts";
import type { TruthTerms } from "./decide.ts";
import type { ServedModel } from "./models.ts";
import type { Means } from "./plan/plan.ts";
import { again, type Outcome } from "./workers.ts";

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

/** Evidence for a request, ready to be sent. */
export interface Settling {
  readonly request: RequestEntry;
  readonly claim: ClaimEntry | undefined;
  readonly truth: TruthTerms;
  readonly output: Hex;
  readonly evidence: Hex;
}

const RUN_AGAIN_MS = 60_000;

/** Runs the model, makes the evidence and sends it.
 *  @param claim the request's live claim, if it has one */
export async function settleRequest(
  context: Context,
  request: RequestEntry,
  claim: ClaimEntry | undefined,
  truth: TruthTerms,
): Promise<Outcome> {
  const { models, runs, truths, outbox, signal } = context;
  const model = models.get(request.request.modelId);
  const source = truths.find(({ means }) => means === truth.means);
  if (model === undefined || source === undefined) return again(`no means ${truth.means} here`, RUN_AGAIN_MS);
  const calldata = fromHex(request.input);
  try {
    const output = await runs.output(model, calldata);
    const evidence = await source.evidence(model, calldata, output, signal);
    return await outbox.send({ request, claim, truth, output: toHex(output), evidence });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return again(`no evidence by ${truth.means}: ${reason}`, RUN_AGAIN_MS);
  }
}
