import { toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Program } from "../program/form.ts";
import { ceilLog2, stepShape, type TreeShape } from "../program/shape.ts";
import type { Commitment } from "./commitments.ts";
import { HASH_BYTES, keccak256, ZERO_ROOTS, ZERO_SUBTREES } from "./keccak.ts";
import { isInside, isReal, openedLevel, type Position, SPAN, TRACE_STEP, topLevel } from "./positions.ts";
import { foldNodes, foldPath } from "./tree.ts";

/** The content of a position's node and the siblings from its level to the trace root, bottom up. */
export interface Reveal {
  readonly content: readonly Uint8Array[];
  readonly path: readonly Uint8Array[];
}

/** Tree shapes of all steps: what positions are checked against. */
export const traceShapes = (program: Program): TreeShape[] => program.steps.map(stepShape);

/** What commitTrace publishes: one tensor root a step, or above 64 steps all nodes of the trace tree's top level. */
export function topsOf(trace: Commitment): Uint8Array[] {
  const steps = trace.tensors.length;
  const level = topLevel(steps);
  const count = level === 0 ? steps : 2 ** (trace.roots.height - level);
  return Array.from({ length: count }, (_, i) => trace.roots.node(level, i));
}

/** Trace root of published tops.
 *  @throws BaseError REVEAL_NOT_CANONICAL for another number of hashes, or padding that is not canonical */
export function foldTops(steps: number, tops: readonly Uint8Array[]): Uint8Array {
  const level = topLevel(steps);
  const nodes = 2 ** (ceilLog2(steps) - level);
  exactly("hashes", tops.length, level === 0 ? steps : nodes);
  const zero = ZERO_ROOTS[level] as Uint8Array;
  tops.forEach((top, i) => {
    if (i * 2 ** level >= steps) canonical(i, top, zero);
  });
  return foldNodes([...tops, ...Array.from({ length: nodes - tops.length }, () => zero)]);
}

/** The one valid reveal of a position.
 *  @throws BaseError POSITION_OUTSIDE */
export function revealAt(trace: Commitment, position: Position): Reveal {
  const { step, level, index } = position;
  assertInside(
    trace.tensors.map((tensor) => tensor.shape),
    position,
  );
  const below = openedLevel(level);
  const count = 2 ** (level - below);
  const children = Array.from({ length: count }, (_, i) => index * count + i);
  if (step === TRACE_STEP) {
    return {
      content: children.map((child) => trace.roots.node(below, child)),
      path: trace.roots.siblings(level, index),
    };
  }
  const tensor = trace.tensors[step] as Commitment["tensors"][number];
  return {
    content: children.map((child) => (below === 0 ? tensor.leafWord(child) : tensor.node(below, child))),
    path: [...tensor.siblings(level, index), ...trace.roots.siblings(0, step)],
  };
}

/** Trace root that a reveal belongs to, with every check that the contract makes.
 *  @throws BaseError POSITION_OUTSIDE or REVEAL_NOT_CANONICAL */
export function foldReveal(shapes: readonly TreeShape[], position: Position, reveal: Reveal): Uint8Array {
  assertInside(shapes, position);
  const { step, level, index } = position;
  const { content, path } = reveal;
  const traceHeight = ceilLog2(shapes.length);
  const below = openedLevel(level);
  const first = index * 2 ** (level - below);
  exactly(below === 0 && step !== TRACE_STEP ? "words" : "hashes", content.length, 2 ** (level - below));
  if (step === TRACE_STEP) {
    exactly("siblings", path.length, traceHeight - level);
    content.forEach((hash, i) => {
      if ((first + i) * 2 ** below >= shapes.length) canonical(i, hash, ZERO_ROOTS[below] as Uint8Array);
    });
    return foldPath(foldNodes(content), index, path);
  }
  const shape = shapes[step] as TreeShape;
  exactly("siblings", path.length, shape.height - level + traceHeight);
  content.forEach((item, i) => {
    if (below === 0) checkWord(shape, first + i, item, i);
    else if (!isReal(shape, below, first + i)) canonical(i, item, ZERO_SUBTREES[below] as Uint8Array);
  });
  const nodes = below === 0 ? content.map(keccak256) : content;
  const root = foldPath(foldNodes(nodes), index, path.slice(0, shape.height - level));
  return foldPath(root, step, path.slice(shape.height - level));
}

/** Bytes of a word beyond the row's real bytes are zero. */
function checkWord(shape: TreeShape, leaf: number, word: Uint8Array, i: number): void {
  const width = 2 ** shape.rowHeight;
  const real = Math.floor(leaf / width) < shape.rows ? shape.rowBytes - HASH_BYTES * (leaf % width) : 0;
  for (let at = Math.max(0, real); at < HASH_BYTES; at++) {
    if (word[at] !== 0) notCanonical(`byte ${at} of word ${i}`, `${word[at]}`, "0, it is padding");
  }
}

function canonical(i: number, hash: Uint8Array, zero: Uint8Array): void {
  if (hash.every((byte, at) => byte === zero[at])) return;
  notCanonical(`hash ${i}`, toHex(hash), `the zero subtree ${toHex(zero)}, it is padding`);
}

function exactly(field: string, value: number, limit: number): void {
  if (value !== limit) notCanonical(`number of ${field}`, `${value}`, `${limit}`);
}

function notCanonical(field: string, value: string, limit: string): never {
  throw new BaseError({
    code: "REVEAL_NOT_CANONICAL",
    shortMessage: `${field} is ${value}, must be ${limit}.`,
    nextStep: "Reveal the node's content as docs/PROTOCOL.md, section 3, defines it.",
    details: { field, value, limit },
  });
}

function assertInside(shapes: readonly TreeShape[], position: Position): void {
  if (isInside(shapes, position)) return;
  const { step, level, index } = position;
  throw new BaseError({
    code: "POSITION_OUTSIDE",
    shortMessage: `Position step ${step}, level ${level}, index ${index} is outside a trace of ${shapes.length} steps.`,
    nextStep: `Demand a tensor's top level or a multiple of ${SPAN} below it, over a real word.`,
    details: { step, level, index, steps: shapes.length },
  });
}
