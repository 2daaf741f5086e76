/** Reads the wire bytes of an ONNX message. Fields have the wire type of the schema, lengths stay inside their parents,
 *  groups do not occur, and counts are below fixed limits; so a file makes it allocate a small multiple of its size. */
import type { BaseError } from "../../../base/errors.ts";
import { fail } from "../fail.ts";
import { Cursor, malformed, type Tag } from "./cursor.ts";
import {
  type Field,
  fieldsOf,
  isMessage,
  isNumber,
  type Message,
  type MessageName,
  NUMBERS,
  type NumberKind,
  REFUSED,
  WIRE,
} from "./schema.ts";

export const LIMITS = {
  fileBytes: 256 * 1024 * 1024,
  /** Fields other than numbers in lists, of which trees have many: exporters write them one by one. */
  fields: 1_000_000,
  nodes: 16_384,
  tensors: 16_384,
  /** Numbers in lists instead of raw_data, all tensors together. */
  numbers: 2 ** 24,
} as const;

export function tooLarge(what: string, value: number, limit: number): BaseError {
  return fail(
    "ONNX_TOO_LARGE",
    `The ONNX file has ${value} ${what}, at most ${limit} are read.`,
    "Split the model or export a smaller one.",
    { value, limit },
  );
}

/** What is counted while a file is read, as messages call it. */
const COUNTED = {
  fields: "fields",
  nodes: "nodes",
  tensors: "tensors",
  numbers: "numbers in lists",
} as const;
type Counted = keyof typeof COUNTED;

/** @param name which message the bytes are
 *  @returns lists of numbers as typed arrays, bytes as views into `bytes`
 *  @throws ONNX_MALFORMED with the byte, ONNX_TOO_LARGE, ONNX_UNSUPPORTED */
export function decode<Name extends MessageName>(name: Name, bytes: Uint8Array): Message<Name> {
  if (bytes.length > LIMITS.fileBytes) throw tooLarge("bytes", bytes.length, LIMITS.fileBytes);
  return new Decoder(bytes).message(name, bytes.length) as Message<Name>;
}

/** A list of numbers, which a file may hold in one piece, in several or one by one. */
class NumberList {
  readonly #kind: NumberKind;
  #data: Int32Array | BigInt64Array | Float32Array;
  #length = 0;

  constructor(kind: NumberKind) {
    this.#kind = kind;
    this.#data = new NUMBERS[kind].list(0);
  }

  reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#data.length) return;
    // Exact for the first piece, which is the only one in most files.
    const grown = new NUMBERS[this.#kind].list(Math.max(needed, 2 * this.#data.length));
    grown.set(this.#data as never);
    this.#data = grown;
  }

  push(value: number | bigint): void {
    this.reserve(1);
    this.#data[this.#length++] = value as never;
  }

  values(): Int32Array | BigInt64Array | Float32Array {
    return this.#data.subarray(0, this.#length);
  }
}

class Decoder {
  readonly #cursor: Cursor;
  readonly #counts: Record<Counted, number> = { fields: 0, nodes: 0, tensors: 0, numbers: 0 };
  readonly #text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  constructor(bytes: Uint8Array) {
    this.#cursor = new Cursor(bytes);
  }

  message(name: MessageName, end: number): object {
    if (name === "Node") this.#count("nodes");
    if (name === "Tensor") this.#count("tensors");
    const message: Record<string, unknown> = {};
    const lists = new Map<string, NumberList>();
    while (this.#cursor.at < end) {
      const tag = this.#cursor.tag(end);
      const field = fieldsOf(name).get(tag.number);
      if (field?.isList !== true || !isNumber(field.kind)) this.#count("fields");
      if (field === undefined) {
        refuse(name, tag);
        this.#cursor.skip(tag, end);
      } else if (field.isList && isNumber(field.kind)) {
        const list = lists.get(field.name) ?? new NumberList(field.kind);
        lists.set(field.name, list);
        this.#numbers(list, field.kind, tag, `${name}.${field.name}`, end);
      } else {
        this.#field(message, field, tag, `${name}.${field.name}`, end);
      }
    }
    for (const [key, list] of lists) message[key] = list.values();
    return message;
  }

  #field(message: Record<string, unknown>, field: Field, tag: Tag, label: string, end: number): void {
    const { name, kind, isList } = field;
    const wire = isNumber(kind) ? NUMBERS[kind].wire : WIRE.delimited;
    if (tag.wire !== wire) throw badWire(label, tag, wire);
    if (isNumber(kind)) {
      message[name] = this.#cursor[kind](end);
      return;
    }
    // Readers disagree about a message that is there twice: some keep the last one, some merge both.
    if (isMessage(kind) && !isList && name in message) throw malformed(`${label} a second time`, tag.start);
    const stop = this.#cursor.stop(end);
    const value = isMessage(kind) ? this.message(kind, stop) : this.#bytes(kind, stop, label);
    if (!isList) message[name] = value;
    else if (name in message) (message[name] as unknown[]).push(value);
    else message[name] = [value];
  }

  #bytes(kind: "bytes" | "string", stop: number, label: string): Uint8Array | string {
    const start = this.#cursor.at;
    const bytes = this.#cursor.take(stop);
    if (kind === "bytes") return bytes;
    try {
      return this.#text.decode(bytes);
    } catch {
      throw malformed(`${label} that is no UTF-8`, start);
    }
  }

  #numbers(list: NumberList, kind: NumberKind, tag: Tag, label: string, end: number): void {
    const { wire } = NUMBERS[kind];
    if (tag.wire === wire) {
      this.#count("numbers");
      list.push(this.#cursor[kind](end));
      return;
    }
    if (tag.wire !== WIRE.delimited) throw badWire(label, tag, wire);
    const stop = this.#cursor.stop(end);
    const length = wire === WIRE.fixed32 ? (stop - this.#cursor.at) / 4 : this.#cursor.countVarints(stop);
    this.#count("numbers", Math.ceil(length));
    list.reserve(Math.ceil(length));
    while (this.#cursor.at < stop) list.push(this.#cursor[kind](stop));
  }

  #count(what: Counted, more = 1): void {
    this.#counts[what] += more;
    if (this.#counts[what] > LIMITS[what]) throw tooLarge(COUNTED[what], this.#counts[what], LIMITS[what]);
  }
}

const badWire = (label: string, tag: Tag, wire: number): BaseError =>
  malformed(`${label} with wire type ${tag.wire} where ${wire} belongs`, tag.start);

function refuse(name: MessageName, { number, start }: Tag): void {
  const what = REFUSED[name]?.[number];
  if (what === undefined) return;
  throw fail(
    "ONNX_UNSUPPORTED",
    `The ONNX file holds ${what}, which are not supported.`,
    "Export an inference graph without them (inline functions, drop training parts).",
    { byte: start },
  );
}
