/** Groth16 over BN254 as bytes: what the chain stores as a key and takes as evidence. Points are affine, coordinates
 *  big-endian words; of a coordinate c0 + c1·u of G2 c1 stands first. Source: EIP-196, EIP-197. */
import { concatBytes, type Hex, toHex, viewOf } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { keccak256 } from "../../../inference/commit/keccak.ts";

/** First byte of a key: which proof system it is for. */
const KIND_GROTH16 = 1;

/** Second byte of a Groth16 key. Whoever knows the seed of a development key can prove anything with it. */
const KEY_ORIGINS = ["ceremony", "development"] as const;
type KeyOrigin = (typeof KEY_ORIGINS)[number];

export type G1Point = readonly [x: bigint, y: bigint];
/** Coordinates c0 + c1·u. */
export type G2Point = readonly [x: readonly [c0: bigint, c1: bigint], y: readonly [c0: bigint, c1: bigint]];

export interface VerificationKey {
  readonly origin: KeyOrigin;
  readonly alpha: G1Point;
  readonly beta: G2Point;
  readonly gamma: G2Point;
  readonly delta: G2Point;
  /** One point for the constant 1, then one for each public signal. */
  readonly signals: readonly G1Point[];
}

export interface Groth16Proof {
  readonly a: G1Point;
  readonly b: G2Point;
  readonly c: G1Point;
}

const WORD = 32;
const HEADER_BYTES = 2;
const FIXED_POINTS_BYTES = WORD * (2 + 4 + 4 + 4);
export const PROOF_BYTES = 8 * WORD;

function writeWords(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(WORD * values.length);
  const view = viewOf(bytes);
  values.forEach((value, i) => {
    for (let at = WORD * (i + 1) - 8, rest = value; at >= WORD * i; at -= 8, rest >>= 64n) {
      view.setBigUint64(at, rest & 0xffff_ffff_ffff_ffffn);
    }
  });
  return bytes;
}

function readWords(bytes: Uint8Array): bigint[] {
  return Array.from({ length: bytes.length / WORD }, (_, i) =>
    BigInt(toHex(bytes.subarray(WORD * i, WORD * (i + 1)))),
  );
}

const g1Words = ([x, y]: G1Point): bigint[] => [x, y];
const g2Words = ([x, y]: G2Point): bigint[] => [x[1], x[0], y[1], y[0]];
const g1At = (words: readonly bigint[], at: number): G1Point => [
  words[at] as bigint,
  words[at + 1] as bigint,
];
const g2At = (words: readonly bigint[], at: number): G2Point => {
  const [x1, x0, y1, y0] = words.slice(at, at + 4) as [bigint, bigint, bigint, bigint];
  return [
    [x0, x1],
    [y0, y1],
  ];
};

/** Bytes that ProofLane stores: kind, origin, alpha, beta, gamma, delta, then a point for 1 and each signal. */
export function encodeKey(key: VerificationKey): Uint8Array {
  const { origin, alpha, beta, gamma, delta, signals } = key;
  const points = [g1Words(alpha), g2Words(beta), g2Words(gamma), g2Words(delta), ...signals.map(g1Words)];
  return concatBytes(Uint8Array.of(KIND_GROTH16, KEY_ORIGINS.indexOf(origin)), writeWords(points.flat()));
}

/** @throws BaseError KEY_INVALID for bytes that are no Groth16 key; points are not checked */
export function decodeKey(bytes: Uint8Array): VerificationKey {
  const points = bytes.length - HEADER_BYTES - FIXED_POINTS_BYTES;
  if (bytes[0] !== KIND_GROTH16) refuseKey("kind", bytes[0], `${KIND_GROTH16} (Groth16)`);
  const origin = KEY_ORIGINS[bytes[1] as number];
  if (origin === undefined) return refuseKey("origin", bytes[1], "0 (ceremony) or 1 (development)");
  if (points < 2 * WORD || points % (2 * WORD) !== 0) {
    refuseKey("length", bytes.length, `${HEADER_BYTES + FIXED_POINTS_BYTES} + 64 for 1 and each signal`);
  }
  const words = readWords(bytes.subarray(HEADER_BYTES));
  const signals = Array.from({ length: points / (2 * WORD) }, (_, i) => g1At(words, 14 + 2 * i));
  return {
    origin,
    alpha: g1At(words, 0),
    beta: g2At(words, 2),
    gamma: g2At(words, 6),
    delta: g2At(words, 10),
    signals,
  };
}

function refuseKey(field: string, value: number | undefined, limit: string): never {
  throw new BaseError({
    code: "KEY_INVALID",
    shortMessage: `Verification key: ${field} is ${value}, must be ${limit}.`,
    nextStep: "Make it again with `assay proof setup`.",
    details: { field, value, limit },
  });
}

/** vkHash of a model's manifest and of the registry: of a key of any kind. */
export const vkHashOf = (key: Uint8Array): Hex => toHex(keccak256(key));

/** True if a key of any kind says that it was made without a ceremony. */
export const isDevelopmentKey = (key: Uint8Array): boolean =>
  key[0] === KIND_GROTH16 && KEY_ORIGINS[key[1] as number] === "development";

/** The evidence of a settlement. */
export const encodeProof = ({ a, b, c }: Groth16Proof): Uint8Array =>
  writeWords([...g1Words(a), ...g2Words(b), ...g1Words(c)]);

/** @throws BaseError PROOF_INVALID for another length; points are not checked */
export function decodeProof(bytes: Uint8Array): Groth16Proof {
  if (bytes.length !== PROOF_BYTES) {
    throw new BaseError({
      code: "PROOF_INVALID",
      shortMessage: `The proof has ${bytes.length} bytes, must have ${PROOF_BYTES}.`,
      nextStep: "Give what `assay proof prove` wrote.",
      details: { bytes: bytes.length, limit: PROOF_BYTES },
    });
  }
  const words = readWords(bytes);
  return { a: g1At(words, 0), b: g2At(words, 2), c: g1At(words, 6) };
}
