/** What a promise becomes: a request and its claim in Assay, by and for the Promises contract, in one transaction. */
import type { Address } from "viem";
import { requestIdOf } from "../ids.ts";
import { type Move as AssayMove, play } from "../machine.ts";
import {
  type Claim,
  type ClaimId,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
} from "../types.ts";
import { changeAccount, refuse, withEntry } from "./change.ts";
import type { InputFacts, OutputFacts, PromiseResult } from "./moves.ts";
import type { PromiseRules } from "./rules.ts";
import { accountOf, type Filed, type PromisesState } from "./state.ts";

export interface Filing {
  readonly now: number;
  readonly baseFee: bigint;
  readonly modelId: ModelId;
  readonly input: InputFacts;
  readonly output: OutputFacts;
  readonly bond: bigint;
  readonly window: number;
  /** who signed; the prover itself for what was posted */
  readonly key: Address;
  /** its own number, which no rule reads */
  readonly salt: bigint;
}

type Result =
  | { readonly ok: true; readonly state: PromisesState; readonly claimId: ClaimId }
  | Extract<PromiseResult, { readonly ok: false }>;

/** The request that a filing makes. */
export function requestOf(state: PromisesState, filing: Filing, rules: PromiseRules): Request {
  const { promises } = state.address;
  const model = state.assay.models.get(filing.modelId);
  return {
    requester: promises,
    modelId: filing.modelId,
    inputHash: filing.input.hash,
    lanes: rules.lanes(model?.lanes ?? 0),
    ...{ fee: 0n, deliveryFee: 0n, minBond: filing.bond, window: filing.window },
    // Who claims on it in the second after a fall risks a bond of its own, and moves no money of this contract.
    expiry: filing.now + 1,
    ...{ exclusiveProver: ZERO_ADDRESS, exclusiveUntil: 0 },
    ...{ callback: ZERO_ADDRESS, callbackGas: 0, salt: rules.salt(state.counter, filing) },
  };
}

/** Takes the bond's parts from the prover and files the claim. */
export function file(
  state: PromisesState,
  filing: Filing,
  filed: Omit<Filed, "requestId" | "isClosed">,
  rules: PromiseRules,
): Result {
  const { now, baseFee, bond } = filing;
  const { promises } = state.address;
  const account = accountOf(state, filed.prover);
  if (state.balance < bond) return refuse("NotPulled") as Result;
  const request = requestOf(state, filing, rules);
  const requested = play(state.assay, { kind: "request", from: promises, now, request, input: filing.input });
  if (!requested.ok) return refuse(`Assay: ${requested.refusal}`) as Result;
  const requestId: RequestId = requestIdOf(state.assay.address, request);
  const operator = rules.operator(filed.prover, filing.key);
  const gasPrice = rules.gasPrice(state.constants, baseFee);
  const claim: AssayMove = {
    ...{ kind: "claim", from: promises, now, value: bond, requestId, operator, gasPrice, baseFee },
    output: filing.output,
  };
  const claimed = play(requested.state, claim);
  if (!claimed.ok || claimed.claimId === undefined) {
    return refuse(`Assay: ${claimed.ok ? "no claim" : claimed.refusal}`) as Result;
  }
  const { claimId } = claimed;
  const { parts } = filed;
  const taken = changeAccount(state, filed.prover, {
    free: account.free - parts.free,
    leaving: account.leaving - parts.leaving,
    slots: account.slots - parts.slot,
    away: account.away + bond,
  });
  return {
    ok: true,
    claimId,
    state: {
      ...taken,
      assay: claimed.state,
      balance: state.balance - bond,
      counter: state.counter + 1n,
      filed: withEntry(state.filed, claimId, { ...filed, requestId, isClosed: false }),
    },
  };
}

/** The claim as Assay has it. */
export const claimIn = (state: PromisesState, id: ClaimId): Claim | undefined =>
  state.assay.claims.get(id)?.claim;
