import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildBn128 } from "ffjavascript";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { readProgram } from "../../inference/program/validate.ts";
import {
  decodeKey,
  decodeProof,
  encodeKey,
  type Groth16Proof,
  isDevelopmentKey,
  type VerificationKey,
  vkHashOf,
} from "../../protocol/rules/proof/groth16.ts";
import { groth16Binding, publicSignals } from "../../protocol/rules/proof/public-signals.ts";
import { FIELD_ORDER, type R1cs } from "../../prover/proof/groth16/r1cs.ts";
import { readBinFile, writeBinFile } from "../../prover/proof/groth16/snark/binfile.ts";
import { multiplyGenerator } from "../../prover/proof/groth16/snark/fixed-base.ts";
import { inverse, lagrangeBasis, power } from "../../prover/proof/groth16/snark/lagrange.ts";
import { SnarkjsProver } from "../../prover/proof/groth16/snark/prover.ts";
import { developmentSetup, domainPower } from "../../prover/proof/groth16/snark/setup.ts";
import { isDevelopmentZkey } from "../../prover/proof/groth16/snark/zkey.ts";
import { SMALL_CIRCUIT, smallWitness } from "../support/small-circuit.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-keys-"));
const provingKey = join(folder, "small.zkey");
const prover = new SnarkjsProver();
let key: VerificationKey;

beforeAll(async () => {
  const keys = await developmentSetup(SMALL_CIRCUIT, "test");
  writeFileSync(provingKey, keys.provingKey);
  key = decodeKey(keys.verificationKey);
});
afterAll(() => {
  prover.close();
  rmSync(folder, { recursive: true });
});

describe("multiplyGenerator", () => {
  test.each(["G1", "G2"] as const)("default: %s, every edge of a window and of the order", async (group) => {
    const curve = await buildBn128(true);
    const scalars = [0n, 1n, 2n, 255n, 256n, 257n, 2n ** 128n, 2n ** 253n + 12345n, FIELD_ORDER - 1n];
    const points = multiplyGenerator(curve, group, scalars);
    const size = points.length / scalars.length;
    scalars.forEach((scalar, i) => {
      const expected = curve[group].toAffine(curve[group].timesScalar(curve[group].g, scalar));
      expect(points.slice(size * i, size * (i + 1)), String(scalar)).toEqual(expected);
    });
  });

  test("behavior: more points than one batch, and again with the same curve", async () => {
    const curve = await buildBn128(true);
    const scalars = Array.from({ length: 2500 }, (_, i) => BigInt(i) ** 20n % FIELD_ORDER);
    const points = multiplyGenerator(curve, "G1", scalars);
    expect(multiplyGenerator(curve, "G1", scalars)).toEqual(points);
    const last = curve.G1.toAffine(curve.G1.timesScalar(curve.G1.g, scalars[2499] as bigint));
    expect(points.slice(64 * 2499)).toEqual(last);
  });
});

describe("lagrangeBasis", () => {
  const root = power(5n, (FIELD_ORDER - 1n) / 8n);

  test("default: interpolates a polynomial from its values at the roots", () => {
    const at = (x: bigint): bigint => (3n + 7n * x + power(x, 7n)) % FIELD_ORDER;
    const tau = 987_654_321n;
    const basis = lagrangeBasis(root, 8, tau);
    const value = basis.reduce((sum, l, i) => sum + l * at(power(root, BigInt(i))), 0n) % FIELD_ORDER;
    expect(value).toBe(at(tau));
  });

  test("behavior: inverse", () => expect((inverse(12_345n) * 12_345n) % FIELD_ORDER).toBe(1n));
});

describe("domainPower", () => {
  test.each([
    [1, 1, 2],
    [3, 3, 3],
    [4, 3, 3],
    [5, 3, 4],
    [16_372, 11, 14],
    [16_373, 11, 15],
  ])("args: %i constraints, %i public signals need 2^%i", (constraints, publicWires, bits) => {
    const r1cs = { wires: 1, publicWires, constraints: new Array(constraints).fill(undefined) };
    expect(domainPower(r1cs as unknown as R1cs)).toBe(bits);
  });
});

describe("developmentSetup", () => {
  test("behavior: the same seed gives the same bytes, another one others", async () => {
    const [one, same, other] = await Promise.all(
      ["a", "a", "b"].map((seed) => developmentSetup(SMALL_CIRCUIT, seed)),
    );
    expect(one).toEqual(same);
    expect(vkHashOf(one?.verificationKey as Uint8Array)).toMatchInlineSnapshot(
      `"0xb48c3ca12dd3a07bfa07bb5ea1c230bd41613179879bd858a272a0d821e9cd74"`,
    );
    expect(one?.verificationKey).not.toEqual(other?.verificationKey);
  });

  test("behavior: key and file say that they are for development", async () => {
    const keys = await developmentSetup(SMALL_CIRCUIT, "test");
    expect(isDevelopmentKey(keys.verificationKey)).toBe(true);
    expect(isDevelopmentZkey(keys.provingKey)).toBe(true);
    expect(Buffer.from(keys.provingKey).includes("DEV-ONLY")).toBe(true);
  });

  test("error: a circuit far too large", async () => {
    const constraints = new Array(2 ** 18).fill(SMALL_CIRCUIT.constraints[0]);
    await expect(developmentSetup({ ...SMALL_CIRCUIT, constraints }, "test")).rejects.toThrow(
      "The circuit has 262144 constraints and needs a domain of 2^19, at most 2^18 is set up here.",
    );
  });
});

describe("SnarkjsProver", () => {
  test("default: proves and verifies; every changed signal and number of the proof is wrong", async () => {
    const witness = smallWitness(3n, 77n);
    const signals = witness.slice(1, 4);
    const proof = await prover.prove(provingKey, witness);
    expect(await prover.verify(key, signals, proof)).toBe(true);
    for (let i = 0; i < signals.length; i++) {
      const wrong = signals.map((signal, at) => (at === i ? signal + 1n : signal));
      expect(await prover.verify(key, wrong, proof), `signal ${i}`).toBe(false);
    }
    const other = await prover.prove(provingKey, smallWitness(4n, 77n));
    for (const mixed of [
      { ...proof, a: other.a },
      { ...proof, b: other.b },
      { ...proof, c: other.c },
    ] satisfies Groth16Proof[]) {
      expect(await prover.verify(key, signals, mixed)).toBe(false);
    }
  });

  test("behavior: a witness that breaks a constraint proves nothing", async () => {
    const witness = smallWitness(3n, 77n).map((value, i) => (i === 3 ? value + 1n : value));
    const proof = await prover.prove(provingKey, witness);
    expect(await prover.verify(key, witness.slice(1, 4), proof)).toBe(false);
  });

  test("behavior: called off, then proves again", async () => {
    const called = new AbortController();
    const proof = prover.prove(provingKey, smallWitness(5n, 1n), called.signal);
    setImmediate(() => called.abort());
    await expect(proof).rejects.toMatchObject({ code: "PROOF_FAILED", retryable: true });
    expect(await prover.prove(provingKey, smallWitness(5n, 1n))).toHaveProperty("a");
  });

  test("error: a witness of another circuit, a file that is not there", async () => {
    await expect(prover.prove(provingKey, [1n, 2n])).rejects.toMatchObject({
      code: "PROOF_FAILED",
      retryable: false,
    });
    await expect(prover.prove(join(folder, "none.zkey"), smallWitness(1n, 1n))).rejects.toThrow(BaseError);
  });

  test("error: takes too long, closed", async () => {
    const hasty = new SnarkjsProver({ timeoutMs: 1 });
    await expect(hasty.prove(provingKey, smallWitness(1n, 1n))).rejects.toThrow("it took longer than 1 ms");
    hasty.close();
    await expect(hasty.prove(provingKey, smallWitness(1n, 1n))).rejects.toThrow("the prover was closed");
  });
});

describe("encodeKey", () => {
  test("default: decodes to the same", () => {
    const bytes = encodeKey(key);
    expect(bytes.length).toBe(2 + 448 + 64 * 4);
    expect([...bytes.subarray(0, 2)]).toEqual([1, 1]);
    expect(decodeKey(bytes)).toEqual(key);
    expect(isDevelopmentKey(encodeKey({ ...key, origin: "ceremony" }))).toBe(false);
  });

  test("error: kind, origin, length", () => {
    const bytes = encodeKey(key);
    const changed = (at: number, value: number): Uint8Array => bytes.with(at, value);
    expect(() => decodeKey(changed(0, 2))).toThrow("kind is 2, must be 1 (Groth16)");
    expect(() => decodeKey(changed(1, 2))).toThrow("origin is 2, must be 0 (ceremony) or 1 (development)");
    expect(() => decodeKey(bytes.subarray(0, -1))).toThrow("length is 705");
    expect(() => decodeKey(new Uint8Array(0))).toThrow(BaseError);
  });
});

describe("decodeProof", () => {
  test("error: another length", () => {
    expect(() => decodeProof(new Uint8Array(255))).toThrow("The proof has 255 bytes, must have 256.");
  });
});

describe("readBinFile", () => {
  const file = writeBinFile("zkey", 1, [[7, Uint8Array.of(1, 2, 3)]]);

  test("default", () => expect(readBinFile("zkey", file).get(7)).toEqual(Uint8Array.of(1, 2, 3)));

  test("error: another magic, a section that leaves the file or comes twice", () => {
    expect(() => readBinFile("wtns", file)).toThrow('it starts with "zkey"');
    expect(() => readBinFile("zkey", file.subarray(0, -1))).toThrow("section 7 of 3 bytes leaves the file");
    expect(() => readBinFile("zkey", file.subarray(0, 20))).toThrow("byte 12 should start a section");
    const twice = writeBinFile("zkey", 1, [
      [7, Uint8Array.of()],
      [7, Uint8Array.of()],
    ]);
    expect(() => readBinFile("zkey", twice)).toThrow("section 7 comes twice");
  });
});

describe("proofs.json", () => {
  const vectors = JSON.parse(
    readFileSync(new URL("../vectors/proofs.json", import.meta.url), "utf8"),
  ) as Record<"key" | "program" | "selector" | "modelId" | "submitter" | "proofLane", `0x${string}`> & {
    chainId: number;
    inputs: string[];
    outputs: string[];
    proofs: string[];
  };

  test("behavior: snarkjs accepts every committed proof with its key", async () => {
    const program = readProgram(fromHex(vectors.program));
    const binding = groth16Binding(vectors);
    for (const [i, proof] of vectors.proofs.entries()) {
      const [input, output] = [vectors.inputs[i], vectors.outputs[i]].map((hex) => fromHex(hex as string));
      const selector = fromHex(vectors.selector);
      const signals = publicSignals(program, selector, input as Uint8Array, output as Uint8Array, binding);
      const verified = await prover.verify(
        decodeKey(fromHex(vectors.key)),
        signals,
        decodeProof(fromHex(proof)),
      );
      expect(verified, `proof ${i}`).toBe(true);
    }
    expect(vectors.proofs).toHaveLength(8);
  });
});
