import { ceilLog2, type TreeShape, treeShape } from "../program/shape.ts";
import { HASH_BYTES, hashPair, keccak256, ZERO_ROOTS, ZERO_SUBTREES } from "./keccak.ts";

/** Nodes of one level that have a real leaf below them: `groups` runs of `length` nodes. Padding is not stored. */
interface Level {
  readonly nodes: readonly Uint8Array[];
  readonly length: number;
}

function parents(below: Level, groups: number, zero: Uint8Array): Level {
  const length = Math.ceil(below.length / 2);
  const nodes: Uint8Array[] = [];
  for (let group = 0; group < groups; group++) {
    const start = group * below.length;
    for (let i = 0; i < below.length; i += 2) {
      const right = i + 1 < below.length ? (below.nodes[start + i + 1] as Uint8Array) : zero;
      nodes.push(hashPair(below.nodes[start + i] as Uint8Array, right));
    }
  }
  return { nodes, length };
}

/** The Merkle tree of one tensor: rows padded to words, to W words and to R rows. Padding costs nothing.
 *  Source: docs/PROTOCOL.md, section 1. */
export class TensorTree {
  readonly shape: TreeShape;
  readonly #bytes: Uint8Array;
  readonly #levels: Level[];

  /** @param bytes rows of `rowBytes` each, packed: stored bytes, or the real words of a weight tensor */
  constructor(bytes: Uint8Array, rows: number, rowBytes: number) {
    this.shape = treeShape(rows, rowBytes);
    this.#bytes = bytes;
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

  #leaves(): Level {
    const { rows, words } = this.shape;
    const nodes: Uint8Array[] = [];
    for (let row = 0; row < rows; row++) {
      for (let word = 0; word < words; word++) {
        const content = this.word(row, word);
        const zero = content.every((byte) => byte === 0);
        nodes.push(zero ? (ZERO_SUBTREES[0] as Uint8Array) : keccak256(content));
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
    const { nodes, length } = this.#levels[level] as Level;
    const zero = ZERO_SUBTREES[level] as Uint8Array;
    if (level > rowHeight) return nodes[index] ?? zero;
    const run = 2 ** (rowHeight - level);
    const row = Math.floor(index / run);
    const i = index % run;
    return row < rows && i < length ? (nodes[row * length + i] as Uint8Array) : zero;
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
    this.#levels = [{ nodes: roots, length: roots.length }];
    for (let level = 1; level <= this.height; level++) {
      this.#levels.push(parents(this.#levels[level - 1] as Level, 1, ZERO_ROOTS[level - 1] as Uint8Array));
    }
  }

  get root(): Uint8Array {
    return this.node(this.height, 0);
  }

  node(level: number, index: number): Uint8Array {
    return this.#levels[level]?.nodes[index] ?? (ZERO_ROOTS[level] as Uint8Array);
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
