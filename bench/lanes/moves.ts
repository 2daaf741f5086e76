/** Whole transactions of each lane for one result, and what must be on the chain before. */
import { encodeFunctionData, type Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { compileModel } from "../../protocol/chain/execution/compiled.ts";
import { inferFastOnChain, inferOnChain } from "../../protocol/chain/execution/infer.ts";
import { planPublication, publishWeights } from "../../protocol/chain/execution/publication.ts";
import { iFastInterpreterAbi, iInterpreterAbi, iProofLaneAbi } from "../../protocol/rules/generated/abis.ts";
import type { ProofBinding } from "../../protocol/rules/proof/public-signals.ts";
import type { Settlement } from "../../protocol/rules/settlements.ts";
import { LANE, type ModelId, type Request } from "../../protocol/rules/types.ts";
import { fileBondedClaim, fileRequest, PROVER, REQUESTER } from "../bonded-claim.ts";
import { type BenchChain, eventOf } from "../chain.ts";
import { median } from "./median.ts";
import type { Case, Subject } from "./subject.ts";

/** Gas of a transaction before its first instruction, and of a byte of its calldata. Source: EIP-2028, EIP-2718. */
const INTRINSIC = { base: 21_000, zeroByte: 4, byte: 16 };
/** What a transaction does not pay for the contract that it calls, but a contract does. Source: EIP-2929. */
const COLD_ACCOUNT = 2_600;

export interface ExecutionGas {
  /** whole transaction that calls the model */
  readonly transaction: bigint;
  /** what the call costs inside another transaction, everything cold */
  readonly inner: number;
}

/** The plain interpreter, or plans and compiled layers. */
export type InferenceForm = "plain" | "fast";

/** @throws Error when the transaction fails */
export async function inferenceGas(
  bench: BenchChain,
  modelId: ModelId,
  one: Pick<Case, "input">,
  form: InferenceForm,
): Promise<ExecutionGas> {
  const args = [modelId, one.input] as const;
  const [name, data] =
    form === "plain"
      ? (["interpreter", encodeFunctionData({ abi: iInterpreterAbi, functionName: "infer", args })] as const)
      : ([
          "fastInterpreter",
          encodeFunctionData({ abi: iFastInterpreterAbi, functionName: "inferFast", args }),
        ] as const);
  const to = contractOf(bench, name);
  const { receipt } = await bench.send(REQUESTER, { key: "infer", to, data, value: 0n, doneBy: [] });
  const zeros = fromHex(data).filter((byte) => byte === 0).length;
  const bytes = (data.length - 2) / 2;
  const intrinsic = INTRINSIC.base + INTRINSIC.zeroByte * zeros + INTRINSIC.byte * (bytes - zeros);
  return { transaction: receipt.gasUsed, inner: Number(receipt.gasUsed) - intrinsic + COLD_ACCOUNT };
}

/** Share of the inputs for which the chain returns something else than the executor, and seconds of a call. */
export async function inferenceLoss(
  bench: BenchChain,
  modelId: ModelId,
  cases: readonly Case[],
  form: InferenceForm,
): Promise<{ loss: number; seconds: number }> {
  const infer = form === "plain" ? inferOnChain : inferFastOnChain;
  const seconds: number[] = [];
  let different = 0;
  for (const { input, output } of cases) {
    const start = performance.now();
    const found = await infer(bench.chain, modelId, input);
    seconds.push((performance.now() - start) / 1_000);
    if (found !== output) different++;
  }
  return { loss: different / cases.length, seconds: median(seconds) };
}

/** @returns gas of all transactions, and seconds until the last one is mined */
export async function publish(
  bench: BenchChain,
  modelId: ModelId,
  { model }: Subject,
): Promise<{ gas: bigint; seconds: number }> {
  return bench.withSender(async (sender) => {
    const start = performance.now();
    const { gasUsed } = await publishWeights(bench.chain, sender, modelId, planPublication(model));
    return { gas: gasUsed, seconds: (performance.now() - start) / 1_000 };
  });
}

/** As `publish`, of the compiled code. */
export async function compile(
  bench: BenchChain,
  modelId: ModelId,
  { model }: Subject,
): Promise<{ gas: bigint; seconds: number }> {
  return bench.withSender(async (sender) => {
    const start = performance.now();
    const { gasUsed } = await compileModel(bench.chain, sender, modelId, model);
    return { gas: gasUsed, seconds: (performance.now() - start) / 1_000 };
  });
}

/** @returns gas of the transaction that stores a model's verification key */
export async function storeKey(bench: BenchChain, modelId: ModelId, key: Uint8Array): Promise<bigint> {
  const to = contractOf(bench, "proofAdapter");
  const args = [modelId, toHex(key)] as const;
  const data = encodeFunctionData({ abi: iProofLaneAbi, functionName: "storeKey", args });
  return (await bench.send(PROVER, { key: "storeKey", to, data, value: 0n, doneBy: [] })).receipt.gasUsed;
}

/** What the prover's proofs are bound to. */
export const proverBinding = (bench: BenchChain, modelId: ModelId): ProofBinding => ({
  chainId: bench.chain.game.chainId,
  proofLane: contractOf(bench, "proofAdapter"),
  modelId,
  submitter: PROVER.address,
});

export interface Proved extends Pick<Case, "input" | "output"> {
  readonly evidence: Hex;
}

export interface SettlementGas {
  /** of one request */
  readonly request: bigint;
  readonly settle: bigint;
}

/** A request that one proof settles. @throws Error when the chain refuses the proof */
export async function settle(bench: BenchChain, modelId: ModelId, one: Proved): Promise<SettlementGas> {
  const { request, gas } = await ask(bench, modelId, one);
  const action = bench.actions.settle(request, undefined, LANE.PROOF, one.input, one.output, one.evidence);
  return { request: gas, settle: (await bench.send(PROVER, action)).receipt.gasUsed };
}

/** Requests that one transaction settles.
 *  @returns gas of the last request, and of the transaction */
export async function settleBatch(
  bench: BenchChain,
  modelId: ModelId,
  proved: readonly Proved[],
): Promise<SettlementGas> {
  const settlements: Settlement[] = [];
  let last = 0n;
  for (const { input, output, evidence } of proved) {
    const { request, gas } = await ask(bench, modelId, { input });
    settlements.push({ request, input, output, evidence });
    last = gas;
  }
  const action = bench.actions.settleBatch(modelId, PROVER.address, settlements);
  const { receipt } = await bench.send(PROVER, action);
  return { request: last, settle: receipt.gasUsed };
}

async function ask(
  bench: BenchChain,
  modelId: ModelId,
  { input }: Pick<Case, "input">,
): Promise<{ request: Request; gas: bigint }> {
  const { request, requested } = await fileRequest(bench, { modelId, input, lanes: LANE.PROOF });
  return { request, gas: requested.receipt.gasUsed };
}

export interface BondGas {
  readonly request: bigint;
  readonly claim: bigint;
  readonly finalize: bigint;
  /** on the chain's clock, from the request's block to that of `finalize` */
  readonly seconds: number;
}

/** A request, its claim and the end of the claim's window. */
export async function bond(bench: BenchChain, modelId: ModelId, one: Case): Promise<BondGas> {
  const filed = await fileBondedClaim(bench, { modelId, input: one.input, output: one.output });
  const { windowEnd } = eventOf(filed.claimed, "Claimed");
  await bench.control.setNextBlockTimestamp({ timestamp: BigInt(windowEnd) });
  const end = await bench.send(PROVER, bench.actions.finalize(filed.request, filed.claim));
  const timeOf = async (blockNumber: bigint): Promise<number> =>
    Number((await bench.client.getBlock({ blockNumber })).timestamp);
  const [first, last] = [filed.requested.receipt.blockNumber, end.receipt.blockNumber];
  return {
    request: filed.requested.receipt.gasUsed,
    claim: filed.claimed.receipt.gasUsed,
    finalize: end.receipt.gasUsed,
    seconds: (await timeOf(last)) - (await timeOf(first)),
  };
}

function contractOf(bench: BenchChain, name: "interpreter" | "fastInterpreter" | "proofAdapter"): Hex {
  const address = bench.chain.deployment.contracts[name];
  if (address === undefined) throw new Error(`The measured deployment has no ${name}.`);
  return address;
}
