/** A prover, a model and requests for tests of decisions. */
import type { RequestEntry } from "../../protocol/chain/claim-index.ts";
import { NO_DATA_FEE } from "../../protocol/chain/data-fee.ts";
import {
  LANE,
  type ModelId,
  type Request,
  type RequestId,
  ZERO_ADDRESS,
  ZERO_HASH,
} from "../../protocol/rules/types.ts";
import { leastFee } from "../../prover/costs.ts";
import { decideRequests, type Policy, type ProverState } from "../../prover/decide.ts";

export const ETHER = 10n ** 18n;
export const MODEL = `0x${"11".repeat(32)}` as ModelId;
export const OWN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
export const terms = { lanes: LANE.BOND | LANE.EXECUTION, depth: 2, outputLength: 96 };
export const models = new Map([[MODEL, terms]]);
export const policy: Policy = {
  marginPercent: 20,
  maxBonds: ETHER,
  maxBond: ETHER,
  endingBudget: 10n ** 16n,
  maxWindow: 3_600,
};
export const state: ProverState = {
  now: 1_000,
  own: OWN,
  constants: { answerSeconds: 5, gasPriceFloor: 10n ** 9n, gasBase: 145_000n, gasPerDemand: 122_000n },
  baseFee: 10n ** 9n,
  gasPrice: 2n * 10n ** 9n,
  dataFee: NO_DATA_FEE,
  balance: 10n * ETHER,
  live: [],
  fallen: new Set(),
};

export const least = leastFee(terms, { gasPrice: state.gasPrice, dataFee: NO_DATA_FEE }, policy);
let serial = 0;
export function requested(changes: Partial<Request> = {}, entry: Partial<RequestEntry> = {}): RequestEntry {
  serial += 1;
  const request: Request = {
    requester: OTHER,
    modelId: MODEL,
    inputHash: ZERO_HASH,
    lanes: LANE.BOND,
    fee: least,
    deliveryFee: 0n,
    minBond: 0n,
    window: 20,
    expiry: 2_000,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: 0n,
    ...changes,
  };
  const id = `0x${serial.toString(16).padStart(64, "0")}` as RequestId;
  const block = { number: BigInt(serial), hash: ZERO_HASH };
  const fresh = { status: "open", attempt: 0, delivered: false, changedAt: block.number } as const;
  return { id, request, input: "0x", block, ...fresh, ...entry };
}

export function decideOne(entry: RequestEntry, changes: Partial<ProverState> = {}, chosen: Policy = policy) {
  return decideRequests([entry], models, { ...state, ...changes }, chosen).get(entry.id);
}
export const codeOf = (...args: Parameters<typeof decideOne>) => {
  const decision = decideOne(...args);
  return decision?.kind === "skip" ? decision.code : decision?.kind;
};
