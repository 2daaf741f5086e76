import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Abi, Address } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { loadArtifact } from "../../cli/artifacts.ts";
import { seededProgram } from "../../conformance/generate/random-program.ts";
import { createRng } from "../../conformance/generate/rng.ts";
import type { Model } from "../../inference/program/form.ts";
import {
  decodeKey,
  encodeProof,
  type Groth16Proof,
  type VerificationKey,
} from "../../protocol/rules/proof/groth16.ts";
import { circuitSize } from "../../prover/proof/groth16/compile.ts";
import { writeWitness } from "../../prover/proof/groth16/snark/files.ts";
import { NativeProver } from "../../prover/proof/groth16/snark/native.ts";
import { developmentSetup } from "../../prover/proof/groth16/snark/setup.ts";
import { ensureCompiled } from "../../tools/compile.ts";
import { type LocalChain, startLocalChain } from "../support/anvil.ts";
import { CircuitPair } from "../support/circuit-run.ts";
import { createContract } from "../support/create-contract.ts";
import { buildProver } from "../support/rust.ts";
import { SMALL_CIRCUIT, smallWitness } from "../support/small-circuit.ts";

/** Random programs with circuits, and proofs of each. */
const PROGRAMS = 6;
const PROOFS = 3;
const MOST_CONSTRAINTS = 1_500;

const folder = mkdtempSync(join(tmpdir(), "assay-prove-"));
const small = join(folder, "small.zkey");
let program: string;
let prover: NativeProver;
let key: VerificationKey;
let local: LocalChain;
let caller: { readonly address: Address; readonly abi: Abi };

beforeAll(async () => {
  program = buildProver();
  prover = new NativeProver(program);
  ensureCompiled("all");
  local = await startLocalChain();
  const artifact = loadArtifact("Groth16Caller");
  caller = { address: await createContract(local, artifact, []), abi: artifact.abi as Abi };
  const keys = await developmentSetup(SMALL_CIRCUIT, "native");
  writeFileSync(small, keys.provingKey);
  key = decodeKey(keys.verificationKey);
});
afterAll(async () => {
  await local?.stop();
  prover?.close();
  rmSync(folder, { recursive: true });
});

interface Proven {
  readonly signals: readonly bigint[];
  readonly proof: Groth16Proof;
}

/** Asks the verifier of the proof lane about all of these at once. */
async function holdsOnChain(key: Uint8Array, ...proven: readonly Proven[]): Promise<boolean> {
  const args = [
    toHex(key),
    proven.map(({ signals }) => signals),
    proven.map(({ proof }) => toHex(encodeProof(proof))),
  ];
  const answer = await local.client.readContract({ ...caller, functionName: "verify", args });
  return answer as boolean;
}

/** Whether the program has a circuit of a size for a test. */
function isProvable(model: Model): boolean {
  try {
    return circuitSize(model).constraints <= MOST_CONSTRAINTS;
  } catch (error) {
    if (isBaseError(error, "NO_CIRCUIT") || isBaseError(error, "NO_PUBLIC_SIGNALS")) return false;
    throw error;
  }
}

describe("NativeProver", () => {
  test("default: proofs of random witnesses are those that snarkjs verifies; another signal is refused", async () => {
    const rng = createRng(1);
    for (let i = 0; i < 20; i++) {
      const witness = smallWitness(BigInt(rng.u32()) ** 7n % 2n ** 200n, BigInt(rng.u32()));
      const proof = await prover.prove(small, witness);
      const signals = witness.slice(1, 4);
      expect(await prover.verify(key, signals, proof)).toBe(true);
      const wrong = signals.map((signal, at) => (at === i % 3 ? signal + 1n : signal));
      expect(await prover.verify(key, wrong, proof)).toBe(false);
    }
  });

  test("behavior: circuits of random programs, by snarkjs and by the contract that verifies on the chain", async () => {
    let proven = 0;
    for (let seed = 1, done = 0; done < PROGRAMS; seed++) {
      const { model } = seededProgram(seed, { hostile: false, steps: seed % 4 });
      if (!isProvable(model)) continue;
      const rng = createRng(seed);
      const pair = new CircuitPair(model);
      const keys = await developmentSetup(pair.circuit.r1cs, `native ${seed}`);
      const path = join(folder, `${seed}.zkey`);
      writeFileSync(path, keys.provingKey);
      const batch: Proven[] = [];
      for (let i = 0; i < PROOFS; i++) {
        const { witness, expected } = pair.random(rng);
        const proof = await prover.prove(path, witness);
        batch.push({ signals: expected, proof });
        expect(await prover.verify(decodeKey(keys.verificationKey), expected, proof), `seed ${seed}`).toBe(
          true,
        );
        proven++;
      }
      const key = keys.verificationKey;
      for (const one of batch) expect(await holdsOnChain(key, one), `seed ${seed}`).toBe(true);
      expect(await holdsOnChain(key, ...batch), `seed ${seed}, together`).toBe(true);
      const [first, ...others] = batch as [Proven, ...Proven[]];
      const wrong = {
        ...first,
        signals: first.signals.map((signal, at) => (at === 0 ? signal + 1n : signal)),
      };
      expect(await holdsOnChain(key, wrong), `seed ${seed}, another signal`).toBe(false);
      expect(await holdsOnChain(key, ...others, wrong), `seed ${seed}, together`).toBe(false);
      done++;
    }
    expect(proven).toBe(PROGRAMS * PROOFS);
  });

  test("behavior: a witness that breaks a constraint gives no proof that verifies", async () => {
    const witness = smallWitness(3n, 7n);
    for (const wire of [1, 3, 4, 5]) {
      const broken = witness.map((value, i) => (i === wire ? value + 1n : value));
      const proof = await prover.prove(small, broken);
      expect(await prover.verify(key, broken.slice(1, 4), proof), `wire ${wire}`).toBe(false);
    }
  });

  test("behavior: no two proofs of one witness are the same", async () => {
    const [one, other] = [
      await prover.prove(small, smallWitness(5n, 0n)),
      await prover.prove(small, smallWitness(5n, 0n)),
    ];
    expect(one).not.toEqual(other);
  });

  test("error: another circuit's witness, a broken key, a program that is not there", async () => {
    await expect(prover.prove(small, [1n, 2n])).rejects.toMatchObject({
      code: "PROOF_FAILED",
      retryable: false,
      shortMessage: expect.stringContaining("a witness of 2 values for 6 wires"),
    });
    const broken = join(folder, "broken.zkey");
    writeFileSync(broken, "zkey");
    await expect(prover.prove(broken, [1n])).rejects.toMatchObject({ code: "PROOF_FAILED" });
    const missing = new NativeProver(join(folder, "nothing"));
    await expect(missing.prove(small, [1n])).rejects.toMatchObject({ code: "PROOF_FAILED", retryable: true });
    missing.close();
    // It goes on behind a refusal.
    expect(await prover.prove(small, smallWitness(2n, 1n))).toBeDefined();
  });
});

describe("assay-prove prove", () => {
  test("default: the proof as 256 bytes; a file that is missing ends with 1", () => {
    const witness = join(folder, "small.wtns");
    writeFileSync(witness, writeWitness(smallWitness(2n, 1n)));
    const { status, stdout } = spawnSync(program, ["prove", small, witness], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^0x[0-9a-f]{512}\n$/)]);
    expect(spawnSync(program, ["prove", small, join(folder, "nothing")]).status).toBe(1);
  });
});
