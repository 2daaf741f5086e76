/** The permutation Keccak-f[1600] as WebAssembly: 64-bit words, which JavaScript lacks, make trees some twenty times
 *  faster to build. Source: FIPS 202, section 3. */

import { advance, compileWasm, get, I32, I64, leb, number32, OP, set, signedLeb, times } from "../wasm.ts";

/** 25 Keccak lanes of 64 bits, little-endian, lane x + 5y at 8·(x + 5y). */
const STATE_BYTES = 200;
const ROUNDS = 24;
const CONSTANTS_AT = 256;

export interface KeccakF {
  /** The state, in place. */
  readonly state: Uint8Array;
  /** Permutes the state. */
  readonly permute: () => void;
}

/** Locals: the lanes, the lanes after rho and pi, the columns' parities, theta's effect, and the round's constant. */
const [A, B, C, D, AT] = [0, 25, 50, 55, 60];
const MINUS_ONE = 0x7f;

const rotl = (by: number): number[] => (by === 0 ? [] : [OP.const64, ...signedLeb(by), OP.rotl64]);
const load = (base: number[], at: number): number[] => [...base, OP.load64, 3, ...leb(at)];

/** Of each lane, bits. */
export const ROTATIONS: readonly number[] = rotations();

function rotations(): number[] {
  const by = new Array<number>(25).fill(0);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t++) {
    by[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return by;
}

function round(): number[] {
  const parity = times(5, (x) => [
    ...get(A + x),
    ...times(4, (y) => [...get(A + x + 5 * (y + 1)), OP.xor64]),
    ...set(C + x),
  ]);
  const theta = times(5, (x) => [
    ...get(C + ((x + 1) % 5)),
    ...rotl(1),
    ...get(C + ((x + 4) % 5)),
    OP.xor64,
    ...set(D + x),
  ]);
  const rhoPi = times(25, (lane) => {
    const [x, y] = [lane % 5, Math.floor(lane / 5)];
    const to = B + y + 5 * ((2 * x + 3 * y) % 5);
    return [...get(A + lane), ...get(D + x), OP.xor64, ...rotl(ROTATIONS[lane] as number), ...set(to)];
  });
  const chi = times(25, (lane) => {
    const row = 5 * Math.floor(lane / 5);
    const next = (by: number): number[] => get(B + row + ((lane + by) % 5));
    const flipped = [...next(1), OP.const64, MINUS_ONE, OP.xor64, ...next(2), OP.and64];
    return [...flipped, ...get(B + lane), OP.xor64, ...set(A + lane)];
  });
  const iota = [...get(A), ...load(get(AT), CONSTANTS_AT), OP.xor64, ...set(A)];
  return [...parity, ...theta, ...rhoPi, ...chi, ...iota];
}

function body(): number[] {
  const zero = [OP.const32, 0];
  return [
    ...times(25, (lane) => [...load(zero, 8 * lane), ...set(A + lane)]),
    ...OP.loop,
    ...round(),
    ...advance(AT, number32(8), number32(8 * ROUNDS)),
    ...times(25, (lane) => [...zero, ...get(A + lane), OP.store64, 3, ...leb(8 * lane)]),
  ];
}

/** Of each round, from the linear feedback shift register of FIPS 202, section 3.2.5. */
export const ROUND_CONSTANTS: readonly bigint[] = roundConstants();

function roundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** j - 1);
      register <<= 1;
      if (register > 0xff) register ^= 0x171;
    }
    return constant;
  });
}

/** Compiles the permutation over memory of its own.
 *  @throws Error where the engine has no WebAssembly */
export function compileKeccakF(): KeccakF {
  const locals = [
    [60, I64],
    [1, I32],
  ] as const;
  const instantiate = compileWasm({ name: "permute", parameters: 0, locals, body: body() });
  if (instantiate === undefined)
    throw new Error("keccak256 needs WebAssembly: run Node.js without --jitless.");
  const { memory, calls } = instantiate();
  const { buffer } = memory;
  const view = new DataView(buffer);
  for (const [i, constant] of ROUND_CONSTANTS.entries()) {
    view.setBigUint64(CONSTANTS_AT + 8 * i, constant, true);
  }
  return { state: new Uint8Array(buffer, 0, STATE_BYTES), permute: calls.permute };
}
