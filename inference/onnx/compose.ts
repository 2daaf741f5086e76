/** Two moves in a row as one, where one MOVE can hold them: a slice of a padded slice reads its source once. */

import type { SourceAxis } from "./axes.ts";

/** A move: where each axis of its source is read, its own dims, and its pad. */
export interface MoveDescription {
  readonly axes: readonly SourceAxis[];
  readonly dims: readonly number[];
  /** Stored pad element. */
  readonly pad: number;
}

const isChecked = (move: MoveDescription): boolean => move.axes.some((axis) => axis.checked);

/** @returns the move from inner's source to outer's result, or undefined */
export function composed(inner: MoveDescription, outer: MoveDescription): MoveDescription | undefined {
  if (isChecked(inner) && isChecked(outer) && inner.pad !== outer.pad) return undefined;
  const used = new Set(inner.axes.flatMap((axis) => axis.terms.map((term) => term.axis)));
  if (outer.axes.some((axis, i) => axis.checked && !used.has(i))) return undefined;
  const axes: SourceAxis[] = [];
  for (const axis of inner.axes) {
    const through = substituted(axis, inner, outer);
    if (through === undefined) return undefined;
    axes.push(through);
  }
  return { axes, dims: outer.dims, pad: isChecked(outer) ? outer.pad : inner.pad };
}

function substituted(
  axis: SourceAxis,
  inner: MoveDescription,
  outer: MoveDescription,
): SourceAxis | undefined {
  const factors = new Map<number, number>();
  let { offset, checked } = axis;
  for (const { axis: via, factor } of axis.terms) {
    const from = outer.axes[via] as SourceAxis;
    if (from.checked) {
      // Leaving inner's result must be leaving its source: the axis is read whole and in order.
      const whole =
        axis.terms.length === 1 && factor === 1 && axis.offset === 0 && axis.dim === inner.dims[via];
      if (!whole) return undefined;
      checked = true;
    }
    offset += factor * from.offset;
    for (const term of from.terms)
      factors.set(term.axis, (factors.get(term.axis) ?? 0) + factor * term.factor);
  }
  const moving = [...factors].filter(([i, factor]) => factor !== 0 && (outer.dims[i] as number) > 1);
  if (moving.length > 2) return undefined;
  return { dim: axis.dim, terms: moving.map(([i, factor]) => ({ axis: i, factor })), offset, checked };
}
