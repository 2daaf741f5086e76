/** What a model is derived of: entries and tensors of a GGUF file, which it must have as they are wanted. */
import { fail } from "../onnx/fail.ts";
import { type Gguf, type GgufTensor, oneLine } from "./gguf.ts";

/** @throws GGUF_INVALID unless it is above 0 and not too large */
export function numberEntry({ metadata }: Gguf, key: string, most = 2 ** 20): number {
  const value = metadata.get(key);
  if (typeof value === "number" && value > 0 && value <= most) return value;
  throw wrong(`its entry ${key} is ${value}, must be above 0 and at most ${most}`);
}

/** @throws GGUF_INVALID unless it is a whole number above 0 */
export function countEntry(file: Gguf, key: string, most = 2 ** 20): number {
  const value = numberEntry(file, key, most);
  if (Number.isInteger(value)) return value;
  throw wrong(`its entry ${key} is ${value}, must be a whole number`);
}

/** @throws GGUF_INVALID */
export function requireArchitecture({ metadata }: Gguf, wanted: string): void {
  const architecture = metadata.get("general.architecture");
  if (architecture !== wanted) throw wrong(`its architecture is ${architecture}, ${wanted} is derived`);
}

/** @throws GGUF_INVALID */
export function tensorOf({ tensors }: Gguf, name: string): GgufTensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw wrong(`it has no tensor ${name}`);
  return tensor;
}

/** Every tensor has the dims that are wanted, and there is none that would be left out.
 *  @param wanted dims by name @throws GGUF_INVALID */
export function requireTensors(file: Gguf, wanted: ReadonlyMap<string, readonly number[]>): void {
  for (const [name, dims] of wanted) {
    const found = tensorOf(file, name).dims;
    if (found.join() !== dims.join()) throw wrong(`tensor ${name} is [${found}], must be [${dims}]`);
  }
  const unused = [...file.tensors.keys()].find((name) => !wanted.has(name));
  if (unused !== undefined) throw wrong(`nothing is made of its tensor ${unused}`);
}

/** @param what is wrong with the file */
export const wrong = (what: string) =>
  fail(
    "GGUF_INVALID",
    `No model can be derived from the GGUF file: ${oneLine(what)}.`,
    "Take the file that the scales were measured on.",
  );
