import { BaseError } from "./errors.ts";

export type Hex = `0x${string}`;

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`;
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
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
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
