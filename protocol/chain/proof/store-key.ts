/** Puts the verification key of a registered model on the chain. */
import { encodeFunctionData, zeroAddress } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { iProofLaneAbi } from "../../rules/generated/abis.ts";
import { isDevelopmentKey } from "../../rules/proof/groth16.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import { isLocalChain } from "../presets.ts";
import type { ActionSender } from "../sender.ts";

/** Refuses a development key on a chain that is not local. Check it before the model is registered.
 *  @param allowDevelopment told by name to take it all the same
 *  @throws BaseError DEVELOPMENT_KEY */
export function assertKeyAllowed(
  { game: { chainId } }: Chain,
  key: Uint8Array,
  allowDevelopment: boolean,
): void {
  if (!isDevelopmentKey(key) || allowDevelopment || isLocalChain(chainId)) return;
  throw new BaseError({
    code: "DEVELOPMENT_KEY",
    shortMessage: `The verification key is a development key, and chain ${chainId} is not local: whoever knows its seed can prove any output there.`,
    nextStep: "Run a ceremony (docs/CEREMONY.md), or give --allow-development-keys if nothing is at stake.",
    details: { chainId },
  });
}

/** @param allowDevelopment a development key also on a chain that is not local
 *  @returns isNew false if it was there before
 *  @throws BaseError DEVELOPMENT_KEY, LANE_UNAVAILABLE, KEY_REFUSED with the contract's reason; RPC_UNREACHABLE,
 *  RPC_FAULT, NOT_MINED_YET (retryable) */
export async function storeKey(
  chain: Chain,
  sender: ActionSender,
  modelId: ModelId,
  key: Uint8Array,
  { allowDevelopment = false } = {},
): Promise<{ readonly isNew: boolean }> {
  assertKeyAllowed(chain, key, allowDevelopment);
  const to = proofLaneOf(chain);
  if (await isKeyStored(chain, modelId)) return { isNew: false };
  const args = [modelId, toHex(key)] as const;
  const data = encodeFunctionData({ abi: iProofLaneAbi, functionName: "storeKey", args });
  const result = await sender.send({ key: `storeKey:${modelId}`, to, data, value: 0n, doneBy: [] });
  if (result.status === "retryable") throw result.error;
  if (result.status !== "refused") return { isNew: true };
  throw new BaseError({
    code: "KEY_REFUSED",
    shortMessage: `The contract refused the verification key: ${result.revert.message}.`,
    nextStep: "Make it again with `assay proof setup`.",
    details: { revert: result.revert.name },
  });
}

/** Whether the chain has the key of a model.
 *  @throws BaseError LANE_UNAVAILABLE, RPC_UNREACHABLE, RPC_FAULT */
export async function isKeyStored(chain: Chain, modelId: ModelId): Promise<boolean> {
  const contract = { address: proofLaneOf(chain), abi: iProofLaneAbi } as const;
  const pointer = await withContext("look for the verification key", () =>
    chain.client.readContract({ ...contract, functionName: "keyOf", args: [modelId] }),
  );
  return pointer !== zeroAddress;
}

/** The ProofLane contract of a deployment. @throws BaseError LANE_UNAVAILABLE */
export function proofLaneOf(chain: Chain) {
  const { proofAdapter } = chain.deployment.contracts;
  if (proofAdapter !== undefined) return proofAdapter;
  throw new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `The deployment on chain ${chain.game.chainId} has no PROOF lane.`,
    nextStep: "Use another lane, or a deployment made by this version's `assay deploy`.",
  });
}
