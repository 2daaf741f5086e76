/** Requests that the node files itself, for callers that pay over HTTP and not on the chain. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { newRequest } from "../../protocol/chain/new-request.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import { LIMITS, type Request, type RequestId } from "../../protocol/rules/types.ts";
import type { Policy } from "../decide.ts";
import { notReadYet } from "../http/chain.ts";
import type { NodeView } from "../http/parts.ts";
import type { ServedModel } from "../models.ts";
import { quote } from "../quote.ts";

/** Seconds for the transaction itself, below the limit for exclusive claims. */
const SLACK_SECONDS = 30;
/** How long its own request may be claimed, seconds. */
export const OWN_REQUEST_SECONDS = LIMITS.maxExclusive - SLACK_SECONDS;

export interface OwnRequest {
  readonly id: RequestId;
  readonly request: Request;
  readonly input: Hex;
}

/** A request with the fee that this node asks of others, which its own claim brings back. Nobody else may claim it while
 *  it is open; truth may settle it.
 *  @throws BaseError CHAIN_NOT_READ_YET, MODEL_CANNOT_RUN, RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function ownRequest(
  chain: SigningChain,
  { node, policy }: { readonly node: Pick<NodeView, "state" | "termsOf">; readonly policy: Policy },
  model: ServedModel,
  input: Hex,
): Promise<OwnRequest> {
  const { state } = node;
  if (state === undefined) throw notReadYet();
  const terms = node.termsOf(model);
  const { leastFee: fee } = quote(terms, { callbackGas: 0, minBond: 0n }, state, policy);
  const own = chain.account.address;
  const open = await newRequest(chain, own, model.id, input, {
    lanes: terms.lanes,
    // The gas price may rise before it is claimed.
    fee: 2n * fee,
    expirySeconds: OWN_REQUEST_SECONDS,
  });
  const request = { ...open, exclusiveProver: own, exclusiveUntil: open.expiry };
  return { id: requestIdOf(chain.game, request), request, input };
}

/** Brings it onto the chain.
 *  @throws BaseError ORDER_REFUSED; what `send` gives as retryable, where nothing was sent */
export async function fileRequest(
  chain: SigningChain,
  sender: Sender,
  { request, input }: OwnRequest,
): Promise<void> {
  const action = new Actions(chain.game).request(request, input);
  const sent = await sender.send(action);
  if (sent.status === "sent" || sent.status === "already-done") return;
  if (sent.status === "refused") throw refused(sent.revert.message);
  // What is signed goes on without whoever waited for it.
  if (!sender.unmined().some(({ key }) => key === action.key)) throw sent.error;
}

const refused = (why: string) =>
  new BaseError({
    code: "ORDER_REFUSED",
    shortMessage: `The chain refused this node's request: ${why}.`,
    nextStep: "Ask another node; nothing was taken.",
  });
