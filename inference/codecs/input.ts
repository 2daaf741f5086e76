import { concatBytes, equalBytes, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { InputCodec, Program, Step, TensorData } from "../program/form.ts";
import { type AbiType, decodeAbi, encodeAbi } from "./abi.ts";
import { int16sTensor, readInt16s, writeInt16s } from "./int16s.ts";
import { type Prices, pricesTensor, readPrices, writePrices } from "./prices.ts";
import { rawTensor } from "./raw.ts";
import { type TokenCache, textIds } from "./text.ts";

/** Decoded calldata. */
export type CodecInput =
  | { readonly codec: "text"; readonly text: Uint8Array }
  | ({ readonly codec: "prices" } & Prices)
  | { readonly codec: "int16s"; readonly int16s: ArrayLike<number> }
  | { readonly codec: "raw"; readonly bytes: Uint8Array };

const SELECTOR_BYTES = 4;

/** Types of the arguments of each codec. */
export const INPUT_TYPES: Readonly<Record<InputCodec, readonly AbiType[]>> = {
  text: ["string"],
  prices: ["uint256[]", "uint256[]", "uint256[]"],
  int16s: ["uint256[]"],
  raw: ["bytes"],
};

/** Decodes calldata under the one canonical encoding. Source: docs/EXACT.md, section 5.
 *  @param selector the model's 4 bytes
 *  @throws BaseError SELECTOR_MISMATCH, CALLDATA_NOT_CANONICAL, TEXT_TOO_LONG, PRICES_INVALID, INT16S_INVALID or
 *  RAW_LENGTH_INVALID */
export function decodeInput(
  { inputCodec, inputSize }: Pick<Program, "inputCodec" | "inputSize">,
  selector: Uint8Array,
  calldata: Uint8Array,
): CodecInput {
  const found = calldata.subarray(0, SELECTOR_BYTES);
  if (!equalBytes(found, selector)) {
    throw new BaseError({
      code: "SELECTOR_MISMATCH",
      shortMessage: `Calldata of ${calldata.length} bytes starts with ${toHex(found)}, must be ${toHex(selector)}.`,
      nextStep: "Call the function that the model's manifest names.",
      details: { found: toHex(found), selector: toHex(selector) },
    });
  }
  const contents = decodeAbi(INPUT_TYPES[inputCodec], calldata.subarray(SELECTOR_BYTES));
  const first = contents[0] as Uint8Array;
  switch (inputCodec) {
    case "text":
      return { codec: "text", text: checkText(first, inputSize) };
    case "prices": {
      const [closes, highs, lows] = ["closes", "highs", "lows"].map((name, i) =>
        readPrices(contents[i] as Uint8Array, inputSize, name),
      ) as [bigint[], bigint[], bigint[]];
      return { codec: "prices", closes, highs, lows };
    }
    case "int16s":
      return { codec: "int16s", int16s: readInt16s(first, inputSize) };
    case "raw":
      return { codec: "raw", bytes: checkRaw(first, inputSize) };
  }
}

/** Inverse of `decodeInput`. Numbers saturate to 16 bits.
 *  @throws BaseError as `decodeInput`, and INPUT_CODEC_MISMATCH for the input of another codec */
export function encodeInput(
  program: Pick<Program, "inputCodec" | "inputSize">,
  selector: Uint8Array,
  input: CodecInput,
): Uint8Array {
  const { inputCodec, inputSize } = program;
  if (input.codec !== inputCodec) {
    throw new BaseError({
      code: "INPUT_CODEC_MISMATCH",
      shortMessage: `The input is for the codec ${input.codec}, the model takes ${inputCodec}.`,
      nextStep: `Give the input as the codec ${inputCodec} takes it.`,
      details: { codec: input.codec, limit: inputCodec },
    });
  }
  const calldata = concatBytes(selector, encodeAbi(INPUT_TYPES[inputCodec], contentsOf(input, inputSize)));
  decodeInput(program, selector, calldata);
  return calldata;
}

function contentsOf(input: CodecInput, size: number): Uint8Array[] {
  switch (input.codec) {
    case "text":
      return [checkText(input.text, size)];
    case "prices":
      return (["closes", "highs", "lows"] as const).map((name) => writePrices(input[name], name));
    case "int16s":
      return [writeInt16s(input.int16s)];
    case "raw":
      return [checkRaw(input.bytes, size)];
  }
}

function checkText(text: Uint8Array, most: number): Uint8Array {
  if (text.length <= most) return text;
  throw new BaseError({
    code: "TEXT_TOO_LONG",
    shortMessage: `The text has ${text.length} bytes, at most ${most} are allowed.`,
    nextStep: "Shorten the text.",
    details: { bytes: text.length, limit: most },
  });
}

function checkRaw(bytes: Uint8Array, size: number): Uint8Array {
  if (bytes.length === size) return bytes;
  throw new BaseError({
    code: "RAW_LENGTH_INVALID",
    shortMessage: `The raw input has ${bytes.length} bytes, must be ${size}.`,
    nextStep: "Join all input tensors in the declared order and layout.",
    details: { bytes: bytes.length, limit: size },
  });
}

/** Writes the content of one CODEC step. */
export function fillInputTensor(step: Step, input: CodecInput, out: TensorData, cache?: TokenCache): void {
  switch (input.codec) {
    case "text": {
      const [tokens, width] = step.dims as [number, number];
      out.set(textIds(input.text, { tokens, grams: width - 1, rows: step.k }, cache));
      break;
    }
    case "prices":
      pricesTensor(input, out as Int32Array);
      break;
    case "int16s":
      int16sTensor(input.int16s, out as Int32Array, step.k);
      break;
    case "raw":
      rawTensor(input.bytes, step.type, out, step.k);
      break;
  }
}
