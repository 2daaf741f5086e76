/** Settles requests by truth: outputs that the chain executes, or that a proof shows. */
import { fromHex, toHex } from "../inference/bytes.ts";
import type { ClaimEntry, RequestEntry } from "../protocol/chain/book.ts";
import type { Context } from "./context.ts";
import type { TruthTerms } from "./decide.ts";
import { again, type Outcome } from "./workers.ts";

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
