/** Which rows of the claimed output each element of a program can depend on. */
import {
  elementCount,
  isClaimed,
  isStep,
  lastDim,
  type Model,
  type Operand,
  type Program,
  type Step,
} from "../../program/form.ts";
import { StepRanges, type WeightRanges } from "../context.ts";
import { READS } from "../generated/reads.ts";
import type { Range } from "../range.ts";
import { KnownRanges } from "./known.ts";
import { boundsAt, type ElementReads, type Visit } from "./reads.ts";

/** Of each element of a step: it depends on no claimed element of this row or above. Absent: all are 0. */
export type Bounds = Uint16Array | Uint32Array | undefined;

export interface ProgramBounds {
  /** By step. */
  readonly of: readonly Bounds[];
  /** What each element of a step reads. */
  readonly readsOf: (step: number) => ElementReads;
}

/** A claimed element of row r (its first axis) has the bound r + 1; every other element the largest bound of the
 *  elements that it reads, or 0 where its interval is one number, which is so whatever it reads. Source:
 *  docs/EXACT.md, section 4.
 *  @param ranges intervals of the steps @param reads what each opcode reads */
export function programBounds(model: Model, ranges: readonly Range[], reads = READS): ProgramBounds {
  return walk(model, ranges, reads, []);
}

/** The last step's, with no more in memory than what later steps read. */
export function outputBounds(model: Model, ranges: readonly Range[]): Bounds {
  return walk(model, ranges, READS, lastRead(model.program)).of.at(-1);
}

/** @param ended by step, which ones no later step reads */
function walk(
  model: Model,
  ranges: readonly Range[],
  reads: typeof READS,
  ended: readonly (readonly number[])[],
): ProgramBounds {
  const { steps } = model.program;
  const rows = Math.max(0, ...steps.filter(isClaimed).map(({ dims }) => dims[0] as number));
  const weightRanges: WeightRanges = new Map();
  const known = new KnownRanges(model, ranges, weightRanges);
  const of: Bounds[] = [];
  const maxima = new RowMaxima(steps, of);
  const readsOf = (index: number): ElementReads => {
    const step = steps[index] as Step;
    return reads[step.opcode](new StepRanges(model, step, index, known, weightRanges, () => {}));
  };
  for (const [index, step] of steps.entries()) {
    const range = known.next();
    of.push(isClaimed(step) ? claimedRows(step) : stepBounds(step, range, rows, readsOf(index), maxima));
    for (const operand of ended[index] ?? []) {
      of[operand] = undefined;
      maxima.forget(operand);
    }
  }
  return { of, readsOf };
}

/** By step, the operands that it is the last one to read. */
function lastRead({ steps }: Program): readonly (readonly number[])[] {
  const last = new Map<number, number>();
  for (const [index, { a, b, c }] of steps.entries())
    for (const operand of [a, b, c]) if (isStep(operand)) last.set(operand, index);
  const ended: number[][] = steps.map(() => []);
  for (const [operand, index] of last) ended[index]?.push(operand);
  return ended;
}

/** @param most the largest bound */
const emptyBounds = (count: number, most: number): Uint16Array | Uint32Array =>
  most < 2 ** 16 ? new Uint16Array(count) : new Uint32Array(count);

function claimedRows({ dims }: Step): Bounds {
  const [rows, count] = [dims[0] as number, elementCount(dims)];
  return emptyBounds(count, rows).map((_, element) => Math.floor(element / (count / rows)) + 1);
}

function stepBounds(step: Step, range: Range, rows: number, read: ElementReads, maxima: RowMaxima): Bounds {
  // Nothing before it reads what is claimed.
  if (![step.a, step.b, step.c].some((operand) => maxima.isBound(operand))) return undefined;
  const bounds = emptyBounds(elementCount(step.dims), rows);
  let [isBound, bound] = [false, 0];
  const visit: Visit = (operand, from, count) => {
    bound = Math.max(bound, maxima.most(operand, from, count));
  };
  for (let element = 0; element < bounds.length; element++) {
    if (isOneNumber(step, range, element)) continue;
    bound = 0;
    read(element, visit);
    bounds[element] = bound;
    isBound ||= bound > 0;
  }
  return isBound ? bounds : undefined;
}

/** Of a bool or an f32 an interval of one number leaves more than one content: 1 is every byte but 0, 0 has two signs. */
function isOneNumber({ type }: Step, range: Range, element: number): boolean {
  if (type === "bool" || type === "f32") return false;
  const [low, high] = boundsAt(range, element);
  return low === high;
}

/** Largest bounds of operands; a row, or the beginning of one, is looked at once. */
class RowMaxima {
  readonly #steps: readonly Step[];
  readonly #bounds: readonly Bounds[];
  /** Of each element the largest bound of its row up to it. */
  readonly #soFar = new Map<Operand, NonNullable<Bounds>>();

  constructor(steps: readonly Step[], bounds: readonly Bounds[]) {
    this.#steps = steps;
    this.#bounds = bounds;
  }

  /** Weights, and MOVE's pad, depend on nothing. */
  isBound(operand: Operand): boolean {
    return isStep(operand) && this.#bounds[operand] !== undefined;
  }

  most(operand: Operand, from: number, count: number): number {
    const bounds = isStep(operand) ? this.#bounds[operand] : undefined;
    if (bounds === undefined || count === 0) return 0;
    if (count === 1) return bounds[from] as number;
    const length = lastDim((this.#steps[operand] as Step).dims);
    if (count > length || from % length !== 0) return largest(bounds, from, count);
    let soFar = this.#soFar.get(operand);
    if (soFar === undefined) {
      soFar = bounds.slice();
      for (let i = 1; i < soFar.length; i++)
        if (i % length !== 0) soFar[i] = Math.max(soFar[i] as number, soFar[i - 1] as number);
      this.#soFar.set(operand, soFar);
    }
    return soFar[from + count - 1] as number;
  }

  forget(operand: Operand): void {
    this.#soFar.delete(operand);
  }
}

function largest(bounds: NonNullable<Bounds>, from: number, count: number): number {
  let most = 0;
  for (let i = from; i < from + count; i++) most = Math.max(most, bounds[i] as number);
  return most;
}
