/** Whether this node would answer one more request of its own, before that costs gas. Pure. */
import { BaseError } from "../../base/errors.ts";
import type { ClaimIndex, RequestEntry } from "../../protocol/chain/claim-index.ts";
import { decideRequests, type ModelTerms, type Policy, type ProverState } from "../decide.ts";
import type { ServedModel, ServedModels } from "../models.ts";
import type { OwnRequest } from "./file-request.ts";

/** What the answer depends on. */
export interface Capacity {
  readonly index: ClaimIndex;
  readonly state: ProverState;
  readonly models: ServedModels;
  readonly termsOf: (model: ServedModel) => ModelTerms;
  readonly policy: Policy;
}

/** Decides on it as the node will when the request is on the chain, behind everything that is open and on its way there.
 *  @param coming own requests that the index does not know yet
 *  @throws BaseError TOO_BUSY if the request would be skipped */
export function requireCapacity(own: OwnRequest, coming: readonly OwnRequest[], capacity: Capacity): void {
  const { index, models, termsOf, policy } = capacity;
  const filed = [...coming, own];
  const fees = filed.reduce((sum, { request }) => sum + request.fee, 0n);
  const state = { ...capacity.state, balance: capacity.state.balance - fees };
  const open = [...index.requests.values()].filter(({ status }) => status === "open");
  const terms = new Map([...models].map(([id, model]) => [id, termsOf(model)]));
  const decision = decideRequests([...open, ...filed.map(toEntry)], terms, state, policy).get(own.id);
  if (decision?.kind === "skip") throw full(decision.reason);
}

/** As it will stand in the index, in a block that is yet to come. */
const toEntry = ({ id, request, input }: OwnRequest): RequestEntry => ({
  ...{ id, request, input, status: "open", attempt: 0, delivered: false },
  ...{ block: { number: BigInt(Number.MAX_SAFE_INTEGER), hash: "0x" }, changedAt: 0n },
});

const full = (why: string) =>
  new BaseError({
    code: "TOO_BUSY",
    shortMessage: `This node could not make one more output final now: ${why}.`,
    nextStep: "Ask again later, or ask another node; nothing was taken.",
    retryable: true,
  });
