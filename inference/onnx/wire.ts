/** Walks the wire bytes of an ONNX file before a decoder allocates anything: every field has the wire type of the
 *  official schema, lengths stay inside their parents, groups do not occur, and counts are below fixed limits.
 *  What passes makes the decoder allocate a small multiple of the file's size.
 *  Source: onnx.proto (ONNX 1.10 to 1.19 add fields only) and the protocol buffers encoding. */

import type { BaseError } from "../../base/errors.ts";
import { fail } from "./fail.ts";

export const LIMITS = {
  fileBytes: 256 * 1024 * 1024,
  /** A subgraph adds three, and the types of its values five more. */
  depth: 32,
  /** Fields other than the elements of packed lists. */
  fields: 2_000_000,
  nodes: 16_384,
  initializers: 16_384,
  /** Bytes of numbers in lists instead of raw_data, all tensors together. */
  listBytes: 64 * 1024 * 1024,
  /** Numbers of 64 bits in lists, which a decoder makes objects of. */
  longs: 1_000_000,
} as const;

/** What a field holds: another message by name, bytes or text, a number, or a list of numbers. */
type Field = string | "bytes" | "varint" | "fixed32" | "varints" | "longs" | "fixed32s" | "fixed64s";
type Schema = Readonly<Record<number, Field>>;

const TENSOR: Schema = {
  1: "longs",
  2: "varint",
  3: "Segment",
  4: "fixed32s",
  5: "varints",
  6: "bytes",
  7: "longs",
  8: "bytes",
  9: "bytes",
  10: "fixed64s",
  11: "longs",
  12: "bytes",
  13: "Entry",
  14: "varint",
};
const ATTRIBUTE: Schema = {
  1: "bytes",
  2: "fixed32",
  3: "varint",
  4: "bytes",
  5: "Tensor",
  6: "Graph",
  7: "fixed32s",
  8: "longs",
  9: "bytes",
  10: "Tensor",
  11: "Graph",
  13: "bytes",
  14: "Type",
  15: "Type",
  20: "varint",
  21: "bytes",
  22: "Sparse",
  23: "Sparse",
};
const SCHEMAS: Readonly<Record<string, Schema>> = {
  Model: {
    1: "varint",
    2: "bytes",
    3: "bytes",
    4: "bytes",
    5: "varint",
    6: "bytes",
    7: "Graph",
    8: "Opset",
    14: "Entry",
    20: "Training",
    25: "Function",
  },
  Graph: {
    1: "Node",
    2: "bytes",
    5: "Tensor",
    10: "bytes",
    11: "ValueInfo",
    12: "ValueInfo",
    13: "ValueInfo",
    14: "Annotation",
    15: "Sparse",
  },
  Node: { 1: "bytes", 2: "bytes", 3: "bytes", 4: "bytes", 5: "Attribute", 6: "bytes", 7: "bytes" },
  Attribute: ATTRIBUTE,
  Tensor: TENSOR,
  Segment: { 1: "varint", 2: "varint" },
  Entry: { 1: "bytes", 2: "bytes" },
  Opset: { 1: "bytes", 2: "varint" },
  Annotation: { 1: "bytes", 2: "Entry" },
  Sparse: { 1: "Tensor", 2: "Tensor", 3: "longs" },
  ValueInfo: { 1: "bytes", 2: "Type", 3: "bytes" },
  Type: { 1: "TensorType", 4: "Wrapped", 5: "MapType", 6: "bytes", 8: "TensorType", 9: "Wrapped" },
  TensorType: { 1: "varint", 2: "Shape" },
  Wrapped: { 1: "Type" },
  MapType: { 1: "varint", 2: "Type" },
  Shape: { 1: "Dimension" },
  Dimension: { 1: "varint", 2: "bytes", 3: "bytes" },
};
/** Refused before anything inside them is read: nothing of the kind lowers to a program. */
const REFUSED: Readonly<Record<string, string>> = {
  Function: "model-local functions",
  Training: "training information",
  Sparse: "sparse tensors",
};
const WIRE: Readonly<Record<string, number>> = { varint: 0, fixed32: 5 };
/** Wire type of one unpacked element of a list. */
const ELEMENT: Readonly<Record<string, number>> = { varints: 0, longs: 0, fixed32s: 5, fixed64s: 1 };

export function malformed(what: string, at: number): BaseError {
  return fail(
    "ONNX_MALFORMED",
    `The file is not a valid ONNX model: ${what} at byte ${at}.`,
    "Export the model again, or check that the file was copied completely.",
    { byte: at },
  );
}

export function tooLarge(what: string, value: number, limit: number): BaseError {
  return fail(
    "ONNX_TOO_LARGE",
    `The ONNX file has ${value} ${what}, at most ${limit} are read.`,
    "Split the model or export a smaller one.",
    { value, limit },
  );
}

class Scanner {
  private at = 0;
  private fields = 0;
  private nodes = 0;
  private initializers = 0;
  private listBytes = 0;
  private longs = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Value of a varint; values above 2^53 lose low bits, which no length or tag does. */
  private varint(end: number): number {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      if (this.at >= end) throw malformed("a number runs past its message", this.at);
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return value;
    }
    throw malformed("a number longer than 10 bytes", this.at);
  }

  private skip(length: number, end: number): void {
    if (length > end - this.at) throw malformed(`${length} bytes run past their message`, this.at);
    this.at += length;
  }

  private count(name: string): void {
    if (name === "Node" && ++this.nodes > LIMITS.nodes) throw tooLarge("nodes", this.nodes, LIMITS.nodes);
    if (name === "Tensor" && ++this.initializers > LIMITS.initializers) {
      throw tooLarge("tensors", this.initializers, LIMITS.initializers);
    }
  }

  message(name: string, end: number, depth: number): void {
    if (depth > LIMITS.depth) throw tooLarge("levels of nesting", depth, LIMITS.depth);
    this.count(name);
    const schema = SCHEMAS[name] as Schema;
    while (this.at < end) {
      if (++this.fields > LIMITS.fields) throw tooLarge("fields", this.fields, LIMITS.fields);
      const start = this.at;
      const tag = this.varint(end);
      const wire = tag % 8;
      const number = (tag - wire) / 8;
      if (number < 1 || number > 0x1fffffff) throw malformed(`field number ${number}`, start);
      this.field(schema[number], wire, end, depth, start);
    }
    if (this.at !== end) throw malformed("a message that does not end where its length says", this.at);
  }

  private field(field: Field | undefined, wire: number, end: number, depth: number, start: number): void {
    const list = field === undefined ? undefined : ELEMENT[field];
    const expected = field === undefined ? wire : (WIRE[field] ?? 2);
    if (wire !== expected && wire !== list)
      throw malformed(`wire type ${wire} where ${expected} belongs`, start);
    if (wire === 0) this.varint(end);
    else if (wire === 1) this.skip(8, end);
    else if (wire === 5) this.skip(4, end);
    else if (wire === 2) this.delimited(field, end, depth, start);
    else throw malformed(`wire type ${wire}`, start);
  }

  private delimited(field: Field | undefined, end: number, depth: number, start: number): void {
    const length = this.varint(end);
    if (length > end - this.at) throw malformed(`${length} bytes run past their message`, start);
    const stop = this.at + length;
    const refused = field === undefined ? undefined : REFUSED[field];
    if (refused !== undefined) {
      throw fail(
        "ONNX_UNSUPPORTED",
        `The ONNX file holds ${refused}, which are not supported.`,
        "Export an inference graph without them (inline functions, drop training parts).",
        { byte: start },
      );
    }
    if (field !== undefined && SCHEMAS[field] !== undefined) this.message(field, stop, depth + 1);
    else if (field !== undefined && ELEMENT[field] !== undefined) this.list(field, stop);
    else this.at = stop;
  }

  private list(field: Field, end: number): void {
    this.listBytes += end - this.at;
    if (this.listBytes > LIMITS.listBytes) {
      throw tooLarge("bytes of listed numbers", this.listBytes, LIMITS.listBytes);
    }
    const width = field === "fixed32s" ? 4 : field === "fixed64s" ? 8 : 0;
    if (width === 0) {
      while (this.at < end) {
        this.varint(end);
        if (field === "longs" && ++this.longs > LIMITS.longs) {
          throw tooLarge("listed numbers of 64 bits", this.longs, LIMITS.longs);
        }
      }
    } else if ((end - this.at) % width !== 0) throw malformed("a list with a broken element", this.at);
    else this.at = end;
  }
}

/** @throws ONNX_MALFORMED, ONNX_TOO_LARGE, ONNX_UNSUPPORTED */
export function scanModel(bytes: Uint8Array): void {
  if (bytes.length > LIMITS.fileBytes) throw tooLarge("bytes", bytes.length, LIMITS.fileBytes);
  new Scanner(bytes).message("Model", bytes.length, 1);
}
