/** What the chain says of a claim, and of a request that may have no claim yet: the chat page follows both. */
import { BaseError } from "../../../base/errors.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { candidateOf, lastOf } from "../../../protocol/chain/finality.ts";
import { historyOf } from "../../../protocol/chain/history.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { isFinal, RULES } from "../../../protocol/rules/machine.ts";
import type { ClaimId, RequestId } from "../../../protocol/rules/types.ts";

/** @throws BaseError ID_INVALID, CLAIM_UNKNOWN; faults of the node */
export async function claimView(chain: Chain | undefined, id: string): Promise<object> {
  const claimId = checked(id) as ClaimId;
  if (chain === undefined) throw unknown("claim", id);
  const { timestamp, hash } = await chain.client.getBlock();
  const word = await new StateReader(chain, hash).claimWord(claimId);
  if (word.state === "NONE") throw unknown("claim", id);
  const { answerSeconds } = chain.constants;
  return {
    claimId: id,
    state: word.state,
    final: isFinal(word, answerSeconds, Number(timestamp)),
    /** earliest second in which it is final, if nobody moves any more */
    finalAt: RULES.finalAt(word, answerSeconds),
  };
}

/** @throws BaseError ID_INVALID, REQUEST_UNKNOWN; faults of the node */
export async function requestView(chain: Chain | undefined, id: string): Promise<object> {
  const requestId = checked(id) as RequestId;
  if (chain === undefined) throw unknown("request", id);
  const { timestamp, hash } = await chain.client.getBlock();
  const { state } = await new StateReader(chain, hash).requestWord(requestId);
  if (state === "NONE") throw unknown("request", id);
  const history = await historyOf(chain, requestId);
  const claimId = candidateOf(history)?.claim?.claimId;
  const expiry = lastOf(history, "Requested")?.args.request.expiry;
  return {
    requestId: id,
    state,
    /** the claim that stands, or that was final */
    ...(claimId === undefined || state === "OPEN" ? {} : { claimId }),
    final: state === "DONE",
    /** nobody may claim any more */
    expired: state === "OPEN" && expiry !== undefined && Number(timestamp) > expiry,
  };
}

function checked(id: string): string {
  if (/^0x[0-9a-f]{64}$/.test(id)) return id;
  throw new BaseError({
    code: "ID_INVALID",
    shortMessage: `${JSON.stringify(id.slice(0, 80))} is no id.`,
    nextStep: "Give 0x and 64 hexadecimal digits in lower case.",
  });
}

const unknown = (what: "claim" | "request", id: string) =>
  new BaseError({
    code: `${what.toUpperCase()}_UNKNOWN`,
    shortMessage: `There is no ${what} ${id} on the gateway's chain.`,
    nextStep: "Check the id.",
  });
