import { FIELD_ORDER, type LinearCombination, type R1cs, type Witness } from "./r1cs.ts";

/** Whether a witness satisfies a constraint system, or what it breaks first. */
export type Satisfaction =
  | { readonly satisfied: true }
  | { readonly satisfied: false; readonly constraint: number | undefined; readonly broken: string };

/** Checks a witness: the constant, the range of every wire, every constraint in order.
 *  @param skip number of a constraint that is left out, for tests that drop one */
export function satisfies(
  { wires, constraints }: R1cs,
  witness: Witness,
  skip: number | undefined = undefined,
): Satisfaction {
  const fails = (broken: string, constraint?: number): Satisfaction => ({
    satisfied: false,
    constraint,
    broken,
  });
  if (witness.length !== wires) return fails(`the witness has ${witness.length} wires, must have ${wires}`);
  if (witness[0] !== 1n) return fails(`wire 0 is ${witness[0]}, must be 1`);
  const outside = witness.findIndex((value) => value < 0n || value >= FIELD_ORDER);
  if (outside >= 0) return fails(`wire ${outside} is ${witness[outside]}, must be a field element`);
  for (const [i, { a, b, c, note }] of constraints.entries()) {
    if (i === skip) continue;
    if ((dot(a, witness) * dot(b, witness) - dot(c, witness)) % FIELD_ORDER !== 0n) return fails(note, i);
  }
  return { satisfied: true };
}

function dot(combination: LinearCombination, witness: Witness): bigint {
  let sum = 0n;
  for (const [wire, coefficient] of combination) {
    const value = witness[wire] as bigint;
    if (value !== 0n) sum += value * coefficient;
  }
  return sum % FIELD_ORDER;
}
