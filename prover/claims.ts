/** Answers to requests: run, compare, then bond or settle; and truth for own claims that are disputed. */
import { fromHex, toHex } from "../base/bytes.ts";
import type { ClaimId, RequestId } from "../protocol/rules/types.ts";
import { type Context, carryOut } from "./context.ts";
import { disputeTruth, type ModelTerms, type RequestDecision } from "./decide.ts";
import { hasProgram, type ServedModel } from "./models.ts";
import { leftMs, settleRequest } from "./truths.ts";
import { again, DONE, type Outcome } from "./workers.ts";

/** Runs the model and files the claim, or the settlement, that was decided on.
 *  @param decision on this request at the newest block */
export async function answerRequest(
  context: Context,
  id: RequestId,
  decision: RequestDecision | undefined,
): Promise<Outcome> {
  const { store, models, runs, actions, operator, signal } = context;
  const entry = store.index.requests.get(id);
  const model = entry && models.get(entry.request.modelId);
  if (entry?.status !== "open" || model === undefined) return DONE;
  if (decision?.kind === "settle") return settleRequest(context, entry, undefined, decision.truth);
  if (decision?.kind !== "claim" || !hasProgram(model)) return DONE;
  let output: Uint8Array;
  try {
    output = await runs.output(model, fromHex(entry.input), signal, { leftMs: leftMs(context, entry) });
  } catch (error) {
    // Nothing is bonded on an output that nobody could compute.
    return again(`no output: ${error instanceof Error ? error.message : String(error)}`, 60_000);
  }
  const { gasPrice, bond } = decision;
  const { request, attempt } = entry;
  const action = actions.claim(request, attempt, operator, gasPrice, toHex(output), bond);
  return carryOut(context, action, { move: "claim", request: id, model: model.name, bondWei: bond });
}

/** Ends the dispute about a claim of this prover by truth, while the defence goes on. */
export async function settleDispute(context: Context, id: ClaimId): Promise<Outcome> {
  const found = context.store.index.claimAndRequest(id);
  const model = found && context.models.get(found.claim.claim.modelId);
  if (found?.claim.status !== "active" || model === undefined) return DONE;
  const terms = withTruths(context, model);
  const truth = disputeTruth(terms, found.request.request.lanes, context.chain.constants);
  return truth === undefined ? DONE : settleRequest(context, found.request, found.claim, truth);
}

/** A model's terms with the truths that are ready for it. */
export function withTruths({ truths }: Pick<Context, "truths">, model: ServedModel): ModelTerms {
  return {
    ...model,
    truths: truths.flatMap((source) => source.terms(model) ?? []),
    missing: truths.flatMap((source) => source.missing?.(model) ?? []),
  };
}
