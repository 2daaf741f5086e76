/** The intervals that a proof of causality trusts. */
import {
  elementCount,
  isBelow,
  isStep,
  type Model,
  NONE,
  type Step,
  weightIndex,
} from "../../program/form.ts";
import { type RangesOfSteps, StepRanges, type WeightRanges } from "../context.ts";
import { lookupRange } from "../lookup.ts";
import { anything, isUniform, MAX_KEPT_INTERVALS, type Range } from "../range.ts";
import { selectRange } from "../select.ts";

/** Elements of masks that are computed for one proof, each time anew: those of a real program are far below. */
const MOST_COMPUTED = 2 ** 30;
/** The least that a mask counts as. */
const LEAST_COMPUTED = 2 ** 10;
/** Intervals of masks that are kept: of those that a layer of a language model reads, and more. */
const MOST_KEPT = 2 ** 22;

/** Intervals of steps that have integers for operands, all the way from codecs and weights; any number of the type for
 *  the others: nothing here hangs on how binary32 rounds. A large SELECT, or LOOKUP below with a mask, has one interval for
 *  all its elements; here each has its own again, since masks are that large. They are computed when they are asked for, and some are kept. */
export class KnownRanges implements RangesOfSteps {
  /** By step; of a large mask one interval. */
  readonly #found: Range[] = [];
  readonly #isKnown: boolean[] = [];
  readonly #model: Model;
  readonly #ranges: readonly Range[];
  readonly #weightRanges: WeightRanges;
  readonly #isMask: boolean[] = [];
  /** Masks that were asked for, the latest at the end. */
  readonly #kept = new Map<number, Range>();
  #computed = 0;
  /** Elements of masks that are being computed now, one for another: of each the operands' intervals are held meanwhile. */
  #open = 0;

  /** @param weightRanges of the model's plain weights, as far as they are known */
  constructor(model: Model, ranges: readonly Range[], weightRanges: WeightRanges) {
    this.#model = model;
    this.#ranges = ranges;
    this.#weightRanges = weightRanges;
  }

  /** Of the next step. */
  next(): Range {
    const index = this.#found.length;
    const step = this.#model.program.steps[index] as Step;
    const isKnownStep = isKnown(this.#model, step, this.#isKnown);
    const range = isKnownStep ? (this.#ranges[index] as Range) : anything(step.type);
    this.#isKnown.push(isKnownStep);
    this.#isMask.push(isKnownStep && isMasked(step) && isUniform(range));
    this.#found.push(range);
    return this.at(index) as Range;
  }

  at(index: number): Range | undefined {
    if (this.#isMask[index] !== true) return this.#found[index];
    const kept = this.#kept.get(index);
    if (kept !== undefined) {
      this.#kept.delete(index);
      this.#kept.set(index, kept);
      return kept;
    }
    const step = this.#model.program.steps[index] as Step;
    const count = elementCount(step.dims);
    if (this.#open + count > MAX_KEPT_INTERVALS) return this.#found[index];
    this.#computed += Math.max(LEAST_COMPUTED, count);
    if (this.#computed > MOST_COMPUTED) return this.#found[index];
    const ctx = new StepRanges(this.#model, step, index, this, this.#weightRanges, () => {});
    this.#open += count;
    const rangeOf = step.opcode === "select" ? selectRange : lookupRange;
    const range = rangeOf(ctx, Number.POSITIVE_INFINITY);
    this.#open -= count;
    this.#keep(index, range);
    return range;
  }

  #keep(index: number, range: Range): void {
    this.#kept.set(index, range);
    let intervals = [...this.#kept.values()].reduce((sum, { low }) => sum + low.length, 0);
    for (const [oldest, { low }] of this.#kept) {
      if (intervals <= MOST_KEPT || oldest === index) break;
      this.#kept.delete(oldest);
      intervals -= low.length;
    }
  }
}

/** Its elements are as another operand's say. */
const isMasked = (step: Step): boolean => step.opcode === "select" || (isBelow(step) && step.c !== NONE);

/** @param known of the steps before it */
function isKnown({ program }: Model, { opcode, type, a, b, c }: Step, known: readonly boolean[]): boolean {
  if (type === "f32" || opcode === "float") return false;
  return [a, b, c].every((operand) => {
    if (operand === NONE) return true;
    return isStep(operand) ? known[operand] : program.weights[weightIndex(operand)]?.type !== "f32";
  });
}
