import { type Commitment, commitTrace, commitWeights } from "../../inference/commit/commitments.ts";
import { type Opening, openElement } from "../../inference/commit/openings.ts";
import { trace as traceOf } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import type { PreparedModel } from "../../inference/executor/prepared-model.ts";
import {
  isStep,
  type Operand,
  type Step,
  type Tensor,
  type TensorData,
} from "../../inference/program/form.ts";
import { storedElement } from "../../inference/program/tensor.ts";
import type { RandomProgram } from "./random-program.ts";
import { randomTensor } from "./random-values.ts";
import type { Rng } from "./rng.ts";

/** A committed trace in which one step can be judged. */
export interface CommittedStep {
  readonly program: RandomProgram;
  readonly prepared: PreparedModel;
  readonly step: number;
  readonly tensors: readonly Tensor[];
  readonly trace: Commitment;
  readonly weights: Commitment;
  /** Stored bytes of the right element, right-aligned. */
  expected(element: number): number;
  openings(element: number): Opening[];
  dataOf(operand: Operand): TensorData;
}

/** Commits to the trace of a program whose last step is the one to judge.
 *  @param lie the step's operands hold any stored bytes instead, as a lying prover's trace may, and the step
 *  follows from them; without it everything is as the executor computes it
 *  @param claimed tensors to commit to instead, whatever they hold */
export function commitLastStep(
  rng: Rng,
  program: RandomProgram,
  lie: boolean,
  claimed?: readonly Tensor[],
): CommittedStep {
  const { model, selector, calldata } = program;
  const prepared = prepare(model, selector);
  const tensors = [...(claimed ?? traceOf(prepared, calldata))];
  const step = model.program.steps.length - 1;
  const record = model.program.steps[step] as Step;
  const operands = [record.a, record.b, record.c];
  if (lie && record.opcode !== "codec") {
    for (const operand of operands) {
      if (!isStep(operand)) continue;
      const { type, dims } = model.program.steps[operand] as Step;
      tensors[operand] = randomTensor(rng, type, dims, true);
    }
    tensors[step] = prepared.runStep(
      step,
      operands.map((operand) => (isStep(operand) ? tensors[operand] : undefined)),
    );
  }
  const trace = commitTrace(model.program, tensors);
  const weights = commitWeights(model);
  const dataOf = (operand: Operand): TensorData =>
    isStep(operand) ? (tensors[operand] as Tensor).data : prepared.constant(operand);
  return {
    program,
    prepared,
    step,
    tensors,
    trace,
    weights,
    expected: (element) => storedElement((tensors[step] as Tensor).data, element),
    openings: (element) => openElement(model.program, step, element, trace, weights, dataOf),
    dataOf,
  };
}
