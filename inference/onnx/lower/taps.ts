/** The source elements that a position of a linearly or cubically resized axis is a sum of. */

import type { OnnxNode } from "../graph.ts";
import { floatAttribute, intAttribute } from "./lowering.ts";

const f = Math.fround;
export const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

/** An axis and what it becomes. */
export interface Resized {
  readonly axis: number;
  readonly from: number;
  readonly size: number;
  readonly scale: number;
  /** Where each position of the result lies on the axis. */
  readonly coordinates: readonly number[];
}

/** What one source element adds to each position: its own position, which may lie `margin` beyond the axis, where the
 *  element at the end counts, and its weight. */
export interface Tap {
  readonly positions: readonly number[];
  readonly weights: readonly number[];
}

/** The elements on both sides, by their distances. */
export function linearTaps({ from, coordinates }: Resized): Tap[] {
  const all = coordinates.map((x) => {
    const inside = clamp(x, 0, from - 1);
    const low = Math.floor(inside);
    // At the last element both are the same one.
    const weight = low === from - 1 ? 0.5 : f(inside - low);
    return { at: clamp(Math.floor(x), -1, from - 1), weight };
  });
  return [
    { positions: all.map(({ at }) => at), weights: all.map(({ weight }) => f(1 - weight)) },
    { positions: all.map(({ at }) => at + 1), weights: all.map(({ weight }) => weight) },
  ];
}

/** Four elements, by Keys' cubic function of their distances. */
export const cubicTaps =
  (node: OnnxNode) =>
  ({ from, coordinates }: Resized): Tap[] => {
    const a = floatAttribute(node, "cubic_coeff_a", -0.75);
    const isOutsideLeftOut = intAttribute(node, "exclude_outside", 0) !== 0;
    const near = (d: number): number => ((a + 2) * d - (a + 3)) * d * d + 1;
    const far = (d: number): number => ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    const all = coordinates.map((x) => {
      const low = Math.floor(x);
      const d = f(x - low);
      const plain = [far(d + 1), near(d), near(1 - d), far(2 - d)];
      const kept = plain.map((w, i) => {
        const at = low - 1 + i;
        return isOutsideLeftOut && (at < 0 || at >= from) ? 0 : w;
      });
      const sum = isOutsideLeftOut ? kept.reduce((s, w) => s + w, 0) : 1;
      return { low, weights: kept.map((w) => f(w / sum)) };
    });
    return [0, 1, 2, 3].map((i) => ({
      positions: all.map(({ low }) => clamp(low - 1 + i, -2, from + 1)),
      weights: all.map(({ weights }) => weights[i] as number),
    }));
  };
