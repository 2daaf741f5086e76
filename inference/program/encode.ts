import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import {
  INPUT_CODEC_CODES,
  LAYOUT_CODES,
  nameOf,
  OPCODE_CODES,
  OUTPUT_CODEC_CODES,
  TYPE_CODES,
} from "./codes.ts";
import type { Coordinate, Program, Step, WeightDescriptor } from "./form.ts";

/** Sizes and codes: docs/EXACT.md, section 2. */
export const HEADER_BYTES = 32;
const DESCRIPTOR_BYTES = 32;
export const RECORD_BYTES = 128;
export const MAX_RANK = 6;
const MAGIC = 0x41535931;
const COORDINATES = 4;
const COORDINATES_AT = 64;

/** Program bytes. Whether the program obeys the structure rules is `validateProgram`'s question.
 *  @throws BaseError PROGRAM_NOT_ENCODABLE when a field does not fit into its bytes */
export function encodeProgram(program: Program): Uint8Array {
  const { weights, steps } = program;
  const bytes = new Uint8Array(
    HEADER_BYTES + weights.length * DESCRIPTOR_BYTES + steps.length * RECORD_BYTES,
  );
  const put = writer(bytes);
  put(0, 4, MAGIC, "magic");
  put(4, 2, weights.length, "number of weight tensors");
  put(6, 2, steps.length, "number of steps");
  put(8, 1, INPUT_CODEC_CODES[program.inputCodec], "input codec");
  put(9, 1, OUTPUT_CODEC_CODES[program.outputCodec], "output codec");
  put(10, 4, program.inputSize, "input size");
  let at = HEADER_BYTES;
  weights.forEach((weight, i) => {
    put(at, 1, LAYOUT_CODES[weight.layout], `weight tensor ${i}: layout`);
    put(at + 1, 1, TYPE_CODES[weight.type], `weight tensor ${i}: type`);
    putDims(put, at + 2, at + 4, weight.dims, `weight tensor ${i}`);
    at += DESCRIPTOR_BYTES;
  });
  steps.forEach((step, i) => {
    putStep(put, at, step, `step ${i}`);
    at += RECORD_BYTES;
  });
  return bytes;
}

type Put = (offset: number, size: number, value: number, field: string) => void;

function writer(bytes: Uint8Array): Put {
  return (offset, size, value, field) => {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** (8 * size)) {
      notEncodable(field, value, `0..${2 ** (8 * size) - 1}`);
    }
    for (let i = size - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 256))
      bytes[offset + i] = rest & 255;
  };
}

function notEncodable(field: string, value: number, limit: string): never {
  throw new BaseError({
    code: "PROGRAM_NOT_ENCODABLE",
    shortMessage: `${field} is ${value}, its bytes hold ${limit}.`,
    nextStep: "Correct the program before encoding it.",
    details: { field, value, limit },
  });
}

function putDims(put: Put, rankAt: number, dimsAt: number, dims: readonly number[], place: string): void {
  if (dims.length < 1 || dims.length > MAX_RANK)
    notEncodable(`${place}: rank`, dims.length, `1..${MAX_RANK}`);
  put(rankAt, 1, dims.length, `${place}: rank`);
  dims.forEach((dim, axis) => {
    put(dimsAt + 4 * axis, 4, dim, `${place}: dim ${axis}`);
  });
}

function putStep(put: Put, at: number, step: Step, place: string): void {
  put(at, 1, OPCODE_CODES[step.opcode], `${place}: opcode`);
  put(at + 1, 1, step.variant, `${place}: variant`);
  put(at + 2, 1, TYPE_CODES[step.type], `${place}: type`);
  putDims(put, at + 3, at + 32, step.dims, place);
  put(at + 4, 2, step.a, `${place}: operand a`);
  put(at + 6, 2, step.b, `${place}: operand b`);
  put(at + 8, 2, step.c, `${place}: operand c`);
  put(at + 10, 4, step.k, `${place}: k`);
  const expected = step.opcode === "move" ? COORDINATES : 0;
  if (step.coordinates.length !== expected) {
    notEncodable(`${place}: coordinates`, step.coordinates.length, `exactly ${expected}`);
  }
  step.coordinates.forEach((coordinate, j) => {
    const base = at + COORDINATES_AT + 16 * j;
    const signed = (offset: number, size: number, value: number, field: string): void => {
      const half = 2 ** (8 * size - 1);
      if (value < -half || value >= half) {
        notEncodable(`${place}: coordinate ${j}: ${field}`, value, `${-half}..${half - 1}`);
      }
      put(base + offset, size, value < 0 ? value + 2 * half : value, `${place}: coordinate ${j}: ${field}`);
    };
    put(base, 4, coordinate.view, `${place}: coordinate ${j}: view`);
    signed(4, 4, coordinate.c, "c");
    signed(8, 3, coordinate.a, "a");
    signed(11, 3, coordinate.b, "b");
    put(base + 14, 1, coordinate.p, `${place}: coordinate ${j}: p`);
    put(base + 15, 1, coordinate.q, `${place}: coordinate ${j}: q`);
  });
}

/** Strict inverse of `encodeProgram`: `encodeProgram(decodeProgram(b))` equals b for every b that it accepts.
 *  @throws BaseError PROGRAM_NOT_CANONICAL with the byte offset of the first fault */
export function decodeProgram(bytes: Uint8Array): Program {
  const reader = new Reader(bytes);
  if (bytes.length < HEADER_BYTES)
    reader.fail(bytes.length, "length", bytes.length, `>= ${HEADER_BYTES} bytes`);
  const magic = reader.uint(0, 4);
  if (magic !== MAGIC) reader.fail(0, "magic", magic, "0x41535931 (ASY1)");
  const weightCount = reader.uint(4, 2);
  const stepCount = reader.uint(6, 2);
  const length = HEADER_BYTES + weightCount * DESCRIPTOR_BYTES + stepCount * RECORD_BYTES;
  if (bytes.length !== length) {
    const parts = `${weightCount} weight tensors and ${stepCount} steps`;
    reader.fail(Math.min(bytes.length, length), "length", bytes.length, `${length} bytes for ${parts}`);
  }
  const inputCodec = reader.code(8, INPUT_CODEC_CODES, "input codec");
  const outputCodec = reader.code(9, OUTPUT_CODEC_CODES, "output codec");
  const inputSize = reader.uint(10, 4);
  reader.zeros(14, HEADER_BYTES, "header");
  const weights: WeightDescriptor[] = [];
  const steps: Step[] = [];
  let at = HEADER_BYTES;
  for (let i = 0; i < weightCount; i++, at += DESCRIPTOR_BYTES) weights.push(readDescriptor(reader, at, i));
  for (let i = 0; i < stepCount; i++, at += RECORD_BYTES) steps.push(readStep(reader, at, i));
  return { inputCodec, outputCodec, inputSize, weights, steps };
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  fail(offset: number, field: string, value: number, limit: string): never {
    throw new BaseError({
      code: "PROGRAM_NOT_CANONICAL",
      shortMessage: `Program byte ${offset}: ${field} is ${value}, must be ${limit}.`,
      nextStep: "Use the bytes that the importer wrote, unchanged.",
      details: { offset, field, value, limit },
    });
  }

  uint(offset: number, size: 1 | 2 | 4): number {
    if (size === 1) return this.#view.getUint8(offset);
    return size === 2 ? this.#view.getUint16(offset) : this.#view.getUint32(offset);
  }

  int(offset: number, size: 3 | 4): number {
    return size === 4
      ? this.#view.getInt32(offset)
      : this.#view.getInt16(offset) * 256 + this.#view.getUint8(offset + 2);
  }

  /** Name behind the code at `offset`. */
  code<T extends string>(offset: number, codes: Readonly<Record<T, number>>, field: string): T {
    const value = this.uint(offset, 1);
    const name = nameOf(codes, value);
    if (name === undefined) {
      const known: readonly number[] = Object.values(codes);
      this.fail(offset, field, value, `${Math.min(...known)}..${Math.max(...known)}`);
    }
    return name;
  }

  zeros(from: number, to: number, place: string): void {
    for (let offset = from; offset < to; offset++) {
      const value = this.#bytes[offset] as number;
      if (value !== 0) this.fail(offset, `unused byte of ${place}`, value, "0");
    }
  }

  dims(rankAt: number, dimsAt: number, place: string): number[] {
    const rank = this.uint(rankAt, 1);
    if (rank < 1 || rank > MAX_RANK) this.fail(rankAt, `rank of ${place}`, rank, `1..${MAX_RANK}`);
    this.zeros(dimsAt + 4 * rank, dimsAt + 4 * MAX_RANK, `the dims of ${place}`);
    return Array.from({ length: rank }, (_, axis) => this.uint(dimsAt + 4 * axis, 4));
  }
}

function readDescriptor(reader: Reader, at: number, i: number): WeightDescriptor {
  const place = `weight tensor ${i}`;
  reader.zeros(at + 3, at + 4, place);
  reader.zeros(at + 28, at + DESCRIPTOR_BYTES, place);
  return {
    layout: reader.code(at, LAYOUT_CODES, `layout of ${place}`),
    type: reader.code(at + 1, TYPE_CODES, `type of ${place}`),
    dims: reader.dims(at + 2, at + 4, place),
  };
}

function readStep(reader: Reader, at: number, i: number): Step {
  const place = `step ${i}`;
  const opcode = reader.code(at, OPCODE_CODES, `opcode of ${place}`);
  reader.zeros(at + 14, at + 32, place);
  reader.zeros(at + 56, at + COORDINATES_AT, place);
  if (opcode !== "move") reader.zeros(at + COORDINATES_AT, at + RECORD_BYTES, `${place} (${opcode})`);
  return {
    opcode,
    variant: reader.uint(at + 1, 1),
    type: reader.code(at + 2, TYPE_CODES, `type of ${place}`),
    dims: reader.dims(at + 3, at + 32, place),
    a: reader.uint(at + 4, 2),
    b: reader.uint(at + 6, 2),
    c: reader.uint(at + 8, 2),
    k: reader.uint(at + 10, 4),
    coordinates:
      opcode === "move"
        ? Array.from({ length: COORDINATES }, (_, j) => readCoordinate(reader, at + COORDINATES_AT + 16 * j))
        : [],
  };
}

function readCoordinate(reader: Reader, at: number): Coordinate {
  return {
    view: reader.uint(at, 4),
    a: reader.int(at + 8, 3),
    p: reader.uint(at + 14, 1),
    b: reader.int(at + 11, 3),
    q: reader.uint(at + 15, 1),
    c: reader.int(at + 4, 4),
  };
}
