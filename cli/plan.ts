/** `assay plan`: what each lane would cost for a model, before anything is spent. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { type Hex, zeroAddress } from "viem";
import { BaseError } from "../inference/errors.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import { demandDepth } from "../inference/program/shape.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { withContext } from "../protocol/chain/errors.ts";
import { compileProgress } from "../protocol/execution/compiled.ts";
import { MAX_TRANSACTION_GAS } from "../protocol/execution/cost.ts";
import { iProofLaneAbi, iWeightStoreAbi } from "../protocol/generated/abis.ts";
import gas from "../protocol/generated/gas.json" with { type: "json" };
import { LOCAL_CHAINS } from "../protocol/proof/store-key.ts";
import type { GameConstants, ModelId } from "../protocol/terms.ts";
import { readCosts } from "../prover/plan/costs.ts";
import { type ModelFacts, offersOf } from "../prover/plan/estimates.ts";
import { type Plan, type PlanRow, plan } from "../prover/plan/plan.ts";
import { assertWithin, circuitSize, MAX_CONSTRAINTS } from "../prover/proof/groth16/compile.ts";
import { ceremonyKeyPath, developmentKeyPath } from "../prover/proof/groth16/keys.ts";
import { chainConfig, openChain, withChain } from "./chain.ts";
import { modelFolder } from "./model-source.ts";
import { printResult, refuseArgument, withJson } from "./output.ts";
import { KEY_FOLDER } from "./proof/setup.ts";

interface Options {
  readonly gasPrice?: string;
  readonly value: string;
  readonly window?: string;
  readonly keys: string;
  readonly offline?: boolean;
}

/** What is assumed where no chain is asked. */
const OFFLINE: GameConstants = {
  answerSeconds: 3_600,
  gasPriceFloor: 10n ** 9n,
  gasBase: BigInt(gas.gasBase),
  gasPerDemand: BigInt(gas.gasPerDemand),
};
const BLOCK_SECONDS = 12;
const CAPITAL_PERCENT = 5;
const NOT_THERE = { keyStored: false, published: false, compiled: false };

export function addPlanCommand(program: Command): void {
  const command = program
    .command("plan")
    .description("estimate what a result of a model costs in each lane, and pick one")
    .argument("<model>", "name or folder of a model")
    .option("--value <wei>", "what the consumer has at stake: a bond must outweigh it", "0")
    .option("--gas-price <wei>", "wei a unit of gas (default: the chain's, offline 1 gwei)")
    .option("--window <seconds>", "in which a claim can be challenged (default 4T)")
    .option("--keys <dir>", "folder of proving keys", KEY_FOLDER)
    .option("--offline", "ask no chain: nothing is published, T is an hour");
  withJson(withChain(command)).action(async (name: string, options: Options, self: Command) => {
    const loaded = loadModelFolder(modelFolder(name));
    const chain = options.offline === true ? undefined : await openChain(chainConfig(self));
    const constants = chain?.constants ?? OFFLINE;
    const gasPrice =
      options.gasPrice === undefined
        ? ((await chain?.client.getGasPrice()) ?? 10n ** 9n)
        : weiOf("--gas-price", options.gasPrice);
    const window = secondsOf(options.window) ?? 4 * constants.answerSeconds;
    const made = plan({
      modelLanes: loaded.laneBits,
      depth: demandDepth(loaded.model.program),
      offers: offersOf(await factsOf(loaded, chain, options.keys), readCosts()),
      accuracyLoss: {},
      constants,
      gasPrice,
      value: weiOf("--value", options.value),
      window,
      blockSeconds: BLOCK_SECONDS,
      transactionGas: BigInt(MAX_TRANSACTION_GAS),
      capitalPercent: CAPITAL_PERCENT,
    });
    printResult(self, { name, modelId: loaded.modelId, gasPrice, window, ...made }, lines(made));
  });
}

async function factsOf(loaded: LoadedModel, chain: Chain | undefined, keys: string): Promise<ModelFacts> {
  const { model, manifest } = loaded;
  const isLocal = chain === undefined || LOCAL_CHAINS.includes(chain.game.chainId);
  return {
    model,
    circuit: circuitOf(loaded),
    isForgeable: !isLocal && manifest.assay.keyOrigin === "development",
    onChain: chain === undefined ? NOT_THERE : await stateOf(chain, loaded),
    keyHere:
      existsSync(developmentKeyPath(model, keys)) || existsSync(ceremonyKeyPath(manifest.assay.vkHash, keys)),
  };
}

function circuitOf({ model }: LoadedModel): ModelFacts["circuit"] {
  try {
    const size = circuitSize(model);
    assertWithin(size, MAX_CONSTRAINTS);
    return size;
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    return { refused: error.shortMessage };
  }
}

async function stateOf(
  chain: Chain,
  { model, modelId, manifest }: LoadedModel,
): Promise<ModelFacts["onChain"]> {
  const { weightStore, proofAdapter } = chain.deployment.contracts;
  return withContext(`look what is published of ${modelId}`, async () => {
    const published =
      weightStore !== undefined &&
      (await chain.client.readContract({
        address: weightStore,
        abi: iWeightStoreAbi,
        functionName: "isPublished",
        args: [modelId as ModelId],
      }));
    const key = manifest.assay.vkHash as Hex;
    const keyStored =
      proofAdapter !== undefined &&
      (await chain.client.readContract({
        address: proofAdapter,
        abi: iProofLaneAbi,
        functionName: "keyOf",
        args: [key],
      })) !== zeroAddress;
    const { directory } = await compileProgress(chain, modelId as ModelId, model.program);
    return { published, keyStored, compiled: directory !== undefined };
  });
}

function lines({ rows, choice }: Plan): string[] {
  const table = rows.map((row) =>
    [row.means === choice ? "*" : " ", row.means.padEnd(19), ...describe(row)].join(" "),
  );
  const picked =
    choice === undefined
      ? "no lane of this model can be used"
      : `* ${choice}: the cheapest that holds this value`;
  return [...table, picked];
}

function describe(row: PlanRow): string[] {
  if (!row.available) return [`not available: ${row.reason.replaceAll("\n", " ")}`];
  const { estimate, locked, lockedSeconds, secondsToFinality, wei } = row;
  const parts = [
    `${estimate.gasPerResult.toLocaleString("en-US")} gas a result (${wei} wei),`,
    `${estimate.gasSetup.toLocaleString("en-US")} gas to set up,`,
    `final after ${secondsToFinality.toFixed(1)} s`,
  ];
  if (estimate.keyBytes > 0) {
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
    parts.push(
      `(proof ${estimate.seconds.toFixed(2)} s, keys ${estimate.setupSeconds.toFixed(1)} s once, key ${megabytes(estimate.keyBytes)}, memory ${megabytes(estimate.memoryBytes)})`,
    );
  }
  if (locked > 0n) parts.push(`with ${locked} wei locked for ${lockedSeconds} s`);
  if (estimate.caution !== undefined) parts.push(`NOT USED: ${estimate.caution}`);
  return parts;
}

function weiOf(flag: string, text: string): bigint {
  if (!/^\d{1,30}$/.test(text)) refuseArgument(flag, text, "a decimal number of wei");
  return BigInt(text);
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,8}$/.test(text) || Number(text) < 1)
    refuseArgument("--window", text, "a number of seconds above 0");
  return Number(text);
}
