import { BaseError } from "../../base/errors.ts";
import { ceilLog2, type TreeShape } from "../program/shape.ts";

/** Step number of positions in the tree over the tensor roots. */
export const TRACE_STEP = 0xffff;
/** Levels that one reveal opens. */
export const SPAN = 6;

/** A node of a trace. Source: docs/PROTOCOL.md, section 3. */
export interface Position {
  /** Index of the step, or TRACE_STEP. */
  readonly step: number;
  readonly level: number;
  readonly index: number;
}

/** uint64 step u16 ‖ level u8 ‖ index u40.
 *  @throws BaseError POSITION_INVALID when a part does not fit */
export function encodePosition({ step, level, index }: Position): bigint {
  const fits = (value: number, bits: number): boolean =>
    Number.isInteger(value) && value >= 0 && value < 2 ** bits;
  if (!fits(step, 16) || !fits(level, 8) || !fits(index, 40)) {
    throw new BaseError({
      code: "POSITION_INVALID",
      shortMessage: `Position ${step}/${level}/${index} is not u16/u8/u40.`,
      nextStep: "Take positions from the model's program.",
      details: { step, level, index },
    });
  }
  return (BigInt(step) << 48n) | (BigInt(level) << 40n) | BigInt(index);
}

export function decodePosition(position: bigint): Position {
  return {
    step: Number(BigInt.asUintN(16, position >> 48n)),
    level: Number(BigInt.asUintN(8, position >> 40n)),
    index: Number(BigInt.asUintN(40, position)),
  };
}

/** Level of the nodes that a node at `level` opens; 0: it opens words (in the trace tree: tensor roots). */
export const openedLevel = (level: number): number => Math.max(0, SPAN * (Math.ceil(level / SPAN) - 1));

/** Level of the nodes that commitTrace publishes. */
export const topLevel = (steps: number): number => openedLevel(ceilLog2(steps));

/** True if the position can be demanded: a level that is revealed, and a first leaf that is a real word.
 *  @param shapes of all steps' trees, in order */
export function isInside(shapes: readonly TreeShape[], { step, level, index }: Position): boolean {
  const between = level >= SPAN && level % SPAN === 0;
  const leaf = index * 2 ** level;
  if (step === TRACE_STEP) return between && level <= topLevel(shapes.length) && leaf < shapes.length;
  const shape = shapes[step];
  if (shape === undefined) return false;
  if (level !== shape.height && !(between && level < shape.height)) return false;
  return isReal(shape, level, index);
}

/** True if a node of a tensor's tree has a real word below it. Rows and words are padded at their ends, so its
 *  first leaf decides. */
export function isReal(shape: TreeShape, level: number, index: number): boolean {
  const leaf = index * 2 ** level;
  const width = 2 ** shape.rowHeight;
  return Math.floor(leaf / width) < shape.rows && leaf % width < shape.words;
}

/** The positions to demand, in this order, to see a leaf (row · W + word) of a step's tensor. */
export function demandPath(shapes: readonly TreeShape[], step: number, leaf: number): Position[] {
  const path: Position[] = [];
  for (let level = topLevel(shapes.length); level >= SPAN; level -= SPAN) {
    path.push({ step: TRACE_STEP, level, index: Math.floor(step / 2 ** level) });
  }
  let level = (shapes[step] as TreeShape).height;
  do {
    path.push({ step, level, index: Math.floor(leaf / 2 ** level) });
    level = openedLevel(level);
  } while (level > 0);
  return path;
}
