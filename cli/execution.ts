/** `assay model publish`, `assay model infer` and `assay settle`: the EXECUTION lane. */
import type { Command } from "commander";
import type { Hex } from "viem";
import { concatBytes, toHex } from "../inference/bytes.ts";
import { BaseError } from "../inference/errors.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import { decodeReturn, encodeCall, functionOfWord } from "../protocol/abi.ts";
import { Actions } from "../protocol/chain/actions.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { StateReader } from "../protocol/chain/reads.ts";
import { estimateInferenceGas, MAX_TRANSACTION_GAS } from "../protocol/execution/cost.ts";
import { inferOnChain, MAX_WEIGHTS_BYTES } from "../protocol/execution/infer.ts";
import { planPublication, publishWeights } from "../protocol/execution/publication.ts";
import { LANE, type ModelId, type RequestId } from "../protocol/terms.ts";
import { chainConfig, openChain, withChain, withSender } from "./chain.ts";
import { findModel, isModelId, modelFolder } from "./model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";
import { readInputs, unknownRequest } from "./request.ts";
import { requireSent } from "./sent.ts";

export function addExecutionCommands(program: Command, model: Command): void {
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
    .option("--with-weights", "send the weights of the model's folder along");
  withJson(withChain(inference)).action(infer);
  const settling = program
    .command("settle")
    .description("end a request, or the dispute about it, by letting the chain run the model")
    .argument("<request>", "id of the request")
    .option("--with-weights <model>", "send the weights of this model's folder along");
  withJson(withChain(settling)).action(settle);
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

/** @throws BaseError LANE_UNAVAILABLE, EXECUTION_TOO_LARGE with the lanes that remain */
export function requireExecutable({
  model,
  laneBits,
  modelId,
}: Pick<LoadedModel, "model" | "laneBits" | "modelId">): void {
  const others = Object.entries(LANE).filter(([, bit]) => bit !== LANE.EXECUTION && (laneBits & bit) !== 0);
  const remain = others.map(([lane]) => lane).join(", ") || "none";
  if ((laneBits & LANE.EXECUTION) === 0) {
    throw new BaseError({
      code: "LANE_UNAVAILABLE",
      shortMessage: `Model ${modelId} has no EXECUTION lane; it has ${remain}.`,
      nextStep: 'Add "EXECUTION" to the lanes in tool.json and import it again: that makes another model.',
    });
  }
  const gas = estimateInferenceGas(model.program);
  if (gas <= MAX_TRANSACTION_GAS) return;
  throw new BaseError({
    code: "EXECUTION_TOO_LARGE",
    shortMessage: `An inference would take about ${gas.toLocaleString("en")} gas, a transaction holds ${MAX_TRANSACTION_GAS.toLocaleString("en")}. Lanes that remain: ${remain}.`,
    nextStep: "Use one of the lanes that remain.",
    details: { gas, limit: MAX_TRANSACTION_GAS, lanes: others.map(([lane]) => lane) },
  });
}

/** @throws BaseError WEIGHTS_TOO_LARGE */
function weightsOf(name: string): { weights: Hex; modelId: string } {
  const { model, modelId } = loadModelFolder(modelFolder(name));
  const weights = concatBytes(...model.weights);
  if (weights.length <= MAX_WEIGHTS_BYTES) return { weights: toHex(weights), modelId };
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
}

async function infer(name: string, options: InferOptions, self: Command): Promise<void> {
  const chain = await openChain(chainConfig(self));
  const model = await findModel(chain, name);
  const input = encodeCall(model.function, readInputs(model.function, options));
  const weights = options.withWeights === true ? weightsOf(name).weights : undefined;
  const output = await inferOnChain(chain, model.modelId, input, weights);
  const values = decodeReturn(model.function, output);
  printResult(
    self,
    { modelId: model.modelId, values, output },
    Object.entries(values).map(([key, value]) => `${key} = ${String(value)}`),
  );
}

async function settle(id: string, options: { withWeights?: string }, self: Command): Promise<void> {
  if (!isModelId(id)) refuseArgument("request", id, "32 bytes as hex");
  const requestId = id as string as RequestId;
  const given = options.withWeights === undefined ? undefined : weightsOf(options.withWeights);
  const result = await withSender(chainConfig(self), async (chain, sender) => {
    const events = await historyOf(chain, requestId);
    const requested = events.find((event) => event.name === "Requested");
    if (requested?.name !== "Requested") throw unknownRequest(requestId);
    const { request, input } = requested.args;
    if (given !== undefined && given.modelId !== request.modelId) {
      refuseArgument("--with-weights", options.withWeights, `a folder of model ${request.modelId}`);
    }
    const output = await inferOnChain(chain, request.modelId, input, given?.weights);
    const { state } = await new StateReader(chain).requestWord(requestId);
    const claimed = events.findLast((event) => event.name === "Claimed");
    const claim = state === "BUSY" && claimed?.name === "Claimed" ? claimed.args.claim : undefined;
    const action = new Actions(chain.game).settle(
      request,
      claim,
      LANE.EXECUTION,
      input,
      output,
      given?.weights ?? "0x",
    );
    const inclusion = requireSent("settle", await sender.send(action));
    const values = decodeReturn(await functionOf(chain, request.modelId), output);
    return { requestId, output, values, hash: inclusion?.hash };
  });
  printResult(self, result, [
    result.hash === undefined ? "The request was settled before:" : "Final in the EXECUTION lane:",
    ...Object.entries(result.values).map(([name, value]) => `  ${name} = ${String(value)}`),
  ]);
}

async function functionOf(chain: Chain, modelId: ModelId) {
  const word = await new StateReader(chain).model(modelId);
  if (word !== undefined) return functionOfWord(word);
  throw new BaseError({
    code: "MODEL_UNKNOWN",
    shortMessage: `Model ${modelId} is not registered on chain ${chain.game.chainId}.`,
    nextStep: "Register it with `assay model register`.",
  });
}
