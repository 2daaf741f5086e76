import { BaseError } from "./errors.ts";

export type Hex = `0x${string}`;

/** ASCII of the sixteen digits. */
const DIGITS = new TextEncoder().encode("0123456789abcdef");
const ASCII = new TextDecoder("latin1");

export function toHex(bytes: Uint8Array): Hex {
  const text = new Uint8Array(2 * bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    text[2 * i] = DIGITS[byte >> 4] as number;
    text[2 * i + 1] = DIGITS[byte & 15] as number;
  }
  return `0x${ASCII.decode(text)}`;
}

/** @throws BaseError BAD_HEX unless the text is 0x and an even number of hexadecimal digits */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0 || !/^0x[0-9a-fA-F]*$/.test(text)) {
    throw new BaseError({
      code: "BAD_HEX",
      shortMessage: `${JSON.stringify(text.slice(0, 40))} is not hexadecimal bytes.`,
      nextStep: "Give 0x followed by an even number of digits 0-9, a-f.",
      details: { length: text.length },
    });
  }
  const bytes = new Uint8Array(text.length / 2 - 1);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = (digitAt(text, 2 * i + 2) << 4) | digitAt(text, 2 * i + 3);
  return bytes;
}

/** Value of one of 0-9, a-f, A-F, whose codes end in the digit or in the letter's place. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code & 15) + (code > 0x39 ? 9 : 0);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** A view on the same memory. */
export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
