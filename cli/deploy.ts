/** `assay deploy` */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { z } from "zod";
import { formatAmount } from "../base/amounts.ts";
import { BaseError } from "../base/errors.ts";
import { loadAccount } from "../protocol/chain/account.ts";
import { defaultConfirmations } from "../protocol/chain/confirmations.ts";
import { createClient } from "../protocol/chain/connect.ts";
import { deploySystem } from "../protocol/chain/deploy.ts";
import { contractsOf } from "../protocol/chain/deployment.ts";
import { deploymentPath, writeDeployment } from "../protocol/chain/deployment-file.ts";
import { integer, loadConfig, type Settings, text, wei } from "../protocol/service/config.ts";
import { projectRoot } from "../tools/foundry.ts";
import { loadArtifacts } from "./artifacts.ts";
import { chainConfig, chainIdAt, withChain, withSettings } from "./chain.ts";
import { printProgress, printResult, withJson } from "./output.ts";

/** T where --answer-seconds is absent: at least what the chain needs to force a transaction in.
 *  OP Stack: sequencing window of 3,600 L1 blocks; Arbitrum: delayed inbox, 24 hours; Ethereum: an hour. On a local
 *  chain all processes share one machine, so answers may take seconds; 4T is the local window that models suggest. */
const ANSWER_SECONDS: Readonly<Record<number, number>> = {
  1: 3_600,
  10: 43_200,
  8453: 43_200,
  42161: 86_400,
  11155111: 3_600,
  31337: 15,
  1337: 15,
};

const DEPLOY_SETTINGS = {
  answerSeconds: { schema: integer(1, 648_000), description: "T, seconds to answer; default by chain" },
  gasPriceFloor: {
    schema: wei,
    default: "1 gwei",
    description: "least gas price that bonds are computed from",
  },
  gasFile: {
    schema: text,
    default: join(projectRoot, "protocol/rules/generated/gas.json"),
    description: "measured gas of a defence, from `npm run measure-gas`",
  },
} as const satisfies Settings;

const gasSchema = z.object({ gasBase: z.int().positive(), gasPerDemand: z.int().positive() });

export function addDeployCommand(program: Command): void {
  const command = program
    .command("deploy")
    .description("deploy registry, judges and Assay, and write the deployment file")
    .option("--force", "replace an existing deployment file");
  withJson(withSettings(withChain(command), DEPLOY_SETTINGS)).action(
    async (options: { force?: boolean }, self: Command) => {
      const config = chainConfig(self);
      const settings = loadConfig(DEPLOY_SETTINGS, { flags: self.optsWithGlobals(), env: process.env });
      const chainId = await chainIdAt(config.rpcUrl);
      const path = deploymentPath(config.deployment, chainId);
      if (existsSync(path) && options.force !== true) throw exists(path);
      const account = loadAccount(config, process.env);
      if (account === undefined) throw keyMissing();
      const deployment = await deploySystem({
        client: createClient(config.rpcUrl),
        account,
        artifacts: loadArtifacts(),
        constants: {
          answerSeconds: settings.answerSeconds ?? defaultAnswerSeconds(chainId),
          gasPriceFloor: settings.gasPriceFloor,
          ...readGas(settings.gasFile),
        },
        confirmations: Math.max(1, config.confirmations ?? defaultConfirmations(chainId)),
        pollIntervalMs: config.pollIntervalMs,
        onDeployed: (name, address) => printProgress(`${name} is at ${address}`),
      });
      writeDeployment(path, deployment);
      const { answerSeconds, gasPriceFloor } = deployment.constants;
      printResult(self, { path, deployment }, [
        `Deployed to chain ${chainId} in block ${deployment.block.number}, written to ${path}`,
        ...contractsOf(deployment).map(([name, address]) => `  ${name.padEnd(12)} ${address}`),
        `  T = ${answerSeconds} s, gas price floor ${formatAmount(gasPriceFloor)}`,
      ]);
    },
  );
}

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

function defaultAnswerSeconds(chainId: number): number {
  const known = ANSWER_SECONDS[chainId];
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
