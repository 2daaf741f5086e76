/** Random MOVE steps in the shapes that models and attackers make: transposed, reversed, joined, split, repeated, cut,
 *  strided, padded, windows of an image, two coordinates along one axis. */
import { type Coordinate, elementCount } from "../../inference/program/form.ts";
import type { ProgramBuilder, Value } from "./program-builder.ts";
import { TYPE_RANGES } from "./random-values.ts";
import type { Rng } from "./rng.ts";

/** Lengths around those at which kernels change: words of bytes, words of s32, SIMD rows. */
const EDGES = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 66, 70] as const;

/** A length of 1 to 70, mostly one at an edge. */
export const edgeLength = (rng: Rng, most = 70): number =>
  Math.min(most, rng.chance(0.7) ? rng.pick(EDGES) : rng.int(1, 70));

/** How one axis of the view is read. */
const FORMS = [
  "whole",
  "reversed",
  "part",
  "strided",
  "constant",
  "padded",
  "padded reversed",
  "window",
  "split",
  "diagonal",
] as const;
type Form = (typeof FORMS)[number];
const CHANCES: Readonly<Record<Form, number>> = {
  whole: 50,
  reversed: 8,
  part: 9,
  strided: 6,
  constant: 4,
  padded: 9,
  "padded reversed": 2,
  window: 5,
  split: 6,
  diagonal: 1,
};
const WEIGHTED: readonly Form[] = FORMS.flatMap((form) => Array<Form>(CHANCES[form]).fill(form));

/** An output axis in the making; axes move when they are shuffled. */
interface Axis {
  length: number;
}
interface Read {
  readonly view: number;
  readonly a: number;
  readonly p?: Axis;
  readonly b?: number;
  readonly q?: Axis;
  readonly c: number;
}

/** A MOVE of a value that a builder holds. @param most elements of the result */
export function randomView(b: ProgramBuilder, source: Value, most: number): Value {
  const { rng } = b;
  for (let attempt = 0; ; attempt++) {
    const axes: Axis[] = [];
    const reads = viewDims(rng, source.dims).map((view) => readAxis(rng, axes, view, attempt > 20));
    for (let i = rng.chance(0.2) ? rng.int(1, 2) : 0; i > 0; i--) axes.push({ length: edgeLength(rng, 33) });
    const ordered = rng.chance(0.55) ? axes : shuffled(rng, axes);
    if (ordered.length === 0 || rng.chance(0.08))
      ordered.splice(rng.int(0, ordered.length), 0, { length: 1 });
    const dims = ordered.map(({ length }) => length);
    if (dims.length > 6 || elementCount(dims) > most) continue;
    return viewStep(
      b,
      source,
      dims,
      reads.map((read) => coordinateOf(read, ordered)),
    );
  }
}

/** The step, with a pad or another operand where the view leaves something. */
export function viewStep(
  b: ProgramBuilder,
  source: Value,
  dims: readonly number[],
  coordinates: readonly Coordinate[],
): Value {
  const { type } = source;
  const other = b.rng.chance(0.3) ? b.value([type], dims) : undefined;
  return b.step(
    {
      ...{ opcode: "move", variant: 0, type, dims, a: source, coordinates: fourOf(coordinates) },
      ...(other === undefined ? { k: b.padFor(type) } : { b: other }),
    },
    TYPE_RANGES[type],
  );
}

const ONE: Coordinate = { view: 1, a: 0, p: 0, b: 0, q: 0, c: 0 };

const fourOf = (coordinates: readonly Coordinate[]): readonly Coordinate[] => [
  ...Array<Coordinate>(4 - coordinates.length).fill(ONE),
  ...coordinates,
];

function coordinateOf({ view, a, p, b = 0, q, c }: Read, axes: readonly Axis[]): Coordinate {
  const axisOf = (factor: number, axis: Axis | undefined): number =>
    factor === 0 || axis === undefined ? 0 : axes.indexOf(axis);
  return { view, a, p: axisOf(a, p), b, q: axisOf(b, q), c };
}

/** Up to four dims whose product is the tensor's elements: its own axes, neighbours joined, or any. */
function viewDims(rng: Rng, dims: readonly number[]): number[] {
  if (rng.chance(0.25)) return factors(rng, elementCount(dims), rng.int(1, 4));
  const view: number[] = [];
  for (const dim of dims) {
    if (view.length > 0 && rng.chance(dims.length > 4 ? 0.5 : 0.15)) {
      view.push((view.pop() as number) * dim);
    } else view.push(dim);
  }
  while (view.length > 4) view.push((view.pop() as number) * (view.pop() as number));
  return view;
}

/** So many factors of a number. */
export function factors(rng: Rng, count: number, parts: number): number[] {
  const found: number[] = [];
  let rest = count;
  for (let i = 1; i < parts; i++) {
    const divisors: number[] = [];
    for (let d = 1; d <= Math.min(rest, 512); d++) if (rest % d === 0) divisors.push(d);
    const divisor = rng.pick(divisors);
    found.push(divisor);
    rest /= divisor;
  }
  return shuffled(rng, [...found, rest]);
}

export function shuffled<T>(rng: Rng, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(rng.int(0, left.length - 1), 1)[0] as T);
}

/** @param small no form that grows the result */
function readAxis(rng: Rng, axes: Axis[], view: number, small: boolean): Read {
  const form = small ? rng.pick(["part", "constant"] as const) : rng.pick(WEIGHTED);
  const axis = (length: number): Axis => {
    const made = { length };
    axes.push(made);
    return made;
  };
  switch (form) {
    case "whole":
      return { view, a: 1, p: axis(view), c: 0 };
    case "reversed":
      return { view, a: -1, p: axis(view), c: view - 1 };
    case "part": {
      const length = rng.int(1, view);
      return { view, a: 1, p: axis(length), c: rng.int(0, view - length) };
    }
    case "strided": {
      const step = rng.int(2, 4);
      const sign = rng.chance(0.3) ? -1 : 1;
      return { view, a: sign * step, p: axis(Math.ceil(view / step)), c: sign > 0 ? 0 : view - 1 };
    }
    case "constant":
      return { view, a: 0, c: rng.int(0, view - 1) };
    case "padded": {
      const before = rng.pick([0, 1, 2, 31, rng.int(0, 9)]);
      return { view, a: 1, p: axis(view + before + rng.pick([0, 1, 3, rng.int(0, 33)])), c: -before };
    }
    case "padded reversed":
      return { view, a: -1, p: axis(view + rng.int(0, 4)), c: view - 1 + rng.int(0, 2) };
    case "window": {
      const [kernel, stride, before] = [rng.int(1, Math.min(4, view)), rng.int(1, 2), rng.int(0, 1)];
      const positions = Math.floor((view + 2 * before - kernel) / stride) + 1;
      const first = axis(positions);
      return { view, a: stride, p: first, b: 1, q: axis(kernel), c: -before };
    }
    case "split": {
      const [outer = 1, inner = 1] = factors(rng, view, 2);
      const first = axis(outer);
      return { view, a: inner, p: first, b: 1, q: axis(inner), c: 0 };
    }
    case "diagonal": {
      const shared = axes.length > 0 ? rng.pick(axes) : axis(view);
      return { view, a: rng.pick([1, -1, 2]), p: shared, c: rng.int(-1, view) };
    }
  }
}
