/** Requests that the node files itself, for callers that pay over HTTP and not on the chain. */
import { keccak256 } from "viem";
import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { newRequest } from "../../protocol/chain/new-request.ts";
import type { Sender, SigningChain } from "../../protocol/chain/sender.ts";
import { LIMITS } from "../../protocol/rules/types.ts";
import { quote } from "../quote.ts";
import { notReadYet } from "./chain.ts";
import type { HttpParts, Payment } from "./parts.ts";

/** Inputs that are asked for at once: each binds a fee and a bond, and a payer can break his promise. */
const MAX_ORDERS = 64;
/** Seconds for the transaction itself, below the limit for exclusive claims. */
const SLACK_SECONDS = 30;

/** Files a request with the fee that this node asks of others, which its own claim brings back. Nobody else may claim it
 *  while it is open; truth may settle it. One at a time for each input. */
export function createOrders(
  chain: SigningChain,
  sender: Sender,
  { node, policy, nowMs }: Pick<HttpParts, "node" | "policy" | "nowMs">,
): Payment["order"] {
  /** when each ends, ms */
  const ordered = new Map<string, number>();
  return async (model, calldata) => {
    const input = toHex(calldata);
    const key = `${model.id}/${keccak256(input)}`;
    for (const [other, endMs] of ordered) if (endMs <= nowMs()) ordered.delete(other);
    if (ordered.has(key)) return;
    if (ordered.size >= MAX_ORDERS) throw tooMany();
    const { state } = node;
    if (state === undefined) throw notReadYet();
    const terms = node.termsOf(model);
    const seconds = LIMITS.maxExclusive - SLACK_SECONDS;
    ordered.set(key, nowMs() + 1_000 * seconds);
    try {
      const { leastFee: fee } = quote(terms, { callbackGas: 0, minBond: 0n }, state, policy);
      const own = chain.account.address;
      const open = await newRequest(chain, own, model.id, input, {
        lanes: terms.lanes,
        // The gas price may rise before it is claimed.
        fee: 2n * fee,
        expirySeconds: seconds,
      });
      const request = { ...open, exclusiveProver: own, exclusiveUntil: open.expiry };
      const sent = await sender.send(new Actions(chain.game).request(request, input));
      if (sent.status === "retryable") throw sent.error;
      if (sent.status !== "sent" && sent.status !== "already-done") throw refused(sent.revert.message);
    } catch (error) {
      ordered.delete(key);
      throw error;
    }
  };
}

const tooMany = () =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `${MAX_ORDERS} inputs that were paid for are under way.`,
    nextStep: "Ask again in a minute; nothing was taken.",
    retryable: true,
  });

const refused = (why: string) =>
  new BaseError({
    code: "ORDER_REFUSED",
    shortMessage: `The chain refused this node's request: ${why}.`,
    nextStep: "Ask another node; nothing was taken.",
  });
