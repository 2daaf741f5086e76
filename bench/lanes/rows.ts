/** The task by every lane, in one run on one chain. */

import { toHex } from "../../base/bytes.ts";
import { OnnxruntimeEngine } from "../../inference/runtime/engine.ts";
import { RuntimePool } from "../../inference/runtime/pool.ts";
import { PROOF_BYTES } from "../../protocol/rules/proof/groth16.ts";
import { groth16Binding } from "../../protocol/rules/proof/public-signals.ts";
import { LANE } from "../../protocol/rules/types.ts";
import type { CalibrationTarget } from "../../prover/proof/ezkl/worker.ts";
import { type BenchChain, openBenchChain } from "../chain.ts";
import { MLP_DIMS } from "../tasks/mlp.ts";
import { inChild } from "./child.ts";
import {
  circuitLoss,
  type MeasuredCircuit,
  measureCircuit,
  measureColdProofs,
  measureProofs,
  modelBytes,
} from "./circuit.ts";
import { median } from "./median.ts";
import {
  bond,
  compile,
  inferenceGas,
  inferenceLoss,
  type Proved,
  proverBinding,
  publish,
  settle,
  settleBatch,
  storeKey,
} from "./moves.ts";
import { type Case, type Subject, subjectOf } from "./subject.ts";

/** null: not measured, `unavailable` says why. Seconds, bytes, gas of whole transactions, and the share of random
 *  inputs for which the lane's output is not the int8 executor's; for ezkl, whose network is a float one of the same
 *  shape, for which its class, the larger output, is not the float network's. */
export interface LaneRow {
  readonly task: "mlp";
  readonly lane: "execution" | "execution-compiled" | "groth16" | "groth16-batch8" | "ezkl" | "bond";
  /** what ezkl was calibrated for */
  readonly calibration?: CalibrationTarget;
  readonly setupSeconds: number | null;
  /** from calldata to evidence in a process that has made one before; of an execution, the node's run; of a bond, the
   *  prover's; medians */
  readonly secondsPerResult: number | null;
  /** peak of the process that makes the evidence; 0 where nobody makes any */
  readonly memoryBytes: number | null;
  /** proving key */
  readonly keyBytes: number | null;
  readonly proofBytes: number | null;
  readonly gasSetup: number | null;
  /** request included, where there is one */
  readonly gasPerResult: number | null;
  /** from the request's block, with blocks of a second; an execution is final at once */
  readonly secondsToFinality: number | null;
  readonly accuracyLoss: number | null;
  readonly unavailable?: string;
}

/** Measured beside the rows. */
export interface LaneExtras {
  /** `infer` inside another transaction, everything cold */
  readonly innerGas: { readonly execution: number; readonly compiled: number };
  readonly proofRequestGas: number;
  readonly settleGas: number;
  /** from the start of a process to the evidence of its only result */
  readonly coldProofSeconds: number;
  readonly batchGasEach: number;
  readonly batches: readonly { readonly proofs: number; readonly gas: number }[];
  readonly bondGas: { readonly request: number; readonly claim: number; readonly finalize: number };
}

export const BLOCK_SECONDS = 1;
const LANES = LANE.EXECUTION | LANE.PROOF | LANE.BOND;
/** Inputs for accuracyLoss. */
export const COMPARED = 32;
/** Results of which a time is the median. */
export const ROUNDS = 5;
const BATCH = 8;
const SMALL_BATCH = 2;

export async function measureLanes(): Promise<{ rows: LaneRow[]; extras: LaneExtras }> {
  const subject = subjectOf(MLP_DIMS);
  const cases = Array.from({ length: COMPARED }, () => subject.next());
  const circuit = await measureCircuit(subject);
  const bench = await openBenchChain();
  try {
    const modelId = await bench.register(subject.model, LANES, circuit.vkHash);
    const execution = await executionRows(bench, modelId, subject, cases);
    const proof = await proofRows(bench, modelId, { subject, circuit, cases });
    const bonded = await bondRow(bench, modelId, subject, cases);
    return {
      rows: [...execution.rows, ...proof.rows, bonded.row],
      extras: { innerGas: execution.inner, ...proof.extras, bondGas: bonded.gas },
    };
  } finally {
    await bench.close();
  }
}

type Id = Awaited<ReturnType<BenchChain["register"]>>;

async function executionRows(bench: BenchChain, modelId: Id, subject: Subject, cases: readonly Case[]) {
  const measure = async (
    lane: "execution" | "execution-compiled",
    setup: { gas: bigint; seconds: number },
  ) => {
    const form = lane === "execution" ? "plain" : "fast";
    const gas = await inferenceGas(bench, modelId, cases[0] as Case, form);
    const { loss, seconds } = await inferenceLoss(bench, modelId, cases, form);
    const row: LaneRow = {
      task: "mlp",
      lane,
      setupSeconds: setup.seconds,
      secondsPerResult: seconds,
      memoryBytes: 0,
      keyBytes: 0,
      proofBytes: 0,
      gasSetup: Number(setup.gas),
      gasPerResult: Number(gas.transaction),
      secondsToFinality: 0,
      accuracyLoss: loss,
    };
    return { row, inner: gas.inner };
  };
  const published = await publish(bench, modelId, subject);
  const interpreted = await measure("execution", published);
  const built = await compile(bench, modelId, subject);
  const both = { gas: published.gas + built.gas, seconds: published.seconds + built.seconds };
  const compiled = await measure("execution-compiled", both);
  return {
    rows: [interpreted.row, compiled.row],
    inner: { execution: interpreted.inner, compiled: compiled.inner },
  };
}

interface ProofSubject {
  readonly subject: Subject;
  readonly circuit: MeasuredCircuit;
  readonly cases: readonly Case[];
}

async function proofRows(bench: BenchChain, modelId: Id, { subject, circuit, cases }: ProofSubject) {
  const keyGas = await storeKey(bench, modelId, circuit.keys.verificationKey);
  const chosen = cases.slice(0, 2 + SMALL_BATCH + BATCH);
  const binding = groth16Binding(proverBinding(bench, modelId));
  const { evidence, warmSeconds, memoryBytes } = await measureProofs(circuit, subject, chosen, binding);
  const coldProofSeconds = await measureColdProofs(circuit, subject, chosen.slice(0, ROUNDS), binding);
  const proved: Proved[] = chosen.map((one, i) => ({ ...one, evidence: evidence[i] as Proved["evidence"] }));
  // A prover's first settlement also pays for the storage slot of its credit.
  await settle(bench, modelId, proved[0] as Proved);
  const single = await settle(bench, modelId, proved[1] as Proved);
  const small = await settleBatch(bench, modelId, proved.slice(2, 2 + SMALL_BATCH));
  const batch = await settleBatch(bench, modelId, proved.slice(2 + SMALL_BATCH));
  const row: LaneRow = {
    task: "mlp",
    lane: "groth16",
    setupSeconds: circuit.setupSeconds,
    secondsPerResult: warmSeconds,
    memoryBytes,
    keyBytes: circuit.keys.provingKey.length,
    proofBytes: PROOF_BYTES,
    gasSetup: Number(keyGas),
    gasPerResult: Number(single.request + single.settle),
    secondsToFinality: warmSeconds + BLOCK_SECONDS,
    accuracyLoss: circuitLoss(circuit, subject, cases),
  };
  const batchGasEach = Math.ceil(Number(batch.settle) / BATCH);
  const batched: LaneRow = {
    ...row,
    lane: "groth16-batch8",
    gasPerResult: Number(batch.request) + batchGasEach,
    secondsToFinality: BATCH * warmSeconds + BLOCK_SECONDS,
  };
  const batches = [
    { proofs: SMALL_BATCH, gas: Number(small.settle) },
    { proofs: BATCH, gas: Number(batch.settle) },
  ];
  const [proofRequestGas, settleGas] = [Number(single.request), Number(single.settle)];
  return {
    rows: [row, batched],
    extras: { proofRequestGas, settleGas, coldProofSeconds, batchGasEach, batches },
  };
}

async function bondRow(bench: BenchChain, modelId: Id, subject: Subject, cases: readonly Case[]) {
  const inputs = cases.map(({ calldata }) => calldata);
  const { seconds, memoryBytes } = await inChild({ ...modelBytes(subject), inputs, kind: "execute" });
  // What no settlement has asked for yet: a request's salt is its input's.
  const gas = await bond(bench, modelId, cases[cases.length - 1] as Case);
  const secondsPerResult = median(seconds.slice(1));
  const row: LaneRow = {
    task: "mlp",
    lane: "bond",
    setupSeconds: 0,
    secondsPerResult,
    memoryBytes,
    keyBytes: 0,
    proofBytes: 0,
    gasSetup: 0,
    gasPerResult: Number(gas.request + gas.claim + gas.finalize),
    secondsToFinality: secondsPerResult + gas.seconds,
    accuracyLoss: await runtimeLoss(cases),
  };
  const { request, claim, finalize } = gas;
  return {
    row,
    gas: { request: Number(request), claim: Number(claim), finalize: Number(finalize) },
  };
}

/** Share of the cases in which the runtime that provers claim by gives another output. */
async function runtimeLoss(cases: readonly Case[]): Promise<number> {
  const pool = new RuntimePool();
  try {
    const { prepared } = subjectOf(MLP_DIMS);
    const onFallBack = (_: string, reason: string): never => {
      throw new Error(`onnxruntime does not run the task: ${reason}`);
    };
    const engine = await OnnxruntimeEngine.open(pool, new Map([["mlp", prepared]]), { onFallBack });
    let different = 0;
    for (const { calldata, output } of cases) {
      const result = await engine.run("mlp", calldata);
      if ("failure" in result) throw new Error(result.failure);
      if (toHex(result.output) !== output) different++;
    }
    return different / cases.length;
  } finally {
    pool.close();
  }
}
