/** Reads GGUF files (version 3): their metadata, and their tensors as exact integers.
 *  Source: the GGUF specification of github.com/ggml-org/ggml, version 3, and its block formats. */
import { viewOf } from "../../base/bytes.ts";
import { fail } from "../onnx/fail.ts";

export type GgufValue = number | bigint | boolean | string | readonly GgufValue[];

export interface GgufTensor {
  readonly name: string;
  /** outermost first */
  readonly dims: readonly number[];
  readonly type: TensorFormat;
  /** of the file, bytes */
  readonly offset: number;
}

export interface Gguf {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  readonly bytes: Uint8Array;
}

/** Of a number of 16-bit floating point each is a multiple. */
export const HALF_UNIT = 2 ** -24;

interface Format {
  readonly name: string;
  /** elements of a block */
  readonly length: number;
  /** bytes of a block */
  readonly bytes: number;
}

const FORMATS = {
  0: { name: "F32", length: 1, bytes: 4 },
  1: { name: "F16", length: 1, bytes: 2 },
  2: { name: "Q4_0", length: 32, bytes: 18 },
  3: { name: "Q4_1", length: 32, bytes: 20 },
  8: { name: "Q8_0", length: 32, bytes: 34 },
} as const satisfies Record<number, Format>;
export type TensorFormat = (typeof FORMATS)[keyof typeof FORMATS]["name"];
const BY_NAME = new Map<string, Format>(Object.values(FORMATS).map((format) => [format.name, format]));

const MAGIC = "GGUF";
const VERSION = 3;
const ALIGNMENT = 32;
/** What a file of a model that can be derived has fewer of; elements of all lists together. */
const MOST = { tensors: 4_096, entries: 4_096, elements: 2 ** 21, text: 2 ** 20 } as const;

/** @throws GGUF_INVALID naming what is wrong and where */
export function readGguf(bytes: Uint8Array): Gguf {
  const cursor = new Cursor(bytes);
  if (cursor.ascii(4) !== MAGIC) throw invalid(`it does not begin with ${MAGIC}`);
  const version = cursor.u32();
  if (version !== VERSION) throw invalid(`it has version ${version}, version ${VERSION} is read`);
  const tensorCount = cursor.count("tensors", MOST.tensors);
  const entryCount = cursor.count("metadata entries", MOST.entries);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < entryCount; i++) {
    const key = cursor.text();
    if (metadata.has(key)) throw invalid(`it has two entries ${key}`);
    metadata.set(key, cursor.value(cursor.u32(), key));
  }
  const found = Array.from({ length: tensorCount }, () => cursor.tensor());
  const alignment = metadata.get("general.alignment") ?? ALIGNMENT;
  if (typeof alignment !== "number" || !(alignment >= 1)) throw invalid(`its alignment is ${alignment}`);
  const start = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = new Map<string, GgufTensor>();
  for (const tensor of found) {
    const placed = { ...tensor, offset: start + tensor.offset };
    const end = placed.offset + bytesOf(placed);
    if (!(end <= bytes.length))
      throw invalid(`tensor ${tensor.name} ends at byte ${end}, the file has ${bytes.length}`);
    if (tensors.has(tensor.name)) throw invalid(`it has two tensors ${tensor.name}`);
    tensors.set(tensor.name, placed);
  }
  return { metadata, tensors, bytes };
}

const elementsOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

function bytesOf({ name, dims, type }: GgufTensor): number {
  const { length, bytes } = BY_NAME.get(type) as Format;
  const row = dims.at(-1) ?? 1;
  if (row % length !== 0) throw invalid(`tensor ${name} has rows of ${row}, blocks of ${type} are ${length}`);
  return (elementsOf(dims) / length) * bytes;
}

/** A float32 tensor's numbers. @throws GGUF_INVALID */
export function reals({ bytes }: Gguf, tensor: GgufTensor): Float32Array {
  const { name, dims, type, offset } = tensor;
  if (type !== "F32") throw invalid(`tensor ${name} is ${type}, F32 is needed there`);
  const view = viewOf(bytes);
  const numbers = Float32Array.from({ length: elementsOf(dims) }, (_, i) =>
    view.getFloat32(offset + 4 * i, true),
  );
  if (!numbers.every(Number.isFinite)) throw invalid(`tensor ${name} holds a number that is not finite`);
  return numbers;
}

/** One row of a tensor in multiples of HALF_UNIT, exactly: scales of blocks are 16-bit floating point, and so is each
 *  number of an F16 tensor. @param into as long as a row @throws GGUF_INVALID */
export function readRow({ bytes }: Gguf, tensor: GgufTensor, row: number, into: Float64Array): void {
  const { name, type, offset } = tensor;
  if (type === "F32") throw invalid(`tensor ${name} is F32, F16 or blocks are needed there`);
  const { length, bytes: blockBytes } = BY_NAME.get(type) as Format;
  const view = viewOf(bytes);
  const blocks = into.length / length;
  for (let block = 0; block < blocks; block++) {
    const at = offset + (row * blocks + block) * blockBytes;
    const scale = half(view.getUint16(at, true), name);
    const to = block * length;
    if (type === "F16") into[to] = scale;
    else if (type === "Q8_0")
      for (let i = 0; i < length; i++) into[to + i] = scale * view.getInt8(at + 2 + i);
    else {
      const [least, from] =
        type === "Q4_1" ? [half(view.getUint16(at + 2, true), name), at + 4] : [-8 * scale, at + 2];
      for (let i = 0; i < length / 2; i++) {
        const pair = view.getUint8(from + i);
        into[to + i] = scale * (pair & 15) + least;
        into[to + length / 2 + i] = scale * (pair >> 4) + least;
      }
    }
  }
}

/** 16-bit floating point in multiples of HALF_UNIT. */
function half(bits: number, name: string): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) throw invalid(`tensor ${name} holds a number that is not finite`);
  const size = exponent === 0 ? fraction : (1024 + fraction) * 2 ** (exponent - 1);
  return bits < 0x8000 ? size : -size;
}

const SIZES = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 } as const;
const [STRING, ARRAY] = [8, 9];

class Cursor {
  at = 0;
  /** of lists */
  #elements = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }

  #take(length: number): number {
    const from = this.at;
    if (from + length > this.#bytes.length)
      throw invalid(`it ends at byte ${this.#bytes.length}, in its head`);
    this.at += length;
    return from;
  }

  ascii(length: number): string {
    const from = this.#take(length);
    return new TextDecoder("latin1").decode(this.#bytes.subarray(from, from + length));
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  count(what: string, most: number): number {
    const count = this.#view.getBigUint64(this.#take(8), true);
    if (count > BigInt(most)) throw invalid(`it has ${count} ${what}, at most ${most} are read`);
    return Number(count);
  }

  text(): string {
    const length = this.count("bytes of a text", MOST.text);
    const from = this.#take(length);
    return new TextDecoder().decode(this.#bytes.subarray(from, from + length));
  }

  value(type: number, key: string): GgufValue {
    if (type === STRING) return this.text();
    if (type === ARRAY) {
      const inner = this.u32();
      if (inner === ARRAY) throw invalid(`its entry ${key} is a list of lists`);
      const length = this.count(`elements of ${key}`, MOST.elements);
      this.#elements += length;
      if (this.#elements > MOST.elements)
        throw invalid(`its lists have more than ${MOST.elements} elements up to ${key}`);
      return Array.from({ length }, () => this.value(inner, key));
    }
    const size = SIZES[type as keyof typeof SIZES];
    if (size === undefined) throw invalid(`its entry ${key} has the type ${type}, which GGUF does not have`);
    const from = this.#take(size);
    const view = this.#view;
    switch (type) {
      case 0:
        return view.getUint8(from);
      case 1:
        return view.getInt8(from);
      case 2:
        return view.getUint16(from, true);
      case 3:
        return view.getInt16(from, true);
      case 4:
        return view.getUint32(from, true);
      case 5:
        return view.getInt32(from, true);
      case 6:
        return view.getFloat32(from, true);
      case 7:
        return view.getUint8(from) !== 0;
      case 10:
        return view.getBigUint64(from, true);
      case 11:
        return view.getBigInt64(from, true);
      default:
        return view.getFloat64(from, true);
    }
  }

  /** @returns with its offset behind the head */
  tensor(): GgufTensor {
    const name = this.text();
    const rank = this.u32();
    if (rank < 1 || rank > 4) throw invalid(`tensor ${name} has ${rank} dims`);
    // GGUF counts them from the innermost one.
    const dims = Array.from({ length: rank }, () => this.count(`in a dim of ${name}`, 2 ** 31)).reverse();
    const code = this.u32();
    const format: Format | undefined = FORMATS[code as keyof typeof FORMATS];
    if (format === undefined) {
      const known = Object.values(FORMATS).map(({ name: known }) => known);
      throw invalid(`tensor ${name} has the format ${code}; ${known.join(", ")} are read`);
    }
    const offset = this.count(`bytes in front of ${name}`, Number.MAX_SAFE_INTEGER);
    return { name, dims, type: format.name as TensorFormat, offset };
  }
}

/** Of what an error tells of a file, as names and texts in it have any length. */
const MOST_TOLD = 300;

/** What an error tells of a file: one line that a terminal shows as it is. */
export const told = (what: string): string =>
  (what.length > MOST_TOLD ? `${what.slice(0, MOST_TOLD)}…` : what).replace(/[\p{Cc}\p{Cf}]/gu, "?");

/** @param what is wrong with it */
export const invalid = (what: string) =>
  fail(
    "GGUF_INVALID",
    `The GGUF file cannot be read: ${told(what)}.`,
    "Take the file that the recipe names.",
  );
