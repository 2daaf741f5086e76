/** How final an output is: what the chain says about the same model and input. */
import type { Hex } from "viem";
import type { ClaimIndex, RequestEntry } from "../../protocol/chain/claim-index.ts";
import type { ClaimId, ModelId, RequestId } from "../../protocol/rules/types.ts";

export type Finality =
  | { readonly status: "unverified" }
  | { readonly status: "pending" | "final"; readonly request: RequestId; readonly claim?: ClaimId };

/** Finality of an output at the index's newest block. A request counts only if its claim or result is this output.
 *  @param inputHash keccak256 of the calldata @param outputHash keccak256 of the return data
 *  @param isWithheld requests that are looked over; absent: none */
export function finalityOf(
  index: ClaimIndex,
  model: ModelId,
  inputHash: Hex,
  outputHash: Hex,
  isWithheld: (id: RequestId) => boolean = () => false,
): Finality {
  let pending: Finality = { status: "unverified" };
  for (const entry of index.requests.values()) {
    if (entry.request.inputHash !== inputHash || entry.request.modelId !== model) continue;
    if (isWithheld(entry.id)) continue;
    const found = ofRequest(index, entry, outputHash);
    if (found?.status === "final") return found;
    if (found !== undefined) pending = found;
  }
  return pending;
}

/** Whether a request on this input is done, whatever its output. */
export function hasResult(
  index: ClaimIndex,
  model: ModelId,
  inputHash: Hex,
  isWithheld: (id: RequestId) => boolean,
): boolean {
  return [...index.requests.values()].some(
    ({ id, status, request }) =>
      status === "done" && request.inputHash === inputHash && request.modelId === model && !isWithheld(id),
  );
}

function ofRequest(index: ClaimIndex, entry: RequestEntry, outputHash: Hex): Finality | undefined {
  const claim = entry.claimId === undefined ? {} : { claim: entry.claimId };
  if (entry.status === "done") {
    if (entry.result?.outputHash !== outputHash) return undefined;
    return { status: "final", request: entry.id, ...claim };
  }
  const held = entry.claimId === undefined ? undefined : index.claims.get(entry.claimId);
  if (entry.status !== "busy" || held?.claim.outputHash !== outputHash) return undefined;
  return { status: "pending", request: entry.id, ...claim };
}
