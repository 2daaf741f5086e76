/** Content identifiers as `ipfs add --cid-version 1` computes them: raw leaves of 256 KiB under a balanced UnixFS tree
 *  of at most 174 links a node. Source: CID and UnixFS specifications. */

import { concatBytes } from "../../base/bytes.ts";

const CHUNK_BYTES = 262_144;
const MAX_LINKS = 174;
const RAW = 0x55;
const DAG_PB = 0x70;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** SHA-256, 32 bytes: given in by who runs this, as a browser has another one than Node.js. */
export type Sha256 = (content: Uint8Array) => Uint8Array;

interface Block {
  readonly cid: Uint8Array;
  /** Bytes of the file below this block. */
  readonly fileBytes: number;
  /** Bytes of this block and all below it. */
  readonly totalBytes: number;
}

/** CIDv1 of a file's content, in base32. */
export function cidOf(content: Uint8Array, sha256: Sha256): string {
  const cidBytes = (codec: number, block: Uint8Array): Uint8Array =>
    // Version 1, codec, sha2-256 of 32 bytes.
    Uint8Array.of(1, codec, 0x12, 32, ...sha256(block));
  let level: Block[] = [];
  for (let at = 0; at === 0 || at < content.length; at += CHUNK_BYTES) {
    const chunk = content.subarray(at, at + CHUNK_BYTES);
    level.push({ cid: cidBytes(RAW, chunk), fileBytes: chunk.length, totalBytes: chunk.length });
  }
  while (level.length > 1) {
    const parents: Block[] = [];
    for (let i = 0; i < level.length; i += MAX_LINKS)
      parents.push(parent(level.slice(i, i + MAX_LINKS), cidBytes));
    level = parents;
  }
  return `b${base32((level[0] as Block).cid)}`;
}

function parent(
  children: readonly Block[],
  cidBytes: (codec: number, block: Uint8Array) => Uint8Array,
): Block {
  const fileBytes = children.reduce((sum, c) => sum + c.fileBytes, 0);
  // UnixFS: type 2 (file), file size, size of the file's part below each child.
  const data = concatBytes(
    Uint8Array.of(0x08, 2, 0x18, ...varint(fileBytes)),
    ...children.map((c) => Uint8Array.of(0x20, ...varint(c.fileBytes))),
  );
  const links = children.map((c) => {
    const link = concatBytes(
      field(1, c.cid),
      field(2, new Uint8Array(0)),
      Uint8Array.of(0x18, ...varint(c.totalBytes)),
    );
    return field(2, link);
  });
  const block = concatBytes(...links, field(1, data));
  const below = children.reduce((sum, c) => sum + c.totalBytes, 0);
  return { cid: cidBytes(DAG_PB, block), fileBytes, totalBytes: block.length + below };
}

const field = (number: number, content: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(8 * number + 2, ...varint(content.length)), content);

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

function base32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(value >> bits) & 31];
    }
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

/** CIDv0 (base58 sha2-256) or CIDv1 in base32 with a sha2-256 digest. */
export function isCid(text: string): boolean {
  if (/^Qm[1-9A-HJ-NP-Za-km-z]{44}$/.test(text)) return true;
  return /^b[a-z2-7]{58}$/.test(text) && /^baf/.test(text);
}
