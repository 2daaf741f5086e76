/** Deploys a whole system: registry, judges, trace reader, the EXECUTION lane, Assay, which makes its courier itself,
 *  and Promises, which makes its reader. What stands already is used, so that a deployment that was interrupted goes on, and whoever created a part
 *  before created the same. */
import type { Hex } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { JUDGE_VERSION } from "../../inference/program/form.ts";
import type { GameConstants } from "../rules/types.ts";
import { type BlockRef, dataFeeOn } from "./connect.ts";
import type { DataFeeKind } from "./data-fee.ts";
import { stands } from "./deploy/code.ts";
import { type CreateOptions, creationFailed, pollIntervalOf, sendCreation } from "./deploy/create.ts";
import { firstBlock } from "./deploy/first-block.ts";
import type { Artifacts } from "./deploy/parts.ts";
import { costOf, type Method, missingSteps, readPrices, type Step, stepsOf } from "./deploy/plan.ts";
import { ensureProxy } from "./deploy/proxy.ts";
import type { Deployment } from "./deployment.ts";
import { withContext } from "./errors.ts";
import { chainName } from "./presets.ts";

export interface DeployOptions extends CreateOptions {
  readonly artifacts: Artifacts;
  readonly constants: GameConstants;
  /** by the account's own transactions, to addresses that no other chain has; default: by the deployment proxy */
  readonly plainCreate?: boolean;
  /** of the proxy; another one makes another system with the same constants */
  readonly salt?: Hex;
  /** blocks above the last deployment before it counts; default 1: its own */
  readonly confirmations?: number;
  readonly dataFee?: DataFeeKind | "auto";
  /** where events start, if the registry stands already: found by the node's old states where it is absent */
  readonly firstBlock?: bigint;
  /** @param hash of the transaction; absent: the contract stood already */
  readonly onDeployed?: (step: Step, hash?: Hex) => void;
}

/** @throws BaseError DEPLOY_FAILED, DEPLOY_CODE_DIFFERS, PROXY_MISSING, PROXY_DIFFERS, HISTORY_MISSING,
 *  TRANSACTIONS_PENDING, FEE_ABOVE_LIMIT, RPC_UNREACHABLE, RPC_FAULT, INSUFFICIENT_FUNDS */
export async function deploySystem(options: DeployOptions): Promise<Deployment> {
  const { client, constants, artifacts } = options;
  const chainId = await withContext("ask the node for its chain id", () => client.getChainId());
  const { steps, contracts } = await stepsOf(artifacts, constants, await methodOf(options, chainId));
  const missing = await missingSteps(client, chainId, steps);
  await requireMoney(options, chainId, missing);
  const blocks = new Map<string, BlockRef>();
  let last: Hex | undefined;
  for (const step of steps) {
    const made = missing.includes(step) ? await create(options, chainId, step) : undefined;
    if (made !== undefined) {
      blocks.set(step.key, made.block);
      last = made.hash;
    }
    options.onDeployed?.(step, made?.hash);
  }
  if (last !== undefined) await confirm(options, last);
  // A re-org may have taken a part away again.
  const [lost] = await missingSteps(client, chainId, steps);
  if (lost !== undefined) throw notThere(chainId, lost);
  const block = await firstBlock(
    client,
    contracts.registry,
    options.firstBlock ?? blocks.get("registry")?.number,
  );
  return { chainId, judgeVersion: JUDGE_VERSION, contracts, constants, block };
}

async function methodOf(options: DeployOptions, chainId: number): Promise<Method> {
  const { client, account, plainCreate = false, salt } = options;
  await settlePending(options);
  if (!plainCreate) {
    await ensureProxy(client, chainId, account, pollIntervalOf(options));
    return salt === undefined ? { kind: "proxy" } : { kind: "proxy", salt };
  }
  const nonce = await withContext("read the account's nonce", () =>
    client.getTransactionCount({ address: account.address }),
  );
  return { kind: "account", from: account.address, nonce };
}

/** Polls for an account whose transactions wait, before it is given up. */
const PENDING_POLLS = 60;

/** A deployment that was killed may have left a transaction that is not mined: sent once more, the later of the two
 *  would fail and burn its gas. */
async function settlePending(options: DeployOptions): Promise<void> {
  const { client, account } = options;
  const { address } = account;
  const count = (blockTag: "latest" | "pending") => client.getTransactionCount({ address, blockTag });
  let waiting = 0;
  for (let poll = 0; poll < PENDING_POLLS; poll++) {
    const [mined, pending] = await withContext("read the account's nonces", () =>
      Promise.all([count("latest"), count("pending")]),
    );
    waiting = pending - mined;
    if (waiting <= 0) return;
    await new Promise((resolve) => setTimeout(resolve, pollIntervalOf(options)));
  }
  throw new BaseError({
    code: "TRANSACTIONS_PENDING",
    shortMessage: `The account ${address} has ${waiting} transaction(s) that wait to be mined; nothing was sent.`,
    nextStep: "Wait until they are mined or replace them, then deploy again; or use another key.",
    details: { account: address, waiting },
    retryable: true,
  });
}

/** Before the first contract costs anything.
 *  @throws BaseError INSUFFICIENT_FUNDS, naming account and amounts */
async function requireMoney(
  { client, account, dataFee }: DeployOptions,
  chainId: number,
  missing: readonly Step[],
): Promise<void> {
  const { address } = account;
  const prices = await readPrices(client, dataFeeOn(client, chainId, dataFee));
  const balance = await withContext("read the balance", () => client.getBalance({ address }));
  const gas = missing.reduce((sum, step) => sum + step.transactionGas, 0n);
  const data = missing.reduce((sum, step) => sum + (costOf(step, prices).dataWei ?? 0n), 0n);
  const needed = gas * prices.maxFeePerGas + data;
  if (balance >= needed) return;
  const forData = data === 0n ? "" : ` and ${formatAmount(data)} for data`;
  throw new BaseError({
    code: "INSUFFICIENT_FUNDS",
    shortMessage: `The account ${address} has ${formatAmount(balance)}; deploying takes up to ${formatAmount(needed)}, for ${gas} gas at ${formatAmount(prices.maxFeePerGas)}${forData}.`,
    nextStep: `Send ${formatAmount(needed - balance)} or more to ${address}, or use another key.`,
    details: { account: address, balanceWei: `${balance}`, neededWei: `${needed}` },
    retryable: true,
  });
}

/** Sends the transaction of a step and waits until it is mined.
 *  @returns undefined where somebody else was faster: the code is the same */
async function create(
  options: DeployOptions,
  chainId: number,
  step: Step,
): Promise<{ readonly hash: Hex; readonly block: BlockRef } | undefined> {
  const isThere = () => stands(options.client, chainId, step);
  const receipt = await sendCreation(options, chainId, step).catch(async (error: unknown) => {
    if (await isThere()) return undefined;
    throw error;
  });
  if (receipt === undefined) return undefined;
  if (await isThere()) {
    if (receipt.status !== "success") return undefined;
    const { transactionHash: hash, blockNumber, blockHash } = receipt;
    return { hash, block: { number: blockNumber, hash: blockHash } };
  }
  const nextStep = "Read the transaction in an explorer; deploying again goes on where this stopped.";
  throw creationFailed(step.name, chainId, receipt, nextStep);
}

async function confirm(options: DeployOptions, hash: Hex): Promise<void> {
  const { client, confirmations = 1 } = options;
  await withContext("wait for the confirmations of the last contract", () =>
    client.waitForTransactionReceipt({ hash, confirmations, pollingInterval: pollIntervalOf(options) }),
  );
}

const notThere = (chainId: number, { name, address }: Step) =>
  new BaseError({
    code: "DEPLOY_FAILED",
    shortMessage: `${name} is not at ${address} on ${chainName(chainId)} any more: its block was replaced.`,
    nextStep: "Deploy again: what stands is used.",
    details: { name, address },
    retryable: true,
  });
