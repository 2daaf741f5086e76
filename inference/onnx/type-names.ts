/** Names of ONNX's element types for messages, and what to do about those that no program holds. */

import { ONNX_TYPES } from "./graph.ts";

const OTHERS: Readonly<Record<number, string>> = {
  0: "no tensor (a sequence, a map or an optional value)",
  8: "a tensor of words (string)",
  10: "float16",
  11: "float64 (double)",
  12: "uint32",
  13: "uint64",
  14: "complex64",
  15: "complex128",
  16: "bfloat16",
  17: "float8",
  18: "float8",
  19: "float8",
  20: "float8",
  21: "uint4",
  22: "int4",
  23: "float4",
};

export const typeName = (code: number): string =>
  (ONNX_TYPES as Readonly<Record<number, string>>)[code] ?? OTHERS[code] ?? `of the type ${code}`;

const ADVICE: Readonly<Record<number, string>> = {
  8: "Encode words as numbers before the model: tokens as int32 ids, categories as their places.",
  10: "Export the model in float32, and quantize that.",
  11: "Export the model with float32 inputs: skl2onnx.to_onnx takes the type from the sample, so give it X.astype(numpy.float32).",
  16: "Export the model in float32, and quantize that.",
};

export const typeAdvice = (code: number): string =>
  ADVICE[code] ?? "Use tensors of float32, uint8, int8, uint16, int16, int32, int64 or bool.";
