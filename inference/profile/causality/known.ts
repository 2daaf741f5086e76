/** The intervals that a proof of causality trusts. */
import { elementCount, isStep, type Model, NONE, type Step, weightIndex } from "../../program/form.ts";
import { StepRanges, type WeightRanges } from "../context.ts";
import { anything, isUniform, MAX_KEPT_INTERVALS, type Range } from "../range.ts";
import { selectRange } from "../select.ts";

/** Intervals of steps that have integers for operands, all the way from codecs and weights; any number of the type for
 *  the others: nothing here hangs on how binary32 rounds. A large SELECT has one interval for all its elements; here
 *  each has its own again, since masks are that large. */
export class KnownRanges {
  /** By step; of one that was forgotten any number of its type. */
  readonly found: Range[] = [];
  readonly #isKnown: boolean[] = [];
  readonly #model: Model;
  readonly #ranges: readonly Range[];
  readonly #weightRanges: WeightRanges;
  /** large masks that are held now, and their intervals */
  readonly #masks = new Set<number>();
  #kept = 0;

  /** @param weightRanges of the model's plain weights, as far as they are known */
  constructor(model: Model, ranges: readonly Range[], weightRanges: WeightRanges) {
    this.#model = model;
    this.#ranges = ranges;
    this.#weightRanges = weightRanges;
  }

  /** Of the next step. */
  next(): Range {
    const index = this.found.length;
    const step = this.#model.program.steps[index] as Step;
    const isKnownStep = isKnown(this.#model, step, this.#isKnown);
    this.#isKnown.push(isKnownStep);
    const range = isKnownStep ? (this.#ranges[index] as Range) : anything(step.type);
    const isMask = isKnownStep && step.opcode === "select" && isUniform(range);
    const fits = this.#kept + elementCount(step.dims) <= MAX_KEPT_INTERVALS;
    const found = isMask && fits ? this.#maskRange(step, index) : range;
    if (found !== range) {
      this.#masks.add(index);
      this.#kept += found.low.length;
    }
    this.found.push(found);
    return found;
  }

  #maskRange(step: Step, index: number): Range {
    const ctx = new StepRanges(this.#model, step, index, this.found, this.#weightRanges, () => {});
    return selectRange(ctx, Number.POSITIVE_INFINITY);
  }

  /** Gives the memory of a step's back, once no later step reads it. */
  forget(index: number): void {
    const { type } = this.#model.program.steps[index] as Step;
    if (this.#masks.delete(index)) this.#kept -= (this.found[index] as Range).low.length;
    this.found[index] = anything(type);
  }
}

/** @param known of the steps before it */
function isKnown({ program }: Model, { opcode, type, a, b, c }: Step, known: readonly boolean[]): boolean {
  if (type === "f32" || opcode === "float") return false;
  return [a, b, c].every((operand) => {
    if (operand === NONE) return true;
    return isStep(operand) ? known[operand] : program.weights[weightIndex(operand)]?.type !== "f32";
  });
}
