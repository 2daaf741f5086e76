/** Changes a part of a message and leaves every other byte as it is, fields that the schema does not know included. */
import { Cursor } from "./cursor.ts";
import { Writer } from "./encode.ts";
import { fieldsOf, type Message, type MessageName, WIRE } from "./schema.ts";

interface Place {
  readonly number: number;
  readonly whole: Uint8Array;
  /** Of a field that has a length. */
  readonly content: Uint8Array;
}

function places(bytes: Uint8Array): Place[] {
  const found: Place[] = [];
  const cursor = new Cursor(bytes);
  while (cursor.at < bytes.length) {
    const tag = cursor.tag(bytes.length);
    const { number, wire, start } = tag;
    const from = cursor.at;
    cursor.skip(tag, bytes.length);
    const end = cursor.at;
    cursor.at = from;
    const content = wire === WIRE.delimited ? cursor.take(cursor.stop(bytes.length)) : new Uint8Array(0);
    cursor.at = end;
    found.push({ number, whole: bytes.subarray(start, end), content });
  }
  return found;
}

const numberOf = <Name extends MessageName>(name: Name, field: keyof Message<Name> & string): number =>
  [...fieldsOf(name).values()].find((f) => f.name === field)?.number as number;

/** @param bytes a valid message, as decode() accepts it
 *  @returns the bytes of each message, text or byte string that the field holds */
export function contentsOf<Name extends MessageName>(
  name: Name,
  bytes: Uint8Array,
  field: keyof Message<Name> & string,
): Uint8Array[] {
  const number = numberOf(name, field);
  return places(bytes).flatMap((place) => (place.number === number ? [place.content] : []));
}

/** @param bytes a valid message, as decode() accepts it
 *  @param contents what the field holds instead: where its first was, else before the fields of higher numbers */
export function withContents<Name extends MessageName>(
  name: Name,
  bytes: Uint8Array,
  field: keyof Message<Name> & string,
  contents: readonly Uint8Array[],
): Uint8Array {
  const number = numberOf(name, field);
  const all = places(bytes);
  const held = all.findIndex((place) => place.number === number);
  const next = held >= 0 ? held : all.findIndex((place) => place.number > number);
  const at = next >= 0 ? next : all.length;
  const writer = new Writer();
  for (const { whole } of all.slice(0, at)) writer.bytes(whole);
  for (const content of contents) writer.delimited(number, content);
  for (const place of all.slice(at)) if (place.number !== number) writer.bytes(place.whole);
  return writer.finish();
}
