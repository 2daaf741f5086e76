import { concatBytes } from "../../base/bytes.ts";
import { ceilLog2, type TreeShape, treeShape } from "../program/shape.ts";
import { HASH_BYTES, hashPair, keccak256Into, ZERO_ROOTS, ZERO_SUBTREES } from "./keccak.ts";

/** Nodes of one level that have a real leaf below them: `groups` runs of `length` nodes of 32 bytes, in one array.
 *  Padding is not stored. */
interface Level {
  readonly nodes: Uint8Array;
  readonly length: number;
}

const nodeAt = ({ nodes }: Level, index: number): Uint8Array =>
  nodes.subarray(HASH_BYTES * index, HASH_BYTES * (index + 1));

function parents(below: Level, groups: number, zero: Uint8Array): Level {
  const length = Math.ceil(below.length / 2);
  const nodes = new Uint8Array(HASH_BYTES * groups * length);
  for (let group = 0; group < groups; group++) {
    for (let i = 0; i < length; i++) {
      const from = HASH_BYTES * (group * below.length + 2 * i);
      const to = HASH_BYTES * (group * length + i);
      if (2 * i + 1 < below.length) keccak256Into(nodes, to, below.nodes, from, 2 * HASH_BYTES);
      else nodes.set(hashPair(below.nodes.subarray(from, from + HASH_BYTES), zero), to);
    }
  }
  return { nodes, length };
}

/** Whether a word is 32 zero bytes. */
function isZero(bytes: Uint8Array, start: number): boolean {
  for (let i = start; i < start + HASH_BYTES; i++) if (bytes[i] !== 0) return false;
  return true;
}

/** What a tree is made of, as it travels between threads. */
export interface TreeParts {
  readonly shape: TreeShape;
  readonly bytes: Uint8Array;
  /** nodes and length of each level, the leaves first */
  readonly levels: readonly Level[];
}

/** The Merkle tree of one tensor: rows padded to words, to W words and to R rows. Padding costs nothing.
 *  Source: docs/PROTOCOL.md, section 1. */
export class TensorTree {
  readonly shape: TreeShape;
  readonly #bytes: Uint8Array;
  readonly #levels: Level[];

  /** @param bytes rows of `rowBytes` each, packed: stored bytes, or the real words of a weight tensor
   *  @param levels of the same tensor, where another thread has hashed it */
  constructor(bytes: Uint8Array, rows: number, rowBytes: number, levels?: readonly Level[]) {
    this.shape = treeShape(rows, rowBytes);
    this.#bytes = bytes;
    if (levels !== undefined) {
      this.#levels = [...levels];
      return;
    }
    this.#levels = [this.#leaves()];
    const { rowHeight, height } = this.shape;
    for (let level = 1; level <= height; level++) {
      let below = this.#levels[level - 1] as Level;
      // Above the rows' roots the tensor is one run of rows.
      if (level === rowHeight + 1) below = { nodes: below.nodes, length: rows };
      const groups = level <= rowHeight ? rows : 1;
      this.#levels.push(parents(below, groups, ZERO_SUBTREES[level - 1] as Uint8Array));
    }
  }

  get parts(): TreeParts {
    return { shape: this.shape, bytes: this.#bytes, levels: this.#levels };
  }

  static of({ shape, bytes, levels }: TreeParts): TensorTree {
    return new TensorTree(bytes, shape.rows, shape.rowBytes, levels);
  }

  #leaves(): Level {
    const { rows, words, rowBytes } = this.shape;
    const bytes = this.#bytes;
    const nodes = new Uint8Array(HASH_BYTES * rows * words);
    for (let row = 0; row < rows; row++) {
      for (let word = 0; word < words; word++) {
        const to = HASH_BYTES * (row * words + word);
        const from = row * rowBytes + HASH_BYTES * word;
        const isWhole = HASH_BYTES * (word + 1) <= rowBytes;
        const [content, start] = isWhole ? [bytes, from] : [this.word(row, word), 0];
        if (isZero(content, start)) nodes.set(ZERO_SUBTREES[0] as Uint8Array, to);
        else keccak256Into(nodes, to, content, start, HASH_BYTES);
      }
    }
    return { nodes, length: words };
  }

  get root(): Uint8Array {
    return this.node(this.shape.height, 0);
  }

  /** 32 bytes of a real or padding word. */
  word(row: number, word: number): Uint8Array {
    const { rows, words, rowBytes } = this.shape;
    const content = new Uint8Array(HASH_BYTES);
    if (row < rows && word < words) {
      const start = row * rowBytes;
      const from = start + HASH_BYTES * word;
      content.set(this.#bytes.subarray(from, Math.min(from + HASH_BYTES, start + rowBytes)));
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
    const own = this.#levels[level] as Level;
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
