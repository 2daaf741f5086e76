/** What the steps of a program read, told once for steps of one form: layers of a model are alike. */
import {
  isActivationDot,
  isBelow,
  type Model,
  NONE,
  type Opcode,
  type Operand,
  operandDims,
  type Slot,
  type Step,
} from "../../program/form.ts";
import { StepRanges, type WeightRanges } from "../context.ts";
import type { Range } from "../range.ts";
import { Interned } from "./interned.ts";
import type { KnownRanges } from "./known.ts";
import { type ElementReads, type ReadForm, type Zeros, zerosOf } from "./reads.ts";

export type ReadsOfOpcodes = Readonly<Record<Opcode, (form: ReadForm) => ElementReads>>;

/** What the steps of one form read, by `opcodes[form.step.opcode](form)`. */
export interface StepForm extends ReadForm {
  /** no other form has it */
  readonly id: number;
}

export const SLOTS: readonly Slot[] = [0, 1, 2];
const NAMES = ["a", "b", "c"] as const;

export const operandAt = (step: Step, slot: Slot): Operand => step[NAMES[slot]];

/** Operands whose zeros the reads of a step depend on: of what is multiplied, of a condition, and of a mask. */
function asksZeros(step: Step, slot: Slot): boolean {
  if (step.opcode === "select") return slot === 0;
  if (isBelow(step)) return slot === 2 && step.c !== NONE;
  return isActivationDot(step) && slot < 2;
}

export class StepForms {
  readonly #model: Model;
  readonly #known: KnownRanges;
  readonly #weightRanges: WeightRanges;
  readonly #byKey = new Map<string, StepForm>();
  readonly #zeros = new Interned<Uint8Array>();
  readonly #zerosOf = new WeakMap<Range, { readonly zeros: Zeros }>();

  /** @param known intervals of the steps, as far as they were gone through */
  constructor(model: Model, known: KnownRanges, weightRanges: WeightRanges) {
    this.#model = model;
    this.#known = known;
    this.#weightRanges = weightRanges;
  }

  /** @param index of a step whose operands were gone through */
  of(index: number): StepForm {
    const step = this.#model.program.steps[index] as Step;
    const { a: _a, b: _b, c: _c, ...own } = step;
    const ctx = new StepRanges(this.#model, step, index, this.#known, this.#weightRanges, () => {});
    const dims = SLOTS.map((slot) => {
      const operand = operandAt(step, slot);
      return operand === NONE ? undefined : operandDims(this.#model.program, operand);
    });
    const zeros = SLOTS.map((slot) =>
      asksZeros(step, slot) ? this.#zerosIn(ctx.operand(NAMES[slot]).range) : undefined,
    );
    const key = JSON.stringify([own, dims, zeros.map((known) => this.#zeros.id(known))]);
    const found = this.#byKey.get(key);
    if (found !== undefined) return found;
    const made = { id: this.#byKey.size, step: own, dims, zeros };
    this.#byKey.set(key, made);
    return made;
  }

  #zerosIn(range: Range): Zeros {
    let found = this.#zerosOf.get(range);
    if (found === undefined) {
      const zeros = zerosOf(range);
      found = { zeros: zeros && this.#zeros.one(zeros) };
      this.#zerosOf.set(range, found);
    }
    return found.zeros;
  }
}
