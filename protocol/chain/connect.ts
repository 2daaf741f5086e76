/** The connection to one deployment on one chain, checked once at the start. */
import {
  createPublicClient,
  type Hex,
  http,
  type LocalAccount,
  type PublicClient,
  type Transport,
} from "viem";
import { BaseError } from "../../base/errors.ts";
import { JUDGE_VERSION } from "../../inference/program/form.ts";
import { iAssayAbi } from "../rules/generated/abis.ts";
import type { GameAddress } from "../rules/ids.ts";
import type { GameConstants } from "../rules/types.ts";
import { type DataFeeKind, DataFeeReader } from "./data-fee.ts";
import { contractsOf, type Deployment } from "./deployment.ts";
import { withContext } from "./errors.ts";
import { presetOf } from "./presets.ts";
import type { Quorum } from "./quorum/transport.ts";
import { BlockRanges } from "./ranges.ts";

/** A block that may be re-organized away: its hash says which one is meant. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: Hex;
}

export interface Chain {
  readonly client: PublicClient;
  readonly deployment: Deployment;
  /** chain id and Assay's address: what ids are computed with */
  readonly game: GameAddress;
  readonly constants: GameConstants;
  /** how the node takes questions about many blocks */
  readonly ranges: BlockRanges;
  /** what it asks for data */
  readonly dataFee: DataFeeReader;
  /** the nodes, where there are several; absent: one is believed */
  readonly quorum?: Quorum;
  /** absent: the chain can only be read */
  readonly account?: LocalAccount;
}

export interface ConnectOptions {
  readonly rpcUrl: string;
  /** several nodes that are asked instead of the one at the URL */
  readonly quorum?: Quorum | undefined;
  readonly deployment: Deployment;
  readonly account?: LocalAccount;
  /** of one RPC call; default 10,000 */
  readonly timeoutMs?: number;
  /** absent: the chain's by its preset, else told by the contracts that chains have for it */
  readonly dataFee?: DataFeeKind | "auto";
}

/** Of an answer, bytes: more than the logs of any one block, which whoever pays for it may fill. A block of 60,000,000
 *  gas holds 7.5 MB of log data, twice that in JSON; many blocks' logs are asked for in smaller ranges. */
const MAX_ANSWER_BYTES = 128 * 2 ** 20;

/** A client without the checks of `connect`. Calls of one moment travel in one HTTP request. */
export const createClient = (rpcUrl: string, timeoutMs = 10_000, retryCount = 2): PublicClient =>
  clientOver(http(rpcUrl, { ...httpOptions(timeoutMs), retryCount }));

export const httpOptions = (timeout: number) => ({
  batch: { wait: 0, batchSize: 100 },
  timeout,
  maxResponseBodySize: MAX_ANSWER_BYTES,
});

export const clientOver = (transport: Transport): PublicClient =>
  // Every poll of ours asks the node: a cached block number would hide new blocks.
  createPublicClient({ transport, cacheTime: 0 });

/** Connects and checks that chain id, code, block of deployment and constants are those of the deployment.
 *  @throws BaseError RPC_UNREACHABLE and RPC_FAULT (retryable), JUDGE_VERSION_MISMATCH, CHAIN_MISMATCH,
 *  CHAIN_REPLACED, CONTRACT_MISSING, CONSTANTS_MISMATCH */
export async function connect(options: ConnectOptions): Promise<Chain> {
  const { rpcUrl, deployment, account, timeoutMs, quorum } = options;
  const client = quorum === undefined ? createClient(rpcUrl, timeoutMs) : clientOver(quorum.transport);
  const chain = await chainOver(client, deployment, options.dataFee);
  return {
    ...chain,
    ...(quorum === undefined ? {} : { quorum }),
    ...(account === undefined ? {} : { account }),
  };
}

/** The same over any client, such as one that asks a wallet. @throws as connect does */
export async function chainOver(
  client: PublicClient,
  deployment: Deployment,
  dataFee?: DataFeeKind | "auto",
): Promise<Chain> {
  if (deployment.judgeVersion > JUDGE_VERSION) {
    throw new BaseError({
      code: "JUDGE_VERSION_MISMATCH",
      shortMessage: `The deployment has judge version ${deployment.judgeVersion}, this program knows versions up to ${JUDGE_VERSION}.`,
      nextStep: "Use a newer version of this program.",
    });
  }
  await checkChainId(client, deployment);
  await Promise.all([checkCode(client, deployment), checkBlock(client, deployment)]);
  await checkConstants(client, deployment);
  const game = { chainId: deployment.chainId, assay: deployment.contracts.assay };
  const { constants } = deployment;
  const fee = dataFeeOn(client, game.chainId, dataFee);
  return { client, deployment, game, constants, ranges: new BlockRanges(), dataFee: fee };
}

/** Reads what a chain asks for data. @param setting "auto": by the chain's preset, else by its contracts */
export const dataFeeOn = (
  client: PublicClient,
  chainId: number,
  setting: DataFeeKind | "auto" = "auto",
): DataFeeReader => new DataFeeReader(client, setting === "auto" ? presetOf(chainId)?.dataFee : setting);

async function checkChainId(client: PublicClient, { chainId }: Deployment): Promise<void> {
  const actual = await withContext("ask the node for its chain id", () => client.getChainId());
  if (actual === chainId) return;
  throw new BaseError({
    code: "CHAIN_MISMATCH",
    shortMessage: `The node is on chain ${actual}, the deployment on chain ${chainId}.`,
    nextStep: "Change --rpc-url (ASSAY_RPC_URL) or --deployment (ASSAY_DEPLOYMENT).",
    details: { chainId: actual, required: chainId },
  });
}

async function checkCode(client: PublicClient, deployment: Deployment): Promise<void> {
  const codes = await withContext("read the contracts' code", () =>
    Promise.all(contractsOf(deployment).map(([, address]) => client.getCode({ address }))),
  );
  for (const [index, [name, address]] of contractsOf(deployment).entries()) {
    if (codes[index] !== undefined && codes[index] !== "0x") continue;
    throw new BaseError({
      code: "CONTRACT_MISSING",
      shortMessage: `There is no contract at ${address}, where the deployment has ${name}.`,
      nextStep: "Deploy to this chain with `assay deploy`, or name the right deployment file.",
      details: { name, address },
    });
  }
}

async function checkBlock(client: PublicClient, { block }: Deployment): Promise<void> {
  const actual = await withContext("read the block of the deployment", async () => {
    const head = await client.getBlockNumber();
    return head < block.number ? undefined : (await client.getBlock({ blockNumber: block.number })).hash;
  });
  if (actual === block.hash) return;
  throw new BaseError({
    code: "CHAIN_REPLACED",
    shortMessage: `Block ${block.number} is ${actual ?? "not there yet"}, the deployment was in ${block.hash}: another chain with the same id, such as a local one that was started anew.`,
    nextStep: "Deploy again with `assay deploy --force`.",
    details: { blockNumber: block.number },
  });
}

async function checkConstants(client: PublicClient, { contracts, constants }: Deployment): Promise<void> {
  const read = <Name extends keyof GameConstants>(functionName: Name) =>
    client.readContract({ address: contracts.assay, abi: iAssayAbi, functionName });
  const actual = await withContext("read Assay's constants", () =>
    Promise.all([read("answerSeconds"), read("gasPriceFloor"), read("gasBase"), read("gasPerDemand")]),
  );
  const names = ["answerSeconds", "gasPriceFloor", "gasBase", "gasPerDemand"] as const;
  for (const [index, name] of names.entries()) {
    if (actual[index] === constants[name]) continue;
    throw new BaseError({
      code: "CONSTANTS_MISMATCH",
      shortMessage: `Assay at ${contracts.assay} has ${name} ${actual[index]}, the deployment file says ${constants[name]}.`,
      nextStep: "Take the deployment file from whoever deployed, or deploy again.",
    });
  }
}
