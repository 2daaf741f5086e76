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
  type TransactionReceipt,
} from "viem";
import { JUDGE_VERSION } from "../../inference/commit/commitments.ts";
import { BaseError } from "../../inference/errors.ts";
import type { GameConstants } from "../terms.ts";
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
  "Interpreter",
  "Planner",
  "PlanInterpreter",
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

/** @throws BaseError DEPLOY_FAILED, RPC_UNREACHABLE, RPC_FAULT, INSUFFICIENT_FUNDS */
export async function deploySystem(options: DeployOptions): Promise<Deployment> {
  const { client, constants } = options;
  const chainId = await withContext("ask the node for its chain id", () => client.getChainId());
  const create = async (name: DeployedContract, args: readonly unknown[] = []) => {
    const receipt = await createContract(options, chainId, name, args);
    const address = getAddress(receipt.contractAddress as Address);
    options.onDeployed?.(name, address);
    return { address, receipt };
  };
  const { address: registry } = await create("ModelRegistry");
  const { address: floatJudge } = await create("FloatJudge");
  const { address: codecJudge } = await create("CodecJudge");
  const { address: judge } = await create("Judge", [registry, floatJudge, codecJudge]);
  const { address: traceReader } = await create("TraceReader", [registry]);
  const { address: weightStore } = await create("WeightStore", [registry]);
  const { address: layerBuilder } = await create("LayerBuilder", [registry]);
  const { address: recordInterpreter } = await create("Interpreter", [
    registry,
    weightStore,
    layerBuilder,
    floatJudge,
  ]);
  const { address: planner } = await create("Planner", [weightStore, layerBuilder]);
  const { address: interpreter } = await create("PlanInterpreter", [recordInterpreter, planner]);
  const { address: executionAdapter } = await create("ExecutionLane", [interpreter]);
  const { address: proofAdapter } = await create("ProofLane", [registry]);
  const { answerSeconds, gasPriceFloor, gasBase, gasPerDemand } = constants;
  const { address: assay, receipt } = await create("Assay", [
    registry,
    judge,
    traceReader,
    executionAdapter,
    proofAdapter,
    answerSeconds,
    gasPriceFloor,
    gasBase,
    gasPerDemand,
  ]);
  const courier = await withContext("read the courier's address", () =>
    client.readContract({ address: assay, abi: options.artifacts.Assay.abi, functionName: "courier" }),
  );
  return {
    chainId,
    judgeVersion: JUDGE_VERSION,
    contracts: {
      assay,
      registry,
      judge,
      floatJudge,
      codecJudge,
      traceReader,
      courier: courier as Address,
      weightStore,
      layerBuilder,
      planner,
      interpreter,
      recordInterpreter,
      executionAdapter,
      proofAdapter,
    },
    constants,
    block: { number: receipt.blockNumber, hash: receipt.blockHash },
  };
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
