/** FinalChoiceExecutor contracts: executors whose choices are final outputs of a language model. */
import { type Address, type ContractFunctionArgs, type Hex, isAddressEqual } from "viem";
import { BaseError } from "../../../base/errors.ts";
import type { Chain } from "../../../protocol/chain/connect.ts";
import { withContext } from "../../../protocol/chain/errors.ts";
import { finalChoiceExecutorAbi } from "../../../protocol/rules/generated/abis.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import type { RunHistory } from "../node/run-history.ts";

export interface FinalExecutor {
  readonly address: Address;
  readonly modelId: ModelId;
  /** lanes that count, wei of a claim's bond and seconds to challenge it */
  readonly policy: { readonly lanes: number; readonly minBond: bigint; readonly minWindow: number };
  /** what the model can choose, in the contract's order */
  readonly choices: readonly { readonly tool: Address; readonly text: string }[];
}

/** A run's history as the contract takes it. */
export type ChoiceHistory = ContractFunctionArgs<typeof finalChoiceExecutorAbi, "view", "inputOf">[0];

/** @throws BaseError EXECUTOR_FOREIGN for one that reads another Assay contract; CALL_REVERTED for another contract;
 *  RPC_UNREACHABLE, RPC_FAULT */
export async function readFinalExecutor(chain: Chain, address: Address): Promise<FinalExecutor> {
  const contract = { address, abi: finalChoiceExecutorAbi } as const;
  const { client, game } = chain;
  const [assay, terms, choices] = await withContext(`read the executor at ${address}`, () =>
    Promise.all([
      client.readContract({ ...contract, functionName: "assay" }),
      client.readContract({ ...contract, functionName: "terms" }),
      client.readContract({ ...contract, functionName: "choices" }),
    ]),
  );
  if (!isAddressEqual(assay, game.assay)) {
    throw new BaseError({
      code: "EXECUTOR_FOREIGN",
      shortMessage: `The executor at ${address} takes outputs that the Assay contract at ${assay} makes final; the deployment's is ${game.assay}.`,
      nextStep: "Name its deployment, or another executor.",
    });
  }
  const { modelId, lanes, minBond, minWindow } = terms;
  return { address, modelId: modelId as ModelId, policy: { lanes, minBond, minWindow }, choices };
}

/** A run's history in the executor's choices.
 *  @throws BaseError HISTORY_FOREIGN for a run in which something else was done than the executor chose; faults of the
 *  node */
export async function choiceHistory(
  chain: Chain,
  run: RunHistory,
  executor: FinalExecutor,
): Promise<ChoiceHistory> {
  const history = inChoices(run, executor);
  const hash = await withContext(`read a history's hash of the executor at ${executor.address}`, () =>
    chain.client.readContract({
      address: executor.address,
      abi: finalChoiceExecutorAbi,
      functionName: "historyHashOf",
      args: [run.agent, run.runId, history],
    }),
  );
  if (hash !== run.historyHash) throw foreign(executor, `Run ${run.runId} of ${run.agent}`);
  return history;
}

function inChoices({ requester, prompt, steps }: RunHistory, executor: FinalExecutor): ChoiceHistory {
  const uses = steps.map(({ iteration, tool, agentReasoning, success, result }) => {
    // The contract has no two choices with one text.
    const choice = executor.choices.findIndex(
      (each) => each.text === agentReasoning && isAddressEqual(each.tool, tool),
    );
    if (choice !== -1) return { choice: BigInt(choice), success, result };
    throw foreign(executor, `Iteration ${iteration}`);
  });
  return { requester, question: prompt, uses };
}

const foreign = ({ address }: FinalExecutor, what: string): BaseError =>
  new BaseError({
    code: "HISTORY_FOREIGN",
    shortMessage: `${what} was not decided by the executor at ${address} alone: it has no prompt for that history.`,
    nextStep: "Another executor of the agent has to go on.",
  });

/** The model's calldata for the run's next iteration, which the contract alone makes.
 *  @throws BaseError CALL_REVERTED where the prompt is longer than the model's */
export const inputOf = (chain: Chain, { address }: FinalExecutor, history: ChoiceHistory): Promise<Hex> =>
  withContext(`read a prompt of the executor at ${address}`, () =>
    chain.client.readContract({
      address,
      abi: finalChoiceExecutorAbi,
      functionName: "inputOf",
      args: [history],
    }),
  );
