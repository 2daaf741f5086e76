/** Which rows of the claimed output each element of a program can depend on. */
import {
  elementCount,
  isClaimed,
  isStep,
  lastDim,
  type Model,
  type Operand,
  type Program,
  type Slot,
  type Step,
} from "../../program/form.ts";
import type { WeightRanges } from "../context.ts";
import { READS } from "../generated/reads.ts";
import type { Range } from "../range.ts";
import { operandAt, type ReadsOfOpcodes, SLOTS, type StepForm, StepForms } from "./forms.ts";
import { Interned } from "./interned.ts";
import { KnownRanges } from "./known.ts";
import { type ElementReads, fixedElements, type Visit } from "./reads.ts";

/** Of each element of a step: it depends on no claimed element of this row or above. Absent: all are 0. Steps of one form
 *  that read the same have the same array. */
export type Bounds = Uint16Array | Uint32Array | undefined;

export interface ProgramBounds {
  /** By step. */
  readonly of: readonly Bounds[];
  /** What the elements of a step read, of each step that reads one with bounds. */
  readonly forms: readonly (StepForm | undefined)[];
  /** false: bounds that no later step reads are left out */
  readonly isWhole: boolean;
}

/** A claimed element of row r (its first axis) has the bound r + 1; every other element the largest bound of the
 *  elements that it reads, or 0 where its interval is one number, which is so whatever it reads. Source:
 *  docs/EXACT.md, section 4.
 *  @param ranges intervals of the steps @param opcodes what each opcode reads
 *  @param mostBytes of different bounds: beyond, those that no later step reads are dropped */
export function programBounds(
  model: Model,
  ranges: readonly Range[],
  opcodes: ReadsOfOpcodes = READS,
  mostBytes = Number.POSITIVE_INFINITY,
): ProgramBounds {
  const { steps } = model.program;
  const rows = Math.max(0, ...steps.filter(isClaimed).map(({ dims }) => dims[0] as number));
  const weightRanges: WeightRanges = new Map();
  const known = new KnownRanges(model, ranges, weightRanges);
  const stepForms = new StepForms(model, known, weightRanges);
  const [bounds, fixed] = [new Interned<NonNullable<Bounds>>(), new Interned<Uint8Array>()];
  const maxima = new RowMaxima();
  const of: Bounds[] = [];
  const forms: (StepForm | undefined)[] = [];
  const held = new Held(of, lastRead(model.program), mostBytes);
  const boundsOf = (operand: Operand): Bounds => (isStep(operand) ? of[operand] : undefined);
  for (const [index, step] of steps.entries()) {
    const range = known.next();
    const operands = SLOTS.map((slot) => boundsOf(operandAt(step, slot)));
    // Nothing before it reads what is claimed.
    const isFree = operands.every((own) => own === undefined);
    const form = isFree ? undefined : stepForms.of(index);
    forms.push(form);
    if (form === undefined) {
      of.push(isClaimed(step) ? bounds.one(claimedRows(step)) : undefined);
      held.next();
      continue;
    }
    const ownFixed = fixedElements(step, range);
    const isFixed = ownFixed && fixed.one(ownFixed);
    const key = [form.id, fixed.id(isFixed), ...operands.map((own) => bounds.id(own))].join();
    const found = bounds.get(key, () => {
      const most = (slot: Slot, from: number, count: number): number =>
        maxima.most(operands[slot], form.dims[slot], from, count);
      return stepBounds(
        emptyBounds(elementCount(step.dims), rows),
        isFixed,
        opcodes[step.opcode](form),
        most,
      );
    });
    of.push(found);
    held.next();
  }
  return { of, forms, isWhole: held.isWhole };
}

/** Bounds that are held: all of them, up to a number of bytes. */
class Held {
  isWhole = true;
  readonly #of: Bounds[];
  readonly #ended: readonly (readonly number[])[];
  readonly #seen = new WeakSet<NonNullable<Bounds>>();
  #room: number;
  /** steps whose ended operands are dropped */
  #dropped = 0;

  /** @param of bounds by step, as far as they are found @param ended by step, the ones that no later step reads */
  constructor(of: Bounds[], ended: readonly (readonly number[])[], mostBytes: number) {
    this.#of = of;
    this.#ended = ended;
    this.#room = mostBytes;
  }

  /** One more step has bounds. */
  next(): void {
    const last = this.#of.at(-1);
    if (last !== undefined && !this.#seen.has(last)) {
      this.#seen.add(last);
      this.#room -= last.byteLength;
      this.isWhole &&= this.#room >= 0;
    }
    if (this.isWhole) return;
    for (; this.#dropped < this.#of.length; this.#dropped++)
      for (const operand of this.#ended[this.#dropped] ?? []) this.#of[operand] = undefined;
  }
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

function claimedRows({ dims }: Step): NonNullable<Bounds> {
  const [rows, count] = [dims[0] as number, elementCount(dims)];
  return emptyBounds(count, rows).map((_, element) => Math.floor(element / (count / rows)) + 1);
}

/** @param bounds of zeros @param isFixed as `fixedElements` @param most the largest bound of elements of an operand */
function stepBounds(
  bounds: NonNullable<Bounds>,
  isFixed: Uint8Array | undefined,
  read: ElementReads,
  most: (slot: Slot, from: number, count: number) => number,
): Bounds {
  let [isBound, bound] = [false, 0];
  const visit: Visit = (slot, from, count) => {
    bound = Math.max(bound, most(slot, from, count));
  };
  for (let element = 0; element < bounds.length; element++) {
    if (isFixed?.[element] === 1) continue;
    bound = 0;
    read(element, visit);
    bounds[element] = bound;
    isBound ||= bound > 0;
  }
  return isBound ? bounds : undefined;
}

/** Largest bounds of operands; a row, or the beginning of one, is looked at once. */
class RowMaxima {
  /** Of each element the largest bound of its row up to it. */
  readonly #soFar = new WeakMap<
    NonNullable<Bounds>,
    { readonly length: number; readonly most: NonNullable<Bounds> }
  >();

  /** @param dims of the operand */
  most(bounds: Bounds, dims: readonly number[] | undefined, from: number, count: number): number {
    if (bounds === undefined || dims === undefined || count === 0) return 0;
    if (count === 1) return bounds[from] as number;
    const length = lastDim(dims);
    if (count > length || from % length !== 0) return largest(bounds, from, count);
    return this.#rows(bounds, length)[from + count - 1] as number;
  }

  #rows(bounds: NonNullable<Bounds>, length: number): NonNullable<Bounds> {
    const known = this.#soFar.get(bounds);
    if (known?.length === length) return known.most;
    const most = bounds.slice();
    for (let i = 1; i < most.length; i++)
      if (i % length !== 0) most[i] = Math.max(most[i] as number, most[i - 1] as number);
    this.#soFar.set(bounds, { length, most });
    return most;
  }
}

function largest(bounds: NonNullable<Bounds>, from: number, count: number): number {
  let most = 0;
  for (let i = from; i < from + count; i++) most = Math.max(most, bounds[i] as number);
  return most;
}
