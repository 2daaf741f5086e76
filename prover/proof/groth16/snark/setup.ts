/** Development keys: a Groth16 set-up computed from a seed, in seconds and the same on every machine. Whoever knows
 *  the seed can prove anything, so a key of it is marked and good for local chains only. */
import { buildBn128 } from "ffjavascript";
import { concatBytes, toHex } from "../../../../base/bytes.ts";
import { BaseError } from "../../../../base/errors.ts";
import { keccak256 } from "../../../../inference/commit/keccak.ts";
import { FIELD_ORDER, type LinearCombination, type R1cs } from "../r1cs.ts";
import { multiplyGenerator } from "./fixed-base.ts";
import { inverse, lagrangeBasis } from "./lagrange.ts";
import { verificationKeyOf, writeZkey } from "./zkey.ts";

/** log2 of the largest domain: above it this set-up takes minutes and gigabytes. */
const MAX_POWER = 18;

type Points = [Uint8Array, Uint8Array, Uint8Array];

export interface KeyPair {
  /** .zkey file, as snarkjs proves with it. */
  readonly provingKey: Uint8Array;
  /** What ProofLane stores (protocol/rules/proof/groth16.ts). */
  readonly verificationKey: Uint8Array;
}

/** log2 of the domain that a circuit needs: a row a constraint, a row for 1 and each public signal. */
export function domainPower({ constraints, publicWires }: R1cs): number {
  return Math.max(1, Math.ceil(Math.log2(constraints.length + publicWires + 1)));
}

/** @param seed any text; the same seed and circuit give the same bytes
 *  @throws BaseError CIRCUIT_TOO_LARGE above a domain of 2^18 */
export async function developmentSetup(r1cs: R1cs, seed: string): Promise<KeyPair> {
  const bits = domainPower(r1cs);
  if (bits > MAX_POWER) {
    throw new BaseError({
      code: "CIRCUIT_TOO_LARGE",
      shortMessage: `The circuit has ${r1cs.constraints.length} constraints and needs a domain of 2^${bits}, at most 2^${MAX_POWER} is set up here.`,
      nextStep: "Use another lane for this model, or a smaller model.",
      details: { constraints: r1cs.constraints.length, power: bits, limit: MAX_POWER },
    });
  }
  const curve = await buildBn128(true);
  const { tau, alpha, beta, gamma, delta } = developmentSecrets(seed);
  const root = curve.Fr.toObject(curve.Fr.w[bits + 1] as Uint8Array);
  const size = 2 ** bits;
  const rows = lagrangeBasis((root * root) % FIELD_ORDER, size, tau);
  const { a, b, c } = wirePolynomials(r1cs, rows);
  const [perGamma, perDelta] = [inverse(gamma), inverse(delta)];
  const joint = a.map((value, wire) => {
    const divisor = wire <= r1cs.publicWires ? perGamma : perDelta;
    return ((beta * value + alpha * (b[wire] as bigint) + (c[wire] as bigint)) * divisor) % FIELD_ORDER;
  });
  // The odd powers of the root of twice the order: there snarkjs gives the quotient's values.
  const odd = lagrangeBasis(root, 2 * size, tau).filter((_, i) => i % 2 === 1);
  const g1 = (scalars: readonly bigint[]): Uint8Array => multiplyGenerator(curve, "G1", scalars);
  const g2 = (scalars: readonly bigint[]): Uint8Array => multiplyGenerator(curve, "G2", scalars);
  const signals = g1(joint.slice(0, r1cs.publicWires + 1));
  const [alphaG1, betaG1, deltaG1] = split(g1([alpha, beta, delta]), 3) as Points;
  const [betaG2, gammaG2, deltaG2] = split(g2([beta, gamma, delta]), 3) as Points;
  const provingKey = writeZkey(r1cs, bits, {
    alphaG1,
    betaG1,
    betaG2,
    gammaG2,
    deltaG1,
    deltaG2,
    signals,
    a: g1(a),
    b1: g1(b),
    b2: g2(b),
    c: g1(joint.slice(r1cs.publicWires + 1)),
    h: g1(odd.map((value) => (value * perDelta) % FIELD_ORDER)),
  });
  return { provingKey, verificationKey: await verificationKeyOf(provingKey) };
}

/** What nobody may know of a key that is worth anything: with it any statement can be proved. */
export function developmentSecrets(seed: string) {
  const of = (name: string): bigint => secret(seed, name);
  return { tau: of("tau"), alpha: of("alpha"), beta: of("beta"), gamma: of("gamma"), delta: of("delta") };
}

/** A field element from 512 bits of the seed: none is likelier than another by 2^-250. */
function secret(seed: string, name: string): bigint {
  const bytes = [0, 1].map((part) =>
    keccak256(new TextEncoder().encode(JSON.stringify(["assay development key", name, part, seed]))),
  );
  return BigInt(toHex(concatBytes(...bytes))) % FIELD_ORDER;
}

/** Each wire's polynomials of A, B and C at tau. A further row of A holds each public wire, so that the key depends
 *  on every public signal, read by a constraint or not. */
function wirePolynomials({ wires, publicWires, constraints }: R1cs, rows: readonly bigint[]) {
  const sums = (): bigint[] => new Array<bigint>(wires).fill(0n);
  const [a, b, c] = [sums(), sums(), sums()];
  const add = (to: bigint[], terms: LinearCombination, row: bigint): void => {
    for (const [wire, coefficient] of terms) to[wire] = (to[wire] as bigint) + coefficient * row;
  };
  constraints.forEach((constraint, i) => {
    const row = rows[i] as bigint;
    add(a, constraint.a, row);
    add(b, constraint.b, row);
    add(c, constraint.c, row);
  });
  for (let wire = 0; wire <= publicWires; wire++) {
    add(a, [[wire, 1n]], rows[constraints.length + wire] as bigint);
  }
  const reduce = (values: bigint[]): bigint[] => values.map((value) => value % FIELD_ORDER);
  return { a: reduce(a), b: reduce(b), c: reduce(c) };
}

/** The points of a group of `count` points. */
function split(points: Uint8Array, count: number): Uint8Array[] {
  const size = points.length / count;
  return Array.from({ length: count }, (_, i) => points.slice(size * i, size * (i + 1)));
}
