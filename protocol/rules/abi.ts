/** Calldata and return data of a model's one function (docs/EXACT.md, section 5). */
import { concatHex, type Hex, numberToHex } from "viem";
import { fromHex } from "../../base/bytes.ts";
import { BaseError, isBaseError } from "../../base/errors.ts";
import type { AbiParameter } from "../../inference/manifest/abi.ts";
import type { InputCodec } from "../../inference/program/form.ts";
import { decodeValues, encodeValues, renamed } from "./abi-values.ts";
import type { ModelWord } from "./words.ts";

export interface ModelFunction {
  /** 4 bytes */
  readonly selector: Hex;
  readonly inputs: readonly AbiParameter[];
  readonly outputs: readonly AbiParameter[];
}

/** Parameters of a model's function by its input codec, for one whose manifest is not known. */
export const CODEC_INPUTS: Readonly<Record<InputCodec, readonly AbiParameter[]>> = {
  text: [{ name: "text", type: "string" }],
  prices: [
    { name: "closes", type: "uint256[]" },
    { name: "highs", type: "uint256[]" },
    { name: "lows", type: "uint256[]" },
  ],
  int16s: [{ name: "int16s", type: "uint256[]" }],
  raw: [{ name: "data", type: "bytes" }],
};

/** The function as the codecs give it, for a model of which only the registry's word is known. */
export function functionOfWord(word: ModelWord): ModelFunction {
  const outputs: AbiParameter[] =
    word.outputCodec === "words"
      ? Array.from({ length: word.outputLength / 32 }, (_, i) => ({ name: `output${i}`, type: "int256" }))
      : [{ name: "output", type: word.outputCodec === "int16s" ? "uint256[]" : "bytes" }];
  return {
    selector: numberToHex(word.selector, { size: 4 }),
    inputs: CODEC_INPUTS[word.inputCodec],
    outputs,
  };
}

/** @param values by parameter name; integers as numbers, decimal strings or bigint
 *  @throws BaseError INPUTS_INVALID */
export function encodeCall(
  { selector, inputs }: ModelFunction,
  values: Readonly<Record<string, unknown>>,
): Hex {
  const names = inputs.map(({ name }, index) => name || `${index}`);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  const missing = names.find((name) => values[name] === undefined);
  if (unknown !== undefined || missing !== undefined) {
    throw inputsInvalid(names, missing === undefined ? `${unknown} is unknown` : `${missing} is missing`);
  }
  try {
    const encoded = encodeValues(
      inputs,
      names.map((name) => values[name]),
    );
    return concatHex([selector, encoded]);
  } catch (cause) {
    throw isBaseError(cause) ? inputsInvalid(names, cause.shortMessage.slice(0, -1), cause) : cause;
  }
}

/** @returns values by parameter name, `0`, `1`, … where they have none
 *  @throws BaseError OUTPUT_INVALID for return data of another form */
export function decodeReturn({ outputs }: ModelFunction, output: Hex): Record<string, unknown> {
  try {
    const values = decodeValues(outputs, fromHex(output));
    return Object.fromEntries(outputs.map(({ name }, index) => [name || `${index}`, values[index]]));
  } catch (cause) {
    throw renamed(cause, "OUTPUT_INVALID", "Check that the manifest is the model's.");
  }
}

function inputsInvalid(names: readonly string[], why: string, cause?: unknown): BaseError {
  return new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: `The inputs do not fit the model's function: ${why}.`,
    nextStep: `Give a JSON object with ${names.join(", ")}.`,
    cause,
  });
}
