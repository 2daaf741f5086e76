/** A perceptron's circuit with development keys, and proofs of it, measured. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "../../base/bytes.ts";
import { decodeOutput } from "../../inference/codecs/output.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { vkHashOf } from "../../protocol/rules/proof/groth16.ts";
import { packTensor, publicSignals } from "../../protocol/rules/proof/public-signals.ts";
import {
  type CircuitSize,
  type CompiledCircuit,
  circuitSize,
  compileCircuit,
} from "../../prover/proof/groth16/compile.ts";
import { developmentSetup, type KeyPair } from "../../prover/proof/groth16/snark/setup.ts";
import { SELECTOR } from "../chain.ts";
import { inChild, type ModelBytes, since, type Work } from "./child.ts";
import { median } from "./median.ts";
import type { Case, Subject } from "./subject.ts";

const SEED = "assay bench";
/** Room for a circuit of 2^15. */
const LIMIT = 2 ** 15;

export interface MeasuredCircuit {
  readonly size: CircuitSize;
  readonly circuit: CompiledCircuit;
  readonly keys: KeyPair;
  readonly vkHash: Uint8Array;
  /** of compilation and development keys */
  readonly setupSeconds: number;
}

export async function measureCircuit({ model }: Subject): Promise<MeasuredCircuit> {
  const start = performance.now();
  const circuit = compileCircuit(model, LIMIT);
  const keys = await developmentSetup(circuit.r1cs, SEED);
  const setupSeconds = since(start);
  const vkHash = Uint8Array.from(Buffer.from(vkHashOf(keys.verificationKey).slice(2), "hex"));
  return { size: circuitSize(model), circuit, keys, vkHash, setupSeconds };
}

export interface MeasuredProofs {
  readonly evidence: readonly Hex[];
  /** from calldata to evidence, median of the results behind a process's first */
  readonly warmSeconds: number;
  /** peak of the process that made them */
  readonly memoryBytes: number;
}

/** Proves each case in one fresh process.
 *  @param cases two or more @param native path of assay-prove; absent: snarkjs proves */
export async function measureProofs(
  measured: MeasuredCircuit,
  subject: Subject,
  cases: readonly Case[],
  binding: bigint,
  native?: string,
): Promise<MeasuredProofs> {
  return withKeyFile(measured, async (provingKey) => {
    const work = workOf(subject, cases, provingKey, binding, native);
    const { evidence, seconds, memoryBytes } = await inChild(work);
    return { evidence, warmSeconds: median(seconds.slice(1)), memoryBytes };
  });
}

/** Seconds from the start of a process to the evidence of its only result: median of the cases. */
export async function measureColdProofs(
  measured: MeasuredCircuit,
  subject: Subject,
  cases: readonly Case[],
  binding: bigint,
  { native, bundle }: { readonly native?: string; readonly bundle?: string } = {},
): Promise<number> {
  return withKeyFile(measured, async (provingKey) => {
    const seconds: number[] = [];
    for (const one of cases)
      seconds.push((await inChild(workOf(subject, [one], provingKey, binding, native), bundle)).wallSeconds);
    return median(seconds);
  });
}

const workOf = (
  subject: Subject,
  cases: readonly Case[],
  provingKey: string,
  binding: bigint,
  native?: string,
): Work => ({
  ...modelBytes(subject),
  inputs: cases.map(({ calldata }) => calldata),
  kind: "prove",
  provingKey,
  binding,
  limit: LIMIT,
  ...(native === undefined ? {} : { native }),
});

/** What a prover has on its disk of a perceptron. */
export const modelBytes = ({ model }: Subject): ModelBytes => ({
  program: encodeProgram(model.program),
  weights: model.weights,
  selector: SELECTOR,
});

async function withKeyFile<T>({ keys }: MeasuredCircuit, work: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-key-"));
  try {
    const path = join(folder, "proving.key");
    writeFileSync(path, keys.provingKey);
    return await work(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Share of the cases in which the circuit's output signals are not those of the executor's output. */
export function circuitLoss(
  { circuit }: MeasuredCircuit,
  { model }: Subject,
  cases: readonly Case[],
): number {
  const { output } = circuit.signals;
  const different = cases.filter(({ calldata, expected }) => {
    const signals = publicSignals(model.program, SELECTOR, calldata, expected, 0n);
    const witness = circuit.witness(signals.slice(0, output.first), 0n);
    const wanted = packTensor(output, decodeOutput(model.program, expected).data);
    return wanted.some((value, i) => witness[1 + output.first + i] !== value);
  });
  return different.length / cases.length;
}
