/** The shipped models and the bench's task, registered and published on a local chain. */
import { equalBytes, fromHex, toHex } from "../../base/bytes.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { inferFastOnChain, inferOnChain } from "../../protocol/chain/execution/infer.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import type { Sender } from "../../protocol/chain/sender.ts";
import { LANE, type ModelId } from "../../protocol/rules/types.ts";
import { type RunnableModel, realInput, runnableModel } from "./model-inputs.ts";
import { createRng } from "./rng.ts";

export interface ExecutedModel extends RunnableModel {
  readonly modelId: ModelId;
}

export async function publishModel(chain: Chain, sender: Sender, name: string): Promise<ExecutedModel> {
  const runnable = runnableModel(name);
  return { ...runnable, modelId: await publishPrepared(chain, sender, runnable.prepared) };
}

/** Registers a program and publishes its weights. */
export async function publishPrepared(
  chain: Chain,
  sender: Sender,
  prepared: PreparedModel,
): Promise<ModelId> {
  const modelId = await registerPrepared(chain, sender, prepared);
  await publishWeights(chain, sender, modelId, planPublication(prepared.model));
  return modelId;
}

/** Registers a program whose weights are not published. @param lanes others make another model */
export async function registerPrepared(
  chain: Chain,
  sender: Sender,
  { model, selector }: PreparedModel,
  lanes: number = LANE.EXECUTION | LANE.BOND,
): Promise<ModelId> {
  const identity = { ...commitModel(model), selector, lanes, vkHash: new Uint8Array(32) };
  return (await registerModel(chain, sender, encodeProgram(model.program), identity)).modelId;
}

/** Runs inputs such as users give on the chain and in the executor.
 *  @returns how many outputs of either form, plain and fast, differ */
export async function countDifferences(
  chain: Chain,
  model: ExecutedModel,
  inputs: number,
  seed: number,
): Promise<number> {
  const rng = createRng(seed);
  const { program, selector } = model.prepared;
  let [next, different] = [0, 0];
  const worker = async (): Promise<void> => {
    while (next < inputs) {
      next++;
      const input = realInput(rng, program, selector);
      const right = model.run(input);
      for (const infer of [inferOnChain, inferFastOnChain]) {
        const output = await infer(chain, model.modelId, toHex(input));
        if (!equalBytes(fromHex(output), right)) different++;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return different;
}
