/** Compact leaves: an input and an output in few bytes (docs/PROMISES.md). Any bytes of the right length are
 *  the leaf of some canonical input and of some output of the right length, so no leaf that was posted is unopenable.
 *
 *  Input: text u16 length and the bytes; prices closes, highs and lows, u128 each; int16s the numbers, 2 bytes each; raw
 *  the bytes. Output: words s32 each; int16s the words; raw u32 length and the words. All big-endian. */
import { concatBytes, viewOf } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import { readWord, writeWord } from "../../../inference/codecs/abi.ts";
import { type CodecInput, decodeInput, encodeInput } from "../../../inference/codecs/input.ts";
import type { ModelWord } from "../words.ts";

/** What a leaf depends on. */
export type LeafModel = Pick<
  ModelWord,
  "selector" | "inputCodec" | "outputCodec" | "inputSize" | "outputLength"
>;

export interface LeafContent {
  /** calldata, selector included */
  readonly input: Uint8Array;
  /** return data */
  readonly output: Uint8Array;
}

const TEXT_LENGTH_BYTES = 2;
const RAW_LENGTH_BYTES = 4;
const PRICE_BYTES = 16;
const WORD_BYTES = 32;
/** Offset and length, of return data that are dynamic. */
const HEAD_BYTES = 64;

/** Bytes of every leaf of a model; of a text its content comes in addition. */
export const leafBytes = (model: LeafModel): number => inputBytes(model) + outputBytes(model);

function inputBytes({ inputCodec, inputSize }: LeafModel): number {
  switch (inputCodec) {
    case "text":
      return TEXT_LENGTH_BYTES;
    case "prices":
      return 3 * PRICE_BYTES * inputSize;
    case "int16s":
      return 2 * inputSize;
    case "raw":
      return inputSize;
  }
}

function outputBytes({ outputCodec, outputLength }: LeafModel): number {
  switch (outputCodec) {
    case "words":
      return outputLength / 8;
    case "int16s":
      return outputLength - HEAD_BYTES;
    case "raw":
      return outputLength - HEAD_BYTES + RAW_LENGTH_BYTES;
  }
}

/** The leaf of a canonical input and an output that the model's last step can give.
 *  @throws BaseError as decodeInput, LEAF_NOT_COMPACT where a number does not fit, OUTPUT_LENGTH_WRONG */
export function compactLeaf(model: LeafModel, { input, output }: LeafContent): Uint8Array {
  return concatBytes(compactInput(model, input), compactOutput(model, output));
}

function compactInput(model: LeafModel, calldata: Uint8Array): Uint8Array {
  const input = decodeInput(model, selectorOf(model), calldata);
  switch (input.codec) {
    case "text":
      return concatBytes(Uint8Array.of(input.text.length >> 8, input.text.length & 255), input.text);
    case "prices": {
      const prices = [...input.closes, ...input.highs, ...input.lows];
      const compact = new Uint8Array(PRICE_BYTES * prices.length);
      for (const [i, price] of prices.entries()) {
        if (price >> BigInt(8 * PRICE_BYTES) !== 0n) refuse(`price ${i}`, price, "2^128 - 1");
        const word = new Uint8Array(WORD_BYTES);
        writeWord(word, 0, price);
        compact.set(word.subarray(WORD_BYTES - PRICE_BYTES), PRICE_BYTES * i);
      }
      return compact;
    }
    case "int16s": {
      const compact = new Uint8Array(2 * input.int16s.length);
      const view = viewOf(compact);
      for (let i = 0; i < input.int16s.length; i++) view.setInt16(2 * i, input.int16s[i] as number);
      return compact;
    }
    case "raw":
      return input.bytes;
  }
}

function compactOutput({ outputCodec, outputLength }: LeafModel, output: Uint8Array): Uint8Array {
  if (output.length !== outputLength) {
    throw new BaseError({
      code: "OUTPUT_LENGTH_WRONG",
      shortMessage: `The output has ${output.length} bytes, must have ${outputLength}.`,
      nextStep: "Give the whole return data of this model.",
      details: { bytes: output.length, limit: outputLength },
    });
  }
  if (outputCodec === "words") {
    const compact = new Uint8Array(outputLength / 8);
    const view = viewOf(compact);
    for (let i = 0; i < outputLength / WORD_BYTES; i++) {
      const value = BigInt.asIntN(256, readWord(output, WORD_BYTES * i));
      if (BigInt.asIntN(32, value) !== value) refuse(`word ${i}`, value, "32 signed bits");
      view.setInt32(4 * i, Number(value));
    }
    return compact;
  }
  const words = output.subarray(HEAD_BYTES);
  const length = readWord(output, WORD_BYTES);
  const expected = outputCodec === "int16s" ? BigInt(words.length / WORD_BYTES) : length;
  if (readWord(output, 0) !== 32n) refuse("offset", readWord(output, 0), "32");
  if (length !== expected || length >> 32n !== 0n) refuse("length", length, `${expected}, and 2^32 - 1`);
  if (outputCodec === "int16s") return words;
  const prefix = new Uint8Array(RAW_LENGTH_BYTES);
  viewOf(prefix).setUint32(0, Number(length));
  return concatBytes(prefix, words);
}

/** What a leaf stands for. Inverse of `compactLeaf`; total on any bytes of the right length.
 *  @throws BaseError LEAF_LENGTH_WRONG */
export function expandLeaf(model: LeafModel, payload: Uint8Array): LeafContent {
  const size = lengthAt(model, payload, 0);
  if (payload.length !== size) throw lengthWrong(payload.length, size);
  const split = size - outputBytes(model);
  return {
    input: expandInput(model, payload.subarray(0, split)),
    output: expandOutput(model, payload.subarray(split)),
  };
}

function expandInput(model: LeafModel, compact: Uint8Array): Uint8Array {
  const { inputCodec: codec, inputSize: n } = model;
  const encode = (input: CodecInput) => encodeInput(model, selectorOf(model), input);
  switch (codec) {
    case "text":
      return encode({ codec, text: compact.subarray(TEXT_LENGTH_BYTES) });
    case "prices": {
      const prices = Array.from({ length: 3 * n }, (_, i) => {
        const word = new Uint8Array(WORD_BYTES);
        word.set(compact.subarray(PRICE_BYTES * i, PRICE_BYTES * (i + 1)), WORD_BYTES - PRICE_BYTES);
        return readWord(word, 0);
      });
      const list = (from: number) => prices.slice(from * n, (from + 1) * n);
      return encode({ codec, closes: list(0), highs: list(1), lows: list(2) });
    }
    case "int16s": {
      const view = viewOf(compact);
      return encode({ codec, int16s: Array.from({ length: n }, (_, i) => view.getInt16(2 * i)) });
    }
    case "raw":
      return encode({ codec, bytes: compact });
  }
}

function expandOutput({ outputCodec, outputLength }: LeafModel, compact: Uint8Array): Uint8Array {
  const output = new Uint8Array(outputLength);
  const view = viewOf(compact);
  if (outputCodec === "words") {
    for (let i = 0; i < outputLength / WORD_BYTES; i++) {
      writeWord(output, WORD_BYTES * i, BigInt.asUintN(256, BigInt(view.getInt32(4 * i))));
    }
    return output;
  }
  const isRaw = outputCodec === "raw";
  const length = isRaw ? view.getUint32(0) : (outputLength - HEAD_BYTES) / WORD_BYTES;
  writeWord(output, 0, 32n);
  writeWord(output, WORD_BYTES, BigInt(length));
  output.set(compact.subarray(isRaw ? RAW_LENGTH_BYTES : 0), HEAD_BYTES);
  return output;
}

/** The leaves of a batch, as views on its data.
 *  @throws BaseError LEAF_LENGTH_WRONG for data that end within a leaf, or a text longer than the model takes */
export function splitBatch(model: LeafModel, data: Uint8Array): Uint8Array[] {
  const payloads: Uint8Array[] = [];
  for (let at = 0; at < data.length; ) {
    const size = lengthAt(model, data, at);
    if (at + size > data.length) throw lengthWrong(data.length - at, size);
    payloads.push(data.subarray(at, at + size));
    at += size;
  }
  return payloads;
}

/** Bytes of the leaf that begins here; what is cut off reads as zeros. */
function lengthAt(model: LeafModel, data: Uint8Array, at: number): number {
  if (model.inputCodec !== "text") return leafBytes(model);
  const length = ((data[at] ?? 0) << 8) | (data[at + 1] ?? 0);
  if (length > model.inputSize) throw lengthWrong(length, model.inputSize);
  return leafBytes(model) + length;
}

function lengthWrong(length: number, limit: number): BaseError {
  return new BaseError({
    code: "LEAF_LENGTH_WRONG",
    shortMessage: `The leaf, or its text, has ${length} bytes where ${limit} are right or the most.`,
    nextStep: "Read the batch with the word of its own model.",
    details: { bytes: length, limit },
  });
}

function refuse(what: string, value: bigint, limit: string): never {
  throw new BaseError({
    code: "LEAF_NOT_COMPACT",
    shortMessage: `A leaf cannot hold ${what}, which is ${value}; it holds ${limit} at most.`,
    nextStep: "Answer this request with a claim of its own, or a signed claim.",
    details: { value: String(value), limit },
  });
}

function selectorOf({ selector }: LeafModel): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, selector);
  return bytes;
}
