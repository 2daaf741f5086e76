/** Has a published model's plan written: from then on the chain runs it by instructions made once, for less gas. */
import { encodeFunctionData } from "viem";
import { BaseError } from "../../../base/errors.ts";
import { iPlannerAbi } from "../../rules/generated/abis.ts";
import type { ModelId } from "../../rules/types.ts";
import type { Chain } from "../connect.ts";
import { withContext } from "../errors.ts";
import type { ActionSender } from "../sender.ts";
import { isPublished } from "./infer.ts";

/** Nothing happens where the plan is there, where the weights are not, where a deployment has no planner, or where the
 *  program can have no plan; one with wide linear layers can once they are compiled.
 *  @param onProgress called before the transaction
 *  @returns gas of the transaction, undefined if there was none
 *  @throws BaseError PREPARATION_REFUSED; RPC_UNREACHABLE, RPC_FAULT, NOT_MINED_YET (retryable) */
export async function prepareModel(
  chain: Chain,
  sender: ActionSender,
  modelId: ModelId,
  onProgress: (message: string) => void,
): Promise<bigint | undefined> {
  const planner = chain.deployment.contracts.planner;
  if (planner === undefined || !(await isPublished(chain, modelId))) return undefined;
  const contract = { address: planner, abi: iPlannerAbi, args: [modelId] } as const;
  const code = await withContext(`look for the plan of ${modelId}`, async () => {
    const address = await chain.client.readContract({ ...contract, functionName: "planOf" });
    return chain.client.getCode({ address });
  });
  if (code !== undefined && code !== "0x") return undefined;
  onProgress("write the plan");
  const data = encodeFunctionData({ abi: iPlannerAbi, functionName: "prepare", args: [modelId] });
  const key = `prepare:${modelId}`;
  const result = await sender.send({ key, to: planner, data, value: 0n, doneBy: [] });
  if (result.status === "retryable") throw result.error;
  if (result.status === "sent") return result.inclusion.gasUsed;
  if (result.status !== "refused" || result.revert.name === "NotPlannable") return undefined;
  throw new BaseError({
    code: "PREPARATION_REFUSED",
    shortMessage: `The planner refused ${key}: ${result.revert.message}.`,
    nextStep: "Check that the model has the EXECUTION lane with `assay model inspect`.",
    details: { revert: result.revert.name },
  });
}
