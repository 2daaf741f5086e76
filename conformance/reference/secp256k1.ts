/** Plain ECDSA over secp256k1 (SEC 1 and SEC 2), to make signatures of every kind and to say whose they are. */
import { keccak256 } from "viem";
import { type Hex, toHex } from "../../base/bytes.ts";

const P = 2n ** 256n - 2n ** 32n - 977n;
export const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Jacobian coordinates: the point (x/z², y/z³), at infinity where z is 0. */
type Point = readonly [x: bigint, y: bigint, z: bigint];

const G: Point = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  1n,
];
const INFINITY: Point = [1n, 1n, 0n];

const mod = (a: bigint, m: bigint): bigint => ((a % m) + m) % m;

function power(base: bigint, exponent: bigint, m: bigint): bigint {
  let [result, square] = [1n, mod(base, m)];
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % m;
    square = (square * square) % m;
  }
  return result;
}

const inverse = (a: bigint, m: bigint): bigint => power(a, m - 2n, m);

function double([x, y, z]: Point): Point {
  const yy = (y * y) % P;
  const s = (4n * x * yy) % P;
  const m = (3n * x * x) % P;
  const sum = mod(m * m - 2n * s, P);
  return [sum, mod(m * (s - sum) - 8n * yy * yy, P), (2n * y * z) % P];
}

function add(a: Point, b: Point): Point {
  if (a[2] === 0n) return b;
  if (b[2] === 0n) return a;
  const [aa, bb] = [(a[2] * a[2]) % P, (b[2] * b[2]) % P];
  const [u, v] = [(a[0] * bb) % P, (b[0] * aa) % P];
  const [s, t] = [(a[1] * bb * b[2]) % P, (b[1] * aa * a[2]) % P];
  const [h, r] = [mod(v - u, P), mod(t - s, P)];
  if (h === 0n) return r === 0n ? double(a) : INFINITY;
  const hh = (h * h) % P;
  const [hhh, uhh] = [(h * hh) % P, (u * hh) % P];
  const x = mod(r * r - hhh - 2n * uhh, P);
  return [x, mod(r * (uhh - x) - s * hhh, P), (h * a[2] * b[2]) % P];
}

function times(factor: bigint, point: Point): Point {
  let [result, power2] = [INFINITY, point];
  for (let rest = mod(factor, ORDER); rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = add(result, power2);
    power2 = double(power2);
  }
  return result;
}

function affine([x, y, z]: Point): readonly [x: bigint, y: bigint] {
  const one = inverse(z, P);
  return [(x * one * one) % P, (y * one * one * one) % P];
}

const bytes = (value: bigint): string => value.toString(16).padStart(64, "0");
const addressOf = (key: Point): Hex => `0x${keccak256(`0x${affine(key).map(bytes).join("")}`).slice(26)}`;

/** The parts of a signature; v is 27 or 28 where the y of its point is even or odd. */
export interface Parts {
  readonly r: bigint;
  readonly s: bigint;
  readonly v: number;
}

export const signatureOf = ({ r, s, v }: Parts): Hex =>
  `0x${bytes(r)}${bytes(s)}${toHex(Uint8Array.of(v)).slice(2)}`;

/** Signs with the lower of both s.
 *  @param nonce secret number, 1 to n − 1 */
export function sign(digest: Hex, key: bigint, nonce: bigint): Parts {
  const [x, y] = affine(times(nonce, G));
  const r = mod(x, ORDER);
  const s = mod(inverse(nonce, ORDER) * (BigInt(digest) + r * key), ORDER);
  const isHigh = s > ORDER / 2n;
  return { r, s: isHigh ? ORDER - s : s, v: 27 + (Number(y & 1n) ^ (isHigh ? 1 : 0)) };
}

/** Parts that no key made: s·R = z·G, so that the key would be the point at infinity. */
export const ofInfinity = (digest: Hex, nonce: bigint): Parts => sign(digest, 0n, nonce);

export const addressOfKey = (key: bigint): Hex => addressOf(times(key, G));

/** Whose signature it is, by the rules of docs/PROMISES.md, section 7; undefined for what is refused. */
export function recover(digest: Hex, { r, s, v }: Parts): Hex | undefined {
  if (v !== 27 && v !== 28) return undefined;
  if (r < 1n || r >= ORDER || s < 1n || s > ORDER / 2n) return undefined;
  const square = mod(r * r * r + 7n, P);
  const root = power(square, (P + 1n) / 4n, P);
  if ((root * root) % P !== square) return undefined;
  const y = Number(root & 1n) === v - 27 ? root : P - root;
  const byR = inverse(r, ORDER);
  const key = add(times(mod(s * byR, ORDER), [r, y, 1n]), times(mod(-BigInt(digest) * byR, ORDER), G));
  return key[2] === 0n ? undefined : addressOf(key);
}
