/** Writes ONNX messages: fields in the order of their numbers, lists of numbers packed. The same message gives the same
 *  bytes. */
import {
  fieldsOf,
  isMessage,
  isNumber,
  type Message,
  type MessageName,
  NUMBERS,
  type NumberKind,
  WIRE,
} from "./schema.ts";

export function encode<Name extends MessageName>(name: Name, message: Message<Name>): Uint8Array {
  const writer = new Writer();
  writeMessage(writer, name, message);
  return writer.finish();
}

/** Pieces of a message in their order. */
export class Writer {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  bytes(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  tag(number: number, wire: number): void {
    this.bytes(Uint8Array.from(varint(number * 8 + wire)));
  }

  delimited(number: number, content: Uint8Array): void {
    this.tag(number, WIRE.delimited);
    this.bytes(Uint8Array.from(varint(content.length)));
    this.bytes(content);
  }

  finish(): Uint8Array {
    const whole = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }
}

function writeMessage(writer: Writer, name: MessageName, message: object): void {
  for (const { name: key, number, kind, isList } of fieldsOf(name).values()) {
    const value = (message as Readonly<Record<string, unknown>>)[key];
    if (value === undefined) continue;
    if (!isNumber(kind)) {
      for (const element of isList ? (value as unknown[]) : [value]) {
        writer.delimited(number, contentOf(kind, element));
      }
    } else if (!isList) {
      writer.tag(number, NUMBERS[kind].wire);
      writer.bytes(numbers(kind, [value as number | bigint]));
    } else {
      const list = value as ArrayLike<number | bigint>;
      if (list.length > 0) writer.delimited(number, numbers(kind, list));
    }
  }
}

function contentOf(kind: MessageName | "string" | "bytes", value: unknown): Uint8Array {
  if (isMessage(kind)) return encode(kind, value as object);
  return kind === "string" ? new TextEncoder().encode(value as string) : (value as Uint8Array);
}

function numbers(kind: NumberKind, values: ArrayLike<number | bigint>): Uint8Array {
  if (kind !== "float") return Uint8Array.from(Array.from(values, varint).flat());
  const view = new DataView(new ArrayBuffer(4 * values.length));
  for (let i = 0; i < values.length; i++) view.setFloat32(4 * i, Number(values[i]), true);
  return new Uint8Array(view.buffer);
}

/** Negative numbers as 64 bits in two's complement. */
function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return bytes;
}
