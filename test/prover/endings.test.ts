import { describe, expect, test } from "vitest";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import { ENDING_GAS, endingDelay } from "../../protocol/chain/endings.ts";
import {
  type ClaimId,
  LANE,
  NO_CLAIM,
  type RequestId,
  ZERO_ADDRESS,
  ZERO_HASH,
} from "../../protocol/rules/types.ts";
import { EMPTY_CLAIM_WORD } from "../../protocol/rules/words.ts";
import { claimGas, withMargin } from "../../prover/costs.ts";
import { decideRequests, type Policy, type ProverState } from "../../prover/decide.ts";
import { type Blocked, blockedRequests, decideEndings, endingJobs, servable } from "../../prover/endings.ts";
import {
  ETHER,
  MODEL,
  OTHER,
  OWN,
  policy as usualPolicy,
  state as usualState,
} from "../support/decisions.ts";

const terms = { lanes: LANE.BOND, depth: 2, outputLength: 96 };
const models = new Map([[MODEL, terms]]);
const policy: Policy = { ...usualPolicy, endingBudget: ETHER };
const state: ProverState = { ...usualState, constants: { ...usualState.constants, answerSeconds: 10 } };
/** Pays for claiming, and for this many endings. */
const feeFor = (endings: bigint) =>
  withMargin((claimGas(terms) + endings * ENDING_GAS) * state.gasPrice, policy);

function blocked({
  fee = feeFor(1n),
  attempt = 0,
  prover = OTHER,
}: {
  fee?: bigint;
  attempt?: number;
  prover?: `0x${string}`;
} = {}): Blocked {
  const requestId = `0x${"22".repeat(32)}` as RequestId;
  const block = { number: 5n, hash: ZERO_HASH } as const;
  const request: RequestEntry = {
    id: requestId,
    request: {
      requester: OTHER,
      modelId: MODEL,
      inputHash: ZERO_HASH,
      lanes: LANE.BOND,
      fee,
      deliveryFee: 0n,
      minBond: 0n,
      window: 40,
      expiry: 2_000,
      exclusiveProver: ZERO_ADDRESS,
      exclusiveUntil: 0,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: 0n,
    },
    ...{ input: "0x", block, changedAt: 5n, status: "busy", attempt, delivered: false },
  };
  const claim: ClaimEntry = {
    id: `0x${"33".repeat(32)}` as ClaimId,
    claim: { ...NO_CLAIM, requestId, modelId: MODEL, prover },
    ...{ output: "0x", windowEnd: 1_040, block, status: "active" },
    ...{ challengers: new Set([OTHER]), collected: new Set(), demands: new Map() },
  };
  return { request, claim };
}
const serves = (one: Blocked, changes: Partial<ProverState> = {}, chosen: Policy = policy) =>
  servable([one], models, { ...state, ...changes }, chosen).length === 1;

describe("blockedRequests", () => {
  test("default: those whose claim is another's and owes an answer", () => {
    const list = ({ request, claim }: Blocked) => {
      const index = { requests: new Map([[request.id, request]]), claims: new Map([[claim.id, claim]]) };
      const context = { chain: { account: { address: OWN } }, store: { index } };
      return blockedRequests(context as unknown as Parameters<typeof blockedRequests>[0]);
    };
    const other = blocked();
    expect(list(other)).toEqual([other]);
    expect(list(blocked({ prover: OWN }))).toEqual([]);
    other.claim.trace = { root: ZERO_HASH, tops: [] };
    expect(list(other)).toEqual([]);
  });
});

describe("servable", () => {
  test("default: the fee pays for the end and for the claim after it, to the unit", () => {
    expect(serves(blocked())).toBe(true);
    expect(serves(blocked({ fee: feeFor(1n) - 1n }))).toBe(false);
  });

  test("behavior: after each fall the fee must pay for one end more, so that nobody is drained beyond it", () => {
    expect(serves(blocked({ attempt: 2, fee: feeFor(3n) }))).toBe(true);
    expect(serves(blocked({ attempt: 2, fee: feeFor(3n) - 1n }))).toBe(false);
  });

  test("behavior: what would be skipped once it is open is left alone, the doubled bond counted", () => {
    const { request } = blocked();
    const decision = decideRequests([{ ...request, status: "open", attempt: 1 }], models, state, policy);
    const { bond } = decision.get(request.id) as { bond: bigint };
    expect(serves(blocked(), {}, { ...policy, maxBonds: bond })).toBe(true);
    expect(serves(blocked(), {}, { ...policy, maxBonds: bond - 1n })).toBe(false);
    expect(serves(blocked(), { fallen: new Set([request.id]) })).toBe(false);
    expect(serves(blocked(), { now: 2_000 })).toBe(false);
    expect(servable([blocked()], new Map(), state, policy)).toEqual([]);
  });

  test("behavior: bonds that open requests take are not there for it", () => {
    const { request } = blocked();
    const open = { ...request, status: "open" as const, id: `0x${"44".repeat(32)}` as RequestId };
    const chosen = decideRequests([open], models, state, policy);
    const { bond } = chosen.get(open.id) as { bond: bigint };
    const both = { ...policy, maxBonds: 3n * bond };
    expect(servable([blocked()], models, state, both, chosen)).toHaveLength(1);
    expect(servable([blocked()], models, state, { ...both, maxBonds: 3n * bond - 1n }, chosen)).toEqual([]);
  });
});

describe("decideEndings", () => {
  test("default: once the trace is overdue and those who hold tickets had time; one job a claim", () => {
    const { request, claim } = blocked();
    const word = { ...EMPTY_CLAIM_WORD, state: "ACTIVE", traceDeadline: 990 } as const;
    const words = new Map([[claim.id, word]]);
    const at = (now: number) => decideEndings([{ request, claim }], words, { ...state, now });
    const delay = endingDelay(OWN, claim.id, 10);
    expect(at(990 + delay).size).toBe(0);
    expect([...at(991 + delay)]).toEqual([[claim.id, { kind: "timeoutTrace" }]]);
    expect(endingJobs(at(999), 999)).toEqual([{ kind: "end", subject: claim.id, due: 999 }]);
    expect(decideEndings([{ request, claim }], new Map(), { ...state, now: 9_999 }).size).toBe(0);
  });
});
