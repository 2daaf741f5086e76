/** Puts a verification key on the chain, where every model that names its hash finds it. */
import { encodeFunctionData, type Hex, zeroAddress } from "viem";
import { toHex } from "../../inference/bytes.ts";
import { BaseError } from "../../inference/errors.ts";
import type { Chain } from "../chain/connect.ts";
import { withContext } from "../chain/errors.ts";
import type { Sender } from "../chain/sender.ts";
import { iProofLaneAbi } from "../generated/abis.ts";
import { isDevelopmentKey, vkHashOf } from "./groth16.ts";

/** Chain ids of local chains: anvil, hardhat, geth's developer mode. */
export const LOCAL_CHAINS: readonly number[] = [31_337, 1_337];

/** @param allowDevelopment a development key also on a chain that is not local
 *  @returns isNew false if it was there before
 *  @throws BaseError DEVELOPMENT_KEY, LANE_UNAVAILABLE, KEY_REFUSED with the contract's reason; RPC_UNREACHABLE,
 *  RPC_FAULT, NOT_MINED_YET (retryable) */
export async function storeKey(
  chain: Chain,
  sender: Sender,
  key: Uint8Array,
  { allowDevelopment = false } = {},
): Promise<{ readonly vkHash: Hex; readonly isNew: boolean }> {
  const { chainId } = chain.game;
  if (isDevelopmentKey(key) && !allowDevelopment && !LOCAL_CHAINS.includes(chainId)) {
    throw new BaseError({
      code: "DEVELOPMENT_KEY",
      shortMessage: `The verification key is a development key, and chain ${chainId} is not local: whoever knows its seed can prove any output there.`,
      nextStep: "Run a ceremony (docs/CEREMONY.md), or give --allow-development-keys if nothing is at stake.",
      details: { chainId },
    });
  }
  const vkHash = vkHashOf(key);
  const to = proofLaneOf(chain);
  if (await isKeyStored(chain, vkHash)) return { vkHash, isNew: false };
  const data = encodeFunctionData({ abi: iProofLaneAbi, functionName: "storeKey", args: [toHex(key)] });
  const result = await sender.send({ key: `storeKey:${vkHash}`, to, data, value: 0n, doneBy: [] });
  if (result.status === "retryable") throw result.error;
  if (result.status !== "refused") return { vkHash, isNew: true };
  throw new BaseError({
    code: "KEY_REFUSED",
    shortMessage: `The contract refused the verification key: ${result.revert.message}.`,
    nextStep: "Make it again with `assay proof setup`.",
    details: { revert: result.revert.name },
  });
}

/** Whether the chain has the key with this hash.
 *  @throws BaseError LANE_UNAVAILABLE, RPC_UNREACHABLE, RPC_FAULT */
export async function isKeyStored(chain: Chain, vkHash: Hex): Promise<boolean> {
  const contract = { address: proofLaneOf(chain), abi: iProofLaneAbi } as const;
  const pointer = await withContext("look for the verification key", () =>
    chain.client.readContract({ ...contract, functionName: "keyOf", args: [vkHash] }),
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
