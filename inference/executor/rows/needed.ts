/** Which elements of a causal program its output is computed from. */
import type { ProgramBounds } from "../../profile/causality/bounds.ts";
import { operandAt, SLOTS, type StepForm } from "../../profile/causality/forms.ts";
import { Interned } from "../../profile/causality/interned.ts";
import { READS } from "../../profile/generated/reads.ts";
import { elementCount, isStep, type Slot, type Step } from "../../program/form.ts";

/** Of each element of a step 1 where one of the output is computed from it; undefined: of none that hangs on what is
 *  claimed. Steps of which the same is needed have the same array. */
export type Needed = Uint8Array | undefined;

/** By step. */
export function neededElements(steps: readonly Step[], { of, forms }: ProgramBounds): readonly Needed[] {
  const needed: Needed[] = steps.map(() => undefined);
  const arrays = new Interned<Uint8Array>();
  const last = steps.length - 1;
  if (of[last] !== undefined)
    needed[last] = arrays.one(new Uint8Array(elementCount((steps[last] as Step).dims)).fill(1));
  for (let index = last; index >= 0; index--) {
    const own = needed[index];
    const form = forms[index];
    if (own === undefined || form === undefined) continue;
    for (const slot of SLOTS) {
      const operand = operandAt(steps[index] as Step, slot);
      if (!isStep(operand) || of[operand] === undefined) continue;
      const count = elementCount((steps[operand] as Step).dims);
      const read = arrays.get(`${form.id} ${slot} of ${arrays.id(own)}`, () =>
        elementsRead(form, slot, own, count),
      );
      const before = needed[operand];
      needed[operand] =
        before === undefined
          ? read
          : arrays.get(`${arrays.id(before)} or ${arrays.id(read)}`, () => either(before, read));
    }
  }
  return needed;
}

/** Of an operand with `count` elements, those that needed elements read. */
function elementsRead(form: StepForm, slot: Slot, needed: Uint8Array, count: number): Uint8Array {
  const found = new Uint8Array(count);
  const reads = READS[form.step.opcode](form);
  // Elements that follow one another often read the same row.
  let [lastFrom, lastCount] = [-1, -1];
  const visit = (visited: Slot, from: number, length: number): void => {
    if (visited !== slot || (from === lastFrom && length === lastCount)) return;
    [lastFrom, lastCount] = [from, length];
    found.fill(1, from, from + length);
  };
  for (let element = 0; element < needed.length; element++) if (needed[element] === 1) reads(element, visit);
  return found;
}

const either = (one: Uint8Array, other: Needed): Uint8Array => one.map((is, i) => is | (other?.[i] ?? 0));
