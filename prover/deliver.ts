/** The end of claims: booking them as final, and bringing outputs to callbacks. */
import { isAddressEqual } from "viem";
import { BaseError } from "../base/errors.ts";
import type { RequestEntry } from "../protocol/chain/claim-index.ts";
import { type ProbedDelivery, probeDelivery } from "../protocol/chain/delivery-probe.ts";
import { chainError } from "../protocol/chain/errors.ts";
import { decodeEvents } from "../protocol/chain/events.ts";
import type { Inclusion } from "../protocol/chain/journal.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import type { ClaimId, RequestId } from "../protocol/rules/types.ts";
import type { ControlHandler } from "../protocol/service/control.ts";
import { type Context, carryOut, isPromised, promiseActions } from "./context.ts";
import { codeHashAt, type FailedDeliveries, pauseAfter } from "./failed-deliveries.ts";
import { again, DONE, type Outcome } from "./workers.ts";

export async function finalizeClaim(context: Context, id: ClaimId): Promise<Outcome> {
  const found = context.store.index.claimAndRequest(id);
  if (found?.claim.status !== "active") return DONE;
  const { claim, request } = found;
  // What a promise became ends in the books of Promises too.
  const action = isPromised(context, claim)
    ? promiseActions(context).close(request.request, claim.claim)
    : context.actions.finalize(request.request, claim.claim);
  return carryOut(context, action, { move: "finalize", claim: id });
}

/** Delivers an output that this prover made final, once its callback would take it. The fee is paid only for a success,
 *  so a callback that fails is tried ever more seldom, and given up by the rule of FailedDeliveries. */
export async function deliverOutput(context: Context, id: RequestId): Promise<Outcome> {
  const { store, actions, chain, sender, signal, failedDeliveries } = context;
  const entry = store.index.requests.get(id);
  if (entry?.status !== "done" || entry.delivered || entry.result === undefined) return DONE;
  const claim = entry.claimId === undefined ? undefined : store.index.claims.get(entry.claimId)?.claim;
  const { output } = entry.result;
  const { delivered } = await new StateReader(chain).requestWord(id);
  if (delivered !== "PENDING") return DONE;
  const { mined, isGivenUp } = failedDeliveries.get(id);
  if (isGivenUp) return DONE;
  const refusal = await refusalOf(() => probeDelivery(chain, entry.request, claim, output));
  if (refusal !== undefined) return failed(context, entry, refusal);
  const action = actions.deliver(entry.request, claim, output, mined);
  let inclusion: Inclusion | undefined;
  const outcome = await carryOut(context, action, { move: "deliver", request: id }, async () => {
    const result = await sender.send(action, signal);
    if (result.status === "sent" || result.status === "already-done") inclusion = result.inclusion;
    return result;
  });
  if (outcome.kind !== "done" || inclusion === undefined) return outcome;
  const success = await didSucceed(context, id, inclusion);
  if (success === undefined) return again("the delivery's receipt is gone, as after a re-org");
  if (!success) return failed(context, entry, `fails in transaction ${inclusion.hash}`, true);
  failedDeliveries.forget(id);
  return DONE;
}

/** Why a delivery is not worth its gas now. A node that answers, but cannot try it, counts as a failure: the gas may be
 *  more than it runs.
 *  @throws BaseError where the node cannot be reached */
async function refusalOf(probe: () => Promise<ProbedDelivery>): Promise<string | undefined> {
  try {
    const probed = await probe();
    switch (probed.kind) {
      case "delivers":
        return undefined;
      case "fails":
        return probed.usesItsGas ? "uses its whole gas" : "reverts";
      case "refused":
        return `cannot be called: ${probed.revert.message}`;
    }
  } catch (error) {
    const fault = chainError(error, "try a delivery");
    if (fault.code !== "RPC_FAULT") throw fault;
    return `cannot be tried. ${fault.shortMessage.slice(0, MAX_REASON)}`;
  }
}

/** Characters of what a node says of a call. */
const MAX_REASON = 200;

/** Counts a failure, and says what follows from it. */
async function failed(
  { failedDeliveries, chain, log }: Context,
  { id, request: { callback, callbackGas, deliveryFee } }: RequestEntry,
  why: string,
  wasMined = false,
): Promise<Outcome> {
  const codeHash = await codeHashAt(chain.client, callback);
  const { failures, isGivenUp } = failedDeliveries.add(id, callback, codeHash, wasMined);
  const reason = `the callback ${callback} ${why}`;
  if (!isGivenUp) return again(reason, pauseAfter(failures));
  log.warn(
    { request: id, callback, callbackGas, deliveryFeeWei: deliveryFee, failures, reason },
    "a delivery is given up until its callback has other code or `assay deliver` is run",
  );
  return DONE;
}

/** The command of the control socket that begins anew with a delivery that failed. */
export const deliverAgain =
  (failed: FailedDeliveries): ControlHandler =>
  async ({ requestId }) => {
    if (typeof requestId === "string" && failed.retry(requestId as RequestId))
      return { requestId, isTried: true };
    throw new BaseError({
      code: "NOTHING_TO_DELIVER",
      shortMessage: `The running prover has no failed delivery of request ${JSON.stringify(requestId)}.`,
      nextStep: "Deliver with another key and data folder (ASSAY_KEY, --data).",
    });
  };

/** What the contract said of a mined delivery; undefined where its receipt is gone. */
async function didSucceed(
  { chain }: Context,
  id: RequestId,
  { hash }: Inclusion,
): Promise<boolean | undefined> {
  const { logs } = await chain.client.getTransactionReceipt({ hash });
  // The callback may have written events of any name.
  const own = logs.filter(({ address }) => isAddressEqual(address, chain.game.assay));
  const event = decodeEvents(own).find(({ name, args }) => name === "Delivered" && args.requestId === id);
  return event?.name === "Delivered" ? event.args.success : undefined;
}
