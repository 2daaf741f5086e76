/** Asks the contract that would settle by a proof whether it takes it. */
import type { Address, Hex } from "viem";
import { iProofLaneAbi } from "../../rules/generated/abis.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import { proofLaneOf } from "./store-key.ts";

export interface Proven {
  readonly modelId: ModelId;
  /** calldata */
  readonly input: Hex;
  /** return data */
  readonly output: Hex;
  readonly evidence: Hex;
  readonly submitter: Address;
}

/** @returns false only where the contract computed that the proof does not verify
 *  @throws BaseError LANE_UNAVAILABLE, CALL_REVERTED, RPC_UNREACHABLE, RPC_FAULT: nothing is known of the proof then */
export const isTrueOnChain = (
  chain: Chain,
  { modelId, input, output, evidence, submitter }: Proven,
): Promise<boolean> =>
  withContext("verify a proof by the contract", () =>
    chain.client.readContract({
      address: proofLaneOf(chain),
      abi: iProofLaneAbi,
      functionName: "isTrue",
      args: [modelId, input, output, evidence, submitter],
    }),
  );
