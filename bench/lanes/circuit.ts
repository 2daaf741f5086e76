/** A perceptron's circuit with development keys, and proofs of it, measured. */
import { type Hex, toHex } from "../../inference/bytes.ts";
import { decodeOutput } from "../../inference/codecs/output.ts";
import { encodeProof, vkHashOf } from "../../protocol/proof/groth16.ts";
import { packTensor, publicSignals } from "../../protocol/proof/public-signals.ts";
import {
  type CircuitSize,
  type CompiledCircuit,
  circuitSize,
  compileCircuit,
} from "../../prover/proof/groth16/compile.ts";
import { writeWitness } from "../../prover/proof/groth16/snark/files.ts";
import { developmentSetup, type KeyPair } from "../../prover/proof/groth16/snark/setup.ts";
import { stateInference } from "../../prover/proof/groth16/statement.ts";
import { SELECTOR } from "../chain.ts";
import { inChild, since } from "./child.ts";
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
  /** witness, proof and its bytes, least of those behind the process's first */
  readonly secondsPerProof: number;
  readonly memoryBytes: number;
}

/** Proves each case in a fresh process. @param cases two or more */
export async function measureProofs(
  { circuit, keys }: MeasuredCircuit,
  { model }: Subject,
  cases: readonly Case[],
  binding: bigint,
): Promise<MeasuredProofs> {
  const witnessSeconds: number[] = [];
  const witnesses = cases.map(({ calldata, expected }) => {
    const start = performance.now();
    const { witness } = stateInference(circuit, model.program, SELECTOR, calldata, expected, binding);
    const bytes = writeWitness(witness);
    witnessSeconds.push(since(start));
    return bytes;
  });
  const { proofs, seconds, memoryBytes } = await inChild({
    kind: "prove",
    provingKey: keys.provingKey,
    witnesses,
  });
  const evidence = proofs.map((proof) => toHex(encodeProof(proof)));
  const secondsPerProof = Math.min(...witnessSeconds) + Math.min(...seconds.slice(1));
  return { evidence, secondsPerProof, memoryBytes };
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
