/** ONNX tensors: from the protobuf message to typed arrays, with every length checked before it is used. */

import type { BaseError } from "../../base/errors.ts";
import { fail } from "./fail.ts";
import { count, ONNX_TYPES, type OnnxData, type OnnxTensor, type OnnxType } from "./graph.ts";
import type { Message } from "./proto/schema.ts";
import { typeAdvice, typeName } from "./type-names.ts";

/** Most elements of a constant: what a program's tensor may have (docs/EXACT.md, section 2). */
export const MAX_ELEMENTS = 2 ** 24 - 1;

const ELEMENT_BYTES: Readonly<Record<OnnxType, number>> = {
  float32: 4,
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  int32: 4,
  int64: 8,
  bool: 1,
};

/** Most axes of an ONNX tensor. */
export const MAX_ONNX_RANK = 8;

/** Name of an ONNX element type, or undefined where it has no place in a program. */
export function onnxType(code: number | undefined): OnnxType | undefined {
  return (ONNX_TYPES as Readonly<Record<number, OnnxType>>)[code ?? 0];
}

/** @throws ONNX_UNSUPPORTED for a type or storage that is not read, ONNX_MALFORMED for lengths that disagree */
export function readTensor(proto: Message<"Tensor">, label: string): OnnxTensor {
  if (proto.dataLocation === 1 || (proto.externalData ?? []).length > 0) {
    throw unsupported(
      label,
      "keeps its data in another file",
      "Save the model as one file, without external data.",
    );
  }
  if (proto.segment !== undefined)
    throw unsupported(label, "is a segment of a tensor", "Save the model as one file.");
  const type = onnxType(proto.dataType);
  if (type === undefined) {
    const code = proto.dataType ?? 0;
    throw unsupported(label, `is ${typeName(code)}, which no program holds`, typeAdvice(code));
  }
  const dims = readDims(proto.dims ?? [], label);
  const raw = proto.rawData ?? new Uint8Array(0);
  const data = raw.length > 0 || count(dims) === 0 ? fromRaw(raw, type) : fromList(proto, type);
  if (data === undefined || data.length !== count(dims)) {
    throw fail(
      "ONNX_MALFORMED",
      `Tensor ${label} has ${data?.length ?? "a broken number of"} elements where its dims say ${count(dims)}.`,
      "Export the model again.",
      { tensor: label, dims: dims.join("x") },
    );
  }
  return { type, dims, data };
}

function unsupported(label: string, what: string, nextStep: string): BaseError {
  return fail("ONNX_UNSUPPORTED", `Tensor ${label} ${what}.`, nextStep, { tensor: label });
}

function readDims(dims: ArrayLike<number | bigint>, label: string): number[] {
  let product = 1n;
  const values = Array.from({ length: Math.min(dims.length, MAX_ONNX_RANK + 1) }, (_, i) =>
    BigInt(dims[i] as number | bigint),
  );
  for (const dim of values) product *= dim < 0n ? BigInt(MAX_ELEMENTS + 1) : dim;
  if (values.length > MAX_ONNX_RANK || product > BigInt(MAX_ELEMENTS)) {
    throw fail(
      "ONNX_TOO_LARGE",
      `Tensor ${label} has dims ${values.join("x")}; at most ${MAX_ELEMENTS} elements and rank ${MAX_ONNX_RANK} are read.`,
      "Split the tensor.",
      { tensor: label },
    );
  }
  return values.map(Number);
}

function fromRaw(raw: Uint8Array, type: OnnxType): OnnxData | undefined {
  if (raw.length % ELEMENT_BYTES[type] !== 0) return undefined;
  const bytes = new Uint8Array(raw).buffer; // a copy, aligned: raw is a view into the file
  switch (type) {
    case "float32":
      return new Float32Array(bytes);
    case "int32":
      return new Int32Array(bytes);
    case "int64":
      return new BigInt64Array(bytes);
    case "int8":
      return new Int8Array(bytes);
    case "uint8":
      return new Uint8Array(bytes);
    case "int16":
      return new Int16Array(bytes);
    case "uint16":
      return new Uint16Array(bytes);
    case "bool":
      return new Uint8Array(bytes).map((b) => (b === 0 ? 0 : 1));
  }
}

function fromList(proto: Message<"Tensor">, type: OnnxType): OnnxData {
  switch (type) {
    case "float32":
      return Float32Array.from(proto.floatData ?? []);
    case "int64":
      return BigInt64Array.from(Array.from(proto.int64Data ?? [], BigInt));
    case "int32":
      return Int32Array.from(proto.int32Data ?? []);
    case "int8":
      return Int8Array.from(proto.int32Data ?? []);
    case "uint8":
      return Uint8Array.from(proto.int32Data ?? []);
    case "int16":
      return Int16Array.from(proto.int32Data ?? []);
    case "uint16":
      return Uint16Array.from(proto.int32Data ?? []);
    case "bool":
      return Uint8Array.from(proto.int32Data ?? [], (v) => (v === 0 ? 0 : 1));
  }
}
