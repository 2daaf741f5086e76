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
  load8: 0x2d,
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

/** Of a load or a store; nothing is known of how addresses are aligned, which changes no result. */
export const at = (offset: number): number[] => [0, ...leb(offset)];

/** `local + by` */
export const added = (local: number, by: number[]): number[] => [...get(local), ...by, OP.add32];
/** `local += by` */
export const moved = (local: number, by: number[]): number[] => [...added(local, by), ...set(local)];

/** `local += by; if (local < limit) repeat` at the end of a loop; both as unsigned numbers. */
export const advance = (local: number, by: number[], limit: number[]): number[] => {
  const next = [...added(local, by), OP.tee, ...leb(local)];
  return [...next, ...limit, OP.less32, OP.branchIf, 0, OP.end];
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

/** Most pages of 64 KB that an address of 32 bits reaches. */
const MOST_PAGES = 65_536;
/** Where a module finds the memory that it is given. */
const FROM = { module: "threads", name: "memory" };

/** A module that exports the functions. "own": and `memory` of one page of 64 KB, which is theirs together. "shared": they
 *  use a memory that is given, and that other threads may use too. */
function wasmModule(
  functions: readonly WasmFunction<string>[],
  memory: "own" | "shared",
): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: number[]): number[] => [id, ...leb(content.length), ...content];
  const list = (items: readonly number[][]): number[] => [...leb(items.length), ...items.flat()];
  const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];
  const code = ({ locals, body }: WasmFunction<string>): number[] => {
    const declared = list(locals.map(([count, type]) => [...leb(count), type]));
    return [...leb(declared.length + body.length + 1), ...declared, ...body, OP.end];
  };
  const types = functions.map(({ parameters }) => [0x60, parameters, ...times(parameters, () => [I32]), 0]);
  const names = functions.map(({ name }, i) => [...text(name), 0, i]);
  const imported = [...text(FROM.module), ...text(FROM.name), 2, 3, 0, ...leb(MOST_PAGES)];
  const exported = memory === "own" ? [[...text("memory"), 2, 0]] : [];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...(memory === "own" ? [] : section(2, list([imported]))),
    ...section(3, list(functions.map((_, i) => [i]))),
    ...(memory === "own" ? section(5, [1, 0, 1]) : []),
    ...section(7, list([...exported, ...names])),
    ...section(10, list(functions.map(code))),
  ]);
}

/** What Node has of WebAssembly's API; its types lack it. */
interface WebAssemblyApi {
  readonly validate: (bytes: Uint8Array) => boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports?: object) => { readonly exports: object };
  readonly Memory: new (limits: {
    readonly initial: number;
    readonly maximum: number;
    readonly shared: boolean;
  }) => SharedMemory;
}

/** Memory of modules in several threads: it travels in messages, and does not grow. */
export interface SharedMemory {
  readonly buffer: SharedArrayBuffer;
}

const api = (): WebAssemblyApi | undefined =>
  (globalThis as unknown as { readonly WebAssembly?: WebAssemblyApi }).WebAssembly;

/** @param pages of 64 KB @throws RangeError where there is no memory */
export function sharedMemory(pages: number): SharedMemory {
  const engine = api();
  if (engine === undefined) throw new RangeError("there is no WebAssembly");
  return new engine.Memory({ initial: pages, maximum: pages, shared: true });
}

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
  const made = compiled(functions, "own");
  if (made === undefined) return undefined;
  return () => {
    const { memory, ...calls } = made();
    return { memory, calls } as unknown as WasmInstance<Name>;
  };
}

/** The same over memory that other threads may use too; undefined also where this engine lacks such memory. */
export function compileShared<Name extends string>(
  ...functions: readonly WasmFunction<Name>[]
): ((memory: SharedMemory) => WasmInstance<Name>["calls"]) | undefined {
  const made = compiled(functions, "shared");
  return made && ((memory) => ({ ...made({ [FROM.module]: { [FROM.name]: memory } }) }) as never);
}

/** What WebAssembly makes, or the plain form where this engine has none or no memory for it. */
export function orPlain<T>(make: () => T | undefined, plain: () => T): T {
  try {
    return make() ?? plain();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return plain();
  }
}

function compiled(
  functions: readonly WasmFunction<string>[],
  memory: "own" | "shared",
): ((imports?: object) => Readonly<Record<string, unknown>>) | undefined {
  const bytes = wasmModule(functions, memory);
  const engine = api();
  if (engine?.validate(bytes) !== true) return undefined;
  const module = new engine.Module(bytes);
  return (imports) => new engine.Instance(module, imports).exports as Readonly<Record<string, unknown>>;
}
