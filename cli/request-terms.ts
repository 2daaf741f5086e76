/** What a request asks for besides its input: the settings of `assay request`, and the request that they make. */
import { type Address, type Hex, isAddressEqual } from "viem";
import { formatAmount } from "../base/amounts.ts";
import { dataFeeOf } from "../protocol/chain/data-fee.ts";
import { BYTES } from "../protocol/chain/move-costs.ts";
import { newRequest } from "../protocol/chain/new-request.ts";
import type { SigningChain } from "../protocol/chain/sender.ts";
import { laneNames } from "../protocol/rules/shortfall.ts";
import { LANE, type LaneName, LIMITS, type Request, ZERO_ADDRESS } from "../protocol/rules/types.ts";
import type { ModelWord } from "../protocol/rules/words.ts";
import { address, type Config, integer, type Settings, text, wei } from "../protocol/service/config.ts";
import { ezklSettleGas } from "../prover/costs.ts";
import type { RegisteredModel } from "./model-source.ts";
import { refuseArgument } from "./output.ts";

export const REQUEST_SETTINGS = {
  fee: {
    schema: wei,
    description:
      "to the prover, such as 0.01ether; default: gas of a claim and its end, or of a proof by ezkl, doubled",
  },
  lanes: { schema: text, description: "lanes that may make it final, by commas; default: all of the model" },
  minBond: { schema: wei, default: "0", description: "least bond of a claim, such as 0.5ether" },
  window: { schema: integer(1, LIMITS.maxWindow), description: "seconds to challenge; default 4T" },
  expirySeconds: {
    schema: integer(1, LIMITS.maxExpiryAhead),
    default: 3_600,
    description: "how long a claim may be made",
  },
  exclusiveProver: { schema: address, description: "who alone may claim at first" },
  exclusiveSeconds: {
    schema: integer(1, LIMITS.maxExclusive),
    default: LIMITS.maxExclusive,
    description: "how long --exclusive-prover alone may claim",
  },
  callback: { schema: address, description: "contract that receives the output by onAssayResult" },
  callbackGas: { schema: integer(1, 2 ** 32 - 1), default: 200_000, description: "gas of that call" },
  deliveryFee: { schema: wei, default: "0", description: "to whoever delivers the output to the callback" },
  timeout: {
    schema: integer(1, LIMITS.maxExpiryAhead),
    description:
      "most seconds that --wait waits until the request is mined, and then until its output is final; the request goes on without it",
  },
} as const satisfies Settings;

export type RequestTerms = Omit<Config<typeof REQUEST_SETTINGS>, "timeout">;

/** Gas that a prover spends on claim and finalize, at their targets. Source: DESIGN, section 10. */
const CLAIM_GAS = 140_000n;

/** Without a program nobody claims: a proof by ezkl settles. */
const gasOf = ({ steps, inputSize, outputLength }: ModelWord): bigint =>
  steps > 0 ? CLAIM_GAS : ezklSettleGas({ inputs: inputSize, outputs: outputLength / 32 });

/** Data fee of the moves that answer a request. @throws BaseError DATA_FEE_UNREADABLE */
async function dataFeeFor({ dataFee }: SigningChain, { steps, outputLength }: ModelWord): Promise<bigint> {
  const fee = await dataFee.read();
  const sizes = steps > 0 ? [BYTES.claim + outputLength, BYTES.finalize] : [BYTES.settle + outputLength];
  return dataFeeOf(fee, ...sizes);
}

/** The lanes that a flag names, by commas. @throws BaseError ARGUMENT_INVALID */
export function readLanes(lanes: string): LaneName[] {
  return lanes.split(",").map((given) => {
    const lane = given.trim().toUpperCase();
    if (!(lane in LANE))
      refuseArgument("--lanes", lanes, `some of ${Object.keys(LANE).join(", ")}, by commas`);
    return lane as LaneName;
  });
}

/** @throws BaseError ARGUMENT_INVALID for what the contract would refuse, RPC_UNREACHABLE, RPC_FAULT */
export async function makeRequest(
  chain: SigningChain,
  { modelId, word }: RegisteredModel,
  input: Hex,
  terms: RequestTerms,
): Promise<Request> {
  const { answerSeconds } = chain.constants;
  const { window = 4 * answerSeconds, minBond, expirySeconds } = terms;
  if (window < 4 * answerSeconds)
    refuseArgument("--window", window, `at least ${4 * answerSeconds} seconds, 4T`);
  const lanes = lanesOf(terms.lanes, word.lanes);
  const gasPrice = terms.fee === undefined ? await chain.client.getGasPrice() : 0n;
  const fee = terms.fee ?? 2n * (gasOf(word) * gasPrice + (await dataFeeFor(chain, word)));
  const own = chain.account.address;
  const request = await newRequest(chain, own, modelId, input, {
    lanes,
    fee,
    minBond,
    window,
    expirySeconds,
  });
  return { ...request, ...exclusiveOf(request, terms), ...deliveryOf(terms) };
}

function lanesOf(given: string | undefined, offered: number): number {
  // A request may name what the model has.
  if (given === undefined) return offered & (LANE.BOND | LANE.EXECUTION | LANE.PROOF);
  const lanes = readLanes(given).reduce((bits, lane) => bits | LANE[lane], 0);
  if ((lanes & ~offered) !== 0)
    refuseArgument("--lanes", given, `lanes of this model, which has ${laneNames(offered)}`);
  return lanes;
}

function exclusiveOf({ expiry }: Request, terms: RequestTerms): Partial<Request> {
  const { exclusiveProver, exclusiveSeconds, expirySeconds } = terms;
  if (exclusiveProver === undefined) return {};
  return {
    exclusiveProver,
    exclusiveUntil: expiry - expirySeconds + Math.min(exclusiveSeconds, expirySeconds),
  };
}

function deliveryOf({ callback, callbackGas, deliveryFee }: RequestTerms): Partial<Request> {
  const isNobody = (one: Address): boolean => isAddressEqual(one, ZERO_ADDRESS);
  if (callback !== undefined && !isNobody(callback)) return { callback, callbackGas, deliveryFee };
  if (deliveryFee > 0n)
    refuseArgument("--delivery-fee", formatAmount(deliveryFee), "given with --callback, whose call it pays");
  return {};
}
