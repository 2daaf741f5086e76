/** The characters that stand for the 256 bytes in tokens of byte-level BPE. Source: the encoder of GPT-2. */

/** Bytes that are printable characters of Latin-1, by ranges, stand for themselves. */
const PRINTABLE = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
] as const;
/** The other ones are the characters from here on, in order. */
const OTHERS = 0x100;

const isPrintable = (byte: number): boolean => PRINTABLE.some(([from, to]) => byte >= from && byte <= to);

/** By byte. */
export const BYTE_CHARACTERS: readonly string[] = (() => {
  let next = OTHERS;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(isPrintable(byte) ? byte : next++));
})();

const BYTES = new Map(BYTE_CHARACTERS.map((character, byte) => [character, byte]));

/** The bytes of a token. @returns undefined where one of its characters stands for no byte */
export function tokenBytes(token: string): Uint8Array | undefined {
  const bytes = Array.from(token, (character) => BYTES.get(character));
  return bytes.includes(undefined) ? undefined : Uint8Array.from(bytes as number[]);
}
