/** What became of a claim, by the chain's own word. */
import { type Hex, keccak256 } from "viem";
import type { Chain } from "../../protocol/chain/connect.ts";
import { chainError, decodeRevert, withContext } from "../../protocol/chain/errors.ts";
import type { EventOf } from "../../protocol/chain/events.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { iAssayAbi } from "../../protocol/generated/abis.ts";
import { type ClaimId, LANE, type Request } from "../../protocol/terms.ts";

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
  const claimed = ofClaim.find((event): event is EventOf<"Claimed"> => event.name === "Claimed");
  if (claimed === undefined) return { status: "unknown", claimId };
  const { claim, output, windowEnd, requestId } = claimed.args;
  const ofRequest = await historyOf(chain, requestId);
  const requested = ofRequest.find((event): event is EventOf<"Requested"> => event.name === "Requested");
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
  const fell = ofClaim.some(({ name }) => name === "Fell");
  const block = await withContext("read the newest block", () => chain.client.getBlock());
  if (!fell && (await isFinal(chain, request, claimed, output, block.number))) {
    const booked = ofRequest.findLast(({ name }) => name === "Finalized");
    const finalAt =
      booked === undefined
        ? block.timestamp
        : (
            await withContext("read a block's time", () =>
              chain.client.getBlock({ blockNumber: booked.block.number }),
            )
          ).timestamp;
    return { status: "final", ...report, output, finalAt: Number(finalAt) };
  }
  const settled = ofRequest.some(({ name }) => name === "Settled" || name === "Finalized");
  return { status: fell || settled ? "fallen" : "pending", ...report };
}

async function isFinal(
  chain: Chain,
  request: Request,
  { args: { claim } }: EventOf<"Claimed">,
  output: Hex,
  blockNumber: bigint,
): Promise<boolean> {
  const { modelId, inputHash, minBond, window: minWindow } = request;
  try {
    await chain.client.readContract({
      address: chain.game.assay,
      abi: iAssayAbi,
      functionName: "requireFinal",
      args: [
        request,
        claim,
        output,
        { modelId, inputHash, lanes: LANE.EXECUTION | LANE.PROOF | LANE.BOND, minBond, minWindow },
      ],
      blockNumber,
    });
    return true;
  } catch (error) {
    if (decodeRevert(error) !== undefined) return false;
    throw chainError(error, `ask whether claim ${request.modelId} is final`);
  }
}
