/** MOVE's coordinates from a description of where each source axis is read. */

import type { Coordinate } from "../program/form.ts";
import { refuse } from "./refusal.ts";

/** A source axis read at `Σ factor·i[axis] + offset`. */
export interface SourceAxis {
  readonly dim: number;
  readonly terms: readonly { readonly axis: number; readonly factor: number }[];
  readonly offset: number;
  /** True where the index can leave the axis, which makes the element come from the pad or the other operand. */
  readonly checked: boolean;
}

const VIEW_DIMS = 4;
const NOTHING: Coordinate = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };

/** Merges neighbouring axes until MOVE's four coordinates hold them.
 *  @param axes in storage order of the source
 *  @param output the output's dims; axes of size 1 do not move anything */
export function coordinates(axes: readonly SourceAxis[], output: readonly number[]): Coordinate[] {
  const list =
    mergedAxes(axes, output) ??
    refuse("it moves data in more directions than one MOVE holds", "Split the node into two moves.");
  return [...new Array<Coordinate>(VIEW_DIMS - list.length).fill(NOTHING), ...list.map(coordinate)];
}

/** True where one MOVE holds the axes. */
export const fits = (axes: readonly SourceAxis[], output: readonly number[]): boolean =>
  mergedAxes(axes, output) !== undefined;

function mergedAxes(axes: readonly SourceAxis[], output: readonly number[]): SourceAxis[] | undefined {
  let list = axes
    .map((axis) => simplify(axis, output))
    .filter((a) => a.checked || a.dim > 1 || a.offset !== 0);
  while (list.length > VIEW_DIMS) {
    const at = list.findIndex((axis, i) => merge(axis, list[i + 1]) !== undefined);
    if (at < 0) return undefined;
    const merged = merge(list[at] as SourceAxis, list[at + 1]) as SourceAxis;
    list = [...list.slice(0, at), merged, ...list.slice(at + 2)];
  }
  return list;
}

function simplify(axis: SourceAxis, output: readonly number[]): SourceAxis {
  const factors = new Map<number, number>();
  for (const { axis: i, factor } of axis.terms) {
    if ((output[i] as number) > 1) factors.set(i, (factors.get(i) ?? 0) + factor);
  }
  const terms = [...factors].filter(([, factor]) => factor !== 0).map(([i, factor]) => ({ axis: i, factor }));
  return { ...axis, terms };
}

function merge(outer: SourceAxis, inner: SourceAxis | undefined): SourceAxis | undefined {
  if (inner === undefined || outer.checked || inner.checked) return undefined;
  const factors = new Map<number, number>();
  for (const { axis, factor } of outer.terms) factors.set(axis, factor * inner.dim);
  for (const { axis, factor } of inner.terms) factors.set(axis, (factors.get(axis) ?? 0) + factor);
  if (factors.size > 2) return undefined;
  return {
    dim: outer.dim * inner.dim,
    terms: [...factors].map(([axis, factor]) => ({ axis, factor })),
    offset: outer.offset * inner.dim + inner.offset,
    checked: false,
  };
}

function coordinate(axis: SourceAxis): Coordinate {
  const [first, second] = axis.terms;
  for (const term of axis.terms) {
    if (Math.abs(term.factor) >= 2 ** 23) {
      refuse(`it steps over ${term.factor} elements, at most 2^23 − 1 fit`, "Use smaller shapes.");
    }
  }
  return {
    view: axis.dim,
    a: first?.factor ?? 0,
    p: first?.axis ?? 0,
    b: second?.factor ?? 0,
    q: second?.axis ?? 0,
    c: axis.offset,
  };
}

/** Coordinates of a reshape to `dims`. */
export function reshapeCoordinates(dims: readonly number[]): Coordinate[] {
  return coordinates(
    dims.map((dim, axis) => ({ dim, terms: [{ axis, factor: 1 }], offset: 0, checked: false })),
    dims,
  );
}

/** Dims [1, …, n, …, 1] of a vector along one axis; [1] elements need no axis. */
export function axisDims(n: number, axis: number, rank: number): number[] {
  return Array.from({ length: Math.max(rank, 1) }, (_, i) => (n > 1 && i === axis ? n : 1));
}
