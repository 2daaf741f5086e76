/** Deploys a whole system: registry, judges, trace reader, the EXECUTION lane and Assay, which makes its courier
 *  itself. */
import {
  type Abi,
  type Address,
  createWalletClient,
  custom,
  encodeDeployData,
  getAddress,
  type Hex,
  type LocalAccount,
  type PublicClient,
  size,
  type TransactionReceipt,
} from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { BaseError } from "../../base/errors.ts";
import { JUDGE_VERSION } from "../../inference/commit/commitments.ts";
import type { GameConstants } from "../rules/types.ts";
import type { Deployment } from "./deployment.ts";
import { withContext } from "./errors.ts";

/** Compiled contract. */
export interface Artifact {
  readonly abi: Abi;
  /** creation code without constructor arguments */
  readonly bytecode: Hex;
}

export const DEPLOYED_CONTRACTS = [
  "ModelRegistry",
  "FloatJudge",
  "CodecJudge",
  "Judge",
  "TraceReader",
  "WeightStore",
  "LayerBuilder",
  "ElementCheck",
  "Interpreter",
  "Planner",
  "FastInterpreter",
  "ExecutionLane",
  "ProofLane",
  "Assay",
] as const;
export type DeployedContract = (typeof DEPLOYED_CONTRACTS)[number];

export interface DeployOptions {
  readonly client: PublicClient;
  readonly account: LocalAccount;
  readonly artifacts: Readonly<Record<DeployedContract, Artifact>>;
  readonly constants: GameConstants;
  /** blocks above the last deployment before it counts; default 1: its own */
  readonly confirmations?: number;
  /** receipts are polled this often; default 1,000 */
  readonly pollIntervalMs?: number;
  readonly onDeployed?: (name: string, address: Address) => void;
}

/** Creates the parts of a system, Assay last, in an order in which each finds those that it needs.
 *  @param create makes a contract and gives its address
 *  @returns addresses by their names in a deployment, without the courier's, which Assay makes */
export async function createParts(
  create: (name: DeployedContract, args: readonly unknown[]) => Promise<Address>,
  { answerSeconds, gasPriceFloor, gasBase, gasPerDemand }: GameConstants,
) {
  const registry = await create("ModelRegistry", []);
  const floatJudge = await create("FloatJudge", []);
  const codecJudge = await create("CodecJudge", []);
  const judge = await create("Judge", [registry, floatJudge, codecJudge]);
  const traceReader = await create("TraceReader", [registry]);
  const weightStore = await create("WeightStore", [registry]);
  const layerBuilder = await create("LayerBuilder", [registry]);
  const elementCheck = await create("ElementCheck", [registry, weightStore, floatJudge, codecJudge]);
  const interpreter = await create("Interpreter", [
    ...[registry, weightStore, layerBuilder, floatJudge, codecJudge, elementCheck],
  ]);
  const planner = await create("Planner", [weightStore, layerBuilder]);
  const fastInterpreter = await create("FastInterpreter", [interpreter, planner]);
  const executionAdapter = await create("ExecutionLane", [interpreter]);
  const proofAdapter = await create("ProofLane", [registry]);
  const assay = await create("Assay", [
    ...[registry, judge, traceReader, executionAdapter, proofAdapter],
    ...[answerSeconds, gasPriceFloor, gasBase, gasPerDemand],
  ]);
  return {
    assay,
    registry,
    judge,
    floatJudge,
    codecJudge,
    traceReader,
    weightStore,
    layerBuilder,
    elementCheck,
    interpreter,
    planner,
    fastInterpreter,
    executionAdapter,
    proofAdapter,
  };
}

/** @throws BaseError DEPLOY_FAILED, RPC_UNREACHABLE, RPC_FAULT, INSUFFICIENT_FUNDS */
export async function deploySystem(options: DeployOptions): Promise<Deployment> {
  const { client, constants } = options;
  const chainId = await withContext("ask the node for its chain id", () => client.getChainId());
  await requireMoney(options);
  let last: TransactionReceipt | undefined;
  const contracts = await createParts(async (name, args) => {
    last = await createContract(options, chainId, name, args);
    const address = getAddress(last.contractAddress as Address);
    options.onDeployed?.(name, address);
    return address;
  }, constants);
  const { abi } = options.artifacts.Assay;
  const courier = await withContext("read the courier's address", () =>
    client.readContract({ address: contracts.assay, abi, functionName: "courier" }),
  );
  // Assay's own.
  const { blockNumber: number, blockHash: hash } = last as TransactionReceipt;
  return {
    chainId,
    judgeVersion: JUDGE_VERSION,
    contracts: { ...contracts, courier: courier as Address },
    constants,
    block: { number, hash },
  };
}

/** Gas of a transaction that creates a contract, of each byte of its code while it comes and once it stands (EIP-2028,
 *  EIP-3860, EIP-3541), and what constructors take. */
const GAS = { creation: 53_000n, byte: 16n + 200n + 1n, constructor: 60_000n } as const;

/** Before the first contract costs anything.
 *  @throws BaseError INSUFFICIENT_FUNDS, naming account and amounts */
async function requireMoney({ client, account, artifacts }: DeployOptions): Promise<void> {
  const gas = DEPLOYED_CONTRACTS.reduce(
    (sum, name) => sum + GAS.creation + GAS.constructor + GAS.byte * BigInt(size(artifacts[name].bytecode)),
    0n,
  );
  const { address } = account;
  const [balance, fees] = await withContext("read balance and fees", () =>
    Promise.all([client.getBalance({ address }), client.estimateFeesPerGas()]),
  );
  const needed = gas * fees.maxFeePerGas;
  if (balance >= needed) return;
  throw new BaseError({
    code: "INSUFFICIENT_FUNDS",
    shortMessage: `The account ${address} has ${formatAmount(balance)}; deploying takes up to ${formatAmount(needed)}, for about ${gas} gas at ${formatAmount(fees.maxFeePerGas)}.`,
    nextStep: `Send ${formatAmount(needed - balance)} or more to ${address}, or use another key.`,
    details: { account: address, balanceWei: `${balance}`, neededWei: `${needed}` },
    retryable: true,
  });
}

async function createContract(
  { client, account, artifacts, confirmations = 1, pollIntervalMs = 1_000 }: DeployOptions,
  chainId: number,
  name: DeployedContract,
  args: readonly unknown[],
): Promise<TransactionReceipt> {
  const { abi, bytecode } = artifacts[name];
  const wallet = createWalletClient({ account, transport: custom(client) });
  return withContext(`deploy ${name}`, async () => {
    const hash = await wallet.sendTransaction({
      chain: null,
      data: encodeDeployData({ abi, bytecode, args }),
    });
    const receipt = await client.waitForTransactionReceipt({
      hash,
      confirmations,
      pollingInterval: pollIntervalMs,
    });
    if (receipt.status === "success" && receipt.contractAddress) return receipt;
    throw new BaseError({
      code: "DEPLOY_FAILED",
      shortMessage: `The deployment of ${name} on chain ${chainId} reverted in transaction ${hash}.`,
      nextStep: "Check the constants: 1 <= T <= 648,000 seconds, and prices and gas at least 1.",
      details: { name, hash },
    });
  });
}
