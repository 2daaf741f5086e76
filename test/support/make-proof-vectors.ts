/** Writes test/vectors/proofs.json, which the tests of ProofLane and Assay settle with: `tsx test/support/make-proof-vectors.ts`.
 *  Real proofs by snarkjs of the MLP that all lanes are measured on, with the key of a seed. A proof holds random
 *  numbers: each run writes others, equally right. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildBn128 } from "ffjavascript";
import { type Hex, toHex } from "../../base/bytes.ts";
import { MLP_SIGNATURE, mlpInput, mlpModel } from "../../bench/tasks/mlp.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { modelIdOf } from "../../protocol/rules/ids.ts";
import {
  decodeKey,
  encodeProof,
  type G1Point,
  type Groth16Proof,
  type VerificationKey,
  vkHashOf,
} from "../../protocol/rules/proof/groth16.ts";
import { groth16Binding, publicSignals } from "../../protocol/rules/proof/public-signals.ts";
import { compileCircuit } from "../../prover/proof/groth16/compile.ts";
import { FIELD_ORDER } from "../../prover/proof/groth16/r1cs.ts";
import { writeWitness } from "../../prover/proof/groth16/snark/files.ts";
import { inverse } from "../../prover/proof/groth16/snark/lagrange.ts";
import { developmentSecrets, developmentSetup } from "../../prover/proof/groth16/snark/setup.ts";
import { endThreads, prove } from "../../prover/proof/groth16/snark/snarkjs.ts";
import { stateInference } from "../../prover/proof/groth16/statement.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { createRng } from "./rng.ts";

export const VECTOR_SEED = "assay test vectors";
const COUNT = 8;
const LANES = 7;
/** Where the tests put the contract, and who presents the proofs. */
const CHAIN = { chainId: 31_337, proofLane: "0x00000000000000000000000000000000000a55a7" } as const;
const SUBMITTER = "0x0000000000000000000000000000000000005eed";
const OTHER = "0x000000000000000000000000000000000000beef";

export async function makeProofVectors() {
  const { model } = mlpModel();
  const { program } = model;
  const circuit = compileCircuit(model);
  const keys = await developmentSetup(circuit.r1cs, VECTOR_SEED);
  const vkHash = vkHashOf(keys.verificationKey);
  const selector = keccak256(new TextEncoder().encode(MLP_SIGNATURE)).subarray(0, 4);
  const commitment = commitModel(model);
  const vkHashBytes = Uint8Array.from(Buffer.from(vkHash.slice(2), "hex"));
  const modelId = modelIdOf({ ...commitment, selector, lanes: LANES, vkHash: vkHashBytes });
  const prepared = prepare(model, selector);
  const rng = createRng(8);
  const cases = Array.from({ length: COUNT }, () => {
    const input = encodeInput(program, selector, { codec: "raw", bytes: mlpInput(rng) });
    return { input, output: execute(prepared, input) };
  });
  const bindingFor = (submitter: Hex): bigint => groth16Binding({ ...CHAIN, modelId, submitter });
  const proofOf = async ({ input, output }: (typeof cases)[number], submitter: Hex): Promise<Hex> => {
    const { witness } = stateInference(circuit, program, selector, input, output, bindingFor(submitter));
    return toHex(encodeProof(await prove(keys.provingKey, writeWitness(witness))));
  };
  const proofs: Hex[] = [];
  for (const one of cases) proofs.push(await proofOf(one, SUBMITTER));
  const [first] = cases as [(typeof cases)[number]];
  const forgedOutput = first.output.slice();
  // The first byte behind offset and length.
  forgedOutput[64] = (forgedOutput[64] as number) ^ 1;
  const forgedSignals = publicSignals(program, selector, first.input, forgedOutput, bindingFor(SUBMITTER));
  return {
    source: "test/support/make-proof-vectors.ts: the MLP of bench/tasks/mlp.ts, proved by snarkjs",
    ...CHAIN,
    submitter: SUBMITTER,
    other: OTHER,
    key: toHex(keys.verificationKey),
    vkHash,
    program: toHex(encodeProgram(program)),
    weightsRoot: toHex(commitment.weightsRoot),
    selector: toHex(selector),
    lanes: LANES,
    modelId,
    inputs: cases.map(({ input }) => toHex(input)),
    outputs: cases.map(({ output }) => toHex(output)),
    proofs,
    otherProof: await proofOf(first, OTHER),
    forgedOutput: toHex(forgedOutput),
    forgedProof: toHex(encodeProof(await forge(decodeKey(keys.verificationKey), VECTOR_SEED, forgedSignals))),
  };
}

/** A proof of any statement, by somebody who knows the key's secrets: `a·b = alpha·beta + gamma·l + delta·c` is
 *  solved for c. */
export async function forge(
  key: VerificationKey,
  seed: string,
  signals: readonly bigint[],
): Promise<Groth16Proof> {
  const { G1, G2 } = await buildBn128(true);
  const { alpha, beta, gamma, delta } = developmentSecrets(seed);
  const [a, b] = [5n, 7n];
  const times = (point: Uint8Array, scalar: bigint): Uint8Array =>
    G1.timesScalar(point, ((scalar % FIELD_ORDER) + FIELD_ORDER) % FIELD_ORDER);
  const points = key.signals.map((point: G1Point) => G1.fromObject([...point, 1n]));
  const l = points
    .map((point, i) => times(point, i === 0 ? 1n : (signals[i - 1] as bigint)))
    .reduce((sum, point) => G1.add(sum, point));
  const perDelta = inverse(delta);
  const c = G1.add(times(G1.g, (a * b - alpha * beta) * perDelta), times(l, -gamma * perDelta));
  const coordinates = (group: typeof G1, point: Uint8Array) => {
    const [x, y] = group.toObject(group.toAffine(point));
    return [x, y] as never;
  };
  return {
    a: coordinates(G1, times(G1.g, a)),
    b: coordinates(G2, G2.timesScalar(G2.g, b)),
    c: coordinates(G1, c),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const vectors = await makeProofVectors();
  const path = join(projectRoot, "test/vectors/proofs.json");
  writeFileSync(path, `${JSON.stringify(vectors, null, 1)}\n`);
  await endThreads();
}
