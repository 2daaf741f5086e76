/** The permutation Keccak-f[1600] as WebAssembly: 64-bit words, which JavaScript lacks, make trees some twenty times
 *  faster to build. The module is written here, byte by byte. Source: FIPS 202, section 3. */

/** 25 lanes of 64 bits, little-endian, lane x + 5y at 8·(x + 5y). */
const STATE_BYTES = 200;
const ROUNDS = 24;
const CONSTANTS_AT = 256;

export interface KeccakF {
  /** The state, in place. */
  readonly state: Uint8Array;
  /** Permutes the state. */
  readonly permute: () => void;
}

/** What Node has of WebAssembly's API; its types lack it. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => {
    readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; readonly permute: () => void };
  };
}

const I64 = 0x7e;
const I32 = 0x7f;
const OP = {
  loop: [0x03, 0x40],
  end: 0x0b,
  branchIf: 0x0d,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  load: 0x29,
  store: 0x37,
  const32: 0x41,
  const64: 0x42,
  less32: 0x49,
  add32: 0x6a,
  and: 0x83,
  xor: 0x85,
  rotl: 0x89,
} as const;

/** Locals: the lanes, the lanes after rho and pi, the columns' parities, theta's effect, and the round's constant. */
const [A, B, C, D, AT] = [0, 25, 50, 55, 60];
const MINUS_ONE = 0x7f;

function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** Signed: bit 6 of the last byte is the sign. */
function signedLeb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signedLeb(value >>> 7)];
}

const get = (local: number): number[] => [OP.get, ...leb(local)];
const set = (local: number): number[] => [OP.set, ...leb(local)];
const rotl = (by: number): number[] => (by === 0 ? [] : [OP.const64, ...signedLeb(by), OP.rotl]);
const load = (base: number[], at: number): number[] => [...base, OP.load, 3, ...leb(at)];
const times = (count: number, part: (i: number) => number[]): number[] =>
  Array.from({ length: count }, (_, i) => part(i)).flat();

/** Rotation of each lane. */
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
  const by = rotations();
  const parity = times(5, (x) => [
    ...get(A + x),
    ...times(4, (y) => [...get(A + x + 5 * (y + 1)), OP.xor]),
    ...set(C + x),
  ]);
  const theta = times(5, (x) => [
    ...get(C + ((x + 1) % 5)),
    ...rotl(1),
    ...get(C + ((x + 4) % 5)),
    OP.xor,
    ...set(D + x),
  ]);
  const rhoPi = times(25, (lane) => {
    const [x, y] = [lane % 5, Math.floor(lane / 5)];
    const to = B + y + 5 * ((2 * x + 3 * y) % 5);
    return [...get(A + lane), ...get(D + x), OP.xor, ...rotl(by[lane] as number), ...set(to)];
  });
  const chi = times(25, (lane) => {
    const row = 5 * Math.floor(lane / 5);
    const next = (by: number): number[] => get(B + row + ((lane + by) % 5));
    const flipped = [...next(1), OP.const64, MINUS_ONE, OP.xor, ...next(2), OP.and];
    return [...flipped, ...get(B + lane), OP.xor, ...set(A + lane)];
  });
  const iota = [...get(A), ...load(get(AT), CONSTANTS_AT), OP.xor, ...set(A)];
  return [...parity, ...theta, ...rhoPi, ...chi, ...iota];
}

function body(): number[] {
  const zero = [OP.const32, 0];
  const again = [...get(AT), OP.const32, 8, OP.add32, OP.tee, ...leb(AT)];
  return [
    ...[2, 60, I64, 1, I32],
    ...times(25, (lane) => [...load(zero, 8 * lane), ...set(A + lane)]),
    ...OP.loop,
    ...round(),
    ...[...again, OP.const32, ...signedLeb(8 * ROUNDS), OP.less32, OP.branchIf, 0, OP.end],
    ...times(25, (lane) => [...zero, ...get(A + lane), OP.store, 3, ...leb(8 * lane)]),
    OP.end,
  ];
}

function wasmModule(): Uint8Array {
  const section = (id: number, content: number[]): number[] => [id, ...leb(content.length), ...content];
  const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
  const code = body();
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...name("memory"), 2, 0, ...name("permute"), 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}

/** The constant of each round, from the linear feedback shift register of FIPS 202, section 3.2.5. */
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

/** Compiles the permutation over memory of its own. */
export function compileKeccakF(): KeccakF {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
  const { memory, permute } = new Instance(new Module(wasmModule())).exports;
  const { buffer } = memory;
  const view = new DataView(buffer);
  for (const [i, constant] of roundConstants().entries()) {
    view.setBigUint64(CONSTANTS_AT + 8 * i, constant, true);
  }
  return { state: new Uint8Array(buffer, 0, STATE_BYTES), permute };
}
