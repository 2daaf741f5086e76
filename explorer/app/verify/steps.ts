import type { ProfileReport } from "../../../inference/profile/prove.ts";
import { describeProgram } from "../../../inference/program/describe.ts";
import {
  isStep,
  type Opcode,
  type Program,
  type Step,
  type TensorType,
} from "../../../inference/program/form.ts";

/** A step of a program, for people. */
export interface StepSheet {
  readonly index: number;
  readonly opcode: Opcode;
  readonly type: TensorType;
  readonly dims: readonly number[];
  /** steps whose tensors it reads */
  readonly after: readonly number[];
  readonly text: string;
  /** interval in which the weights prove its numbers to lie */
  readonly low: number;
  readonly high: number;
}

/** An operand that is a step's tensor. */
const stepsBefore = ({ a, b, c }: Step): number[] => [a, b, c].filter(isStep);

export function stepSheets(program: Program, { steps: proofs }: ProfileReport): StepSheet[] {
  const lines = describeProgram(program).slice(-program.steps.length);
  return program.steps.map((step, i) => ({
    ...{ index: i, opcode: step.opcode, type: step.type, dims: step.dims, after: stepsBefore(step) },
    text: lines[i] as string,
    low: proofs[i]?.low ?? 0,
    high: proofs[i]?.high ?? 0,
  }));
}
