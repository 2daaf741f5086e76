import { equalBytes } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { elementBytes, elementCount, type Program, type Tensor, type TensorType } from "../program/form.ts";
import { lastStep, outputLength } from "../program/shape.ts";
import { fromStoredBytes, newData } from "../program/tensor.ts";
import { decodeAbi, encodeAbi, readWord, writeWord } from "./abi.ts";
import { int16sTensor, readInt16s, writeInt16s } from "./int16s.ts";
import { rawBytes } from "./raw.ts";

/** Return data of the last step's tensor. Source: docs/EXACT.md, section 5, outputs. */
export function encodeOutput(program: Program, tensor: Tensor): Uint8Array {
  const { type, data } = tensor;
  switch (program.outputCodec) {
    case "words": {
      const words = new Uint8Array(32 * data.length);
      const offset = type === "s8" ? 128 : 0;
      for (let i = 0; i < data.length; i++) writeWord(words, 32 * i, BigInt((data[i] as number) - offset));
      return words;
    }
    case "int16s":
      return encodeAbi(["uint256[]"], [writeInt16s(data)]);
    case "raw":
      return encodeAbi(["bytes"], [rawBytes(type, data)]);
  }
}

/** Where the elements are in return data, one after another: the first, and bytes of each. */
export function outputPlaces(program: Program): { readonly start: number; readonly size: number } {
  const { outputCodec } = program;
  const size = { words: 32, int16s: 2, raw: elementBytes(lastStep(program).type) }[outputCodec];
  return { start: outputCodec === "words" ? 0 : 64, size };
}

/** Bytes of one element in return data of this program. */
export function outputElement(program: Program, output: Uint8Array, element: number): Uint8Array {
  const { start, size } = outputPlaces(program);
  return output.slice(start + element * size, start + (element + 1) * size);
}

/** Where return data are wrong: an element, or `form` where what stands around the elements is not what the codec writes
 *  (length, ABI words, zeros behind the last element). Undefined where both are equal.
 *  @param right return data of the last step's tensor @param claimed bytes of any length */
export function outputFault(
  program: Program,
  right: Uint8Array,
  claimed: Uint8Array,
): number | "form" | undefined {
  const { start, size } = outputPlaces(program);
  const end = start + elementCount(lastStep(program).dims) * size;
  const around = (bytes: Uint8Array) => [bytes.subarray(0, start), bytes.subarray(end)] as const;
  const [[head, tail], [claimedHead, claimedTail]] = [around(right), around(claimed)];
  if (!equalBytes(head, claimedHead) || !equalBytes(tail, claimedTail)) return "form";
  const byte = right.findIndex((value, i) => value !== claimed[i]);
  return byte === -1 ? undefined : Math.floor((byte - start) / size);
}

const RANGES: Readonly<Record<TensorType, readonly [bigint, bigint]>> = {
  u8: [0n, 255n],
  s8: [-128n, 127n],
  s32: [-(2n ** 31n), 2n ** 31n - 1n],
  f32: [0n, -1n],
  bool: [0n, 255n],
};

/** The tensor that return data stands for: its values with codec int16s, which saturates, as they come.
 *  @throws BaseError OUTPUT_INVALID, CALLDATA_NOT_CANONICAL or INT16S_INVALID for bytes that no tensor encodes to */
export function decodeOutput(program: Program, output: Uint8Array): Tensor {
  const { type, dims } = lastStep(program);
  const count = elementCount(dims);
  const length = outputLength(program);
  if (output.length !== length) refuse("length", output.length, `${length} bytes`);
  if (program.outputCodec === "words") {
    const data = newData(type, count);
    const [low, high] = RANGES[type];
    for (let i = 0; i < count; i++) {
      const value = BigInt.asIntN(256, readWord(output, 32 * i));
      if (value < low || value > high) refuse(`word ${i}`, value, `${low}..${high}`);
      data[i] = Number(value) + (type === "s8" ? 128 : 0);
    }
    return { type, dims, data };
  }
  if (program.outputCodec === "int16s") {
    const data = new Int32Array(count);
    int16sTensor(readInt16s(decodeAbi(["uint256[]"], output)[0] as Uint8Array, count), data, 0);
    return { type, dims, data };
  }
  const bytes = decodeAbi(["bytes"], output)[0] as Uint8Array;
  if (bytes.length !== count * elementBytes(type)) {
    refuse("bytes", bytes.length, `${count * elementBytes(type)}`);
  }
  return { type, dims, data: fromRawBytes(type, bytes) };
}

/** Inverse of `rawBytes`: nothing is sanitized, an output may hold any bits. */
function fromRawBytes(type: TensorType, bytes: Uint8Array): Tensor["data"] {
  if (elementBytes(type) === 4) {
    const stored = bytes.slice();
    for (let i = 0; i < stored.length; i += 4) stored.subarray(i, i + 4).reverse();
    return fromStoredBytes(type, stored);
  }
  const wrong = type === "bool" ? bytes.findIndex((byte) => byte > 1) : -1;
  if (wrong >= 0) refuse(`bool ${wrong}`, bytes[wrong] as number, "0 or 1");
  return type === "s8" ? bytes.map((byte) => byte ^ 0x80) : bytes.slice();
}

function refuse(field: string, value: number | bigint, limit: string): never {
  throw new BaseError({
    code: "OUTPUT_INVALID",
    shortMessage: `Return data: ${field} is ${value}, must be ${limit}.`,
    nextStep: "Check that the output belongs to this model.",
    details: { field, value, limit },
  });
}
