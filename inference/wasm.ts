/** Writes WebAssembly modules, for what JavaScript is slow at: 64-bit words and vectors.
 *  Source: WebAssembly Core Specification 2.0, section 5, binary format. */

export const I32 = 0x7f;
export const I64 = 0x7e;
export const V128 = 0x7b;

/** Instructions by what they do; operands that follow them are the caller's. */
export const OP = {
  loop: [0x03, 0x40],
  if: [0x04, 0x40],
  else: 0x05,
  end: 0x0b,
  branchIf: 0x0d,
  select: 0x1b,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  load32: 0x28,
  load64: 0x29,
  loadFloat32: 0x2a,
  load8As64: 0x31,
  load32As64: 0x35,
  store32: 0x36,
  store64: 0x37,
  store8: 0x3a,
  const32: 0x41,
  const64: 0x42,
  equal32: 0x46,
  lessSigned32: 0x48,
  less32: 0x49,
  greaterSigned32: 0x4a,
  lessSigned64: 0x53,
  greaterSigned64: 0x55,
  add32: 0x6a,
  subtract32: 0x6b,
  or32: 0x72,
  shiftLeft32: 0x74,
  shiftRight32: 0x76,
  add64: 0x7c,
  subtract64: 0x7d,
  multiply64: 0x7e,
  and64: 0x83,
  xor64: 0x85,
  shiftLeft64: 0x86,
  shiftRightSigned64: 0x87,
  rotl64: 0x89,
  nearestFloat32: 0x90,
  multiplyFloat32: 0x94,
  wrap64: 0xa7,
  extend32: 0xac,
  toFloat32: 0xb2,
  /** NaN gives 0, what is beyond s32 its nearest number. */
  toSaturated32: [0xfc, 0x00],
} as const;

/** Unsigned LEB128. */
export function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)];
}

/** Signed LEB128 of a number ≥ 0: bit 6 of the last byte is the sign. */
export function signedLeb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signedLeb(value >>> 7)];
}

/** A number ≥ 0. */
export const number32 = (value: number): number[] => [OP.const32, ...signedLeb(value)];
export const number64 = (value: number): number[] => [OP.const64, ...signedLeb(value)];
export const get = (local: number): number[] => [OP.get, ...leb(local)];
export const set = (local: number): number[] => [OP.set, ...leb(local)];
export const times = (count: number, part: (i: number) => number[]): number[] =>
  Array.from({ length: count }, (_, i) => part(i)).flat();

/** Of vectors, by the code behind their prefix. */
export const vector = (code: number, ...operands: number[]): number[] => [0xfd, ...leb(code), ...operands];

/** `local += by; if (local < limit) repeat` at the end of a loop; both as unsigned numbers. */
export const advance = (local: number, by: number[], limit: number[]): number[] => {
  const moved = [...get(local), ...by, OP.add32, OP.tee, ...leb(local)];
  return [...moved, ...limit, OP.less32, OP.branchIf, 0, OP.end];
};

export interface WasmFunction<Name extends string> {
  readonly name: Name;
  /** Number of parameters, each an i32; nothing is returned. */
  readonly parameters: number;
  /** Locals after the parameters: how many of which type. */
  readonly locals: readonly (readonly [count: number, type: number])[];
  /** Instructions without the last `end`. */
  readonly body: readonly number[];
}

/** A module that exports the functions, and `memory` of one page of 64 KB, which is theirs together. */
function wasmModule(functions: readonly WasmFunction<string>[]): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: number[]): number[] => [id, ...leb(content.length), ...content];
  const list = (items: readonly number[][]): number[] => [...leb(items.length), ...items.flat()];
  const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];
  const code = ({ locals, body }: WasmFunction<string>): number[] => {
    const declared = list(locals.map(([count, type]) => [...leb(count), type]));
    return [...leb(declared.length + body.length + 1), ...declared, ...body, OP.end];
  };
  const types = functions.map(({ parameters }) => [0x60, parameters, ...times(parameters, () => [I32]), 0]);
  const names = functions.map(({ name }, i) => [...text(name), 0, i]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(3, list(functions.map((_, i) => [i]))),
    ...section(5, [1, 0, 1]),
    ...section(7, list([[...text("memory"), 2, 0], ...names])),
    ...section(10, list(functions.map(code))),
  ]);
}

/** What Node has of WebAssembly's API; its types lack it. */
interface WebAssemblyApi {
  readonly validate: (bytes: Uint8Array) => boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
}

const api = (): WebAssemblyApi | undefined =>
  (globalThis as unknown as { readonly WebAssembly?: WebAssemblyApi }).WebAssembly;

/** Functions with memory of their own. */
export interface WasmInstance<Name extends string> {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
  readonly calls: Readonly<Record<Name, (...parameters: number[]) => void>>;
}

/** Makes instances of a module; undefined where this engine lacks WebAssembly or one of the instructions. An
 *  instance throws a RangeError where there is no memory for it. */
export function compileWasm<Name extends string>(
  ...functions: readonly WasmFunction<Name>[]
): (() => WasmInstance<Name>) | undefined {
  const bytes = wasmModule(functions);
  const engine = api();
  if (engine?.validate(bytes) !== true) return undefined;
  const module = new engine.Module(bytes);
  return () => {
    const { memory, ...calls } = new engine.Instance(module).exports as Record<string, unknown>;
    return { memory, calls } as WasmInstance<Name>;
  };
}
