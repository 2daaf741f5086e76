/** A place in the wire bytes of a message; whatever it reads lies inside the message that is being read. */
import type { BaseError } from "../../../base/errors.ts";
import { fail } from "../fail.ts";
import { WIRE } from "./schema.ts";

export function malformed(what: string, at: number): BaseError {
  return fail(
    "ONNX_MALFORMED",
    `The file is not a valid ONNX model: ${what} at byte ${at}.`,
    "Export the model again, or check that the file was copied completely.",
    { byte: at },
  );
}

export interface Tag {
  readonly number: number;
  readonly wire: number;
  /** Where the field begins. */
  readonly start: number;
}

const MAX_FIELD_NUMBER = 2 ** 29 - 1;
const VARINT_BITS = 64;

/** Methods throw ONNX_MALFORMED, with the byte, for what does not fit before `end`. */
export class Cursor {
  at = 0;
  /** The last varint, as two unsigned halves. */
  #low = 0;
  #high = 0;
  readonly #view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  tag(end: number): Tag {
    const start = this.at;
    const value = this.#unsigned(end);
    const wire = value % 8;
    const number = (value - wire) / 8;
    if (number < 1 || number > MAX_FIELD_NUMBER) throw malformed(`field number ${number}`, start);
    return { number, wire, start };
  }

  int32(end: number): number {
    this.#varint(end);
    return this.#low | 0;
  }

  int64(end: number): bigint {
    this.#varint(end);
    return BigInt.asIntN(64, (BigInt(this.#high) << 32n) | BigInt(this.#low));
  }

  float(end: number): number {
    return this.#view.getFloat32(this.#advance(4, end), true);
  }

  /** Reads a length.
   *  @returns where what it measures ends */
  stop(end: number): number {
    const start = this.at;
    const length = this.#unsigned(end);
    if (length > end - this.at) throw malformed(`${length} bytes run past their message`, start);
    return this.at + length;
  }

  /** The bytes up to `stop`, not copied. */
  take(stop: number): Uint8Array {
    return this.bytes.subarray(this.#advance(stop - this.at, stop), stop);
  }

  skip({ wire, start }: Tag, end: number): void {
    if (wire === WIRE.varint) this.#varint(end);
    else if (wire === WIRE.fixed64) this.#advance(8, end);
    else if (wire === WIRE.fixed32) this.#advance(4, end);
    else if (wire === WIRE.delimited) this.at = this.stop(end);
    else throw malformed(`wire type ${wire}`, start);
  }

  /** How many varints end before `end`. */
  countVarints(end: number): number {
    let count = 0;
    for (let i = this.at; i < end; i++) if ((this.bytes[i] as number) < 0x80) count++;
    return count;
  }

  #advance(length: number, end: number): number {
    if (length > end - this.at) throw malformed(`${length} bytes run past their message`, this.at);
    const from = this.at;
    this.at += length;
    return from;
  }

  /** Values above 2^53 lose low bits, which no length or tag has. */
  #unsigned(end: number): number {
    this.#varint(end);
    return this.#high * 2 ** 32 + this.#low;
  }

  #varint(end: number): void {
    const start = this.at;
    let [low, high] = [0, 0];
    for (let shift = 0; shift < VARINT_BITS; shift += 7) {
      if (this.at >= end) throw malformed("a number runs past its message", start);
      const byte = this.bytes[this.at++] as number;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift === 28) high |= bits >> 4;
      if (shift > 28) high |= bits << (shift - 32);
      if (shift === 63 && bits > 1) break;
      if (byte < 0x80) {
        this.#low = low >>> 0;
        this.#high = high >>> 0;
        return;
      }
    }
    throw malformed("a number of more than 64 bits", start);
  }
}
