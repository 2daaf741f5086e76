/** Claims on requests: run, compare, bond. */
import { fromHex, toHex } from "../inference/bytes.ts";
import type { RequestId } from "../protocol/terms.ts";
import { type Context, carryOut } from "./context.ts";
import type { RequestDecision } from "./decide.ts";
import { again, DONE, type Outcome } from "./workers.ts";

/** Runs the model and files the claim that was decided on.
 *  @param decision on this request at the newest block */
export async function fileClaim(
  context: Context,
  id: RequestId,
  decision: RequestDecision | undefined,
): Promise<Outcome> {
  const { store, models, runs, actions, operator } = context;
  const entry = store.book.requests.get(id);
  const model = entry && models.get(entry.request.modelId);
  if (entry?.status !== "open" || model === undefined || decision?.kind !== "claim") return DONE;
  let output: Uint8Array;
  try {
    output = await runs.output(model, fromHex(entry.input));
  } catch (error) {
    // Nothing is bonded on an output that nobody could compute.
    return again(`no output: ${error instanceof Error ? error.message : String(error)}`, 60_000);
  }
  const { gasPrice, bond } = decision;
  const { request, attempt } = entry;
  const action = actions.claim(request, attempt, operator, gasPrice, toHex(output), bond);
  return carryOut(context, action, { move: "claim", request: id, model: model.name, bond });
}
