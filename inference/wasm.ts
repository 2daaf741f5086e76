/** Writes WebAssembly modules of one function, for what JavaScript is slow at: 64-bit words and vectors.
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
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  load64: 0x29,
  store64: 0x37,
  const32: 0x41,
  const64: 0x42,
  equal32: 0x46,
  less32: 0x49,
  add32: 0x6a,
  sub32: 0x6b,
  or32: 0x72,
  and64: 0x83,
  xor64: 0x85,
  rotl64: 0x89,
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
export const get = (local: number): number[] => [OP.get, ...leb(local)];
export const set = (local: number): number[] => [OP.set, ...leb(local)];
export const times = (count: number, part: (i: number) => number[]): number[] =>
  Array.from({ length: count }, (_, i) => part(i)).flat();

/** `local += by; if (local < limit) repeat` at the end of a loop; both as unsigned numbers. */
export const advance = (local: number, by: number[], limit: number[]): number[] => {
  const moved = [...get(local), ...by, OP.add32, OP.tee, ...leb(local)];
  return [...moved, ...limit, OP.less32, OP.branchIf, 0, OP.end];
};

export interface WasmFunction {
  readonly name: string;
  /** Number of parameters, each an i32; nothing is returned. */
  readonly parameters: number;
  /** Locals after the parameters: how many of which type. */
  readonly locals: readonly (readonly [count: number, type: number])[];
  /** Instructions without the last `end`. */
  readonly body: readonly number[];
}

/** A module that exports the function, and `memory` of one page of 64 KB. */
function wasmModule({ name, parameters, locals, body }: WasmFunction): Uint8Array<ArrayBuffer> {
  const section = (id: number, content: number[]): number[] => [id, ...leb(content.length), ...content];
  const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];
  const declared = locals.flatMap(([count, type]) => [...leb(count), type]);
  const code = [locals.length, ...declared, ...body, OP.end];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, parameters, ...times(parameters, () => [I32]), 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...text("memory"), 2, 0, ...text(name), 0, 0]),
    ...section(10, [1, ...leb(code.length), ...code]),
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

/** A function with memory of its own. */
export interface WasmInstance {
  readonly memory: { readonly buffer: ArrayBuffer; readonly grow: (pages: number) => number };
  readonly call: (...parameters: number[]) => void;
}

/** Makes instances of a function; undefined where this engine lacks WebAssembly or one of the instructions. An
 *  instance throws a RangeError where there is no memory for it. */
export function compileWasm(wasm: WasmFunction): (() => WasmInstance) | undefined {
  const bytes = wasmModule(wasm);
  const engine = api();
  if (engine?.validate(bytes) !== true) return undefined;
  const module = new engine.Module(bytes);
  return () => {
    const exports = new engine.Instance(module).exports as Record<string, unknown>;
    return { memory: exports.memory, call: exports[wasm.name] } as WasmInstance;
  };
}
