/** A request for a model's output, with what most requests leave at its default. */
import { type Address, type Hex, keccak256 } from "viem";
import { type ModelId, type Request, ZERO_ADDRESS } from "../rules/types.ts";
import type { Chain } from "./connect.ts";
import { withContext } from "./errors.ts";

export interface RequestTerms {
  /** bits of the lanes that are accepted */
  readonly lanes: number;
  /** wei to whoever makes the output final */
  readonly fee: bigint;
  /** least bond of a claim, wei; default 0 */
  readonly minBond?: bigint;
  /** seconds to challenge; default 4T */
  readonly window?: number;
  /** how long a claim may be made, seconds; default an hour */
  readonly expirySeconds?: number;
}

/** Asked anew each time: the same input may be asked for twice.
 *  @param input the model's calldata
 *  @throws BaseError RPC_UNREACHABLE, RPC_FAULT (retryable) */
export async function newRequest(
  { client, constants }: Chain,
  requester: Address,
  modelId: ModelId,
  input: Hex,
  terms: RequestTerms,
): Promise<Request> {
  const { lanes, fee, minBond = 0n, window = 4 * constants.answerSeconds, expirySeconds = 3_600 } = terms;
  const { timestamp } = await withContext("read the newest block", () => client.getBlock());
  return {
    requester,
    modelId,
    inputHash: keccak256(input),
    lanes,
    fee,
    deliveryFee: 0n,
    minBond,
    window,
    expiry: Number(timestamp) + expirySeconds,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: crypto.getRandomValues(new BigUint64Array(1))[0] as bigint,
  };
}
