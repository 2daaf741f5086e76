/** Words of a line, read strictly: what has another length, or a number beyond its field, is refused. */
import { fromHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";

const WORD = 32;
const MOST_NUMBER_BYTES = 16;

/** @throws BaseError LINE_INVALID always */
export function refuseLine(field: string, value: unknown, limit: string): never {
  throw new BaseError({
    code: "LINE_INVALID",
    shortMessage: `${field} is ${value}, must be ${limit}.`,
    nextStep: "Write the line as docs/CONFORMANCE.md has it.",
  });
}

/** The words of one line, read one after the other. */
export class Words {
  #left: string[];

  constructor(words: readonly string[]) {
    this.#left = [...words];
  }

  get left(): number {
    return this.#left.length;
  }

  bytes(): Uint8Array {
    const word = this.#left.shift();
    return word === undefined ? refuseLine("number of words", "too small", "the line's") : fromHex(word);
  }

  fixed(length: number): Uint8Array {
    const bytes = this.bytes();
    return bytes.length === length ? bytes : refuseLine("length of a word", bytes.length, `${length} bytes`);
  }

  /** The word as it is written, of so many bytes. */
  hex(length: number): `0x${string}` {
    const word = this.#left[0] ?? "";
    this.fixed(length);
    return word.toLowerCase() as `0x${string}`;
  }

  bigint(bits: number): bigint {
    const bytes = this.bytes();
    if (bytes.length > MOST_NUMBER_BYTES)
      refuseLine("length of a number", bytes.length, `at most ${MOST_NUMBER_BYTES} bytes`);
    const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
    return value < 1n << BigInt(bits) ? value : refuseLine("a number", value, `of at most ${bits} bits`);
  }

  /** @param bits at most 53 */
  number(bits: number): number {
    return Number(this.bigint(bits));
  }

  /** Joined words of 32 bytes. */
  words(): Uint8Array[] {
    const bytes = this.bytes();
    if (bytes.length % WORD !== 0) refuseLine("length of joined words", bytes.length, "a multiple of 32");
    return Array.from({ length: bytes.length / WORD }, (_, i) => bytes.slice(WORD * i, WORD * (i + 1)));
  }

  /** @throws BaseError LINE_INVALID unless every word was read */
  end(): void {
    if (this.#left.length > 0) refuseLine("number of words", "too large", "the line's");
  }
}
