/** The trace whose defence costs most: as many steps and leaves as a program may have, every byte of it nonzero. */
import { toHex } from "../base/bytes.ts";
import type { Rng } from "../conformance/generate/rng.ts";
import { hashPair, keccak256 } from "../inference/commit/keccak.ts";
import { encodePosition, openedLevel, SPAN, TRACE_STEP } from "../inference/commit/positions.ts";
import { foldNodes } from "../inference/commit/tree.ts";
import { type Model, NONE, type Step } from "../inference/program/form.ts";
import { demandDepth, stepShape, traceHeight } from "../inference/program/shape.ts";

const neutral = { variant: 0, a: 0, b: NONE, c: NONE, k: 0, coordinates: [] } as const;
const view = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };
const copyOf = (type: "s32" | "u8", a: number, dims: number[]): Step => ({
  ...neutral,
  opcode: "move",
  type,
  dims,
  a,
  coordinates: [view, view, view, view],
});
const inputAs = (type: "s32" | "u8"): Step => ({
  ...neutral,
  opcode: "codec",
  variant: 4,
  type,
  dims: [1],
  a: NONE,
});
/** The most steps, whose trace has the longest paths, and the most whose roots commitTrace publishes one by one. */
export const STEP_COUNTS = [2_048, 64] as const;

/** The steps whose reveals cost most. Rows of 65 words stand under a tree of 2^22 leaves, the most that a tensor may
 *  have: its paths are the longest. Rows of 31 bytes leave a byte of padding to check in each word; above 2^19 leaves
 *  they would have more than 2^24 elements. No node on the demanded paths is padding. */
export const DEEP_STEPS = [1, 3] as const;
const FIRST_STEPS = [
  inputAs("s32"),
  copyOf("s32", 0, [32_000, 520]),
  inputAs("u8"),
  copyOf("u8", 2, [524_288, 31]),
];

/** One element in, one element out; in between two tensors as deep as they get. */
export function worstModel(count: number): Model {
  const steps = Array.from({ length: count }, (_, i) => FIRST_STEPS[i] ?? copyOf("s32", 0, [1]));
  return {
    program: { inputCodec: "raw", outputCodec: "raw", inputSize: 4, weights: [], steps },
    weights: [],
  };
}

export interface WorstReveal {
  readonly position: bigint;
  readonly content: readonly Uint8Array[];
  /** siblings from the position's level to the trace root, bottom up */
  readonly path: readonly Uint8Array[];
}

export interface WorstTrace {
  readonly root: Uint8Array;
  readonly tops: readonly Uint8Array[];
  /** every position from the trace root down to a word, top down: as many as one ticket may demand */
  readonly reveals: readonly WorstReveal[];
}

/** Builds the nodes that a dispute opens; nobody ever sees the others, so they are random hashes. */
export function worstTrace(rng: Rng, { program }: Model, step: number): WorstTrace {
  const deep = stepShape(program.steps[step] as Step);
  // Words of the lowest node, then the children of each node above it, the path's child first.
  const words = nonzero(rng, 2 ** SPAN);
  if (deep.words === 1) for (const word of words) word.fill(0, deep.rowBytes);
  const tensor = levelsUp(rng, deep.height, words);
  const height = traceHeight(program);
  const trace = levelsUp(rng, height, withFirst(rng, tensor.root, 2 ** SPAN, step), true);
  const tops = trace.levels[trace.levels.length - 1] as Opened;
  const below = trace.levels.slice(0, -1).map(({ level, content }) => ({
    position: encodePosition({ step: TRACE_STEP, level, index: 0 }),
    content,
    path: pathAbove(trace.levels, level, 0, height),
  }));
  const tail = pathAbove(trace.levels, 0, step, height);
  const inTensor = tensor.levels.map(({ level, content }) => ({
    position: encodePosition({ step, level, index: 0 }),
    content,
    path: [...pathAbove(tensor.levels, level, 0, deep.height), ...tail],
  }));
  const reveals = [...below.reverse(), ...inTensor.reverse()];
  if (reveals.length !== demandDepth(program)) {
    throw new Error(`${reveals.length} positions on one path, d is ${demandDepth(program)}.`);
  }
  return { root: trace.root, tops: tops.content, reveals };
}

interface Opened {
  readonly level: number;
  readonly content: readonly Uint8Array[];
}

/** Nodes that are opened on the way from the lowest content to a root at this height, bottom up. */
function levelsUp(
  rng: Rng,
  height: number,
  lowest: readonly Uint8Array[],
  isHashes = false,
): { readonly levels: readonly Opened[]; readonly root: Uint8Array } {
  const levels: Opened[] = [{ level: SPAN, content: lowest }];
  let node = foldNodes(isHashes ? lowest : lowest.map(keccak256));
  for (let level = SPAN; level < height; ) {
    const next = Math.min(level + SPAN, height);
    const content = withFirst(rng, node, 2 ** (next - level), 0);
    levels.push({ level: next, content });
    node = foldNodes(content);
    level = next;
  }
  return { levels, root: node };
}

/** Siblings of the node above leaf `at` of the first lowest node, from a level to the root. */
function pathAbove(levels: readonly Opened[], from: number, at: number, height: number): Uint8Array[] {
  const path: Uint8Array[] = [];
  for (const { level, content } of levels) {
    const below = openedLevel(level);
    if (level <= from) continue;
    let nodes = content;
    let index = below === 0 ? at : 0;
    for (let up = below; up < level; up++) {
      path.push(nodes[index ^ 1] as Uint8Array);
      const lower = nodes;
      nodes = Array.from({ length: lower.length / 2 }, (_, i) =>
        hashPair(lower[2 * i] as Uint8Array, lower[2 * i + 1] as Uint8Array),
      );
      index >>= 1;
    }
  }
  if (path.length !== height - from) throw new Error(`${path.length} siblings from level ${from}.`);
  return path;
}

function withFirst(rng: Rng, node: Uint8Array, count: number, at: number): Uint8Array[] {
  return nonzero(rng, count).map((word, i) => (i === at ? node : word));
}

/** Random words without a zero byte, which would be cheaper calldata. */
function nonzero(rng: Rng, count: number): Uint8Array[] {
  return Array.from({ length: count }, () => rng.bytes(32).map((byte) => byte || 0xff));
}

export const hexes = (words: readonly Uint8Array[]) => words.map(toHex);
