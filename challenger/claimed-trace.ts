import { hashPair, keccak256, ZERO_ROOTS } from "../inference/commit/keccak.ts";
import {
  encodePosition,
  openedLevel,
  type Position,
  TRACE_STEP,
  topLevel,
} from "../inference/commit/positions.ts";
import type { RootTree } from "../inference/commit/tree.ts";
import { ceilLog2, type TreeShape } from "../inference/program/shape.ts";

/** What the chain has shown of a claimed trace: the published tops and the contents of revealed positions.
 *  The contract folded each of them to the trace root, so they are taken as they are. */
export class ClaimedTrace {
  readonly #shapes: readonly TreeShape[];
  readonly #tops: readonly Uint8Array[];
  /** Levels of nodes from the content of a position up to the position's own node, by encoded position. */
  readonly #opened = new Map<bigint, readonly (readonly Uint8Array[])[]>();
  readonly #words = new Map<bigint, readonly Uint8Array[]>();
  readonly #topTree: readonly (readonly Uint8Array[])[];

  constructor(shapes: readonly TreeShape[], tops: readonly Uint8Array[]) {
    this.#shapes = shapes;
    this.#tops = tops;
    const level = topLevel(shapes.length);
    const nodes = [...tops];
    while (nodes.length < 2 ** (this.#traceHeight - level)) nodes.push(ZERO_ROOTS[level] as Uint8Array);
    this.#topTree = foldLevels(nodes);
  }

  get #traceHeight(): number {
    return ceilLog2(this.#shapes.length);
  }

  get tops(): readonly Uint8Array[] {
    return this.#tops;
  }

  /** Adds the content of a reveal: hashes, or words where the position opens words. */
  addReveal(position: Position, content: readonly Uint8Array[]): void {
    const key = encodePosition(position);
    const isWords = position.step !== TRACE_STEP && openedLevel(position.level) === 0;
    if (isWords) this.#words.set(key, content);
    this.#opened.set(key, foldLevels(isWords ? content.map(keccak256) : content));
  }

  /** Nodes that the position opened, or undefined before its reveal. */
  children(position: Position): readonly Uint8Array[] | undefined {
    return this.#opened.get(encodePosition(position))?.[0];
  }

  /** Words that the position opened; undefined before its reveal and above the lowest six levels. */
  words(position: Position): readonly Uint8Array[] | undefined {
    return this.#words.get(encodePosition(position));
  }

  /** Claimed root of a step's tensor, or undefined while no reveal showed it. */
  root(step: number): Uint8Array | undefined {
    if (topLevel(this.#shapes.length) === 0) return this.#tops[step];
    return this.children(this.rootPosition(step))?.[step % 64];
  }

  /** The position that shows a step's root in a trace of more than 64 steps. */
  rootPosition(step: number): Position {
    return { step: TRACE_STEP, level: 6, index: step >> 6 };
  }

  /** Siblings from a step's root to the trace root.
   *  @param own roots of the honest trace: in a trace of more than 64 steps they stand in for a group of roots that
   *  was never revealed because its top is agreed */
  rootSiblings(step: number, own: RootTree): Uint8Array[] {
    if (topLevel(this.#shapes.length) === 0) return siblingsIn(this.#topTree, step);
    const position = this.rootPosition(step);
    const opened = this.#opened.get(encodePosition(position));
    const below = opened === undefined ? own.siblings(0, step).slice(0, 6) : siblingsIn(opened, step % 64);
    return [...below, ...siblingsIn(this.#topTree, position.index)];
  }

  /** Siblings from a leaf of a step's tensor to the trace root; every position on the way must be revealed. */
  leafSiblings(step: number, leaf: number, own: RootTree): Uint8Array[] {
    const { height } = this.#shapes[step] as TreeShape;
    const path: Uint8Array[] = [];
    for (const position of positionsTo(height, step, leaf).reverse()) {
      const below = openedLevel(position.level);
      const levels = this.#opened.get(encodePosition(position)) as readonly (readonly Uint8Array[])[];
      const child = Math.floor(leaf / 2 ** below) % 2 ** (position.level - below);
      path.push(...siblingsIn(levels, child));
    }
    return [...path, ...this.rootSiblings(step, own)];
  }
}

/** Positions of a tensor of this height from its root down to a leaf. */
function positionsTo(height: number, step: number, leaf: number): Position[] {
  const positions: Position[] = [];
  let level = height;
  do {
    positions.push({ step, level, index: Math.floor(leaf / 2 ** level) });
    level = openedLevel(level);
  } while (level > 0);
  return positions;
}

/** A level of 2^n nodes and every level above it. */
function foldLevels(nodes: readonly Uint8Array[]): readonly (readonly Uint8Array[])[] {
  const levels = [nodes];
  for (let level = nodes; level.length > 1; levels.push(level)) {
    const below = level;
    level = Array.from({ length: below.length / 2 }, (_, i) =>
      hashPair(below[2 * i] as Uint8Array, below[2 * i + 1] as Uint8Array),
    );
  }
  return levels;
}

/** Siblings of node `index` of the lowest level, up to the top of these levels. */
function siblingsIn(levels: readonly (readonly Uint8Array[])[], index: number): Uint8Array[] {
  return levels.slice(0, -1).map((level, i) => level[(index >> i) ^ 1] as Uint8Array);
}
