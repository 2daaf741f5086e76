/** The way of every command to its chain: configuration, key, deployment, connection. */
import type { Command } from "commander";
import type { LocalAccount } from "viem";
import { type Logger, SILENT } from "../base/log.ts";
import { loadAccount } from "../protocol/chain/account.ts";
import { type Chain, connect } from "../protocol/chain/connect.ts";
import { deploymentPath, readDeployment } from "../protocol/chain/deployment-file.ts";
import { withContext } from "../protocol/chain/errors.ts";
import { defaultConfirmations } from "../protocol/chain/presets.ts";
import { type NodeSettings, nodeClient, quorumOf } from "../protocol/chain/quorum/connect.ts";
import { requireAccount, type Sender, type SigningChain } from "../protocol/chain/sender.ts";
import {
  CHAIN_SETTINGS,
  type Config,
  flagName,
  loadConfig,
  type Settings,
} from "../protocol/service/config.ts";
import { openDataFolder } from "../protocol/service/data-folder.ts";

export type ChainConfig = Config<typeof CHAIN_SETTINGS>;

/** Adds a flag for each setting. Commander keeps absent ones undefined: defaults belong to the configuration. */
export function withSettings(command: Command, settings: Settings): Command {
  for (const [name, { description, default: fallback }] of Object.entries(settings)) {
    const note = fallback === undefined ? "" : ` (default ${fallback})`;
    command.option(`${flagName(name)} <value>`, `${description}${note}`);
  }
  return command;
}

export const withChain = (command: Command): Command => withSettings(command, CHAIN_SETTINGS);

export function chainConfig(command: Command): ChainConfig {
  return loadConfig(CHAIN_SETTINGS, { flags: command.optsWithGlobals(), env: process.env });
}

/** Connects with the configured key, if there is one.
 *  @param log told of nodes that do not agree with the others
 *  @throws BaseError as loadConfig, loadAccount, readDeployment and connect do */
export const openChain = async (config: ChainConfig, log?: Logger): Promise<Chain> =>
  openChainAs(config, loadAccount(config, process.env), log);

/** Connects with this key, or without one.
 *  @throws BaseError as readDeployment and connect do */
export async function openChainAs(
  config: ChainConfig,
  account: LocalAccount | undefined,
  log?: Logger,
): Promise<Chain> {
  const { rpcUrl } = config;
  const path = deploymentPath(config.deployment, await chainIdAt(config));
  const deployment = readDeployment(path);
  return connect({
    rpcUrl,
    deployment,
    quorum: quorumOf(config, log),
    dataFee: config.dataFee,
    ...(account === undefined ? {} : { account }),
  });
}

/** Blocks above those whose events count: as configured, else those of the chain. */
export const confirmationsOn = ({ game }: Chain, { confirmations }: ChainConfig): number =>
  confirmations ?? defaultConfirmations(game.chainId);

export function chainIdAt(settings: NodeSettings): Promise<number> {
  return withContext("ask the node for its chain id", () => nodeClient(settings).getChainId());
}

/** Runs some work with a sender on the configured data folder, and closes it again. */
export async function withSender<T>(
  config: ChainConfig,
  work: (chain: SigningChain, sender: Sender) => Promise<T>,
): Promise<T> {
  const chain = requireAccount(await openChain(config));
  const { sender, close } = openDataFolder(config.data, chain, [], {
    pollIntervalMs: config.pollIntervalMs,
    maxFeePerGas: config.maxFee,
    log: SILENT,
  });
  try {
    return await work(chain, sender);
  } finally {
    await close();
  }
}
