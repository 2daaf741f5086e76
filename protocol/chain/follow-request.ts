/** Brings a request that a node has kept to its end, one look at a time: files it, takes the fee back, or has its output. */
import type { Hex } from "viem";
import { requestIdOf } from "../rules/ids.ts";
import type { Request } from "../rules/types.ts";
import { Actions } from "./actions.ts";
import { type FinalResult, resultOf } from "./await-result.ts";
import { withContext } from "./errors.ts";
import { StateReader } from "./reads.ts";
import type { Sender, SigningChain } from "./sender.ts";
import { requireSent } from "./sent.ts";

/** filed: just now; waiting: for a claim or its window; unanswered: the fee is credit of the account again; gone: it never
 *  got onto the chain, or somebody took its fee back. */
export type Followed =
  | { readonly state: "filed" | "waiting" | "unanswered" | "gone" }
  | { readonly state: "final"; readonly result: FinalResult };

/** @param request of the sender's account @param input the model's calldata
 *  @throws BaseError for what could not be read or sent; another look goes on */
export async function followRequest(
  chain: SigningChain,
  sender: Sender,
  { request, input }: { readonly request: Request; readonly input: Hex },
  signal: AbortSignal,
): Promise<Followed> {
  const actions = new Actions(chain.game);
  const { state } = await new StateReader(chain).requestWord(requestIdOf(chain.game, request));
  const { timestamp } = await withContext("read the newest block", () => chain.client.getBlock());
  const isOver = Number(timestamp) > request.expiry;
  if (state === "NONE" && !isOver) {
    requireSent("file the request", await sender.send(actions.request(request, input), signal));
    return { state: "filed" };
  }
  if (state === "REFUNDED" || state === "NONE") return { state: "gone" };
  if (state === "OPEN" && isOver) {
    requireSent("take the fee back", await sender.send(actions.refund(request), signal));
    return { state: "unanswered" };
  }
  const result = await resultOf(chain, request);
  return result === undefined ? { state: "waiting" } : { state: "final", result };
}
