/** keccak256 of many short messages, two at a time in the SIMD lanes of WebAssembly's vectors: trees are made of hashes of
 *  32 and 64 bytes. Source: FIPS 202; docs/PROTOCOL.md, section 1. */
import {
  advance,
  compileWasm,
  get,
  I32,
  leb,
  number32,
  OP,
  set,
  times,
  V128,
  vector,
  type WasmFunction,
} from "../wasm.ts";
import { ROTATIONS, ROUND_CONSTANTS } from "./keccak-f.ts";

const [or, xor] = [vector(0x50), vector(0x51)];
/** Of both 64-bit SIMD lanes. */
const [shiftLeft, shiftRight] = [vector(0xcb), vector(0xcd)];
/** The first without the bits of the second. */
const andNot = vector(0x4f);
const isAnySet = vector(0x53);
/** A number of 64 bits, in halves, in both SIMD lanes. */
const splat = (low: number, high: number): number[] =>
  vector(
    0x0c,
    ...[low, high, low, high].flatMap((word) => times(4, (byte) => [(word >>> (8 * byte)) & 255])),
  );
const rotl = (local: number, by: number): number[] =>
  by === 0
    ? get(local)
    : [
        ...[...get(local), ...number32(by), ...shiftLeft],
        ...[...get(local), ...number32(64 - by), ...shiftRight, ...or],
      ];
/** A number of 64 bits of each of two messages: the first one's alone, then the other's into the second SIMD lane. */
const loadBoth = (base: number, at: number, apart: number): number[] => [
  ...get(base),
  ...[...get(base), ...vector(0x5d, 3, ...leb(at))],
  ...vector(0x57, 3, ...leb(at + apart), 1),
];
/** 64 bits of one SIMD lane. */
const storeLane = (at: number, lane: number): number[] => vector(0x5b, 3, ...leb(at), lane);
/** 64 bits from memory in both SIMD lanes. */
const loadSplat = vector(0x0a, 3, 0);
const loadVector = (at: number): number[] => vector(0x00, 3, ...leb(at));
const storeVector = (at: number): number[] => vector(0x0b, 3, ...leb(at));

/** Memory: the rounds' constants, the messages of one call, their hashes. */
const MOST_MESSAGES = 512;
const [INPUT, OUTPUT] = [256, 256 + 64 * MOST_MESSAGES];
const HASH = 32;

/** Parameters: the messages, their end, the hashes. Locals: the round; the Keccak lanes, these after rho and pi, the
 *  columns' parities, theta's effect, and what is rotated. */
const [IN, IN_END, OUT, AT] = [0, 1, 2, 3];
const [A, B, C, D, T] = [4, 29, 54, 59, 64];

function round(): number[] {
  const parity = times(5, (x) => [
    ...get(A + x),
    ...times(4, (y) => [...get(A + x + 5 * (y + 1)), ...xor]),
    ...set(C + x),
  ]);
  const theta = times(5, (x) => [
    ...[...rotl(C + ((x + 1) % 5), 1), ...get(C + ((x + 4) % 5)), ...xor],
    ...set(D + x),
  ]);
  const rhoPi = times(25, (lane) => {
    const [x, y] = [lane % 5, Math.floor(lane / 5)];
    const to = B + y + 5 * ((2 * x + 3 * y) % 5);
    return [
      ...[...get(A + lane), ...get(D + x), ...xor, ...set(T)],
      ...[...rotl(T, ROTATIONS[lane] as number), ...set(to)],
    ];
  });
  const chi = times(25, (lane) => {
    const next = (by: number): number[] => get(B + 5 * Math.floor(lane / 5) + ((lane + by) % 5));
    return [...get(B + lane), ...next(2), ...next(1), ...andNot, ...xor, ...set(A + lane)];
  });
  const iota = [...get(A), ...get(AT), ...loadSplat, ...xor, ...set(A)];
  return [...parity, ...theta, ...rhoPi, ...chi, ...iota];
}

/** @param length of a message, bytes */
function body(length: number): number[] {
  const lanes = length / 8;
  const differs = times(lanes, (lane) => [
    ...[...get(A + lane), ...loadBoth(AT, 8 * lane, length), ...xor],
    ...(lane === 0 ? [] : or),
  ]);
  const permute = [
    ...splat(1, 0),
    ...set(A + lanes),
    ...times(24 - lanes, (i) => {
      const lane = lanes + 1 + i;
      // Keccak's own padding begins behind the message and ends where the rate does.
      return [...(lane === 16 ? splat(0, 0x80000000) : splat(0, 0)), ...set(A + lane)];
    }),
    ...[...number32(0), ...set(AT)],
    ...OP.loop,
    ...round(),
    ...advance(AT, number32(8), number32(8 * ROUND_CONSTANTS.length)),
    ...times(HASH / 8, (lane) =>
      times(2, (message) => [
        ...[...get(OUT), ...get(A + lane)],
        ...storeLane(8 * lane + HASH * message, message),
      ]),
    ),
  ];
  const copy = times((2 * HASH) / 16, (i) => [
    ...get(OUT),
    ...[...get(OUT), ...number32(2 * HASH), OP.subtract32, ...loadVector(16 * i)],
    ...storeVector(16 * i),
  ]);
  return [
    ...OP.loop,
    ...times(lanes, (lane) => [...loadBoth(IN, 8 * lane, length), ...set(A + lane)]),
    // Two messages that are those before have their hashes; in front of the first there are none.
    ...[...get(IN), ...number32(2 * length), OP.subtract32, ...set(AT)],
    ...[...get(IN), ...number32(INPUT), OP.equal32, ...differs, ...isAnySet, OP.or32],
    ...[...OP.if, ...permute, OP.else, ...copy, OP.end],
    ...[...get(OUT), ...number32(2 * HASH), OP.add32, ...set(OUT)],
    ...advance(IN, number32(2 * length), get(IN_END)),
  ];
}

const hashes = (length: number): WasmFunction<"hashes"> => ({
  name: "hashes",
  parameters: 3,
  locals: [
    [1, I32],
    [61, V128],
  ],
  body: body(length),
});

/** Hashes of messages of one length that follow one another: writes 32 bytes each into `out` from `at` on. */
export type HashMessages = (
  out: Uint8Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  count: number,
) => void;

/** @param length of a message, bytes: 32 or 64
 *  @returns undefined where the engine lacks vectors */
export function compileHashes(length: 32 | 64): HashMessages | undefined {
  const instance = compileWasm(hashes(length))?.();
  if (instance === undefined) return undefined;
  const { memory, calls } = instance;
  const constants = new DataView(memory.buffer);
  for (const [i, constant] of ROUND_CONSTANTS.entries()) constants.setBigUint64(8 * i, constant, true);
  const view = new Uint8Array(memory.buffer);
  return (out, at, bytes, start, count) => {
    for (let done = 0; done < count; done += MOST_MESSAGES) {
      const some = Math.min(MOST_MESSAGES, count - done);
      const from = start + length * done;
      view.set(bytes.subarray(from, from + length * some), INPUT);
      // Of an odd number the last one is beside whatever lies there.
      calls.hashes(INPUT, INPUT + length * some, OUTPUT);
      out.set(view.subarray(OUTPUT, OUTPUT + HASH * some), at + HASH * done);
    }
  };
}
