/** Settles requests by truth: outputs that the chain executes, or that a proof shows. */
import { fromHex } from "../base/bytes.ts";
import { isBaseError } from "../base/errors.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/claim-index.ts";
import type { Context } from "./context.ts";
import type { TruthTerms } from "./decide.ts";
import { again, type Outcome } from "./workers.ts";

const RUN_AGAIN_MS = 60_000;
/** After a fault that another try may not meet, such as a worker that was killed. */
const RETRY_MS = 2_000;

/** Runs and proves the model, and sends what came of it.
 *  @param claim the request's live claim, if it has one */
export async function settleRequest(
  context: Context,
  request: RequestEntry,
  claim: ClaimEntry | undefined,
  truth: TruthTerms,
): Promise<Outcome> {
  const { models, truths, outbox, signal } = context;
  const model = models.get(request.request.modelId);
  const source = truths.find(({ method }) => method === truth.method);
  if (model === undefined || source === undefined)
    return again(`no method ${truth.method} here`, RUN_AGAIN_MS);
  const calldata = fromHex(request.input);
  try {
    return await outbox.settle({ request, claim, truth }, () =>
      source.prove(model, calldata, signal, leftMs(context, request, claim)),
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const afterMs = isBaseError(error) && error.retryable ? RETRY_MS : RUN_AGAIN_MS;
    return again(`no evidence by ${truth.method}: ${reason}`, afterMs);
  }
}

/** Until an answer is of no use, ms: nobody may give it any more, or not its own prover alone, or what it is about is
 *  decided. */
export function leftMs(
  { clock }: Pick<Context, "clock">,
  { request: { expiry, exclusiveUntil } }: RequestEntry,
  claim?: ClaimEntry,
): number {
  const now = clock.now ?? 0;
  const end = claim?.windowEnd ?? (now < exclusiveUntil ? exclusiveUntil : expiry);
  return 1_000 * (end - now);
}
