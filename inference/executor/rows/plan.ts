/** What of a causal program is to be computed once a further row of its output is known. */
import { sourceMap } from "../../opcodes/move.ts";
import type { PreparedOperand } from "../../opcodes/opcode.ts";
import { type ProgramBounds, programBounds } from "../../profile/causality/bounds.ts";
import { laterElement } from "../../profile/causality/prove.ts";
import { analyse } from "../../profile/intervals.ts";
import {
  isClaimed,
  type Model,
  readsClaimed,
  type Step,
  type Tensor,
  type TensorData,
} from "../../program/form.ts";
import { lastStep } from "../../program/shape.ts";
import { bitsOf } from "../../program/tensor.ts";
import { stepWork } from "../quick.ts";
import { neededElements } from "./needed.ts";
import { KnownPlaces, type StagePlaces } from "./places.ts";
import { rowKernel, rowLength } from "./row-kernel.ts";

/** Computes rows, or of a MOVE elements, of one step. @param runs as of StagePlaces */
type Compute = (runs: Int32Array, tensor: TensorData, data: readonly (TensorData | undefined)[]) => void;

interface StepPlan {
  readonly step: number;
  readonly compute: Compute;
  readonly places: StagePlaces;
  /** in all stages */
  readonly work: number;
}

/** Runs of places of a plan's steps together, where steps have the same counted once: above it a program is run by passes. A run takes 16 bytes at most. */
const MOST_RUNS = 2 ** 24;

/** Stages of a causal program: an element whose bound is t is computed in stage t, when the rows below t are claimed as
 *  they are right. Elements that no element of the output needs are left out. */
export class RowPlan {
  /** the output's */
  readonly rows: number;
  /** of places that follow one another, of all steps and stages; those that steps have in common counted once */
  readonly runs: number;
  /** of all stages, as `stepWork` counts it */
  readonly work: number;
  /** the step that takes the most of it; undefined: nothing is computed again */
  readonly costliest: number | undefined;
  readonly #steps: readonly StepPlan[];

  constructor(rows: number, steps: readonly StepPlan[], runs: number) {
    this.rows = rows;
    this.runs = runs;
    this.work = steps.reduce((sum, { work }) => sum + work, 0);
    this.costliest = steps.toSorted((x, y) => y.work - x.work)[0]?.step;
    this.#steps = steps;
  }

  /** @param tensors every step's; what is not right yet is of a run on another claim, so it lies in the same intervals
   *  @param dataOf content of a step's operands */
  compute(
    stage: number,
    tensors: readonly Tensor[],
    dataOf: (step: number) => readonly (TensorData | undefined)[],
  ): void {
    for (const { step, compute, places } of this.#steps) {
      const now = places.of(stage);
      if (now !== undefined) compute(now, (tensors[step] as Tensor).data, dataOf(step));
    }
  }
}

/** @param operandsOf what kernels are built from @param proven bounds of this model, where they are known @returns undefined for a program that is not proven to be causal, does not
 *  read what is claimed, has an output of one row, which the first run finds, or has too many runs of places */
export function planRows(
  model: Model,
  operandsOf: (step: Step) => readonly (PreparedOperand | undefined)[],
  proven?: ProgramBounds,
): RowPlan | undefined {
  const { program } = model;
  if (!readsClaimed(program) || lastStep(program).dims[0] === 1) return undefined;
  const bounds = proven ?? provenBounds(model);
  if (bounds === undefined || laterElement(program, bounds.of.at(-1)) !== undefined) return undefined;
  const rows = lastStep(program).dims[0] as number;
  const needed = neededElements(program.steps, bounds);
  const plans: StepPlan[] = [];
  const known = new KnownPlaces(rows);
  for (const [index, step] of program.steps.entries()) {
    const need = needed[index];
    if (need === undefined || isClaimed(step)) continue;
    const isMove = step.opcode === "move";
    const length = isMove ? 1 : rowLength(step);
    const places = known.of(bounds.of[index], need, length);
    if (known.runs > MOST_RUNS) return undefined;
    const work = stepWork(program, step, places.count * length);
    plans.push({ step: index, places, work, compute: isMove ? mover(step) : rower(step, operandsOf(step)) });
  }
  return new RowPlan(rows, plans, known.runs);
}

/** @returns undefined for a program without its other proofs: nobody asks whether it is causal */
function provenBounds(model: Model): ProgramBounds | undefined {
  const { ranges, problems } = analyse(model);
  return problems.length > 0 ? undefined : programBounds(model, ranges);
}

function rower(step: Step, operands: readonly (PreparedOperand | undefined)[]): Compute {
  const kernel = rowKernel(step, operands);
  return (runs, out, data) => {
    for (let i = 0; i < runs.length; i += 2)
      for (let row = runs[i] as number; row < (runs[i + 1] as number); row++) kernel(row, out, data);
  };
}

/** MOVE copies bits; where the source does not reach stays what the first run gave, the pad, or b's element. */
function mover(step: Step): Compute {
  const map = sourceMap(step);
  const isWide = step.type === "s32" || step.type === "f32";
  const raw = (data: TensorData): TensorData => (isWide ? bitsOf(data) : data);
  return (runs, out, [a, b]) => {
    const [target, source] = [raw(out), raw(a as TensorData)];
    const other = b && raw(b);
    for (let i = 0; i < runs.length; i += 2) {
      for (let element = runs[i] as number; element < (runs[i + 1] as number); element++) {
        const from = map[element] as number;
        if (from >= 0) target[element] = source[from] as number;
        else if (other !== undefined) target[element] = other[element] as number;
      }
    }
  };
}
