/** `assay deploy` */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { loadAccount } from "../../protocol/chain/account.ts";
import { type DeployOptions, deploySystem } from "../../protocol/chain/deploy.ts";
import { contractsOf } from "../../protocol/chain/deployment.ts";
import { deploymentPath, writeDeployment } from "../../protocol/chain/deployment-file.ts";
import {
  addressLink,
  chainName,
  defaultConfirmations,
  GAS_PRICE_FLOOR,
  presetNamed,
  presetOf,
} from "../../protocol/chain/presets.ts";
import { nodeClient } from "../../protocol/chain/quorum/connect.ts";
import type { GameConstants } from "../../protocol/rules/types.ts";
import {
  address,
  type Config,
  integer,
  loadConfig,
  type Settings,
  text,
  wei,
} from "../../protocol/service/config.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { loadArtifacts } from "../artifacts.ts";
import { type ChainConfig, chainConfig, chainIdAt, withChain, withSettings } from "../chain.ts";
import { linked } from "../chain-links.ts";
import { EXIT, printProgress, printResult, withJson } from "../output.ts";
import { dryRun, dryRunLines } from "./dry-run.ts";
import { sourcesFolder, writeSources } from "./sources.ts";

const DEPLOY_SETTINGS = {
  chain: { schema: text, description: "chain that the node must be on: base, op, sepolia, … or an id" },
  answerSeconds: { schema: integer(1, 626_400), description: "T, seconds to answer; default by chain" },
  gasPriceFloor: {
    schema: wei,
    default: formatAmount(GAS_PRICE_FLOOR),
    description: "least gas price that bonds are computed from",
  },
  gasFile: {
    schema: text,
    default: join(projectRoot, "protocol/rules/generated/gas.json"),
    description: "measured gas of a defence, from `npm run measure-gas`",
  },
  from: { schema: address, description: "with --dry-run: whose balance is looked at, without a key" },
  firstBlock: {
    schema: integer(0, Number.MAX_SAFE_INTEGER),
    description: "where the registry stands already: block at or before its creation; else the node tells",
  },
} as const satisfies Settings;

interface Flags {
  readonly force?: boolean;
  readonly dryRun?: boolean;
  readonly plainCreate?: boolean;
}

export function addDeployCommand(program: Command): void {
  const command = program
    .command("deploy")
    .description("deploy registry, judges and Assay, and write the deployment file")
    .option("--dry-run", "print each step with its gas, cost and address, and send nothing; needs no key")
    .option("--plain-create", "without the deployment proxy: to addresses that only this chain has")
    .option("--force", "replace an existing deployment file");
  withJson(withSettings(withChain(command), DEPLOY_SETTINGS)).action(async (flags: Flags, self: Command) => {
    const config = chainConfig(self);
    const settings = loadConfig(DEPLOY_SETTINGS, { flags: self.optsWithGlobals(), env: process.env });
    if (flags.dryRun === true) await runDry(self, config, settings, flags);
    else await deploy(self, config, settings, flags);
  });
}

type DeploySettings = Config<typeof DEPLOY_SETTINGS>;

async function runDry(self: Command, config: ChainConfig, settings: DeploySettings, flags: Flags) {
  const preset = settings.chain === undefined ? undefined : presetNamed(settings.chain);
  let silence: BaseError | undefined;
  const actual = await chainIdAt(config).catch((error: BaseError) => {
    // Addresses and gas need no node, but which chain is meant.
    if (preset === undefined) throw error;
    silence = error;
    return preset.id;
  });
  const chainId = requireChain(actual, settings.chain);
  const result = await dryRun({
    chainId,
    ...(silence === undefined ? { client: nodeClient(config) } : { silence: silence.shortMessage }),
    account: settings.from ?? loadAccount(config, process.env)?.address,
    artifacts: loadArtifacts(),
    constants: constantsOf(settings, chainId),
    plainCreate: flags.plainCreate === true,
    dataFee: config.dataFee,
  });
  printResult(self, result, dryRunLines(result));
  if (result.obstacles.length > 0) process.exitCode = EXIT.finding;
}

async function deploy(self: Command, config: ChainConfig, settings: DeploySettings, flags: Flags) {
  const chainId = requireChain(await chainIdAt(config), settings.chain);
  const path = deploymentPath(config.deployment, chainId);
  if (existsSync(path) && flags.force !== true) throw exists(path);
  const account = loadAccount(config, process.env);
  if (account === undefined) throw keyMissing();
  const artifacts = loadArtifacts();
  const { pollIntervalMs, maxFee, dataFee } = config;
  const options: DeployOptions = {
    client: nodeClient(config),
    ...{ account, artifacts, pollIntervalMs, maxFee, dataFee },
    constants: constantsOf(settings, chainId),
    plainCreate: flags.plainCreate === true,
    confirmations: Math.max(1, config.confirmations ?? defaultConfirmations(chainId)),
    ...(settings.firstBlock !== undefined && { firstBlock: BigInt(settings.firstBlock) }),
    onDeployed: ({ name, address: at }, hash) =>
      printProgress(`${name} ${hash === undefined ? "stands already" : "is"} at ${at}`),
  };
  const deployment = await deploySystem(options);
  writeDeployment(path, deployment);
  const sources = sourcesFolder(path);
  writeSources(sources, deployment, artifacts);
  const { answerSeconds, gasPriceFloor } = deployment.constants;
  printResult(self, { path, sources, deployment }, [
    `Deployed to ${chainName(chainId)}, events from block ${deployment.block.number}, written to ${path}`,
    ...contractsOf(deployment).map(
      ([name, at]) => `  ${name.padEnd(16)} ${linked(at, addressLink(chainId, at))}`,
    ),
    `  T = ${answerSeconds} s, gas price floor ${formatAmount(gasPriceFloor)}`,
    `  what explorers need to verify the sources is in ${sources}`,
  ]);
}

function constantsOf(settings: DeploySettings, chainId: number): GameConstants {
  return {
    answerSeconds: settings.answerSeconds ?? defaultAnswerSeconds(chainId),
    gasPriceFloor: settings.gasPriceFloor,
    ...readGas(settings.gasFile),
  };
}

const gasSchema = z.object({ gasBase: z.int().positive(), gasPerDemand: z.int().positive() });

function readGas(path: string): { gasBase: bigint; gasPerDemand: bigint } {
  try {
    const { gasBase, gasPerDemand } = gasSchema.parse(JSON.parse(readFileSync(path, "utf8")));
    return { gasBase: BigInt(gasBase), gasPerDemand: BigInt(gasPerDemand) };
  } catch (cause) {
    throw new BaseError({
      code: "CONFIG_UNREADABLE",
      shortMessage: `${path} does not hold gasBase and gasPerDemand as positive integers.`,
      nextStep: "Write it with `npm run measure-gas`, or name another file with --gas-file.",
      cause,
    });
  }
}

/** @throws BaseError CHAIN_MISMATCH where the node is on another chain than the one that was named */
function requireChain(chainId: number, named: string | undefined): number {
  if (named === undefined) return chainId;
  const { id } = presetNamed(named);
  if (id === chainId) return chainId;
  throw new BaseError({
    code: "CHAIN_MISMATCH",
    shortMessage: `The node is on ${chainName(chainId)}, --chain names ${chainName(id)}; nothing was sent.`,
    nextStep: "Change --rpc-url (ASSAY_RPC_URL) or --chain.",
    details: { chainId, required: id },
  });
}

function defaultAnswerSeconds(chainId: number): number {
  const known = presetOf(chainId)?.answerSeconds;
  if (known !== undefined) return known;
  throw new BaseError({
    code: "CONFIG_INVALID",
    shortMessage: `There is no default answer time for chain ${chainId}.`,
    nextStep:
      "Set --answer-seconds to at least the time in which the chain can be forced to include a transaction.",
  });
}

const exists = (path: string) =>
  new BaseError({
    code: "DEPLOYMENT_EXISTS",
    shortMessage: `${path} exists: replacing it would hide the system that it names.`,
    nextStep: "Use --force to replace it, or --deployment to write another file.",
  });

const keyMissing = () =>
  new BaseError({
    code: "KEY_MISSING",
    shortMessage: "Deploying needs a key with ether, and none is configured.",
    nextStep: "Set ASSAY_KEY, or --keystore with --keystore-password-file.",
  });
