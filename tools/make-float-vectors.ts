/** Writes the binary32 vectors that Binary32.sol is tested against.
 *
 *  `tsx tools/make-float-vectors.ts` rewrites test/vectors/binary32.json. `tsx tools/make-float-vectors.ts 65536 7`
 *  writes build/binary32.json with that many triples from that seed, for
 *  `FLOAT_VECTORS_BUILD=1 npm run forge -- test --match-contract Binary32Vectors`.
 *
 *  Expected values: Math.fround of one operation on doubles, which rounds once: doubles carry 53 >= 2·24 + 2 bits.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./foundry.ts";

/** Operands as words: a and b are binary32 bits or an s32, c an s32 zero point. */
type Triple = readonly [a: number, b: number, c: number];

export interface FloatVectors {
  readonly source: string;
  readonly count: number;
  /** Hexadecimal, 4 bytes an operand: a, b, c of each triple. */
  readonly operands: string;
  /** Hexadecimal, 4 bytes a result, in the order of the triples. */
  readonly results: Readonly<Record<string, string>>;
}

const float = new Float32Array(1);
const word = new Uint32Array(float.buffer);

function toFloat(bits: number): number {
  word[0] = bits;
  return float[0] as number;
}

function toBits(x: number): number {
  float[0] = x;
  return Number.isNaN(x) ? 0x7fc00000 : (word[0] as number);
}

/** Ties to even; x may be any double. */
function roundHalfEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  const up = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0);
  return up ? floor + 1 : floor;
}

const saturate = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.min(Math.max(x, low), high);
const toS32 = (x: number): number => saturate(x, -(2 ** 31), 2 ** 31 - 1);

type Compute = (a: number, b: number, c: number) => number;
const onFloats =
  (compute: (a: number, b: number) => number): Compute =>
  (a, b) =>
    toBits(compute(toFloat(a), toFloat(b)));

/** Result word of each operation, by the names of FLOAT's variants and of Binary32's further functions. */
const OPERATIONS: Readonly<Record<string, Compute>> = {
  add: onFloats((a, b) => a + b),
  sub: onFloats((a, b) => a - b),
  mul: onFloats((a, b) => a * b),
  div: onFloats((a, b) => a / b),
  sqrt: onFloats((a) => Math.sqrt(a)),
  round: onFloats((a) => {
    const magnitude = Math.abs(a) < 2 ** 24 ? roundHalfEven(Math.abs(a)) : Math.abs(a);
    return a < 0 || Object.is(a, -0) ? -magnitude : magnitude;
  }),
  min: onFloats((a, b) => Math.min(a, b) + 0),
  max: onFloats((a, b) => Math.max(a, b) + 0),
  lt: (a, b) => Number(toFloat(a) < toFloat(b)),
  le: (a, b) => Number(toFloat(a) <= toFloat(b)),
  eq: (a, b) => Number(toFloat(a) === toFloat(b)),
  tofloat: (a) => toBits(a | 0),
  toint: (a) => toS32(Math.trunc(toFloat(a))),
  nearest: (a) => toS32(roundHalfEven(toFloat(a))),
  dequant: (a, b, c) => toBits(Math.fround((a - c) | 0) * toFloat(b)),
  quant: (a, b, c) => saturate(toS32(roundHalfEven(Math.fround(toFloat(a) / toFloat(b)))) + (c | 0), 0, 255),
  requantize: (a, b) => toS32(roundHalfEven(Math.fround(Math.fround(a | 0) * toFloat(b)))),
};

/** 32 uniform bits a call; xorshift32. */
function makeRandom(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}

const EDGES: readonly number[] = [
  ...[0, 1, 2, 3, 0x400000, 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0xffffff, 0x1000000],
  ...[0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000],
  ...[0x4afffffe, 0x4affffff, 0x4b000000, 0x4b000001, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000],
  ...[0x7e7fffff, 0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff],
].flatMap((bits) => [bits, (bits | 0x80000000) >>> 0]);

/** Ways to make operands, each aimed at a place where rounding goes wrong; random only through `next`. */
function makePatterns(next: () => number): readonly (() => readonly [number, number])[] {
  const below = (limit: number): number => next() % limit;
  const sign = (): number => (next() & 1) << 31;
  const pack = (field: number, fraction: number): number =>
    (sign() | (Math.min(Math.max(field, 0), 254) << 23) | (fraction & 0x7fffff)) >>> 0;
  const near = (x: number): number => (toBits(x) + below(3) - 1) >>> 0;
  const any = (): number => pack(below(255), next());
  const odd = (bits: number): number => (1 << (bits - 1)) | below(1 << (bits - 1)) | 1;
  const power = (low: number, high: number): number => 2 ** (low + below(high - low + 1));
  return [
    () => [next(), next()],
    // Exponents so close that the significands overlap.
    () => {
      const field = 1 + below(254);
      return [pack(field, next()), pack(field + below(57) - 28, next())];
    },
    // Cancellation.
    () => {
      const a = any();
      return [a, ((a ^ 0x80000000) + below(9) - 4) >>> 0];
    },
    // Half a place of a, or next to it; a is random or a power of two.
    () => {
      const field = 30 + below(220);
      return [pack(field, below(2) * next()), near(toFloat(pack(field - 24 - below(3), 0)))];
    },
    // Products of 25 bits: exactly halfway.
    () => [toBits(odd(12) * power(-140, 100)), toBits(odd(13) * power(-20, 20))],
    // Products and quotients around the least normal and the least subnormal number.
    () => {
      const field = 1 + below(125);
      return [
        pack(field, next()),
        pack(below(2) === 0 ? 126 - field - below(26) : 126 + field + below(26), next()),
      ];
    },
    // Quotients halfway between subnormal numbers.
    () => [toBits(odd(2 + below(22)) * 2 ** -149), toBits(power(1, 24))],
    () => [(sign() | below(0x800000)) >>> 0, below(2) === 0 ? any() : (sign() | below(0x800000)) >>> 0],
    // Products and quotients around the greatest number.
    () => {
      const field = 128 + below(126);
      return [
        pack(field, next()),
        pack(below(2) === 0 ? 380 - field - below(3) : field - 128 + below(3), next()),
      ];
    },
    // Squares and their neighbours.
    () => [near(toFloat(pack(127 + below(40), next())) ** 2), any()],
    () => [near(odd(12) ** 2 * 4 ** (below(60) - 30)), any()],
    // Halves and their neighbours, around the ends of s32 too.
    () => [near((below(1 << (1 + below(24))) + 0.5) * (next() & 1 ? -1 : 1)), any()],
    () => [near((2 ** 31 - below(300)) * (next() & 1 ? -1 : 1)), any()],
    // Accumulators with plain and arbitrary scales.
    () => [next() >> below(31), toBits(power(-20, 0))],
    () => [next() >> below(31), pack(127 - below(30), next())],
    // Numbers halfway between two quanta of a scale.
    () => {
      const scale = toFloat(pack(127 - below(20), next() & (below(2) * 0x7fffff)));
      return [near((below(400) - 200 + 0.5) * scale), toBits(scale)];
    },
  ];
}

function makeTriples(count: number, seed: number): readonly Triple[] {
  const next = makeRandom(seed);
  const patterns = makePatterns(next);
  const pairs: (readonly [number, number])[] = EDGES.flatMap((a) => EDGES.map((b) => [a, b] as const));
  // Every edge against every other is the same in each larger set: the small set keeps a third of it.
  const kept = pairs.filter((_, i) => count > 2 * pairs.length || i % 3 === seed % 3);
  for (let i = 0; kept.length < count; i++)
    kept.push((patterns[i % patterns.length] as () => [number, number])());
  return kept.slice(0, count).map(([a, b]) => {
    const zeroPoint = next() & 7 ? next() & 255 : next() >> (next() & 31);
    return [a >>> 0, b >>> 0, zeroPoint >>> 0];
  });
}

const hex = (x: number): string => (x >>> 0).toString(16).padStart(8, "0");

export function makeFloatVectors(count: number, seed: number): FloatVectors {
  const triples = makeTriples(count, seed);
  return {
    source: `tools/make-float-vectors.ts, Math.fround, seed ${seed}`,
    count,
    operands: `0x${triples.flat().map(hex).join("")}`,
    results: Object.fromEntries(
      Object.entries(OPERATIONS).map(([name, compute]) => [
        name,
        `0x${triples.map((triple) => hex(compute(...triple))).join("")}`,
      ]),
    ),
  };
}

/** What the committed file holds. */
export const COMMITTED = { count: 4352, seed: 1 } as const;

export const formatFloatVectors = (vectors: FloatVectors): string => `${JSON.stringify(vectors, null, 1)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [count, seed] = process.argv.slice(2).map(Number);
  const file = count === undefined ? "test/vectors/binary32.json" : "build/binary32.json";
  const vectors = makeFloatVectors(count ?? COMMITTED.count, seed ?? COMMITTED.seed);
  writeFileSync(join(projectRoot, file), formatFloatVectors(vectors));
  console.log(`${vectors.count} triples, ${Object.keys(vectors.results).length} operations: ${file}`);
}
