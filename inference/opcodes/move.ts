import type { StepCheck } from "../program/check.ts";
import {
  type Coordinate,
  elementBytes,
  elementCount,
  NONE,
  type Step,
  type TensorData,
} from "../program/form.ts";
import { bitsOf } from "../program/tensor.ts";
import { readWord } from "./broadcast.ts";
import { copyElements } from "./copy.ts";
import type { OpcodeForm } from "./opcode.ts";

const PAD = -1;
const NOTHING = new Int32Array(0);

/** MOVE: the source viewed under at most four dims, each coordinate affine in two output axes.
 *  Source: docs/EXACT.md, section 3. */
export const move: OpcodeForm = {
  rules,
  prepare(step) {
    const map = sourceMap(step);
    const runs = longRuns(map);
    // What is not needed is not kept: a map has four bytes an element.
    const [scattered, gaps] = [runs === undefined ? map : NOTHING, step.b === NONE ? NOTHING : map];
    const pad = step.k;
    const wide = step.type === "s32" || step.type === "f32";
    return (out, a, b, _c, from = 0, to = out.length) => {
      const target = wide ? bitsOf(out) : out;
      const source = wide ? bitsOf(a as TensorData) : (a as TensorData);
      if (runs !== undefined) copyRuns(target, source, runs, pad, from, to);
      else gather(target, source, scattered, pad, from, to);
      if (b !== undefined) fillGaps(target, wide ? bitsOf(b) : b, gaps, from, to);
    };
  },
  reads(step, element, source) {
    const { type, dims } = source.shape(step.a);
    const from = sourceElement(step, indexOf(step.dims, element));
    if (from !== PAD) return [readWord(step.a, type, dims, from)];
    return step.b === NONE ? [] : [readWord(step.b, step.type, step.dims, element)];
  },
};

function rules(check: StepCheck): void {
  const { step } = check;
  check.variant();
  const source = check.plain("a", step.type);
  if (step.b === NONE) {
    if (elementBytes(step.type) === 1) check.must(step.k <= 255, "k (pad)", step.k, "0..255");
  } else {
    check.sameDims("b", check.plain("b", step.type));
    check.noAttribute();
  }
  check.none("c");
  const rank = step.dims.length;
  step.coordinates.forEach(({ view, a, b, p, q }, j) => {
    check.must(view >= 1, `view of coordinate ${j}`, view, ">= 1");
    const axis = (name: string, value: number, factor: number): void =>
      check.must(
        value < rank && (factor !== 0 || value === 0),
        `${name} of coordinate ${j}`,
        value,
        factor === 0 ? "0, its factor is 0" : `0..${rank - 1}`,
      );
    axis("p", p, a);
    axis("q", q, b);
  });
  if (source !== undefined) {
    const product = step.coordinates.reduce((all, coordinate) => all * coordinate.view, 1);
    const count = elementCount(source.dims);
    check.must(product === count, "product of the view's dims", product, `${count}, the source's elements`);
  }
}

/** Numbers that one run takes below, and the elements of a mean run for which copying runs is faster. */
const RUN = 3;
const LEAST_MEAN = 8;

/** Stretches of a map that follow one another in the source too, or are all padding: for each its first element of
 *  the output, its first of the source or PAD, and its end in the output. Undefined where they are short. */
function longRuns(map: Int32Array): Int32Array | undefined {
  const most = (RUN * map.length) / LEAST_MEAN;
  const runs: number[] = [];
  for (let i = 0; i < map.length; ) {
    const first = map[i] as number;
    const from = i++;
    while (i < map.length && map[i] === (first === PAD ? PAD : first + i - from)) i++;
    if (runs.push(from, first, i) > most) return undefined;
  }
  return Int32Array.from(runs);
}

function copyRuns(
  target: TensorData,
  source: TensorData,
  runs: Int32Array,
  pad: number,
  first: number,
  last: number,
): void {
  for (let run = runOf(runs, first); run < runs.length; run += RUN) {
    const [start, from, end] = [runs[run] as number, runs[run + 1] as number, runs[run + 2] as number];
    if (start >= last) return;
    const [to, stop] = [Math.max(first, start), Math.min(last, end)];
    if (from === PAD) target.fill(pad, to, stop);
    else copyElements(target, to, source, from + to - start, stop - to);
  }
}

/** Where the numbers of the run stand that has this element of the output. */
function runOf(runs: Int32Array, element: number): number {
  let [low, high] = [0, runs.length / RUN];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((runs[RUN * middle] as number) <= element) low = middle;
    else high = middle;
  }
  return RUN * low;
}

function gather(
  target: TensorData,
  source: TensorData,
  map: Int32Array,
  pad: number,
  first: number,
  last: number,
): void {
  for (let i = first; i < last; i++) {
    const from = map[i] as number;
    target[i] = from === PAD ? pad : (source[from] as number);
  }
}

/** Where the source does not reach stands the second operand's element. */
function fillGaps(target: TensorData, other: TensorData, map: Int32Array, first: number, last: number): void {
  for (let i = first; i < last; i++) if (map[i] === PAD) target[i] = other[i] as number;
}

function indexOf(dims: readonly number[], element: number): number[] {
  const index = new Array<number>(dims.length);
  let rest = element;
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    index[axis] = rest % (dims[axis] as number);
    rest = Math.floor(rest / (dims[axis] as number));
  }
  return index;
}

/** Where a MOVE's element comes from: an element of the source, or undefined for the pad or the second operand. */
export function movedFrom(step: Step, element: number): number | undefined {
  const from = sourceElement(step, indexOf(step.dims, element));
  return from === PAD ? undefined : from;
}

/** Element of the source for one output index, or PAD. */
function sourceElement(step: Step, index: readonly number[]): number {
  let element = 0;
  for (const coordinate of step.coordinates) {
    const s = coordinateAt(coordinate, index);
    if (s < 0 || s >= coordinate.view) return PAD;
    element = element * coordinate.view + s;
  }
  return element + 0; // -0 becomes 0
}

/** Source element of each output element, or -1 where the pad or the second operand stands. */
export function sourceMap({ dims, coordinates }: Pick<Step, "dims" | "coordinates">): Int32Array {
  const map = new Int32Array(elementCount(dims));
  // Lines run along the last axis that has any length: behind it no index changes.
  let axis = dims.length - 1;
  while (axis > 0 && dims[axis] === 1) axis--;
  const length = dims[axis] as number;
  const index = new Array<number>(dims.length).fill(0);
  for (let start = 0; start < map.length; start += length) {
    fillLine(map.subarray(start, start + length), coordinates, index, axis);
    for (let outer = axis - 1; outer >= 0; outer--) {
      index[outer] = (index[outer] as number) + 1;
      if (index[outer] !== dims[outer]) break;
      index[outer] = 0;
    }
  }
  return map;
}

/** Along a line each coordinate is affine in the place: those inside of the view are one stretch of the line, and so are
 *  the elements of the source. @param index of the line's first element */
function fillLine(
  line: Int32Array,
  coordinates: Step["coordinates"],
  index: readonly number[],
  axis: number,
): void {
  let first = 0;
  let end = line.length;
  for (const coordinate of coordinates) {
    const start = coordinateAt(coordinate, index);
    const slope = slopeAlong(coordinate, axis);
    const last = coordinate.view - 1;
    if (slope === 0) {
      if (start < 0 || start > last) end = 0;
      continue;
    }
    const zero = -start / slope;
    const most = (last - start) / slope;
    first = Math.max(first, Math.ceil(Math.min(zero, most)));
    end = Math.min(end, Math.floor(Math.max(zero, most)) + 1);
  }
  line.fill(PAD);
  if (first >= end) return;
  let from = 0;
  let stride = 0;
  for (const coordinate of coordinates) {
    const slope = slopeAlong(coordinate, axis);
    from = from * coordinate.view + coordinateAt(coordinate, index) + slope * first;
    stride = stride * coordinate.view + slope;
  }
  line[first] = from;
  for (let i = first + 1; i < end; i++) line[i] = from + (i - first) * stride;
}

/** Every sum stays below 2^49: exact in a double. */
const coordinateAt = ({ a, p, b, q, c }: Coordinate, index: readonly number[]): number =>
  a * (index[p] as number) + b * (index[q] as number) + c;

/** What a coordinate grows by from one element of a line to the next. */
const slopeAlong = ({ a, p, b, q }: Coordinate, axis: number): number =>
  (p === axis ? a : 0) + (q === axis ? b : 0);
