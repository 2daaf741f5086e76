/** A step of a program as answers show it. */

import { variantName } from "../../inference/program/codes.ts";
import { describeProgram } from "../../inference/program/describe.ts";
import type { Program, Step } from "../../inference/program/form.ts";
import type { Dispute } from "../api/types.ts";

export type StepView = Pick<
  Dispute["steps"][number],
  "index" | "opcode" | "variant" | "type" | "dims" | "text"
>;

/** Lines of `describeProgram`, of which the steps' are the last. */
const lines = new WeakMap<Program, string[]>();

export function stepView(program: Program, index: number): StepView {
  const { opcode, variant, type, dims } = program.steps[index] as Step;
  const name = variantName(opcode, variant);
  return {
    index,
    opcode,
    ...(name === undefined ? {} : { variant: name }),
    type,
    dims: [...dims],
    text: textsOf(program)[index] ?? "",
  };
}

function textsOf(program: Program): string[] {
  const known = lines.get(program);
  if (known !== undefined) return known;
  const texts = describeProgram(program).slice(-program.steps.length);
  lines.set(program, texts);
  return texts;
}
