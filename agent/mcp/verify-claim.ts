/** What became of a claim, by the chain's own word. */
import { type Hex, keccak256 } from "viem";
import type { Chain } from "../../protocol/chain/connect.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { finalAtOf, isFinalBy, lastOf, ownPolicy } from "../../protocol/chain/finality.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { type ClaimId, LANE } from "../../protocol/rules/types.ts";

/** `unknown`: no such claim was filed on this chain. `fallen`: it was convicted, timed out or settled against. */
export type ClaimReport =
  | { readonly status: "unknown"; readonly claimId: Hex }
  | {
      readonly status: "final" | "pending" | "fallen";
      readonly claimId: Hex;
      readonly requestId: Hex;
      readonly modelId: Hex;
      readonly inputHash: Hex;
      readonly outputHash: Hex;
      readonly prover: Hex;
      readonly bondWei: string;
      /** second at which it is final if nobody challenges it */
      readonly windowEnd: number;
      /** return data, if it is final */
      readonly output?: Hex;
      readonly finalAt?: number;
    };

/** Asks `requireFinal` by the request's own terms.
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable): that it could not be asked says nothing of the claim */
export async function verifyClaim(chain: Chain, claimId: Hex): Promise<ClaimReport> {
  const ofClaim = await historyOf(chain, claimId as ClaimId);
  const claimed = lastOf(ofClaim, "Claimed");
  if (claimed === undefined) return { status: "unknown", claimId };
  const { claim, output, windowEnd, requestId } = claimed.args;
  const ofRequest = await historyOf(chain, requestId);
  const requested = lastOf(ofRequest, "Requested");
  if (requested === undefined) return { status: "unknown", claimId };
  const { request } = requested.args;
  const report = {
    claimId,
    requestId,
    modelId: claim.modelId,
    inputHash: request.inputHash,
    outputHash: keccak256(output),
    prover: claim.prover,
    bondWei: claim.bond.toString(),
    windowEnd: Number(windowEnd),
  };
  const fell = lastOf(ofClaim, "Fell") !== undefined;
  const block = await withContext("read the newest block", () => chain.client.getBlock());
  const candidate = { output, lane: LANE.BOND, claim: { claimId: claimed.args.claimId, terms: claim } };
  const policy = { ...ownPolicy(request), lanes: LANE.EXECUTION | LANE.PROOF | LANE.BOND };
  if (!fell && (await isFinalBy(chain, request, candidate, policy, { blockNumber: block.number }))) {
    return { status: "final", ...report, output, finalAt: await finalAtOf(chain, ofRequest, block) };
  }
  const settled = ofRequest.some(({ name }) => name === "Settled" || name === "Finalized");
  return { status: fell || settled ? "fallen" : "pending", ...report };
}
