/** Calldata and return data of a model's one function (docs/EXACT.md, section 5). */
import {
  type AbiParameter,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  isHex,
  numberToHex,
} from "viem";
import { BaseError } from "../inference/errors.ts";
import type { InputCodec } from "../inference/program/form.ts";
import type { ModelWord } from "./words.ts";

export interface ModelFunction {
  /** 4 bytes */
  readonly selector: Hex;
  readonly inputs: readonly AbiParameter[];
  readonly outputs: readonly AbiParameter[];
}

const INPUTS: Readonly<Record<InputCodec, readonly AbiParameter[]>> = {
  text: [{ name: "text", type: "string" }],
  prices: [
    { name: "closes", type: "uint256[]" },
    { name: "highs", type: "uint256[]" },
    { name: "lows", type: "uint256[]" },
  ],
  lanes: [{ name: "lanes", type: "uint256[]" }],
  raw: [{ name: "data", type: "bytes" }],
};

/** The function as the codecs give it, for a model of which only the registry's word is known. */
export function functionOfWord(word: ModelWord): ModelFunction {
  const outputs: AbiParameter[] =
    word.outputCodec === "words"
      ? Array.from({ length: word.outputLength / 32 }, (_, i) => ({ name: `output${i}`, type: "int256" }))
      : [{ name: "output", type: word.outputCodec === "lanes" ? "uint256[]" : "bytes" }];
  return { selector: numberToHex(word.selector, { size: 4 }), inputs: INPUTS[word.inputCodec], outputs };
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
    const encoded = encodeAbiParameters(
      inputs,
      inputs.map(({ type }, index) => abiValue(type, values[names[index] as string])),
    );
    return concatHex([selector, encoded]);
  } catch (cause) {
    throw inputsInvalid(names, (cause as Error).message.split("\n")[0] ?? "", cause);
  }
}

/** @returns values by parameter name, `0`, `1`, … where they have none
 *  @throws BaseError OUTPUT_INVALID for return data of another form */
export function decodeReturn({ outputs }: ModelFunction, output: Hex): Record<string, unknown> {
  try {
    const values = decodeAbiParameters(outputs, output);
    return Object.fromEntries(outputs.map(({ name }, index) => [name || `${index}`, values[index]]));
  } catch (cause) {
    throw new BaseError({
      code: "OUTPUT_INVALID",
      shortMessage: `The output of ${output.length / 2 - 1} bytes does not decode as (${outputs.map(({ type }) => type).join(", ")}).`,
      nextStep: "Check that the manifest is the model's.",
      cause,
    });
  }
}

/** A value of JSON as viem takes it. viem alone would encode a number as text, and text that is no hex as bytes.
 *  @throws Error for a value of another type */
function abiValue(type: string, value: unknown): unknown {
  const element = type.replace(/\[\d*\]$/, "");
  if (element !== type && Array.isArray(value)) return value.map((item) => abiValue(element, item));
  if (/^u?int\d*$/.test(type)) {
    if (typeof value === "bigint") return value;
    if (typeof value === "string" ? /^-?\d{1,78}$/.test(value) : Number.isSafeInteger(value))
      return BigInt(value as number | string);
  } else if (
    element === type &&
    (type === "string" ? typeof value === "string" : !type.startsWith("bytes") || isBytes(value))
  ) {
    return value;
  }
  throw new TypeError(`${JSON.stringify(value)?.slice(0, 80)} is no ${type}`);
}

const isBytes = (value: unknown): boolean => isHex(value) && value.length % 2 === 0;

function inputsInvalid(names: readonly string[], why: string, cause?: unknown): BaseError {
  return new BaseError({
    code: "INPUTS_INVALID",
    shortMessage: `The inputs do not fit the model's function: ${why}.`,
    nextStep: `Give a JSON object with ${names.join(", ")}.`,
    cause,
  });
}
