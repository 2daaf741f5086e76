/** Calldata and return data as answers show them. */
import { type Hex, size, slice } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { isBaseError } from "../../base/errors.ts";
import { meaningIfAny } from "../../inference/meaning/read.ts";
import { functionOfWord, type ModelFunction } from "../../protocol/rules/abi.ts";
import { decodeValues } from "../../protocol/rules/abi-values.ts";
import { decodeModelWord, type ModelWord } from "../../protocol/rules/words.ts";
import type { Data } from "../api/types.ts";
import type { ReadParts, Shelved } from "./parts.ts";
import { tokensOf } from "./tokens.ts";

/** Most bytes that an answer repeats. */
const MAX_BYTES = 262_144;

/** The model's function with the names of its manifest, where this explorer has it. */
export async function functionOf(
  { library, index }: ReadParts,
  modelId: Hex,
): Promise<ModelFunction | undefined> {
  const known = library.get(modelId)?.function;
  if (known !== undefined) return known;
  const word = decodeModelWord((await index.tables.model(modelId))?.word ?? 0n);
  return word && functionOfWord(word);
}

/** The same of a model whose word is known. */
export const functionIn = ({ library }: Shelved, modelId: Hex, word: ModelWord): ModelFunction =>
  library.get(modelId)?.function ?? functionOfWord(word);

/** @param input a model's calldata, selector included */
export async function inputView(parts: ReadParts, modelId: Hex, input: Hex): Promise<Data> {
  const called = await functionOf(parts, modelId);
  if (called === undefined || size(input) < 4) return cut(input);
  const body = slice(input, 4);
  const values = valuesOf(called.inputs, body);
  const tokens = await tokensOf(parts.library, modelId, body, "inputs");
  return {
    ...cut(input),
    ...(values === undefined ? {} : { values }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}

/** @param output return data that anybody may have claimed: it need not decode */
export async function outputView(parts: ReadParts, modelId: Hex, output: Hex): Promise<Data> {
  const called = await functionOf(parts, modelId);
  const values = called && valuesOf(called.outputs, output);
  const { meaning } = meaningIfAny(parts.library.get(modelId)?.readable, fromHex(output));
  const tokens = await tokensOf(parts.library, modelId, output, "outputs");
  return {
    ...cut(output),
    ...(values === undefined ? {} : { values }),
    // Readings are JSON throughout; their arrays are read-only in TypeScript alone.
    ...(meaning === undefined ? {} : { meaning: meaning as NonNullable<Data["meaning"]> }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}

function valuesOf(parameters: ModelFunction["inputs"], data: Hex): Record<string, unknown> | undefined {
  try {
    const values = decodeValues(parameters, fromHex(data));
    return Object.fromEntries(parameters.map(({ name }, i) => [name || `${i}`, values[i]]));
  } catch (error) {
    // A contract may ask for any bytes, and a claim may state any.
    if (isBaseError(error)) return undefined;
    throw error;
  }
}

function cut(data: Hex): Pick<Data, "hex" | "bytes" | "isCut"> {
  const bytes = size(data);
  return bytes <= MAX_BYTES
    ? { hex: data, bytes, isCut: false }
    : { hex: slice(data, 0, MAX_BYTES), bytes, isCut: true };
}
