/** snarkjs in this process, with the project's forms of proofs and keys. It starts threads and needs the processor for
 *  seconds: a node calls it through SnarkjsProver, in a child process. */
import { groth16, type SnarkjsProof } from "snarkjs";
import { BaseError } from "../../../../base/errors.ts";
import type {
  G1Point,
  G2Point,
  Groth16Proof,
  VerificationKey,
} from "../../../../protocol/rules/proof/groth16.ts";

/** @param provingKey content of a .zkey file: snarkjs leaves files open when it fails @param witness content of a .wtns file
 *  @throws BaseError PROOF_FAILED with snarkjs's reason */
export async function prove(provingKey: Uint8Array, witness: Uint8Array): Promise<Groth16Proof> {
  try {
    return readProof((await groth16.prove(provingKey, witness)).proof);
  } catch (cause) {
    throw new BaseError({
      code: "PROOF_FAILED",
      shortMessage: `snarkjs could not prove: ${cause instanceof Error ? cause.message : String(cause)}.`,
      nextStep: "Check that the proving key is of this model's circuit; `assay proof setup` makes it again.",
      cause,
    });
  }
}

/** True if the proof shows that somebody knows a witness with these public signals. */
export function verify(
  key: VerificationKey,
  signals: readonly bigint[],
  proof: Groth16Proof,
): Promise<boolean> {
  return groth16.verify(writeKey(key), signals.map(String), writeProof(proof));
}

/** Ends snarkjs's threads: without it a process does not end. */
export async function endThreads(): Promise<void> {
  const { curve_bn128: curve } = globalThis as { curve_bn128?: { terminate(): Promise<void> } | null };
  await curve?.terminate();
}

const g1 = ([x, y]: G1Point): string[] => [String(x), String(y), "1"];
const g2 = ([x, y]: G2Point): string[][] => [x.map(String), y.map(String), ["1", "0"]];

function writeKey({ alpha, beta, gamma, delta, signals }: VerificationKey): Record<string, unknown> {
  return {
    protocol: "groth16",
    curve: "bn128",
    nPublic: signals.length - 1,
    vk_alpha_1: g1(alpha),
    vk_beta_2: g2(beta),
    vk_gamma_2: g2(gamma),
    vk_delta_2: g2(delta),
    IC: signals.map(g1),
  };
}

const writeProof = ({ a, b, c }: Groth16Proof): Record<string, unknown> => ({
  protocol: "groth16",
  curve: "bn128",
  pi_a: g1(a),
  pi_b: g2(b),
  pi_c: g1(c),
});

function readProof({ pi_a, pi_b, pi_c }: SnarkjsProof): Groth16Proof {
  const pair = (numbers: readonly string[]): G1Point => [
    BigInt(numbers[0] as string),
    BigInt(numbers[1] as string),
  ];
  const [x, y] = pi_b as readonly (readonly string[])[];
  return { a: pair(pi_a), b: [pair(x as readonly string[]), pair(y as readonly string[])], c: pair(pi_c) };
}
