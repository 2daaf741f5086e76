/** `assay feed deploy` */
import type { Command } from "commander";
import { type Address, encodeDeployData, getAddress } from "viem";
import { BaseError } from "../../base/errors.ts";
import { creationFailed, sendCreation } from "../../protocol/chain/deploy/create.ts";
import { requireAccount, type SigningChain } from "../../protocol/chain/sender.ts";
import { LANE, LIMITS, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { address, integer, loadConfig, type Settings, text, wei } from "../../protocol/service/config.ts";
import { ensureCompiled } from "../../tools/compile.ts";
import { loadArtifact } from "../artifacts.ts";
import { type ChainConfig, chainConfig, openChain, withChain, withSettings } from "../chain.ts";
import { findModel, type RegisteredModel } from "../model-source.ts";
import { printProgress, printResult, refuseArgument, withJson } from "../output.ts";
import { readLanes } from "../request-terms.ts";

/** An answer has 176 bits; flags are numbers. */
const number = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const SETTINGS = {
  source: { schema: address, description: "price feed (AggregatorV3Interface) whose days the model reads" },
  series: { schema: address, description: "a series that stands already, in place of --source" },
  element: { schema: integer(0, 255), default: 0, description: "which number of the output is the answer" },
  decimals: { schema: integer(0, 18), default: 6, description: "of the answer" },
  lower: { schema: number, default: -1_000_000, description: "an answer below it becomes this" },
  upper: { schema: number, default: 1_000_000, description: "an answer above it becomes this" },
  maxAgeSeconds: {
    schema: integer(3_600, 90 * 86_400),
    default: 172_800,
    description: "data older than that are neither written nor read",
  },
  graceSeconds: {
    schema: integer(60, 86_399),
    default: 3_600,
    description: "from a day's end until it counts: time for everybody to complete its record",
  },
  maxGap: { schema: integer(0, 30), default: 0, description: "days without a price between two of an input" },
  lanes: { schema: text, default: "EXECUTION", description: "lanes that may make a round final, by commas" },
  minBond: { schema: wei, default: "0", description: "least bond of a claim" },
  minWindow: {
    schema: integer(0, LIMITS.maxWindow),
    default: 0,
    description: "least seconds in which a claim could be challenged",
  },
  description: {
    schema: text,
    description: "what the feed says it is; default: the model's name and element",
  },
} as const satisfies Settings;

export function addFeedDeployCommand(feed: Command): void {
  const command = feed
    .command("deploy")
    .description("create a feed of a model's output over a price feed's days; nobody owns it")
    .argument("<model>", "name, folder or id of a registered model that reads prices");
  withJson(withSettings(withChain(command), SETTINGS)).action(deploy);
}

async function deploy(name: string, _options: object, self: Command): Promise<void> {
  const settings = loadConfig(SETTINGS, { flags: self.optsWithGlobals(), env: {} });
  const { source, lower, upper, element } = settings;
  if ((source === undefined) === (settings.series === undefined))
    refuseArgument("--source", source, "given, or --series in its place");
  if (lower > upper) refuseArgument("--lower", lower, `at most --upper, ${upper}`);
  const config = chainConfig(self);
  const chain = requireAccount(await openChain(config));
  const model = await findModel(chain, name);
  const lanes = lanesOf(model, settings.lanes);
  const { inputCodec, inputSize, outputCodec, outputLength } = model.word;
  if (inputCodec !== "prices" || outputCodec !== "words") throw noForecast(name, inputCodec, outputCodec);
  if (32 * element >= outputLength)
    refuseArgument("--element", element, `below ${outputLength / 32}, the numbers of an output`);
  ensureCompiled("contracts");
  const { maxGap, graceSeconds, minBond, minWindow, decimals, maxAgeSeconds } = settings;
  const series =
    settings.series ??
    (await create(chain, config, "DailySeries", [source as Address, inputSize, maxGap, graceSeconds]));
  const executes = (lanes & LANE.EXECUTION) !== 0;
  const interpreter = executes ? chain.deployment.contracts.interpreter : ZERO_ADDRESS;
  const description = settings.description ?? `${name}, ${element}`;
  const created = await create(chain, config, "ForecastFeed", [
    { assay: chain.game.assay, interpreter, series },
    { modelId: model.modelId, lanes, minBond, minWindow },
    { element, decimals, lower, upper, maxAge: maxAgeSeconds, description },
  ]);
  printResult(self, { feed: created, series, modelId: model.modelId, lanes }, [
    `The feed is at ${created}, its series at ${series}`,
    `Keep it up to date with \`assay feed run ${created}\`: anybody may.`,
  ]);
}

function lanesOf({ word }: RegisteredModel, given: string): number {
  const lanes = readLanes(given).reduce((bits, lane) => bits | LANE[lane], 0);
  if ((lanes & ~word.lanes) !== 0) refuseArgument("--lanes", given, "lanes of this model");
  return lanes;
}

async function create(
  { client, account, game }: SigningChain,
  { pollIntervalMs, maxFee }: ChainConfig,
  name: "DailySeries" | "ForecastFeed",
  args: readonly unknown[],
): Promise<Address> {
  const { abi, bytecode } = loadArtifact(name);
  const data = encodeDeployData({ abi, bytecode, args });
  printProgress(`creating ${name}`);
  const options = { client, account, pollIntervalMs, maxFee };
  const receipt = await sendCreation(options, game.chainId, { name, data });
  if (receipt.status === "success" && receipt.contractAddress) return getAddress(receipt.contractAddress);
  const nextStep = "Check that --source is a price feed (AggregatorV3Interface), and the other flags.";
  throw creationFailed(name, game.chainId, receipt, nextStep);
}

const noForecast = (name: string, input: string, output: string) =>
  new BaseError({
    code: "MODEL_UNSUITABLE",
    shortMessage: `${name} takes ${input} and gives ${output}; a feed needs a model that takes prices and gives words.`,
    nextStep: "Use a daily forecast, such as forecast-eth.",
  });
