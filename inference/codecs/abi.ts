import { viewOf } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";

/** The argument and return types that the codecs use. */
export type AbiType = "string" | "bytes" | "uint256[]";

const WORD = 32;

/** What is wrong with an encoding, where. Only canonical ABI passes: what a standard encoder writes, no other. */
function refuse(offset: number, what: string, value: number | bigint | string, limit: string): never {
  throw new BaseError({
    code: "CALLDATA_NOT_CANONICAL",
    shortMessage: `ABI byte ${offset}: ${what} is ${value}, must be ${limit}.`,
    nextStep: "Encode the arguments again with a standard ABI encoder.",
    details: { offset, what, value, limit },
  });
}

/** Reads a word that must be a small number, such as an offset or a length. */
function readSmall(bytes: Uint8Array, offset: number, what: string): number {
  if (offset + WORD > bytes.length) {
    refuse(bytes.length, "end of the data", bytes.length, `at least ${offset + WORD} bytes, for the ${what}`);
  }
  for (let i = 0; i < 28; i++) {
    if (bytes[offset + i] !== 0) refuse(offset + i, what, "2^32 or more", "a length within the data");
  }
  return viewOf(bytes).getUint32(offset + 28);
}

/** Splits canonical ABI of dynamic arguments into their contents: the bytes of a string or bytes, the words of a
 *  uint256[]. Views on the same memory.
 *  @throws BaseError CALLDATA_NOT_CANONICAL, with the offset relative to the first argument's head */
export function decodeAbi(types: readonly AbiType[], bytes: Uint8Array): Uint8Array[] {
  let tail = WORD * types.length;
  const contents = types.map((type, i) => {
    const offset = readSmall(bytes, WORD * i, `offset of argument ${i}`);
    if (offset !== tail) refuse(WORD * i, `offset of argument ${i}`, offset, `${tail}`);
    const length = readSmall(bytes, tail, `length of argument ${i}`);
    const start = tail + WORD;
    const size = type === "uint256[]" ? WORD * length : length;
    tail = start + Math.ceil(size / WORD) * WORD;
    if (tail > bytes.length) {
      refuse(
        start - WORD,
        `length of argument ${i}`,
        length,
        `no more than the ${bytes.length - start} bytes that follow`,
      );
    }
    for (let at = start + size; at < tail; at++) {
      if (bytes[at] !== 0) refuse(at, `padding of argument ${i}`, bytes[at] as number, "0");
    }
    return bytes.subarray(start, start + size);
  });
  if (bytes.length !== tail) refuse(tail, "length of the data", bytes.length, `${tail} bytes`);
  return contents;
}

/** Canonical ABI of dynamic arguments: heads, then tails in order without gaps. */
export function encodeAbi(types: readonly AbiType[], contents: readonly Uint8Array[]): Uint8Array {
  const sizes = contents.map((content) => Math.ceil(content.length / WORD) * WORD);
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + 2 * WORD + size, 0));
  const view = viewOf(bytes);
  let tail = WORD * types.length;
  contents.forEach((content, i) => {
    view.setUint32(WORD * i + 28, tail);
    view.setUint32(tail + 28, types[i] === "uint256[]" ? content.length / WORD : content.length);
    bytes.set(content, tail + WORD);
    tail += WORD + (sizes[i] as number);
  });
  return bytes;
}

/** A uint256 word as a number. */
export function readWord(bytes: Uint8Array, offset: number): bigint {
  const view = viewOf(bytes);
  let high = 0;
  for (let i = 0; i < WORD - 8; i += 4) high |= view.getUint32(offset + i);
  // Nearly all numbers fit into 64 bits, and arithmetic of bigints is slow.
  if (high === 0) return view.getBigUint64(offset + WORD - 8);
  let word = 0n;
  for (let i = 0; i < WORD; i += 8) word = (word << 64n) | view.getBigUint64(offset + i);
  return word;
}

/** Writes a number modulo 2^256, so that a negative one is an int256. */
export function writeWord(bytes: Uint8Array, offset: number, value: bigint): void {
  const view = viewOf(bytes);
  let rest = BigInt.asUintN(256, value);
  for (let i = WORD - 8; i >= 0; i -= 8) {
    view.setBigUint64(offset + i, rest & 0xffff_ffff_ffff_ffffn);
    rest >>= 64n;
  }
}
