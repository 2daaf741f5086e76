/** What became of a claim, by the chain's own word and the terms of whoever asks. */
import { type Hex, keccak256 } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { meaningIfAny, type Reading } from "../../inference/meaning/read.ts";
import { answerIfAny } from "../../inference/text/data-text.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { withContext } from "../../protocol/chain/errors.ts";
import { type Candidate, finalAtOf, isFinalBy, lastOf, ownPolicy } from "../../protocol/chain/finality.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { shortfallOf } from "../../protocol/rules/shortfall.ts";
import { type ClaimId, LANE, type ModelId, type Policy } from "../../protocol/rules/types.ts";
import { offeredOf } from "../gateway/tools/final-results.ts";
import type { TextCallable } from "../text-values.ts";

interface ClaimFacts {
  readonly claimId: Hex;
  readonly requestId: Hex;
  readonly modelId: Hex;
  readonly inputHash: Hex;
  readonly outputHash: Hex;
  readonly prover: Hex;
  readonly bondWei: string;
  /** second at which it is final if nobody challenges it */
  readonly windowEnd: number;
}

/** `unknown`: no such claim was filed on this chain. `fallen`: it was convicted, timed out or settled against. `failed`:
 *  it stands, and does not count by the terms. */
export type ClaimReport =
  | { readonly status: "unknown"; readonly claimId: Hex }
  | ({ readonly status: "pending" | "fallen" } & ClaimFacts)
  | ({ readonly status: "failed"; readonly code: "BELOW_TERMS"; readonly error: string } & ClaimFacts)
  | ({
      readonly status: "final";
      readonly output: Hex;
      readonly finalAt: number;
    } & OutputReading &
      ClaimFacts);

/** What an output says, where its model's folder is known. */
export interface OutputReading {
  readonly meaning?: Reading;
  /** of a language model's answer, whose ids are what is claimed */
  readonly text?: string;
  readonly ids?: readonly number[];
}

export interface VerifyTerms {
  /** what the output must be final by */
  readonly policy: Omit<Policy, "modelId" | "inputHash">;
  /** blocks that must lie above the block in which it is final */
  readonly confirmations: number;
  /** how a model's output is read, as far as that is known here */
  readonly readModelOf: (modelId: ModelId) => ReadModel;
}

type ReadModel = Pick<TextCallable, "readable" | "text">;

/** @param output return data */
export function readOutput({ readable, text }: ReadModel, output: Hex): OutputReading {
  const bytes = fromHex(output);
  return { ...meaningIfAny(readable, bytes), ...answerIfAny(text, bytes) };
}

const ALL_LANES = LANE.EXECUTION | LANE.PROOF | LANE.BOND;

/** @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable): that it could not be asked says nothing of the claim */
export async function verifyClaim(chain: Chain, claimId: Hex, terms: VerifyTerms): Promise<ClaimReport> {
  const ofClaim = await historyOf(chain, claimId as ClaimId);
  const claimed = lastOf(ofClaim, "Claimed");
  if (claimed === undefined) return { status: "unknown", claimId };
  const { claim, output, windowEnd, requestId } = claimed.args;
  const ofRequest = await historyOf(chain, requestId);
  const requested = lastOf(ofRequest, "Requested");
  if (requested === undefined) return { status: "unknown", claimId };
  const { request } = requested.args;
  const facts: ClaimFacts = {
    claimId,
    requestId,
    modelId: claim.modelId,
    inputHash: request.inputHash,
    outputHash: keccak256(output),
    prover: claim.prover,
    bondWei: claim.bond.toString(),
    windowEnd: Number(windowEnd),
  };
  if (lastOf(ofClaim, "Fell") !== undefined) return { status: "fallen", ...facts };
  const lane = lastOf(ofRequest, "Settled")?.args.lane ?? LANE.BOND;
  const candidate: Candidate = {
    output,
    lane,
    claim: { claimId: claimed.args.claimId, terms: claim },
  };
  const { policy, confirmations } = terms;
  const { modelId, inputHash } = request;
  const newest = await withContext("read the newest block", () => chain.client.getBlockNumber());
  const isFinal = (by: Policy, blockNumber: bigint) =>
    isFinalBy(chain, request, candidate, by, { blockNumber });
  const deep = newest > confirmations ? newest - BigInt(confirmations) : 0n;
  if (await isFinal({ modelId, inputHash, ...policy }, deep)) {
    const finalAt = await finalAtOf(chain, ofRequest, candidate);
    const read = readOutput(terms.readModelOf(modelId), output);
    return { status: "final", ...facts, output, ...read, finalAt };
  }
  const { state } = await new StateReader(chain).requestWord(requestId);
  const isStanding = state === "BUSY" || (await isFinal({ ...ownPolicy(request), lanes: ALL_LANES }, newest));
  if (!isStanding) return { status: "fallen", ...facts };
  const why = shortfallOf(offeredOf(state, request, candidate, policy.lanes), policy);
  if (why === undefined) return { status: "pending", ...facts };
  const error = `Claim ${claimId} does not count by the terms of this server: ${why}.`;
  return { status: "failed", code: "BELOW_TERMS", error, ...facts };
}
