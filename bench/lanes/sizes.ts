/** Circuits and executions of rising size. */
import type { Model } from "../../inference/program/form.ts";
import { groth16Binding } from "../../protocol/rules/proof/public-signals.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { type BenchChain, openBenchChain } from "../chain.ts";
import type { MlpDims } from "../tasks/mlp.ts";
import { measureCircuit, measureProofs } from "./circuit.ts";
import { compile, inferenceGas, proverBinding, publish, settle, storeKey } from "./moves.ts";
import { subjectOf } from "./subject.ts";

/** Domains of 2^10 to 2^14. */
export const CIRCUITS: readonly MlpDims[] = [
  [48, 12, 8, 2],
  [96, 24, 16, 2],
  [128, 32, 16, 2],
  [256, 64, 32, 2],
  [256, 128, 64, 2],
  [256, 300, 128, 2],
];
/** 10^3 to 10^6 multiply-accumulates. */
export const EXECUTIONS: readonly MlpDims[] = [
  [64, 14, 8, 2],
  [256, 36, 24, 2],
  [256, 256, 128, 2],
  [256, 1_024, 718, 2],
];

export const sizedModel = (dims: MlpDims): Model => subjectOf(dims, 2).model;

export interface CircuitPoint {
  readonly dims: MlpDims;
  readonly multiplications: number;
  readonly constraints: number;
  readonly domain: number;
  readonly coefficients: number;
  readonly publicSignals: number;
  readonly setupSeconds: number;
  readonly proveSeconds: number;
  readonly keyBytes: number;
  readonly memoryBytes: number;
  readonly requestGas: number;
  readonly settleGas: number;
  readonly storeKeyGas: number;
}

export interface ExecutionPoint {
  readonly dims: MlpDims;
  readonly multiplications: number;
  /** whole transactions */
  readonly interpreted: number;
  readonly compiled: number;
  readonly publishGas: number;
  readonly compileGas: number;
}

async function onChain<T>(work: (bench: BenchChain) => Promise<T>): Promise<T> {
  const bench = await openBenchChain();
  try {
    return await work(bench);
  } finally {
    await bench.close();
  }
}

export const measureCircuits = (all: readonly MlpDims[] = CIRCUITS): Promise<CircuitPoint[]> =>
  onChain(async (bench) => {
    const points: CircuitPoint[] = [];
    for (const dims of all) points.push(await measureCircuitPoint(bench, dims));
    return points;
  });

async function measureCircuitPoint(bench: BenchChain, dims: MlpDims): Promise<CircuitPoint> {
  const subject = subjectOf(dims, 2);
  const circuit = await measureCircuit(subject);
  const modelId = await bench.register(subject.model, LANE.PROOF, circuit.vkHash);
  const storeKeyGas = await storeKey(bench, modelId, circuit.keys.verificationKey);
  const cases = [subject.next(), subject.next(), subject.next(), subject.next()];
  const binding = groth16Binding(proverBinding(bench, modelId));
  const proofs = await measureProofs(circuit, subject, cases, binding);
  let gas = { request: 0n, settle: 0n };
  // Not the first: a prover's first settlement also pays for the storage slot of its credit.
  for (const [i, one] of cases.slice(0, 2).entries()) {
    gas = await settle(bench, modelId, { ...one, evidence: proofs.evidence[i] as `0x${string}` });
  }
  const { constraints, domain, coefficients, publicSignals } = circuit.size;
  return {
    dims,
    multiplications: subject.multiplications,
    constraints,
    domain,
    coefficients,
    publicSignals,
    setupSeconds: circuit.setupSeconds,
    proveSeconds: proofs.warmSeconds,
    keyBytes: circuit.keys.provingKey.length,
    memoryBytes: proofs.memoryBytes,
    requestGas: Number(gas.request),
    settleGas: Number(gas.settle),
    storeKeyGas: Number(storeKeyGas),
  };
}

export const measureExecutions = (all: readonly MlpDims[] = EXECUTIONS): Promise<ExecutionPoint[]> =>
  onChain(async (bench) => {
    const points: ExecutionPoint[] = [];
    for (const dims of all) points.push(await measureExecution(bench, dims));
    return points;
  });

async function measureExecution(bench: BenchChain, dims: MlpDims): Promise<ExecutionPoint> {
  const subject = subjectOf(dims, 2);
  const modelId = await bench.register(subject.model, LANE.EXECUTION);
  const one = subject.next();
  const published = await publish(bench, modelId, subject);
  const interpreted = await inferenceGas(bench, modelId, one, "plain");
  const built = await compile(bench, modelId, subject);
  const compiled = await inferenceGas(bench, modelId, one, "fast");
  return {
    dims,
    multiplications: subject.multiplications,
    interpreted: Number(interpreted.transaction),
    compiled: Number(compiled.transaction),
    publishGas: Number(published.gas),
    compileGas: Number(built.gas),
  };
}
