import { concatBytes } from "../../base/bytes.ts";
import type { TensorData } from "../program/form.ts";
import { ceilLog2, type TreeShape, treeShape } from "../program/shape.ts";
import { storedBytes } from "../program/tensor.ts";
import { HASH_BYTES, hashMessages, hashPair, keccak256, ZERO_ROOTS, ZERO_SUBTREES } from "./keccak.ts";

/** Nodes of one level that have a real leaf below them: `groups` runs of `length` nodes of 32 bytes, in one array.
 *  Padding is not stored. */
export interface Level {
  readonly nodes: Uint8Array;
  readonly length: number;
}

const nodeAt = ({ nodes }: Level, index: number): Uint8Array =>
  nodes.subarray(HASH_BYTES * index, HASH_BYTES * (index + 1));

/** @param groups runs of `below.length` nodes */
function parents(below: Level, groups: number, zero: Uint8Array): Level {
  const length = Math.ceil(below.length / 2);
  const whole = Math.floor(below.length / 2);
  const nodes = new Uint8Array(HASH_BYTES * groups * length);
  if (whole === length) hashMessages(nodes, 0, below.nodes, 0, groups * whole, PAIR_BYTES);
  else {
    for (let group = 0; group < groups; group++) {
      const [to, from] = [HASH_BYTES * group * length, HASH_BYTES * group * below.length];
      hashMessages(nodes, to, below.nodes, from, whole, PAIR_BYTES);
      const last = nodeAt(below, (group + 1) * below.length - 1);
      nodes.set(hashPair(last, zero), to + HASH_BYTES * whole);
    }
  }
  return { nodes, length };
}

const PAIR_BYTES = 64;

/** Levels from this one on are kept: a node below is made of at most 32 words when it is asked for, and all levels together
 *  would take twice the tensor's memory. */
const FIRST_KEPT = 6;
/** Bytes of a tensor whose nodes below that level are made at a time. */
const BYTES_AT_ONCE = 2 ** 18;

/** A tensor's elements as they are stored, packed, wherever that is. */
export interface StoredTensor {
  read(from: number, count: number): Uint8Array;
}

const inMemory = (data: TensorData): StoredTensor => ({
  read(from, count) {
    const size = data.BYTES_PER_ELEMENT;
    return storedBytes(data.subarray(from / size, (from + count) / size));
  },
});

/** The Merkle tree of one tensor: rows padded to words, to W words and to R rows. Padding costs nothing.
 *  Source: docs/PROTOCOL.md, section 1. */
export class TensorTree {
  readonly shape: TreeShape;
  readonly #stored: StoredTensor;
  /** The lowest level that is kept. */
  readonly #first: number;
  /** Nodes that are kept and have a real leaf below them, from that level on; as they travel between threads. */
  readonly levels: readonly Level[];

  /** @param data rows of `rowBytes` each, packed: elements, or the real words of a weight tensor. It is read for as long as
   *  the tree is asked
   *  @param levels of the same tensor, where another thread has hashed it */
  constructor(data: TensorData | StoredTensor, rows: number, rowBytes: number, levels?: readonly Level[]) {
    this.shape = treeShape(rows, rowBytes);
    this.#stored = "read" in data ? data : inMemory(data);
    this.#first = Math.min(FIRST_KEPT, this.shape.height);
    this.levels = levels ?? this.#made();
  }

  #made(): Level[] {
    const { rows, rowHeight, rowBytes, words, height } = this.shape;
    const first = this.#first;
    // Blocks of so many rows, or of several times as many, have no node in common.
    const apart = 2 ** Math.max(0, first - rowHeight);
    const some = apart * Math.max(1, Math.floor(BYTES_AT_ONCE / (apart * rowBytes)));
    const blocks: Uint8Array[] = [];
    for (let row = 0; row < rows; row += some) {
      const count = Math.min(some, rows - row);
      blocks.push(this.#climb({ nodes: this.#leaves(row, count), length: words }, 0, first, count).nodes);
    }
    const length = Math.ceil(
      (first <= rowHeight ? words : rows) / 2 ** (first <= rowHeight ? first : first - rowHeight),
    );
    const levels = [{ nodes: concatBytes(...blocks), length }];
    for (let level = first; level < height; level++)
      levels.push(this.#climb(levels.at(-1) as Level, level, level + 1, rows));
    return levels;
  }

  /** Nodes of a level above some rows, from those of a lower one. */
  #climb(from: Level, low: number, high: number, rows: number): Level {
    const { rowHeight } = this.shape;
    let level = from;
    for (let at = low + 1; at <= high; at++) {
      // Above the rows' roots the tensor is one run of rows.
      if (at === rowHeight + 1) level = { nodes: level.nodes, length: rows };
      level = parents(level, at <= rowHeight ? rows : 1, ZERO_SUBTREES[at - 1] as Uint8Array);
    }
    return level;
  }

  #leaves(row: number, count: number): Uint8Array {
    const { words } = this.shape;
    const nodes = new Uint8Array(HASH_BYTES * count * words);
    hashMessages(nodes, 0, this.#words(row, count), 0, count * words, HASH_BYTES);
    return nodes;
  }

  /** The words of some rows. */
  #words(row: number, count: number): Uint8Array {
    const { words, rowBytes } = this.shape;
    const stored = this.#stored.read(row * rowBytes, count * rowBytes);
    if (rowBytes === HASH_BYTES * words) return stored;
    const padded = new Uint8Array(HASH_BYTES * words * count);
    for (let i = 0; i < count; i++)
      padded.set(stored.subarray(i * rowBytes, (i + 1) * rowBytes), HASH_BYTES * words * i);
    return padded;
  }

  /** All elements as they are stored. */
  get stored(): Uint8Array {
    const { rows, rowBytes } = this.shape;
    return this.#stored.read(0, rows * rowBytes);
  }

  get root(): Uint8Array {
    return this.node(this.shape.height, 0);
  }

  /** 32 bytes of a real or padding word. */
  word(row: number, word: number): Uint8Array {
    const { rows, words, rowBytes } = this.shape;
    const content = new Uint8Array(HASH_BYTES);
    if (row < rows && word < words) {
      const from = HASH_BYTES * word;
      content.set(this.#stored.read(row * rowBytes + from, Math.min(HASH_BYTES, rowBytes - from)));
    }
    return content;
  }

  /** Word by its leaf index, row · W + word. */
  leafWord(leaf: number): Uint8Array {
    const width = 2 ** this.shape.rowHeight;
    return this.word(Math.floor(leaf / width), leaf % width);
  }

  node(level: number, index: number): Uint8Array {
    const { rowHeight, rows } = this.shape;
    if (level < this.#first)
      return level === 0
        ? keccak256(this.leafWord(index))
        : hashPair(this.node(level - 1, 2 * index), this.node(level - 1, 2 * index + 1));
    const own = this.levels[level - this.#first] as Level;
    const { length } = own;
    const zero = ZERO_SUBTREES[level] as Uint8Array;
    if (level > rowHeight) return index < length ? nodeAt(own, index) : zero;
    const run = 2 ** (rowHeight - level);
    const row = Math.floor(index / run);
    const i = index % run;
    return row < rows && i < length ? nodeAt(own, row * length + i) : zero;
  }

  /** Siblings from a node to the tensor root, bottom up. */
  siblings(level: number, index: number): Uint8Array[] {
    const path: Uint8Array[] = [];
    for (let at = index; level < this.shape.height; level++, at = at >> 1)
      path.push(this.node(level, at ^ 1));
    return path;
  }
}

/** The tree over the tensor roots of all steps, or of all weight tensors. */
export class RootTree {
  readonly height: number;
  readonly #levels: Level[];

  /** @param roots 32 bytes each; none gives a root of 32 zero bytes */
  constructor(roots: readonly Uint8Array[]) {
    this.height = ceilLog2(Math.max(1, roots.length));
    this.#levels = [{ nodes: concatBytes(...roots), length: roots.length }];
    for (let level = 1; level <= this.height; level++) {
      this.#levels.push(parents(this.#levels[level - 1] as Level, 1, ZERO_ROOTS[level - 1] as Uint8Array));
    }
  }

  get root(): Uint8Array {
    return this.node(this.height, 0);
  }

  node(level: number, index: number): Uint8Array {
    const own = this.#levels[level] as Level;
    return index < own.length ? nodeAt(own, index) : (ZERO_ROOTS[level] as Uint8Array);
  }

  /** Siblings from a node to the root, bottom up. */
  siblings(level: number, index: number): Uint8Array[] {
    const path: Uint8Array[] = [];
    for (let at = index; level < this.height; level++, at = at >> 1) path.push(this.node(level, at ^ 1));
    return path;
  }
}

/** Root above a node, from its siblings bottom up. */
export function foldPath(node: Uint8Array, index: number, path: readonly Uint8Array[]): Uint8Array {
  let at = index;
  let hash = node;
  for (const sibling of path) {
    hash = at % 2 === 0 ? hashPair(hash, sibling) : hashPair(sibling, hash);
    at = Math.floor(at / 2);
  }
  return hash;
}

/** Root of 2^n nodes of one level. */
export function foldNodes(nodes: readonly Uint8Array[]): Uint8Array {
  let level = nodes;
  while (level.length > 1) {
    level = Array.from({ length: level.length / 2 }, (_, i) =>
      hashPair(level[2 * i] as Uint8Array, level[2 * i + 1] as Uint8Array),
    );
  }
  return level[0] as Uint8Array;
}
