/** Proving keys as .zkey files, which snarkjs and most other provers read. Points lie there as ffjavascript's memory
 *  holds them: affine, little-endian, in Montgomery form. */
import { buildBn128 } from "ffjavascript";
import { concatBytes } from "../../../../base/bytes.ts";
import { encodeKey, type G1Point, type G2Point } from "../../../../protocol/rules/proof/groth16.ts";
import { FIELD_ORDER, type LinearCombination, type R1cs } from "../r1cs.ts";
import { readBinFile, type Section, u32s, writeBinFile, writeFields } from "./binfile.ts";

/** Order of BN254's base field. Source: EIP-196. */
const BASE_ORDER = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const FIELD_BYTES = 32;
const GROTH16 = 1;
/** Where a ceremony's file holds the hash of the circuit, 64 bytes. */
const DEVELOPMENT_MARK = "DEV-ONLY: made from a seed, anybody who knows it can forge      ";

const SECTION = {
  protocol: 1,
  header: 2,
  signals: 3,
  coefficients: 4,
  a: 5,
  b1: 6,
  b2: 7,
  c: 8,
  h: 9,
  mpc: 10,
};

/** Points of a proving key, each group joined. */
export interface ProvingPoints {
  readonly alphaG1: Uint8Array;
  readonly betaG1: Uint8Array;
  readonly betaG2: Uint8Array;
  readonly gammaG2: Uint8Array;
  readonly deltaG1: Uint8Array;
  readonly deltaG2: Uint8Array;
  readonly signals: Uint8Array;
  readonly a: Uint8Array;
  readonly b1: Uint8Array;
  readonly b2: Uint8Array;
  readonly c: Uint8Array;
  readonly h: Uint8Array;
}

/** The file of a development key. @param bits log2 of the domain */
export function writeZkey(r1cs: R1cs, bits: number, points: ProvingPoints): Uint8Array {
  const { alphaG1, betaG1, betaG2, gammaG2, deltaG1, deltaG2 } = points;
  const header = concatBytes(
    u32s(FIELD_BYTES),
    writeFields([BASE_ORDER]),
    u32s(FIELD_BYTES),
    writeFields([FIELD_ORDER]),
    u32s(r1cs.wires, r1cs.publicWires, 2 ** bits),
    ...[alphaG1, betaG1, betaG2, gammaG2, deltaG1, deltaG2],
  );
  const sections: Section[] = [
    [SECTION.protocol, u32s(GROTH16)],
    [SECTION.header, header],
    [SECTION.coefficients, coefficients(r1cs)],
    [SECTION.signals, points.signals],
    [SECTION.a, points.a],
    [SECTION.b1, points.b1],
    [SECTION.b2, points.b2],
    [SECTION.c, points.c],
    [SECTION.h, points.h],
    [SECTION.mpc, concatBytes(new TextEncoder().encode(DEVELOPMENT_MARK), u32s(0))],
  ];
  return writeBinFile("zkey", 1, sections);
}

/** True if the file says that it was made from a seed. @throws BaseError BINFILE_INVALID */
export function isDevelopmentZkey(zkey: Uint8Array): boolean {
  const mark = readBinFile("zkey", zkey).get(SECTION.mpc)?.subarray(0, 64);
  return new TextDecoder("latin1").decode(mark) === DEVELOPMENT_MARK;
}

/** The key that verifies what this file proves, as ProofLane stores it; its origin is what the file says.
 *  @throws BaseError BINFILE_INVALID */
export async function verificationKeyOf(zkey: Uint8Array): Promise<Uint8Array> {
  const sections = readBinFile("zkey", zkey);
  const header = sections.get(SECTION.header) ?? new Uint8Array(0);
  const signals = sections.get(SECTION.signals) ?? new Uint8Array(0);
  const { G1, G2 } = await buildBn128(true);
  // Behind the orders with their lengths, and three counts.
  let at = 2 * (4 + FIELD_BYTES) + 12;
  const next = (bytes: number): Uint8Array => {
    at += bytes;
    return header.slice(at - bytes, at);
  };
  const [alpha, , beta, gamma, , delta] = [64, 64, 128, 128, 64, 128].map(next) as Uint8Array[];
  const g2 = (point: Uint8Array | undefined): G2Point =>
    G2.toObject(point as Uint8Array).slice(0, 2) as unknown as G2Point;
  const g1 = (point: Uint8Array | undefined): G1Point =>
    G1.toObject(point as Uint8Array).slice(0, 2) as unknown as G1Point;
  return encodeKey({
    origin: isDevelopmentZkey(zkey) ? "development" : "ceremony",
    alpha: g1(alpha),
    beta: g2(beta),
    gamma: g2(gamma),
    delta: g2(delta),
    signals: Array.from({ length: signals.length / 64 }, (_, i) => g1(signals.slice(64 * i, 64 * (i + 1)))),
  });
}

/** Matrices A and B: matrix u32, row u32, wire u32, coefficient · 2^512, which is twice in Montgomery form. */
function coefficients({ constraints, publicWires }: R1cs): Uint8Array {
  const entries = constraints.flatMap(({ a, b }, row) => [...rowOf(0, row, a), ...rowOf(1, row, b)]);
  for (let wire = 0; wire <= publicWires; wire++) {
    entries.push(...rowOf(0, constraints.length + wire, [[wire, 1n]]));
  }
  const bytes = new Uint8Array(4 + 44 * entries.length);
  bytes.set(u32s(entries.length));
  const known = new Map<bigint, Uint8Array>();
  entries.forEach(([matrix, row, wire, coefficient], i) => {
    let field = known.get(coefficient);
    if (field === undefined) {
      field = writeFields([(coefficient << 512n) % FIELD_ORDER]);
      known.set(coefficient, field);
    }
    bytes.set(u32s(matrix, row, wire), 4 + 44 * i);
    bytes.set(field, 16 + 44 * i);
  });
  return bytes;
}

type Entry = readonly [matrix: number, row: number, wire: number, coefficient: bigint];
const rowOf = (matrix: number, row: number, terms: LinearCombination): Entry[] =>
  terms.map(([wire, coefficient]) => [matrix, row, wire, coefficient]);
