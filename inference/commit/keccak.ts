import { compileKeccakF } from "./keccak-f.ts";
import { compileHashes } from "./keccak-pairs.ts";

export const HASH_BYTES = 32 as const;

/** Bytes of the state that take in a message: 1600 bits less twice the length of a hash. */
const RATE_BYTES = 136;

// A hash leaves nothing behind that the next one reads: the state starts from zero each time.
const { state, permute } = compileKeccakF();

/** The one keccak256 of the commitments. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES);
  keccak256Into(hash, 0, bytes, 0, bytes.length);
  return hash;
}

/** keccak256 of `length` bytes from `start` on, written to `out` at `at`: trees are built without an array a node. */
export function keccak256Into(
  out: Uint8Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  length: number,
): void {
  state.fill(0);
  let [from, rest] = [start, length];
  for (; rest >= RATE_BYTES; from += RATE_BYTES, rest -= RATE_BYTES) {
    absorb(bytes, from, RATE_BYTES);
    permute();
  }
  absorb(bytes, from, rest);
  // Keccak's own padding, 10*1: SHA-3 puts two more bits before it.
  state[rest] = (state[rest] as number) ^ 0x01;
  state[RATE_BYTES - 1] = (state[RATE_BYTES - 1] as number) ^ 0x80;
  permute();
  for (let i = 0; i < HASH_BYTES; i++) out[at + i] = state[i] as number;
}

const [hashes32, hashes64] = [compileHashes(32), compileHashes(64)];

/** keccak256 of `count` messages of `length` bytes that follow one another from `start` on, 32 bytes each, written to `out`
 *  from `at` on. */
export function hashMessages(
  out: Uint8Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  count: number,
  length: 32 | 64,
): void {
  const hashes = length === 32 ? hashes32 : hashes64;
  if (hashes !== undefined) hashes(out, at, bytes, start, count);
  else
    for (let i = 0; i < count; i++)
      keccak256Into(out, at + HASH_BYTES * i, bytes, start + length * i, length);
}

function absorb(bytes: Uint8Array, start: number, count: number): void {
  for (let i = 0; i < count; i++) state[i] = (state[i] as number) ^ (bytes[start + i] as number);
}

/** Hash of a pair of nodes. */
export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  const pair = new Uint8Array(2 * HASH_BYTES);
  pair.set(left);
  pair.set(right, HASH_BYTES);
  return keccak256(pair);
}

/** Roots of all-padding subtrees by level, level 0 first. */
function ladder(bottom: Uint8Array, levels: number): readonly Uint8Array[] {
  const nodes = [bottom];
  for (let level = 1; level <= levels; level++) {
    const below = nodes[level - 1] as Uint8Array;
    nodes.push(hashPair(below, below));
  }
  return nodes;
}

/** z of a tensor's tree: level 0 is the hash of a zero word. Levels up to 22, the highest tensor.
 *  Source: docs/PROTOCOL.md, section 1. */
export const ZERO_SUBTREES: readonly Uint8Array[] = ladder(keccak256(new Uint8Array(HASH_BYTES)), 22);

/** z of a tree over tensor roots: level 0 is 32 zero bytes. Levels up to 11, 2,048 roots. */
export const ZERO_ROOTS: readonly Uint8Array[] = ladder(new Uint8Array(HASH_BYTES), 11);
