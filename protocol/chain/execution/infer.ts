/** The EXECUTION lane from outside: one `eth_call` that runs a model, or tells what it computed on the way. */
import type { Address, Hex } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { iFastInterpreterAbi, iInterpreterAbi, iWeightStoreAbi } from "../../rules/generated/abis.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Chain } from "../connect.ts";
import { chainError, decodeRevert, withContext } from "../errors.ts";

/** Most bytes of weights that come along: the calldata of one transaction. */
export const MAX_WEIGHTS_BYTES = 120_000;

/** @throws BaseError LANE_UNAVAILABLE for a deployment without the contract */
export function contractOf(chain: Chain, name: "weightStore" | "interpreter" | "fastInterpreter"): Address {
  const address = chain.deployment.contracts[name];
  if (address !== undefined) return address;
  throw new BaseError({
    code: "LANE_UNAVAILABLE",
    shortMessage: `The deployment on chain ${chain.game.chainId} names no ${name}: it has no EXECUTION lane.`,
    nextStep: "Use a deployment that `assay deploy` of this version wrote, or another lane.",
  });
}

/** Whether the chain holds the model's weights.
 *  @throws BaseError LANE_UNAVAILABLE; faults of the node */
export async function isPublished(chain: Chain, modelId: ModelId): Promise<boolean> {
  const contract = { address: contractOf(chain, "weightStore"), abi: iWeightStoreAbi } as const;
  return withContext(`look whether the weights of model ${modelId} are published`, () =>
    chain.client.readContract({ ...contract, functionName: "isPublished", args: [modelId] }),
  );
}

/** The model's return data, computed by the chain record by record: what `settle` would find.
 *  @param input the model's calldata @param weights the stream of all weight rows; absent: the published ones
 *  @throws BaseError WEIGHTS_NOT_PUBLISHED, EXECUTION_REFUSED with the contract's reason; faults of the node */
export async function inferOnChain(chain: Chain, modelId: ModelId, input: Hex, weights?: Hex): Promise<Hex> {
  const contract = { address: contractOf(chain, "interpreter"), abi: iInterpreterAbi } as const;
  return refusing(modelId, () => {
    if (weights === undefined) {
      return chain.client.readContract({ ...contract, functionName: "infer", args: [modelId, input] });
    }
    const args = [modelId, input, weights] as const;
    return chain.client.readContract({ ...contract, functionName: "inferWith", args });
  });
}

/** As `inferOnChain` with published weights, by the model's plan and compiled layers: what a contract that asks
 *  `inferFast` would get.
 *  @throws BaseError as `inferOnChain` */
export async function inferFastOnChain(chain: Chain, modelId: ModelId, input: Hex): Promise<Hex> {
  const contract = { address: contractOf(chain, "fastInterpreter"), abi: iFastInterpreterAbi } as const;
  return refusing(modelId, () =>
    chain.client.readContract({ ...contract, functionName: "inferFast", args: [modelId, input] }),
  );
}

/** Stored bytes of a step's tensor as the chain computes it, row-major, without padding.
 *  @throws BaseError as `inferOnChain` */
export async function tensorOnChain(chain: Chain, modelId: ModelId, input: Hex, step: number): Promise<Hex> {
  const contract = { address: contractOf(chain, "interpreter"), abi: iInterpreterAbi } as const;
  const args = [modelId, input, BigInt(step)] as const;
  return refusing(modelId, () => chain.client.readContract({ ...contract, functionName: "tensorAt", args }));
}

async function refusing(modelId: ModelId, call: () => Promise<Hex>): Promise<Hex> {
  try {
    return await call();
  } catch (cause) {
    throw refusal(modelId, cause);
  }
}

const NEXT_STEPS: Readonly<Record<string, string>> = {
  NotExecutable: "Use another lane of the model.",
  ModelHalted: "Somebody showed a fault of its execution: use another lane of the model.",
  FastModelHalted: "Somebody showed a fault of its plan or compiled code: call `infer`.",
};

function refusal(modelId: ModelId, cause: unknown): BaseError {
  const revert = decodeRevert(cause);
  if (revert === undefined) return chainError(cause, `run model ${modelId} on chain`);
  if (revert.name === "WeightsNotPublished") {
    return new BaseError({
      code: "WEIGHTS_NOT_PUBLISHED",
      shortMessage: `Nobody has published the weights of model ${modelId}.`,
      nextStep: "Publish them with `assay model publish`, or send them along with --with-weights.",
      cause,
    });
  }
  const { [revert.name]: nextStep = "Check model and input." } = NEXT_STEPS;
  return new BaseError({
    code: "EXECUTION_REFUSED",
    shortMessage: `The chain did not run model ${modelId}: ${revert.message}.`,
    nextStep,
    details: { revert: revert.name },
    cause,
  });
}
