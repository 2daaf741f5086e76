/** Puts a model without a program on a chain: its verifier contract, its key and its registration. Harmless to repeat,
 *  and whatever is there already costs nothing. */
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { withContext } from "../../../protocol/chain/errors.ts";
import { isLocalChain } from "../../../protocol/chain/presets.ts";
import { isKeyStored, proofLaneOf } from "../../../protocol/chain/proof/store-key.ts";
import { StateReader } from "../../../protocol/chain/reads.ts";
import { sent } from "../../../protocol/chain/register.ts";
import type { Sender } from "../../../protocol/chain/sender.ts";
import {
  iEzklVerifiersAbi,
  iModelRegistryAbi,
  iProofLaneAbi,
} from "../../../protocol/rules/generated/abis.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import type { ProofModel } from "./folder.ts";

export interface EzklRegistration {
  readonly modelId: ModelId;
  readonly verifier: Address;
  /** false if the model was registered before */
  readonly isNew: boolean;
}

/** @param developmentKeys true to register keys on any chain with which anybody can forge proofs
 *  @throws BaseError DEVELOPMENT_KEY, LANE_UNAVAILABLE; MODEL_REFUSED; RPC_UNREACHABLE, RPC_FAULT */
export async function registerEzkl(
  chain: Chain,
  sender: Sender,
  model: ProofModel,
  developmentKeys = false,
  onProgress: (message: string) => void = () => undefined,
): Promise<EzklRegistration> {
  const { assay } = model.manifest;
  const { chainId } = chain.game;
  if (assay.ezkl.srs === "development" && !isLocalChain(chainId) && !developmentKeys) {
    throw new BaseError({
      code: "DEVELOPMENT_KEY",
      shortMessage: `Anybody can forge proofs with the development keys of ${model.manifest.name}, and chain ${chainId} is not local.`,
      nextStep: "Add the model with the SRS of a ceremony (--srs), or say --allow-development-keys.",
    });
  }
  const modelId = model.modelId as ModelId;
  const lane = proofLaneOf(chain);
  const step = async (key: string, to: Address, data: Hex): Promise<void> => {
    onProgress(key);
    await sent(sender, { key: `${key}:${modelId}`, to, data, value: 0n, doneBy: [] });
  };
  const { verifiers, verifier, isThere } = await verifierOf(chain, model);
  if (!isThere) {
    const args = [model.verifier.initCode as Hex] as const;
    await step(
      "create the verifier",
      verifiers,
      encodeFunctionData({ abi: iEzklVerifiersAbi, functionName: "create", args }),
    );
  }
  const reader = new StateReader(chain);
  const isNew = (await reader.model(modelId)) === undefined;
  if (isNew) {
    const args = [assay.selector as Hex, model.inputs, model.outputs, assay.vkHash as Hex] as const;
    const data = encodeFunctionData({ abi: iModelRegistryAbi, functionName: "registerProofModel", args });
    await step("register the model", chain.deployment.contracts.registry, data);
  }
  if ((await reader.model(modelId)) === undefined) {
    throw new BaseError({
      code: "MODEL_REFUSED",
      shortMessage: `The registry gave the model another id than ${modelId}.`,
      nextStep: "Check that the folder and the deployment are of one version.",
    });
  }
  if (!(await isKeyStored(chain, modelId))) {
    const args = [modelId, toHex(model.keyBytes)] as const;
    const data = encodeFunctionData({ abi: iProofLaneAbi, functionName: "storeKey", args });
    await step("store the key", lane, data);
  }
  return { modelId, verifier, isNew };
}

/** Where the model's verifier is, or will be: its address follows from its code.
 *  @throws BaseError LANE_UNAVAILABLE, RPC_UNREACHABLE, RPC_FAULT */
export async function verifierOf(
  chain: Chain,
  model: ProofModel,
): Promise<{ verifiers: Address; verifier: Address; isThere: boolean }> {
  const { client } = chain;
  const lane = proofLaneOf(chain);
  return withContext("look for the verifier", async () => {
    const verifiers = await client.readContract({
      address: lane,
      abi: iProofLaneAbi,
      functionName: "ezklVerifiers",
    });
    const verifier = await client.readContract({
      address: verifiers,
      abi: iEzklVerifiersAbi,
      functionName: "addressOf",
      args: [keccak256(model.verifier.initCode as Hex)],
    });
    const code = await client.getCode({ address: verifier });
    return { verifiers, verifier, isThere: code !== undefined && code !== "0x" };
  });
}
