/** `assay model publish` and `assay model infer`: the EXECUTION lane. */
import type { Command } from "commander";
import type { Hex } from "viem";
import { concatBytes, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import { findJudgedOnly } from "../inference/program/form.ts";
import { estimateInferenceGas, MAX_TRANSACTION_GAS } from "../protocol/chain/execution/cost.ts";
import { inferFastOnChain, inferOnChain, MAX_WEIGHTS_BYTES } from "../protocol/chain/execution/infer.ts";
import { planPublication, publishWeights } from "../protocol/chain/execution/publication.ts";
import { encodeCall } from "../protocol/rules/abi.ts";
import { LANE, type ModelId } from "../protocol/rules/types.ts";
import { chainConfig, openChain, withChain, withSender } from "./chain.ts";
import { addHaltCommand } from "./halt.ts";
import { findModel, modelFolder } from "./model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";
import { readInputs, requireFits, requireOneInput } from "./request.ts";
import { outputLines, showOutput } from "./shown-output.ts";

export function addExecutionCommands(model: Command): void {
  const publishing = model
    .command("publish")
    .description("publish a registered model's weights, so that the chain can run it; harmless to repeat")
    .argument("<model>", "name or folder of a model");
  withJson(withChain(publishing)).action(publish);
  const inference = model
    .command("infer")
    .description("let the chain run a model: one call, no transaction, no key")
    .argument("<model>", "name, folder or id of a registered model")
    .option("--inputs <file>", "JSON object of the function's parameters by name, - for standard input")
    .option("--text <text>", "the one text of a model that takes a text")
    .option("--with-weights", "send the weights of the model's folder along")
    .option("--fast", "by the model's plan and compiled layers, as a contract that calls inferFast");
  withJson(withChain(inference)).action(infer);
  addHaltCommand(model);
}

async function publish(name: string, _options: object, self: Command): Promise<void> {
  const loaded = loadModelFolder(modelFolder(name));
  const modelId = loaded.modelId as ModelId;
  requireExecutable(loaded);
  const plan = planPublication(loaded.model);
  printProgress(`${plan.chunks.length} chunks, about ${plan.gas.toLocaleString("en")} gas`);
  const result = await withSender(chainConfig(self), async (chain, sender) => {
    await findModel(chain, name);
    return publishWeights(chain, sender, modelId, plan, printProgress);
  });
  const spent = `${result.transactions} transactions, ${result.gasUsed.toLocaleString("en")} gas`;
  printResult(self, { name, modelId, estimatedGas: plan.gas, ...result }, [
    result.isNew
      ? `The weights of ${name} are published: ${spent}`
      : `The weights of ${name} were published before.`,
  ]);
}

type Registrable = Pick<LoadedModel, "model" | "laneBits" | "modelId">;

/** @throws BaseError LANE_UNAVAILABLE, EXECUTION_TOO_LARGE */
export function requireExecutable(loaded: Registrable): void {
  const refusal = executionRefusal(loaded);
  if (refusal !== undefined) throw refusal;
}

/** Why the chain cannot run a model, with the lanes that remain: LANE_UNAVAILABLE, EXECUTION_TOO_LARGE. */
export function executionRefusal({ model, laneBits, modelId }: Registrable): BaseError | undefined {
  const others = Object.entries(LANE).filter(([, bit]) => bit !== LANE.EXECUTION && (laneBits & bit) !== 0);
  const remain = others.map(([lane]) => lane).join(", ") || "none";
  if ((laneBits & LANE.EXECUTION) === 0) {
    return new BaseError({
      code: "LANE_UNAVAILABLE",
      shortMessage: `Model ${modelId} has no EXECUTION lane; it has ${remain}.`,
      nextStep: 'Add "EXECUTION" to the lanes in tool.json and import it again: that makes another model.',
    });
  }
  const found = findJudgedOnly(model.program);
  if (found !== undefined) {
    return new BaseError({
      code: "LANE_UNAVAILABLE",
      shortMessage: `Step ${found.index} of model ${modelId} is ${found.name}, which no interpreter runs. Lanes that remain: ${remain}.`,
      nextStep:
        'Take "EXECUTION" out of the lanes in tool.json and import it again: that makes another model.',
      details: { step: found.index, lanes: others.map(([lane]) => lane) },
    });
  }
  const gas = estimateInferenceGas(model.program);
  if (gas <= MAX_TRANSACTION_GAS) return undefined;
  return new BaseError({
    code: "EXECUTION_TOO_LARGE",
    shortMessage: `An inference would take about ${gas.toLocaleString("en")} gas, a transaction holds ${MAX_TRANSACTION_GAS.toLocaleString("en")}. Lanes that remain: ${remain}.`,
    nextStep: "Use one of the lanes that remain.",
    details: { gas, limit: MAX_TRANSACTION_GAS, lanes: others.map(([lane]) => lane) },
  });
}

/** All weight rows of a model's folder, to send along.
 *  @throws BaseError WEIGHTS_TOO_LARGE; as loadModelFolder does */
export function weightsOf(folder: string): Hex {
  const weights = concatBytes(...loadModelFolder(folder).model.weights);
  if (weights.length <= MAX_WEIGHTS_BYTES) return toHex(weights);
  throw new BaseError({
    code: "WEIGHTS_TOO_LARGE",
    shortMessage: `The weights have ${weights.length} bytes, at most ${MAX_WEIGHTS_BYTES} fit into a call.`,
    nextStep: "Publish them with `assay model publish`.",
  });
}

interface InferOptions {
  readonly inputs?: string;
  readonly text?: string;
  readonly withWeights?: boolean;
  readonly fast?: boolean;
}

async function infer(name: string, options: InferOptions, self: Command): Promise<void> {
  requireOneInput(options);
  const chain = await openChain(chainConfig(self));
  const model = await findModel(chain, name);
  const input = encodeCall(model.function, readInputs(model, options));
  requireFits(model, input);
  if (options.fast && options.withWeights) refuseArgument("--fast", "with --with-weights", "one of both");
  const weights = options.withWeights === true ? weightsOf(modelFolder(name)) : undefined;
  const output = options.fast
    ? await inferFastOnChain(chain, model.modelId, input)
    : await inferOnChain(chain, model.modelId, input, weights);
  const shown = showOutput(model, output);
  printResult(self, { modelId: model.modelId, ...shown, output }, outputLines(shown));
}
