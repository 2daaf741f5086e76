/** assay-exact as a WebAssembly module (`crates/assay-wasm`), with one model. */
import { concatBytes } from "../base/bytes.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import type { Model } from "../inference/program/form.ts";

/** What Node.js has of WebAssembly's API; its types lack it. */
interface WebAssemblyApi {
  instantiate(module: Uint8Array): Promise<{ readonly instance: { readonly exports: unknown } }>;
}

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  allocate(length: number): number;
  prepare(programLength: number): number;
  execute(): number;
  result(): number;
  result_length(): number;
}

/** @param module content of the .wasm file @returns calldata → return data
 *  @throws Error with the module's reason where it refuses */
export async function rustModule(
  module: Uint8Array,
  { program, weights }: Model,
  selector: Uint8Array,
): Promise<(calldata: Uint8Array) => Uint8Array> {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi };
  const { instance } = await WebAssembly.instantiate(module);
  const exports = instance.exports as Exports;
  const put = (bytes: Uint8Array): void => {
    const at = exports.allocate(bytes.length);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  };
  const take = (isDone: number): Uint8Array => {
    const bytes = new Uint8Array(exports.memory.buffer, exports.result(), exports.result_length()).slice();
    if (isDone === 1) return bytes;
    throw new Error(`assay-wasm: ${new TextDecoder().decode(bytes)}`);
  };
  const content = encodeProgram(program);
  put(concatBytes(selector, content, ...weights));
  take(exports.prepare(content.length));
  return (calldata) => {
    put(calldata);
    return take(exports.execute());
  };
}
