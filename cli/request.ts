/** `assay request` and `assay refund` */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type Hex, size, slice } from "viem";
import type { Values } from "../agent/sdk/model.ts";
import { askedValues } from "../agent/text-values.ts";
import { abortAfter } from "../base/abort.ts";
import { formatAmount } from "../base/amounts.ts";
import { BaseError, isBaseError } from "../base/errors.ts";
import { type Action, Actions } from "../protocol/chain/actions.ts";
import { awaitResult, type FinalResult } from "../protocol/chain/await-result.ts";
import { describeEvent, laneText } from "../protocol/chain/describe.ts";
import type { ChainEvent } from "../protocol/chain/events.ts";
import { historyOf } from "../protocol/chain/history.ts";
import { requireSent } from "../protocol/chain/sent.ts";
import { encodeCall } from "../protocol/rules/abi.ts";
import { requestIdOf } from "../protocol/rules/ids.ts";
import { isModelId, type RequestId } from "../protocol/rules/types.ts";
import { loadConfig } from "../protocol/service/config.ts";
import { type ChainConfig, chainConfig, withChain, withSender, withSettings } from "./chain.ts";
import { findModel, type RegisteredModel } from "./model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "./output.ts";
import { makeRequest, REQUEST_SETTINGS } from "./request-terms.ts";
import { outputLines, showOutput } from "./shown-output.ts";

interface RequestOptions {
  readonly inputs?: string;
  readonly text?: string;
  readonly wait?: boolean;
}

export function addRequestCommands(program: Command): void {
  const request = program
    .command("request")
    .description("ask for a model's output; --wait prints it once it is final")
    .argument("<model>", "name, folder or id of a registered model")
    .option(
      "--inputs <file>",
      "JSON object of the function's parameters by name, or of a language model's messages; - for standard input",
    )
    .option(
      "--text <text>",
      "the one text of a model that takes a text; what a user says to a language model",
    )
    .option("--wait", "wait until the output is final");
  withJson(withSettings(withChain(request), REQUEST_SETTINGS)).action(ask);
  const refund = program
    .command("refund")
    .description("take back the fees of a request that nobody answered")
    .argument("<request>", "id of the request");
  withJson(withChain(refund)).action(takeBack);
}

async function ask(name: string, options: RequestOptions, self: Command): Promise<void> {
  requireOneInput(options);
  const config = chainConfig(self);
  const { timeout, ...terms } = loadConfig(REQUEST_SETTINGS, { flags: self.optsWithGlobals(), env: {} });
  if (timeout !== undefined && options.wait !== true)
    refuseArgument("--timeout", timeout, "given with --wait, whose end it is");
  const limit = () => (timeout === undefined ? undefined : abortAfter(1_000 * timeout));
  // The data folder is free again while this waits: others ask meanwhile.
  const { chain, model, request, action, asked } = await withSender(config, async (chain, sender) => {
    const model = await findModel(chain, name);
    const input = encodeCall(model.function, readInputs(model, options));
    requireFits(model, input);
    const request = await makeRequest(chain, model, input, terms);
    const requestId = requestIdOf(chain.game, request);
    const action = new Actions(chain.game).request(request, input);
    const inclusion = requireSent("request", await sender.send(action, limit()));
    const asked = { requestId, modelId: model.modelId, hash: inclusion?.hash, request };
    return { chain, model, request, action, asked };
  });
  const line = `Request ${asked.requestId} for ${formatAmount(request.fee)}`;
  if (options.wait !== true) return printResult(self, asked, [line]);
  printProgress(line);
  const { pollIntervalMs } = config;
  const signal = limit();
  const onEvent = (event: ChainEvent) => printProgress(describeEvent(event));
  const onMissing = () => sendAgain(config, action, signal);
  const onDisconnected = ({ shortMessage }: BaseError) => printProgress(`${shortMessage} Trying again.`);
  const ending = signal === undefined ? {} : { signal };
  const hooks = { onEvent, onMissing, onDisconnected };
  const result = await awaitResult(chain, request, { pollIntervalMs, ...hooks, ...ending });
  const described = describeResult(model, result);
  printResult(self, { ...asked, result: described }, [
    `Final in the ${described.lane} lane:`,
    ...outputLines(described).map((shown) => `  ${shown}`),
  ]);
}

/** A re-org dropped the request: its journalled transaction is sent again, so it has the same id and is paid once. Where
 *  another process uses the data folder, that one does it.
 *  @throws BaseError REFUSED where the contract does not take it any more */
async function sendAgain(
  config: ChainConfig,
  action: Action,
  signal: AbortSignal | undefined,
): Promise<void> {
  printProgress("The chain has no such request any more: sending it again");
  try {
    await withSender(config, async (_chain, sender) => {
      // Finds out that it is not mined any more.
      await sender.tick();
      requireSent("request", await sender.send(action, signal));
    });
  } catch (error) {
    if (isBaseError(error, "DATA_FOLDER_BUSY") || (isBaseError(error) && error.retryable)) return;
    throw error;
  }
}

/** A result as the command prints it. */
const describeResult = (model: RegisteredModel, { output, lane, claimId }: FinalResult) => ({
  ...showOutput(model, output),
  output,
  lane: laneText(lane),
  claimId,
});

/** @throws BaseError INPUT_TOO_LONG for what the contracts call not canonical because of its length */
export function requireFits({ word }: Pick<RegisteredModel, "word">, input: Hex): void {
  // A text's length stands in its calldata, behind the selector and the offset.
  const isText = word.inputCodec === "text";
  const bytes = isText ? Number(slice(input, 36, 68)) : size(input);
  const limit = isText ? word.inputSize : word.maxCalldata;
  if (bytes <= limit) return;
  throw new BaseError({
    code: "INPUT_TOO_LONG",
    shortMessage: `${isText ? "The text" : "The input's calldata"} has ${bytes} bytes, the model takes at most ${limit}.`,
    nextStep: "Shorten it; nothing was sent.",
    details: { bytes, limit },
  });
}

/** @throws BaseError ARGUMENT_INVALID unless there is exactly one of the two */
export function requireOneInput({ inputs, text }: Pick<RequestOptions, "inputs" | "text">): void {
  if (inputs !== undefined && text !== undefined)
    refuseArgument("--text", text, "absent where --inputs is given");
  if (inputs === undefined && text === undefined)
    refuseArgument("--inputs FILE or --text TEXT", undefined, "one of the two");
}

/** The one input of a model's function; of a language model a conversation, too: `--text`, or `--inputs` with its messages; of
 *  a classifier by word pieces a text.
 *  @throws BaseError INPUTS_INVALID, ARGUMENT_INVALID; as `askedValues` */
export function readInputs(
  model: Pick<RegisteredModel, "function" | "text" | "pieces">,
  given: Pick<RequestOptions, "inputs" | "text">,
): Values {
  requireOneInput(given);
  const [only, ...more] = model.function.inputs;
  const takesText = only?.type === "string" && more.length === 0;
  if (given.text !== undefined && takesText) return { [only.name || "0"]: given.text };
  const isRead = model.text !== undefined || model.pieces !== undefined;
  if (given.text !== undefined && !isRead)
    refuseArgument("--text", given.text, "given only for a model that takes one text; use --inputs");
  const values = given.text === undefined ? readJsonInputs(String(given.inputs)) : { text: given.text };
  return askedValues(model, values) ?? values;
}

function readJsonInputs(path: string): Values {
  try {
    const value: unknown = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return value as Values;
    }
  } catch (cause) {
    throw new BaseError({
      code: "INPUTS_INVALID",
      shortMessage: `The inputs in ${path} cannot be read as JSON: ${(cause as Error).message}.`,
      nextStep: "Give a JSON object of the function's parameters by name.",
      cause,
    });
  }
  return refuseArgument("--inputs", path, "a JSON object of the function's parameters by name");
}

async function takeBack(id: string, _options: object, self: Command): Promise<void> {
  if (!isModelId(id)) refuseArgument("request", id, "32 bytes as hex");
  const requestId = id as string as RequestId;
  const result = await withSender(chainConfig(self), async (chain, sender) => {
    const requested = (await historyOf(chain, requestId)).find((event) => event.name === "Requested");
    if (requested?.name !== "Requested") throw unknownRequest(requestId);
    const { request } = requested.args;
    requireSent("refund", await sender.send(new Actions(chain.game).refund(request)));
    return { requestId, requester: request.requester, amountWei: request.fee + request.deliveryFee };
  });
  printResult(self, result, [
    `${formatAmount(result.amountWei)} are credited to ${result.requester}; take them with \`assay withdraw\``,
  ]);
}

export const unknownRequest = (requestId: RequestId) =>
  new BaseError({
    code: "REQUEST_UNKNOWN",
    shortMessage: `The chain has no request ${requestId}.`,
    nextStep: "Check the id, the RPC URL and the deployment.",
  });
